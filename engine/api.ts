// What the engine offers, as types: requests, results and the interface that
// `createEngine` returns. Instants are epoch milliseconds; `null` = not set.
// Every method throws `QueueError`, and nothing has changed when it does, unless
// its message says so.

import type { Pause, QueueDefinition } from "../stores/queue.ts";

/** Bytes, or a string that stands for its UTF-8 bytes. */
export type Payload = Uint8Array | string;

export interface ProduceItem {
  readonly payload: Payload;
  readonly kind?: string;
  readonly encoding?: string;
  readonly reference?: string;
  /** Not offered before this instant; `null` or past = at once. */
  readonly enqueueAt?: number | null;
  /**
   * Up to 256 bytes, for queues with `uniqueForMs`: for so long from when an item with a key was
   * written, another one with it is not, and counts as done. Absent or `""` = none.
   */
  readonly uniqueKey?: string;
}

/** Of calls that can be repeated. */
export interface Repeatable {
  /**
   * 1 to 255 visible ASCII characters, the caller's own for this call. The same call with the same
   * key is done once within the window of receipts (5 min), and answered each time as the first
   * time; another call with it is `invalid`. A key holds within a queue and an operation.
   */
  readonly requestKey?: string;
}

/** What a call that can be repeated says beside its result. */
export interface Outcome {
  /** It was done before, for the same key; this is what was answered then. */
  readonly replayed: boolean;
}

export interface Produced extends Outcome {
  /** Places in `items` of those that were not written, because their `uniqueKey` was taken. */
  readonly duplicates: readonly number[];
}

export interface ProduceRequest extends Repeatable {
  readonly queue: string;
  /** 10 ms to 15 min; past it the call fails with `empty` and has no effect. */
  readonly requestTimeoutMs: number;
  /** 1 to 1,000; all go to one partition, or none is written. */
  readonly items: readonly ProduceItem[];
}

/**
 * Finishes items and writes others, all of it or nothing. It names 1 to 1,000 ids and items in all;
 * those that are finished may be of several queues and partitions, but of one store.
 */
export interface TransactRequest extends Repeatable {
  /** As of a produce. */
  readonly requestTimeoutMs: number;
  readonly complete?: readonly TransactComplete[];
  readonly retry?: readonly TransactRetry[];
  readonly produce?: readonly TransactProduce[];
}

export type TransactComplete = Pick<CompleteRequest, "queue" | "partition" | "ids">;
export type TransactRetry = Pick<RetryRequest, "queue" | "partition" | "items">;
export type TransactProduce = Pick<ProduceRequest, "queue" | "items">;

export interface Transacted extends Outcome {
  /** One for each of `produce`. */
  readonly produced: readonly TransactProduced[];
}

export interface TransactProduced extends Pick<Produced, "duplicates"> {
  readonly queue: string;
  readonly partition: number;
  /** The items are in their partition; otherwise they are stored, and on their way there. */
  readonly delivered: boolean;
}

export interface LeaseRequest extends Repeatable {
  readonly queue: string;
  /** Unique among the leases that wait on this queue. */
  readonly clientId: string;
  /** 1 to 1,000. */
  readonly batchSize: number;
  /** How long to wait for the first item; then `empty`. */
  readonly requestTimeoutMs: number;
  /** How long the items are held; absent or `null` = as long as the queue says. */
  readonly leaseTimeoutMs?: number | null;
  /** Aborted when the caller is gone; the request then leaves the line. */
  readonly signal?: AbortSignal;
}

export interface LeasedItem {
  readonly id: string;
  readonly kind: string;
  readonly encoding: string;
  readonly reference: string;
  /** Leases granted so far, this one included. */
  readonly attempts: number;
  readonly leaseDeadline: number;
  readonly payload: Uint8Array;
}

export interface Lease<Items> extends Outcome {
  readonly queue: string;
  readonly partition: number;
  /** Of the queue; 0 = no limit. An item with as many attempts has its last. */
  readonly maxAttempts: number;
  readonly items: Items;
}

