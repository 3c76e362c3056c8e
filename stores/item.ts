// What is stored of an item. A stored item never changes: it is written once,
// under a sequence number of its own, and removed. Leasing it writes a lease
// beside it; requeuing it (retry, lapse, due) removes it and writes it again
// under a new number, which is what makes an item's id a fencing token.

/** Bytes, or a string that stands for its UTF-8 bytes; always bytes when read from a store. */
export type Payload = Uint8Array | string;

/** An item of a partition that is ready or leased. Instants are epoch milliseconds. */
export interface Item {
  /** The partition, by its number within the shard. */
  readonly slot: number;
  /** Its place in the partition: the order of queueing, never used twice. */
  readonly seq: number;
  /** When it first entered its queue; survives requeuing. */
  readonly createdAt: number;
  /** When it was written under this `seq`. */
  readonly queuedAt: number;
  /** When it expires, unless it is leased at that moment. */
  readonly expireDeadline: number;
  /**
   * Its deadline lies before that of an item further ahead, so a walk from the
   * head would come to it too late; stores keep an index of these alone.
   */
  readonly early: boolean;
  /** Leases granted before it was written under this `seq`; a running lease comes on top. */
  readonly attempts: number;
  readonly kind: string;
  readonly encoding: string;
  readonly reference: string;
  /** The id it had elsewhere, before it was dead-lettered or imported; `""` = none. */
  readonly sourceId: string;
  /** What its producer gave it as headers; `""` = none. The engine's text, as the next one. */
  readonly headers: string;
  /** What became of it so far, under numbers that it had before; `""` = nothing. */
  readonly past: string;
  readonly payload: Payload;
}

/** An item that waits for an instant before it is queued. */
export interface ScheduledItem extends Item {
  /** When it is due: the producer's `enqueueAt` or the consumer's `retryAt`. */
  readonly dueAt: number;
  /** Scheduled by a retry, not by its producer. */
  readonly retried: boolean;
}

/** When a scheduled item has to be looked at: it is due, or expires before that. */
export function wakeAt(item: Pick<ScheduledItem, "dueAt" | "expireDeadline">): number {
  return Math.min(item.dueAt, item.expireDeadline);
}

/**
 * An item on its way to another shard: a dead one, or one that was produced in the same commit that
 * finished others here. `queuedAt` after `createdAt`: it is due then, and not before.
 */
export interface OutboundItem extends Item {
  /** Rises by one per item that this shard sends, and is never reused. */
  readonly outboundSeq: number;
  readonly targetShard: number;
  /** The queue that it is for, whose shard chooses a partition; `slot` and `seq` are those it had here, 0 where it had none. */
  readonly targetOwner: number;
}

/** Items `first` to `last` of a partition that one turn leased; no ready item lies between them. */
export interface Lease {
  readonly slot: number;
  readonly first: number;
  readonly last: number;
  readonly leaseDeadline: number;
  readonly leasedAt: number;
}

/** What is known of a partition without reading its items. */
export interface Tally {
  readonly slot: number;
  /** The next sequence number; never falls, also when the slot changes hands. */
  readonly nextSeq: number;
  /** Items that are ready or leased. */
  readonly itemCount: number;
  /** Sum of their `createdAt`, for the average age. */
  readonly createdAtSum: bigint;
  readonly scheduledCount: number;
  readonly retriedCount: number;
  /** The latest expire deadline among items that are not `early`. */
  readonly expireDeadlineMax: number;
  /** Ready items that a clear has taken but not yet removed. */
  readonly doomedCount: number;
  /** Ready items before this number are being removed by a clear; 0 = none. */
  readonly clearReadyBelow: number;
  /** The same for items scheduled by a producer. */
  readonly clearScheduledBelow: number;
  /** The same for items scheduled by a retry. */
  readonly clearRetriedBelow: number;
}
