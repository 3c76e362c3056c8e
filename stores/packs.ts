// Which items share a row, a pack: neighbours that were written together and share their instants
// and attempts. A row costs a database more than the bytes of a small item.

import type { Item } from "./item.ts";

/** The most items of a pack; so much has to be read to come to one of them. */
export const packItemsMax = 128;

/** Items in the order given; one with more payload bytes than a pack may have is alone. */
export function packsOf(items: readonly Item[], bytesMax: number): Item[][] {
  const packs: Item[][] = [];
  const open = new Map<number, { readonly items: Item[]; bytes: number }>();
  for (const item of items) {
    const pack = open.get(item.slot);
    const last = pack?.items.at(-1);
    const bytes = item.payload.length;
    const isRoom = pack !== undefined && pack.items.length < packItemsMax;
    if (isRoom && pack.bytes + bytes <= bytesMax && last && isNeighbour(last, item)) {
      pack.items.push(item);
      pack.bytes += bytes;
      continue;
    }
    const begun = { items: [item], bytes };
    packs.push(begun.items);
    if (mayShare(item)) open.set(item.slot, begun);
    else open.delete(item.slot);
  }
  return packs;
}

/** Items that an index finds have rows of their own, and those that differ in what became of them. */
function mayShare({ early, sourceId, past }: Item): boolean {
  return !early && sourceId === "" && past === "";
}

function isNeighbour(last: Item, next: Item): boolean {
  return (
    next.seq === last.seq + 1 &&
    next.createdAt === last.createdAt &&
    next.queuedAt === last.queuedAt &&
    next.expireDeadline === last.expireDeadline &&
    next.attempts === last.attempts &&
    mayShare(next)
  );
}