export interface ExtendRequest extends Repeatable {
  readonly queue: string;
  readonly partition: number;
  /** 1 to 1,000; all are extended, or none (`refused`, with every offending id in `details`). */
  readonly ids: readonly string[];
  /** How long they are held from now on; absent or `null` = as long as the queue says. */
  readonly leaseTimeoutMs?: number | null;
  /** As of a produce; absent = 5 min. */
  readonly requestTimeoutMs?: number;
}

export interface Extended extends Outcome {
  /** Until then all of them are held; never earlier than what was told before. */
  readonly leaseDeadline: number;
}

export interface ReleaseRequest extends Repeatable {
  readonly queue: string;
  readonly partition: number;
  /** 1 to 1,000; all go back, or none (`refused`, with every offending id in `details`). */
  readonly ids: readonly string[];
  /** As of a produce; absent = 5 min. */
  readonly requestTimeoutMs?: number;
}

export interface CompleteRequest extends Repeatable {
  readonly queue: string;
  readonly partition: number;
  readonly requestTimeoutMs: number;
  /** 1 to 1,000; all are completed, or none (`refused`, with every offending id in `details`). */
  readonly ids: readonly string[];
}

export interface RetryItem {
  readonly id: string;
  /** When to offer it again; `null` or past = now, at the tail. */
  readonly retryAt: number | null;
  /** Send it to the dead queue whatever attempts remain. */
  readonly dead: boolean;
}

export interface RetryRequest extends Repeatable {
  readonly queue: string;
  readonly partition: number;
  readonly items: readonly RetryItem[];
  /** As of a produce; absent = 5 min. */
  readonly requestTimeoutMs?: number;
}

export interface PartitionStats {
  readonly partition: number;
  /** Queued and leased; scheduled ones aside. */
  readonly total: number;
  readonly totalLeased: number;
  /** Waiting for their `enqueueAt` or `retryAt`. */
  readonly scheduled: number;
  /** Times its store failed since the engine started. */
  readonly failures: number;
  /** Mean time since creation, of queued and leased items. */
  readonly averageAgeMs: number;
  /** Mean time since they were leased, of leased items. */
  readonly averageLeasedAgeMs: number;
}

export interface QueueStats {
  readonly queue: string;
  readonly averageLeasedAgeMs: number;
  readonly produceWaiting: number;
  readonly leaseWaiting: number;
  readonly completeWaiting: number;
  readonly inFlight: number;
  readonly partitions: readonly PartitionStats[];
}

export interface QueueInspection {
  readonly queue: string;
  /** Partitions that exist, draining ones included. */
  readonly partitions: number;
  /** Ready to be leased. */
  readonly queued: number;
  /** Waiting for their `retryAt`. */
  readonly retried: number;
  /** Waiting for their `enqueueAt`. */
  readonly scheduled: number;
  readonly leased: number;
  /** Items that its dead queue holds, in whatever state; 0 without one. */
  readonly deadLetter: number;
}

export interface ClearRequest {
  readonly queue: string;
  /** Ready items. */
  readonly ready: boolean;
  /** Items scheduled by a producer. */
  readonly scheduled: boolean;
  /** Items scheduled by a retry. */
  readonly retried: boolean;
  /** With `ready`: leased items too; their holders can no longer finish them. */
  readonly destructive: boolean;
}

/** Without `lease` and `produce`, leases are paused; a side that is not named is not. */
export interface PauseRequest extends Partial<Pause> {
  readonly queue: string;
}

/** What a queue's owner sets; the rest of a `QueueDefinition` is the engine's. */
export type QueueSettings = Omit<
  QueueDefinition,
  "createdAt" | "updatedAt" | "pause" | TimeoutTexts
> &
  Partial<Pick<QueueDefinition, TimeoutTexts>>;

