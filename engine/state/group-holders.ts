// Who holds the leased items of groups: the one lease that keeps a serial group closed.

import type { GroupHolder } from "../model/messages.ts";
import { groupIn } from "../model/provenance.ts";
import type { Memory } from "./memory.ts";

/** By group, one of its leased items. */
export function holdersIn(
  memory: Memory,
  slot: number,
  names: ReadonlySet<string>,
): ReadonlyMap<string, GroupHolder> {
  const found = new Map<string, GroupHolder>();
  if (names.size === 0) return found;
  for (const partition of memory.partitionsAt(slot)) {
    for (const [seq, { past, holder: client, run }] of partition.held) {
      const name = groupIn(past)?.group;
      if (name === undefined || found.has(name) || !names.has(name)) continue;
      found.set(name, { id: partition.idOf(seq), client, leaseDeadline: run.lease.leaseDeadline });
      if (found.size === names.size) return found;
    }
  }
  return found;
}
