// Stored items, leases and partition counters. A stored item never changes: it is written once,
// under its own sequence number, and later removed. A lease is a separate record. A requeue (retry,
// lapse, due) removes the item and writes it under a new number, which makes an item's id a fencing
// token.

/** Bytes, or a string that is stored as UTF-8; reads return bytes. */
export type Payload = Uint8Array | string;

/** A ready or leased item. Instants are epoch milliseconds. */
export interface Item {
  /** The number of the partition within the shard, for the item's priority. */
  readonly slot: number;
  /** Its place in the partition, in order of queueing; never reused. */
  readonly seq: number;
  /** When it first entered its queue; unchanged by a requeue. */
  readonly createdAt: number;
  /** When it was written under this `seq`. */
  readonly queuedAt: number;
  /** When it expires, unless it is leased at that moment. */
  readonly expireDeadline: number;
  /**
   * It expires before an item ahead of it, so a scan from the head would reach it too late.
   * Stores index only such items.
   */
  readonly early: boolean;
  /** Leases granted before it was written under this `seq`; the current lease is not included. */
  readonly attempts: number;
  readonly kind: string;
  readonly encoding: string;
  readonly reference: string;
  /** Its id before it was dead-lettered or imported; `""` = none. */
  readonly sourceId: string;
  /** The producer's headers, as text that only the engine reads; `""` = none. */
  readonly headers: string;
  /** Its history under earlier numbers, as text that only the engine reads; `""` = none. */
  readonly past: string;
  readonly payload: Payload;
}

/** An item that is to be queued at a later instant. */
export interface ScheduledItem extends Item {
  /** The producer's `enqueueAt` or the consumer's `retryAt`. */
  readonly dueAt: number;
  /** Scheduled by a retry, not by its producer. */
  readonly retried: boolean;
}

/** When a scheduled item becomes due or expires, whichever is first. */
export function wakeAt(item: Pick<ScheduledItem, "dueAt" | "expireDeadline">): number {
  return Math.min(item.dueAt, item.expireDeadline);
}

/**
 * An item in transit to another shard: a dead one, or one produced in the commit that finished
 * others here. If `queuedAt` is after `createdAt`, the item is scheduled for `queuedAt`.
 */
export interface OutboundItem extends Item {
  /** Increases by one per item that this shard sends; never reused. */
  readonly outboundSeq: number;
  readonly targetShard: number;
  /**
   * Id of the target queue, whose shard chooses the partition. `slot` and `seq` are the item's last
   * place in this shard; `seq` 0 = none, and then the slot only has its priority.
   */
  readonly targetOwner: number;
}

/** Items `first` to `last` of a partition, leased by one turn; no ready item lies between them. */
export interface Lease {
  readonly slot: number;
  readonly first: number;
  readonly last: number;
  readonly leaseDeadline: number;
  readonly leasedAt: number;
}

/** Counters of a partition, which are known without reading its items. */
export interface Tally {
  readonly slot: number;
  /** The next sequence number; never decreases, even if the slot passes to another queue. */
  readonly nextSeq: number;
  /** Items that are ready or leased. */
  readonly itemCount: number;
  /** Sum of their `createdAt`, for the average age. */
  readonly createdAtSum: bigint;
  readonly scheduledCount: number;
  readonly retriedCount: number;
  /** The latest expire deadline among items that are not `early`. */
  readonly expireDeadlineMax: number;
  /** Ready items that a clear has not removed yet. */
  readonly doomedCount: number;
  /** A clear is removing ready items below this number; 0 = no clear. */
  readonly clearReadyBelow: number;
  /** A clear is removing items scheduled by a producer below this number; 0 = no clear. */
  readonly clearScheduledBelow: number;
  /** A clear is removing items scheduled by a retry below this number; 0 = no clear. */
  readonly clearRetriedBelow: number;
}
