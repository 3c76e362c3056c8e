// What a reshard reads and writes of a store besides what turns do: rows that turns only look up by
// key, and items that were set aside, which no turn reads.

import type { OutboundItem } from "./item.ts";
import type { Read, ReadLimit, SlotSeq, UniqueKey } from "./store.ts";

/** An item that was set aside, with all that is left of it. */
export interface Quarantined extends SlotSeq {
  /** As the store wrote it; another store of the same kind takes it. */
  readonly columns: string;
  readonly payload: Uint8Array | null;
}

/** Every method may throw `StoreError`. */
export interface Transfer {
  /** Items for whatever shards, in the order of `outboundSeq`, from behind `after` on. */
  outbound(after: number, limit: ReadLimit): Promise<readonly Read<OutboundItem>[]>;
  /** By slot and seq, from behind `after` on. A damaged one is left out. */
  uniques(after: SlotSeq, limit: number): Promise<Page<UniqueKey, SlotSeq>>;
  /** The oldest first. */
  quarantined(after: number, limit: number): Promise<Page<Quarantined, number>>;
  quarantine(items: readonly Quarantined[]): Promise<void>;
}

/** `next`: where the next page begins; `null` = nothing is left. */
export interface Page<T, At> {
  readonly found: readonly T[];
  readonly next: At | null;
}
