// Renders a page of stored items. A long one is work of many milliseconds, so it is done
// in pieces, and between two of them other requests have their turn.

import { setImmediate as othersTurn } from "node:timers/promises";
import type { StoredItem } from "../../engine/api.ts";
import { storageItem } from "../wire/storage.ts";

export const pageLimits = {
  /** Some milliseconds of work. */
  pieceBytesMax: 256 * 1024,
  /** An item without payload costs about as much as one of so many bytes. */
  itemBytes: 512,
} as const;

/** The reply's JSON, as `JSON.stringify` would write it. */
export async function pageText(items: readonly StoredItem[]): Promise<string> {
  const pieces: string[] = [];
  for (let start = 0; start < items.length; ) {
    if (start > 0) await othersTurn();
    const end = pieceEnd(items, start);
    pieces.push(JSON.stringify(items.slice(start, end).map(storageItem)).slice(1, -1));
    start = end;
  }
  return `{"items":[${pieces.join(",")}]}`;
}

/** At least one item further. */
function pieceEnd(items: readonly StoredItem[], start: number): number {
  let bytes = 0;
  for (let index = start; index < items.length; index += 1) {
    bytes += pageLimits.itemBytes + (items[index]?.payload.length ?? 0);
    if (bytes >= pageLimits.pieceBytesMax) return index + 1;
  }
  return items.length;
}
