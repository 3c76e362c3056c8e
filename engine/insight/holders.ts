// The holders of leased items, as far as memory has them.

import type { PartitionHolder } from "../model/messages.ts";
import { answering, type Operation } from "../operations/operation.ts";
import type { Partition } from "../state/partition.ts";

export interface Holders {
  readonly kind: "holders";
  readonly slots: readonly number[];
}

export const holders: Operation<Holders> = {
  phase: "after",
  decide: answering(({ memory }, { slots }) => {
    const all = slots.flatMap((slot) => memory.partitionsAt(slot).flatMap(holdersOf));
    return { ok: true, value: { kind: "holders", holders: all } };
  }),
};

function holdersOf({ slot, held }: Partition): PartitionHolder[] {
  const byClient = new Map<string, { items: number; nextLapseAt: number }>();
  for (const { holder, run } of held.values()) {
    const { leaseDeadline } = run.lease;
    const known = byClient.get(holder);
    if (known === undefined) byClient.set(holder, { items: 1, nextLapseAt: leaseDeadline });
    else {
      known.items += 1;
      known.nextLapseAt = Math.min(known.nextLapseAt, leaseDeadline);
    }
  }
  return [...byClient].map(([client, holds]) => ({ slot, client, ...holds }));
}
