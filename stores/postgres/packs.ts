// Which items share a row: neighbours that were written together. A row costs PostgreSQL more than
// the bytes of a small item.

import type { Item } from "../item.ts";

/** So much has to be read to come to one of them. */
export const packItemsMax = 128;
/** Payload bytes of a pack: about as much as a page holds. */
const packBytesMax = 7_900;

/** Items in the order given. */
export function packsOf(items: readonly Item[]): Item[][] {
  const packs: Item[][] = [];
  const open = new Map<number, { readonly items: Item[]; bytes: number }>();
  for (const item of items) {
    const pack = open.get(item.slot);
    const last = pack?.items.at(-1);
    const bytes = item.payload.length;
    const isRoom = pack !== undefined && pack.items.length < packItemsMax;
    if (isRoom && pack.bytes + bytes <= packBytesMax && last && isNeighbour(last, item)) {
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

/** Items that an index finds have rows of their own. */
function mayShare({ early, sourceId }: Item): boolean {
  return !early && sourceId === "";
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