/** How the durations are written in answers; made from the milliseconds when absent. */
type TimeoutTexts = "leaseTimeoutText" | "expireTimeoutText" | "uniqueForText";

/** `name` and what has to change; absent keys keep their value. */
export type QueueChange = Pick<QueueSettings, "name"> & Partial<QueueSettings>;

export interface DeleteQueueRequest {
  readonly name: string;
  /** Also where it holds items, or is the dead queue of others. */
  readonly force: boolean;
}

export interface Imported extends Outcome {
  /** As they were stored, without those whose source id the queue had. */
  readonly items: readonly StoredItem[];
}

/** A stored item as the storage calls show it. */
export interface StoredItem {
  readonly id: string;
  /** The id under which it was dead-lettered or exported; `""` = none. */
  readonly sourceId: string;
  readonly isLeased: boolean;
  readonly leaseDeadline: number | null;
  readonly expireDeadline: number;
  /** When it would go to the dead queue; `null` without one. */
  readonly deadDeadline: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Set only while it is scheduled. */
  readonly enqueueAt: number | null;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly reference: string;
  readonly encoding: string;
  readonly kind: string;
  readonly payload: Uint8Array;
}

export interface ListRequest {
  readonly queue: string;
  readonly partition: number;
  /** The first id wanted, or the nearest after it; `""` = from the start. */
  readonly pivot: string;
  readonly limit: number;
}

export interface ImportItem {
  readonly payload: Payload;
  readonly sourceId?: string;
  readonly isLeased?: boolean;
  /** Needed when `isLeased`; ignored otherwise. */
  readonly leaseDeadline?: number | null;
  /** Absent or `null`: as if produced now. */
  readonly expireDeadline?: number | null;
  readonly createdAt?: number | null;
  readonly enqueueAt?: number | null;
  readonly attempts?: number;
  readonly reference?: string;
  readonly encoding?: string;
  readonly kind?: string;
}

export interface ImportRequest extends Repeatable {
  readonly queue: string;
  readonly partition: number;
  readonly items: readonly ImportItem[];
}

export interface DeleteItemsRequest {
  readonly queue: string;
  readonly partition: number;
  readonly ids: readonly string[];
}

/** Something that happened to a shard, and that an operator should know of. */
export interface Notice {
  readonly kind:
    | "shard_down"
    | "shard_up"
    | "store_full"
    | "items_quarantined"
    | "items_discarded"
    | "items_miscounted";
  readonly shard: number;
  /** Of `items_discarded`, which is told for each queue by itself; absent once the queue is deleted. */
  readonly queue?: string;
  readonly count?: number;
  /** The ids under which the first ten of `items_discarded` were last known. */
  readonly ids?: readonly string[];
  readonly cause?: unknown;
}

/** What an answer survives: a power cut, a killed process, or nothing. */
export type Durability = "full" | "normal" | "none";

/** A shard's file in a backup: `shard-<n>.db`. */
export interface StoreCopy {
  readonly shard: number;
  readonly bytes: number;
}

/** A snapshot for health and metrics. Counters rise from the engine's start; gauges are of now. */
export interface EngineStatus {
  readonly durability: Durability;
  readonly shards: readonly ShardStatus[];
  readonly queues: readonly QueueGauges[];
  readonly waitingLeases: number;
}

export interface ShardStatus {
  readonly shard: number;
  readonly up: boolean;
  /** Workers started in place of one that died. */
  readonly restarts: number;
  /** Commits that the store refused or failed. */
  readonly failures: number;
  readonly commits: number;
  readonly itemsCommitted: number;
  /** Commits by items in them; `le` ascending, the last one infinite. */
  readonly itemsPerCommit: Histogram;
  /** Seconds that commits took, sync included. */
  readonly commitSeconds: Histogram;
  readonly walBytes: number;
  readonly fileBytes: number;
  /** Damaged items set aside instead of being offered. */
  readonly quarantined: number;
  /** Items that starts found missing, or too many, against what was counted with each commit. */
  readonly miscounted: number;
  /** Its store has no room, and what only adds is refused. */
  readonly full: boolean;
}

