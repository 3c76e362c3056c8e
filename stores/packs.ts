// Groups items into packs, which are stored as one row: neighbours that were written together, with
// the same instants and attempts. A row costs a database more than the bytes of a small item.

import type { Item } from "./item.ts";

/** Maximum items of a pack. Reading one item means reading its whole pack. */
export const packItemsMax = 128;

/** Keeps the order. An item with more bytes of payload and history than `bytesMax` is alone. */
export function packsOf(items: readonly Item[], bytesMax: number): Item[][] {
  const packs: Item[][] = [];
  const open = new Map<number, { readonly items: Item[]; bytes: number }>();
  for (const item of items) {
    const pack = open.get(item.slot);
    const last = pack?.items.at(-1);
    const bytes = item.payload.length + item.past.length;
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

/**
 * Items that an index finds get their own row, and so does a history of several lines, as SQLite
 * keeps those of a pack as lines.
 */
function mayShare({ early, sourceId, past }: Item): boolean {
  return !early && sourceId === "" && !past.includes("\n");
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
