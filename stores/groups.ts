// What the stores share about groups: the numbers of places, and where a read of heads ends.

import type { Item } from "./item.ts";
import type {
  GroupCount,
  GroupedItem,
  GroupHead,
  GroupPlace,
  GroupRow,
  Read,
  ReadPlan,
  ReadResult,
  Some,
} from "./store.ts";

/** In the order of rows; the index is the stored number. */
export const groupPlaces: readonly GroupPlace[] = ["queued", "scheduled", "retried"];

/** Rows to read of a group: those returned, and one that shows whether more follow. */
export function rowsOf({ items }: GroupHead): number {
  return items + 2;
}

/** The payload bytes that `heads` leaves of `headBytes`. */
export function bytesLeft({ headBytes }: ReadPlan, heads: ReadResult["heads"]): number {
  let left = headBytes;
  for (const { found } of heads.values()) for (const { payload } of found) left -= payload.length;
  return left;
}

/**
 * Ends the heads of groups where the payload bytes are used up. `rows`: by group, up to `rowsOf`;
 * `itemOf` is called for one row after the other, and not after the last one that is returned.
 */
export function headsOfGroups<Row extends Omit<GroupRow, "item">>(
  groups: readonly GroupHead[],
  rows: readonly (readonly Row[])[],
  itemOf: (row: Row) => Read<Item> | null,
  payloadBytes: number,
): Some<GroupRow>[] {
  const heads: Some<GroupRow>[] = [];
  let left = payloadBytes;
  for (const [index, { items }] of groups.entries()) {
    if (left <= 0) break;
    const stored = rows[index] ?? [];
    const found: GroupRow[] = [];
    for (const row of stored.slice(0, items + 1)) {
      if (left <= 0) break;
      const { rank, slot, seq } = row;
      if (found.length === items) {
        found.push({ rank, slot, seq });
        continue;
      }
      const item = itemOf(row);
      left -= item?.payload.length ?? 0;
      found.push({ rank, slot, seq, item });
    }
    heads.push({ found, isAll: found.length === stored.length });
  }
  return heads;
}

/** Counts rows that are in order. */
export class GroupCounts {
  readonly all: GroupCount[] = [];
  #last: (GroupCount & { count: number; rankLast: number }) | null = null;

  add({ partition, group, place, rank, slot, seq }: GroupedItem): void {
    const last = this.#last;
    const isSame =
      last !== null && last.group === group && last.partition === partition && last.place === place;
    if (isSame) {
      last.count += 1;
      last.rankLast = rank;
      return;
    }
    const first = { rank, slot, seq };
    this.#last = { partition, group, place, count: 1, first, rankLast: rank };
    this.all.push(this.#last);
  }
}