export interface Histogram {
  /** Upper bounds, ascending; a last bucket beyond them is implied. */
  readonly bounds: readonly number[];
  /** Observations per bucket, one more than `bounds`; not cumulative. */
  readonly counts: readonly number[];
  readonly sum: number;
}

export interface QueueGauges {
  readonly queue: string;
  readonly queued: number;
  readonly leased: number;
  readonly scheduled: number;
  readonly retried: number;
  readonly waitingLeases: number;
  readonly leasePaused: boolean;
  readonly producePaused: boolean;
  /** 0 = no limit. */
  readonly leasedMax: number;
  /** Items a second; 0 = no limit. */
  readonly leaseRate: number;
  /** Items removed since start because they failed or expired with no dead queue to go to. */
  readonly discarded: number;
  readonly deadLettered: number;
  readonly lapsed: number;
  readonly expired: number;
}

/** `Items` is how leased items are handed over: `LeasedItem[]`, or what `renderLeased` makes of them. */
export interface Engine<Items = readonly LeasedItem[]> {
  produce(request: ProduceRequest): Promise<Produced>;
  transact(request: TransactRequest): Promise<Transacted>;
  lease(request: LeaseRequest): Promise<Lease<Items>>;
  complete(request: CompleteRequest): Promise<Outcome>;
  retry(request: RetryRequest): Promise<Outcome>;
  /** Holds leased items for longer. */
  extend(request: ExtendRequest): Promise<Extended>;
  /** Gives leased items back to the tail of their queue, the attempt not counted. */
  release(request: ReleaseRequest): Promise<Outcome>;

  listQueues(request: { pivot: string; limit: number }): readonly QueueDefinition[];
  createQueue(settings: QueueSettings): Promise<void>;
  updateQueue(change: QueueChange): Promise<void>;
  queueInfo(name: string): QueueDefinition;
  /**
   * Ends when nothing of the queue is left; its name is free before that. Throws `store` when a
   * shard stays down for so long that nobody should wait for it: the rest goes when it is up.
   */
  deleteQueue(request: DeleteQueueRequest): Promise<void>;

  /**
   * Once it has ended, nothing is leased, or a produce is refused, by whatever was under way, until
   * `resume`; also across restarts. What is to be paused takes the place of what was.
   */
  pause(request: PauseRequest): Promise<void>;
  /** Whatever is paused goes on; leases that wait are served in the order in which they came. */
  resume(queue: string): Promise<void>;

  stats(queue: string): Promise<QueueStats>;
  inspect(queue: string): Promise<QueueInspection>;
  clear(request: ClearRequest): Promise<void>;
  /** Counts the queue's items from its store, and puts that in place of the counts kept. */
  reload(queue: string): Promise<void>;

  listItems(request: ListRequest): Promise<readonly StoredItem[]>;
  listScheduled(request: ListRequest): Promise<readonly StoredItem[]>;
  importItems(request: ImportRequest): Promise<Imported>;
  deleteItems(request: DeleteItemsRequest): Promise<void>;

  /**
   * Copies every store into a folder that exists and is empty: all of one moment, as far as a
   * start can tell. Each shard pauses while its file is copied. Throws `store` where the folder
   * cannot be written, and where stores have no files.
   */
  backup(folder: string): Promise<readonly StoreCopy[]>;

  /**
   * Moves a test clock on by milliseconds, and returns its instant once all that falls due by then
   * is committed. Throws `refused` where there is none.
   */
  advance(byMs: number): Promise<number>;

  /** Throws `invalid` unless the queue exists, and the partition if one is named; for callers that have to check them first. */
  requireQueue(name: string, partition?: number): void;
  status(): EngineStatus;
  /** Answers what waits, finishes the turn, closes the stores. Idempotent. */
  close(): Promise<void>;
}
