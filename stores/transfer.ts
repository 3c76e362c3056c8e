// The reads and writes of a store that only a reshard needs. They cover rows that turns look up
// only by key, and quarantined items, which no turn reads.

import type { OutboundItem } from "./item.ts";
import type { GroupedItem, Read, ReadLimit, SlotSeq, UniqueKey } from "./store.ts";

/** A quarantined item, with whatever could be read of it. */
export interface Quarantined extends SlotSeq {
  /** In the store's own format; another store of the same kind accepts it. */
  readonly columns: string;
  readonly payload: Uint8Array | null;
}

/** Identifies the row of a grouped item. */
export type GroupedKey = Omit<GroupedItem, "slot" | "seq">;

/** Before the first row. */
export const beforeGrouped: GroupedKey = { partition: -1, group: "", place: "queued", rank: 0 };

/** Every method may throw `StoreError`. */
export interface Transfer {
  /** Items for all target shards, in order of `outboundSeq`, starting after `after`. */
  outbound(after: number, limit: ReadLimit): Promise<readonly Read<OutboundItem>[]>;
  /** By slot and seq, starting after `after`. Damaged keys are omitted. */
  uniques(after: SlotSeq, limit: number): Promise<Page<UniqueKey, SlotSeq>>;
  /** In the order of `Image.groups`, then by rank, starting after `after`. */
  grouped(after: GroupedKey, limit: number): Promise<Page<GroupedItem, GroupedKey>>;
  /** Oldest first. */
  quarantined(after: number, limit: number): Promise<Page<Quarantined, number>>;
  quarantine(items: readonly Quarantined[]): Promise<void>;
}

/** `next`: where the next page starts; `null` = this is the last page. */
export interface Page<T, At> {
  readonly found: readonly T[];
  readonly next: At | null;
}
