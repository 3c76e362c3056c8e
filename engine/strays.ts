// Items that no queue has: the store that has the catalog went back to before their queue was
// created, or the store of their shard to when another queue had the slot. Nothing offers them.

import type { CatalogEntry } from "../stores/queue.ts";
import { ownerOf } from "./call-key.ts";
import type { Holdings } from "./messages.ts";

/** Of each shard, the slots that hold items of another queue than the catalog has there. */
export function straysOf(
  entries: readonly CatalogEntry[],
  holdings: readonly (readonly Holdings[])[],
): Holdings[][] {
  const owners = new Map<string, number>();
  for (const { queueId, definition, places } of entries) {
    const owner = ownerOf({ queueId, createdAt: definition.createdAt });
    for (const { shard, slot } of places) owners.set(`${shard}/${slot}`, owner);
  }
  return holdings.map((held, shard) =>
    held.filter(({ slot, owner }) => {
      const known = owners.get(`${shard}/${slot}`);
      return known === undefined || (owner !== 0 && owner !== known);
    }),
  );
}
