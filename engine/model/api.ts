// The types of the engine: requests, results, and the interface that `createEngine` returns.
// Instants are epoch milliseconds; `null` = not set. Every method throws `QueueError`; after that
// nothing has changed, unless the message says otherwise.

import type { Payload } from "../../stores/item.ts";
import type { Pause, QueueDefinition } from "../../stores/queue.ts";
import type { Filter, ItemSummary, SummaryField } from "./filter.ts";
import type { Headers } from "./headers.ts";
import type { Histogram } from "./histogram.ts";
import type { OwnSettings, Past } from "./provenance.ts";

export interface ProduceItem extends OwnSettings {
  readonly payload: Payload;
  readonly kind?: string;
  readonly encoding?: string;
  readonly reference?: string;
  /** For the consumer, such as a trace context; at most 2,048 bytes as JSON. */
  readonly headers?: Headers;
  /** 0 to 9, 9 first; absent = 0. */
  readonly priority?: number;
  /** Up to 256 bytes, for queues that are `grouped`. Absent or `""` = the group without a name. */
  readonly group?: string;
  /** Not offered before this instant; `null` or past = at once. */
  readonly enqueueAt?: number | null;
  /**
   * Up to 256 bytes, for queues with `uniqueForMs`. For that long after an item with this key was
   * written, or with `pending` while that is unfinished, another item with it is not written and
   * counts as done. Absent or `""` = none.
   */
  readonly uniqueKey?: string;
}

export interface Repeatable {
  /**
   * 1 to 255 visible ASCII characters, chosen by the caller for this call. A repetition with the
   * same key within the receipts window (5 min) has no further effect and returns the first result.
   * A different call with the key is `invalid`. A key is scoped to a queue and an operation.
   */
  readonly requestKey?: string;
}

export interface Outcome {
  /** The call was already done under this key; this is its first result. */
  readonly replayed: boolean;
}

export interface Produced extends Outcome {
  /** Indexes in `items` of the items that were not written because their `uniqueKey` was taken. */
  readonly duplicates: readonly number[];
  /** In the order of the items, `""` for a duplicate; only if requested by `returnIds`. */
  readonly ids?: readonly string[];
}

export interface ProduceRequest extends Repeatable {
  readonly queue: string;
  /** 10 ms to 15 min; past it the call fails with `empty` and has no effect. */
  readonly requestTimeoutMs: number;
  /** 1 to 1,000; all go to one partition, or none is written. */
  readonly items: readonly ProduceItem[];
  /** Whether to return the ids; default false. */
  readonly returnIds?: boolean;
}

/**
 * Completes or retries items and produces others, atomically. It contains 1 to 1,000 ids and items
 * in total. The completed and retried items may be of several queues and partitions, but of one
 * store.
 */
export interface TransactRequest extends Repeatable {
  /** See `ProduceRequest`. */
  readonly requestTimeoutMs: number;
  readonly complete?: readonly TransactComplete[];
  readonly retry?: readonly TransactRetry[];
  readonly produce?: readonly TransactProduce[];
}

export type TransactComplete = Pick<CompleteRequest, "queue" | "partition" | "ids">;
export type TransactRetry = Pick<RetryRequest, "queue" | "partition" | "items">;
export type TransactProduce = Pick<ProduceRequest, "queue" | "items">;

export interface Transacted extends Outcome {
  /** One per entry of `produce`. */
  readonly produced: readonly TransactProduced[];
}

export interface TransactProduced extends Pick<Produced, "duplicates"> {
  readonly queue: string;
  /** `null` = not delivered yet: the shard of the queue chooses the partition. */
  readonly partition: number | null;
  /** The items are in their queue; otherwise they are stored and on their way. */
  readonly delivered: boolean;
}

export interface LeaseRequest extends Repeatable {
  readonly queue: string;
  /** Unique among the leases waiting on this queue. */
  readonly clientId: string;
  /** 1 to 1,000. */
  readonly batchSize: number;
  /** How long to wait for the first item; then `empty`. */
  readonly requestTimeoutMs: number;
  /** How long the items are leased; absent or `null` = each item's own timeout, or the queue's. */
  readonly leaseTimeoutMs?: number | null;
  /** 0 to 9: takes no items of a lower priority, however long they have waited; absent = 0. */
  readonly priorityMin?: number;
  /**
   * Of a group with a limit of one leased item, a lease may take several that follow each other, if
   * no other group is open; the caller handles them one after the other. Absent = one at a time.
   */
  readonly groupRuns?: boolean;
  /** Aborting it removes the waiting request. */
  readonly signal?: AbortSignal;
}

export interface LeasedItem {
  readonly id: string;
  readonly kind: string;
  readonly encoding: string;
  readonly reference: string;
  readonly priority: number;
  /** Leases granted so far, including this one. */
  readonly attempts: number;
  readonly leaseDeadline: number;
  readonly payload: Uint8Array;
  /** Absent = none. */
  readonly group?: string;
  /** Absent = none. */
  readonly headers?: Headers;
  /** Absent = this is its first stay in its first queue, and it has no settings of its own. */
  readonly past?: Past;
}

export interface Lease<Items> extends Outcome {
  readonly queue: string;
  readonly partition: number;
  /** The queue's limit, for items without their own (`past.maxAttempts`); 0 = none. */
  readonly maxAttempts: number;
  /** The queue's, such as `1s..5m`: for retries without `retryAt` and `retryAfterMs`; absent = none. */
  readonly retryBackoff?: string;
  /** The engine's time at this reply: a deadline minus this is the remaining lease. */
  readonly now: number;
  readonly items: Items;
}

export interface ExtendRequest extends Repeatable {
  readonly queue: string;
  readonly partition: number;
  /** 1 to 1,000; all are extended, or none (`refused`, with every offending id in `details`). */
  readonly ids: readonly string[];
  /** How long the items are leased from now on; absent or `null` = each item's own, or the queue's. */
  readonly leaseTimeoutMs?: number | null;
  /** See `ProduceRequest`; absent = 5 min. */
  readonly requestTimeoutMs?: number;
}

export interface Extended extends Outcome {
  /** The earliest new deadline of the items; none is earlier than one returned before. */
  readonly leaseDeadline: number;
  /** The engine's time at this reply. */
  readonly now: number;
}

export interface ReleaseRequest extends Repeatable {
  readonly queue: string;
  readonly partition: number;
  /** 1 to 1,000; all are released, or none (`refused`, with every offending id in `details`). */
  readonly ids: readonly string[];
  /** See `ProduceRequest`; absent = 5 min. */
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
  /**
   * When to offer it again; past = now, at the tail. `null` without a `retryAfterMs`: after the
   * queue's `retryBackoff`, or now if it has none.
   */
  readonly retryAt: number | null;
  /** Alternative to `retryAt` (then `null`) that needs no synchronized clock. */
  readonly retryAfterMs?: number | null;
  /** Send it to the dead queue whatever attempts remain. */
  readonly dead: boolean;
  /** Shown with the item; at most 1,024 bytes. Absent or `""` keeps the previous reason. */
  readonly reason?: string;
}

export interface RetryRequest extends Repeatable {
  readonly queue: string;
  readonly partition: number;
  readonly items: readonly RetryItem[];
  /** See `ProduceRequest`; absent = 5 min. */
  readonly requestTimeoutMs?: number;
}

export interface PartitionStats {
  readonly partition: number;
  /** Ready and leased items, without scheduled ones. */
  readonly total: number;
  readonly totalLeased: number;
  /** Waiting for their `enqueueAt` or `retryAt`. */
  readonly scheduled: number;
  /** Failures of its store since the engine started. */
  readonly failures: number;
  /** Mean time since creation of ready and leased items. */
  readonly averageAgeMs: number;
  /** Mean time since leasing of leased items. */
  readonly averageLeasedAgeMs: number;
  /**
   * When its oldest ready item became ready, or slightly earlier; `null` = no item is ready, or the
   * shard has not looked since its start.
   */
  readonly oldestReadyAt: number | null;
  /** When its first scheduled item is due, or slightly earlier; `null` = none is scheduled. */
  readonly nextDueAt: number | null;
}

export interface QueueStats {
  readonly queue: string;
  readonly averageLeasedAgeMs: number;
  readonly produceWaiting: number;
  readonly leaseWaiting: number;
  readonly completeWaiting: number;
  readonly inFlight: number;
  readonly partitions: readonly PartitionStats[];
  readonly counters: QueueCounters;
}

export interface QueueInspection {
  readonly queue: string;
  /** Existing partitions, including draining ones. */
  readonly partitions: number;
  /** Ready to be leased. */
  readonly queued: number;
  /** Waiting for their `retryAt`. */
  readonly retried: number;
  /** Waiting for their `enqueueAt`. */
  readonly scheduled: number;
  readonly leased: number;
  /** Items in its dead queue, in any state; 0 without a dead queue. */
  readonly deadLetter: number;
}

/** Options of calls that remove items. */
export interface Guard {
  /** Returns what the call would remove; changes nothing. */
  readonly dryRun?: boolean;
  /** Refused (`count_changed`) if it would remove more items than this; absent = no bound. */
  readonly expect?: number;
}

export interface ItemCounts {
  readonly ready: number;
  readonly leased: number;
  /** Waiting for their `enqueueAt`. */
  readonly scheduled: number;
  /** Waiting for their `retryAt`. */
  readonly retried: number;
}

/** Conditions that need attention, worst first. */
export type FindingWord =
  | "shard_down"
  | "store_full"
  | "no_consumers"
  | "backlog_growing"
  | "leases_lapsing"
  | "dead_items"
  | "groups_blocked"
  | "clearing"
  | "paused"
  | "at_leased_max"
  | "at_lease_rate"
  | "all_leased"
  | "all_scheduled";

/** The worst finding; without one, whether items flow. */
export type HealthWord =
  | Exclude<FindingWord, "at_leased_max" | "at_lease_rate">
  | "at_limit"
  | "flows"
  | "idle"
  | "empty";

export interface Finding {
  readonly kind: FindingWord;
  readonly since: number;
  /** The number of items or partitions that the finding concerns. */
  readonly count: number;
  /** When time alone may change it; `null` = time does not. */
  readonly nextAt: number | null;
  /** A sentence for a person. */
  readonly text: string;
}

export interface Explanation {
  readonly queue: string;
  readonly asOf: number;
  readonly health: HealthWord;
  readonly findings: readonly Finding[];
}

export interface WaitingClient {
  readonly client: string;
  readonly since: number;
  readonly batchSize: number;
  /** Position in the line, from 1; 0 = being served. */
  readonly position: number;
}

export interface HoldingClient {
  /** `""` = unknown: leased before the engine started, or imported. */
  readonly client: string;
  readonly items: number;
  readonly partitions: readonly number[];
  readonly nextLapseAt: number;
}

export interface QueueClients {
  readonly queue: string;
  readonly asOf: number;
  /** The total, whatever the limit. */
  readonly waitingCount: number;
  readonly waiting: readonly WaitingClient[];
  readonly holdingCount: number;
  readonly holding: readonly HoldingClient[];
  /** A shard did not reply, so holders may be missing. */
  readonly isPartial: boolean;
}

/** One queue at a glance; an absent instant is 0. */
export interface OverviewRow extends QueueCounters {
  readonly queue: string;
  readonly health: HealthWord;
  readonly healthSince: number;
  /** The count of the finding, such as items; 0 = no finding. */
  readonly healthCount: number;
  readonly nextAt: number;
  readonly ready: number;
  /** Leased now. */
  readonly held: number;
  /** By a producer or a retry. */
  readonly scheduled: number;
  /** Lease requests in line. */
  readonly waiting: number;
  readonly oldestReadyAt: number;
  readonly nextDueAt: number;
  /** When leases, produces or both were paused; 0 = neither is. */
  readonly pausedSince: number;
  /** The shard of all its partitions. */
  readonly shard: number;
}

export interface ShardGlance {
  readonly shard: number;
  readonly state: "up" | "full" | "down";
  /** When the current state began, if it is not `up`; `null` = up. */
  readonly since: number | null;
  /** Over the last 30 to 60 seconds; `null` = there were no commits. */
  readonly commitP50Us: number | null;
  readonly commitP99Us: number | null;
  readonly restarts: number;
  readonly failures: number;
  readonly quarantined: number;
  readonly miscounted: number;
  readonly walBytes: number;
  readonly fileBytes: number;
  /** Requests without a reply so far. */
  readonly waiting: number;
  /** Items that its commits wrote, leased or removed: average of the last minute, rounded up. */
  readonly itemsPerSecond: number;
}

/** A condition that needs a person's attention. */
export interface Alarm {
  readonly kind: FindingWord | "items_damaged" | "items_miscounted";
  readonly since: number | null;
  readonly count: number;
  /** `""` = the alarm concerns a shard. */
  readonly queue: string;
  readonly shard: number | null;
  readonly text: string;
}

export type OverviewTotals = QueueCounters &
  Pick<OverviewRow, "ready" | "held" | "scheduled" | "waiting"> & { readonly queues: number };

export interface EngineOverview {
  readonly asOf: number;
  /** A token for the next call, which then returns only later changes. */
  readonly since: string;
  /** Whether `rows` has all queues. */
  readonly isWhole: boolean;
  readonly totals: OverviewTotals;
  readonly rows: readonly OverviewRow[];
  /** Queues that no longer exist. */
  readonly removed: readonly string[];
  readonly shard: ShardGlance;
  readonly alarms: readonly Alarm[];
  /** Running tasks, newest first. */
  readonly tasks: readonly TaskInfo[];
}

export interface ClearRequest extends Guard {
  readonly queue: string;
  /** Ready items. */
  readonly ready: boolean;
  /** Items scheduled by a producer. */
  readonly scheduled: boolean;
  /** Items scheduled by a retry. */
  readonly retried: boolean;
  /** With `ready`: leased items too; their holders can no longer complete them. */
  readonly destructive: boolean;
}

/** Without `lease` and `produce`, leases are paused; otherwise an absent side is not paused. */
export interface PauseRequest extends Partial<Pause> {
  readonly queue: string;
  /** The author of the pause, reported until the engine closes; absent or `""` = not recorded. */
  readonly by?: string;
}

/** The settings that the owner of a queue chooses; the engine adds the rest of a definition. */
export type QueueSettings = Omit<
  QueueDefinition,
  "createdAt" | "updatedAt" | "pause" | TimeoutTexts
> &
  Partial<Pick<QueueDefinition, TimeoutTexts>>;

/** The required settings of a new queue and the optional ones. */
export type NewQueue = Pick<QueueSettings, "name" | "leaseTimeoutMs" | "expireTimeoutMs"> &
  Partial<QueueSettings>;

/** How replies write the durations; derived from the milliseconds if absent. */
type TimeoutTexts =
  | ("leaseTimeoutText" | "expireTimeoutText")
  | ("uniqueForText" | "priorityAgingText");

/** `name` and the settings to change; absent keys keep their value. */
export type QueueChange = Pick<QueueSettings, "name"> & Partial<QueueSettings>;

/** The effects of a delete. */
export interface Deletion {
  readonly counts: ItemCounts;
  /** Lease requests waiting on it, which are refused. */
  readonly waitingLeases: number;
  /** Queues that had it as their dead queue, and have none afterwards. */
  readonly dependents: readonly string[];
}

export interface DeleteQueueRequest extends Guard {
  readonly name: string;
  /** Delete it even if it holds items or is the dead queue of others. */
  readonly force: boolean;
}

/** Whether a caller may see a queue that its request does not name; absent = every queue. */
export type IsShown = (queue: string) => boolean;

export interface DeleteQueueRules {
  readonly isShown?: IsShown;
  /** Receives the queues whose dead queue is deleted, before anything changes; may throw. */
  readonly checkDependents?: (names: readonly string[]) => void;
}

export interface Imported extends Outcome {
  /** The stored items, without those whose source id was already in the queue. */
  readonly items: readonly StoredItem[];
}

/** A stored item as the storage calls return it. */
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
  readonly priority: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly reference: string;
  readonly encoding: string;
  readonly kind: string;
  readonly payload: Uint8Array;
  /** Absent = none. */
  readonly group?: string;
  /** Absent = none. */
  readonly headers?: Headers;
  /** Absent = this is its first stay in its first queue. */
  readonly past?: Past;
}

export interface ListRequest {
  readonly queue: string;
  readonly partition: number;
  /** The first id of the page, or the nearest after it; `""` = from the start. */
  readonly pivot: string;
  readonly limit: number;
}

/** `scheduled`: waiting for its `enqueueAt` or `retryAt`. */
export type ItemState = "ready" | "leased" | "scheduled";

export interface FindRequest {
  readonly queue: string;
  /** Absent or `null` = all. */
  readonly partition?: number | null;
  /** Absent or `null` = all. */
  readonly state?: ItemState | null;
  /** The `clientId` that holds the item; absent = any. */
  readonly holder?: string;
  /** `newest`: latest arrivals first. Absent: by partition, scheduled items last, each by id. */
  readonly order?: "newest";
  /** `nextPivot` of the previous page; `""` = from the start. */
  readonly pivot: string;
  /** 1 to 1,000. */
  readonly limit: number;
  readonly filter: Filter;
  /** Bytes of each payload to return, up to 65,536; absent = none. */
  readonly payloadHead?: number;
}

/** A page of results; it may be empty although more follow. */
export interface Found<T> {
  readonly found: readonly T[];
  /** Items scanned. */
  readonly scanned: number;
  /** `""` = this is the last page. */
  readonly nextPivot: string;
}

export interface FoundItem extends StoredItem {
  readonly queue: string;
  readonly partition: number;
  readonly state: ItemState;
  /** The `clientId` that holds it; `""` = none, or leased before a restart. */
  readonly holder: string;
  /** Bytes of the whole payload. */
  readonly payloadBytes: number;
}

/** A range of bytes of a payload. */
export interface PayloadRange {
  /** Offset of the first byte; absent = 0. */
  readonly payloadOffset?: number;
  /** The most bytes; absent = to the end. */
  readonly payloadLimit?: number;
}

export interface SummarizeRequest extends Omit<FindRequest, "limit" | "payloadHead" | "order"> {
  readonly by: SummaryField;
  /** The most summaries per page, largest count first; absent = all. */
  readonly top?: number;
}

export interface Summarized extends Found<ItemSummary> {
  /** Items in summaries that `top` left out. */
  readonly others: number;
}

/** The items of a queue that a task processes. Except for `retry`, they are not leased. */
export interface TaskRequest extends Repeatable {
  readonly queue: string;
  /** Up to 1,000; absent = all items that match the filter. */
  readonly ids?: readonly string[];
  readonly filter?: Filter;
  /** The most items to change. */
  readonly limit?: number;
  /** Items per second; absent = as fast as possible. */
  readonly perSecond?: number;
  /** Only count. */
  readonly dryRun?: boolean;
  /** If more items match, nothing is changed (`refused`). */
  readonly expect?: number;
  /** The person or program that requests it, reported with the task; absent = not recorded. */
  readonly by?: string;
}

/** Moves ready items, normally out of a dead queue. */
export interface RedriveRequest extends TaskRequest {
  /** The destination of all items; absent = the queue that each came from. */
  readonly to?: string;
}

/**
 * `promote`: scheduled items become ready at once. `reject`: items go to the dead queue, as if a
 * consumer had given them up. `retry`: leased items are requeued, as if their holder had retried
 * them; the holder can no longer complete them. `prioritize`: items get another priority.
 * `delete`: items are removed.
 */
export type Repair = "promote" | "reject" | "retry" | "prioritize" | "delete";

export interface RepairRequest extends TaskRequest {
  readonly action: Repair;
  /** Absent = all that are not leased; for `promote` the scheduled ones. */
  readonly state?: ItemState | null;
  /** For `retry`: the `clientId` that holds the items; absent = any. */
  readonly holder?: string;
  /** For `reject` or `retry`; up to 1,024 bytes. */
  readonly reason?: string;
  /** For `prioritize`, which requires it: 0 to 9. */
  readonly priority?: number;
}

export interface TaskBegun extends Outcome {
  /** `""` for a dry run. */
  readonly taskId: string;
  /** Items that match now. */
  readonly matched: number;
  /** The ten destinations with the most items, largest first, and the items that stay. */
  readonly destinations: readonly Destination[];
}

export interface Destination {
  /** `""` = they stay, because the queue that they came from no longer exists. */
  readonly queue: string;
  /** All that match, even beyond the task's `limit`. */
  readonly count: number;
}

export type TaskAction = Repair | "redrive";

/** `failed`: the destination of all items no longer exists. */
export type TaskState = "running" | "done" | "cancelled" | "failed";

export interface TaskInfo {
  readonly taskId: string;
  readonly action: TaskAction;
  readonly state: TaskState;
  readonly queue: string;
  /** For a redrive; `""` = each item to the queue that it came from. */
  readonly to: string;
  /** For a retry; `""` = any holder. */
  readonly holder: string;
  /** For `prioritize`; otherwise 0. */
  readonly priority: number;
  readonly filter: Filter;
  /** 0 = as fast as possible. */
  readonly perSecond: number;
  /** Items that matched when it began. */
  readonly matched: number;
  /** Items processed. */
  readonly moved: number;
  /** Items left in place: they have no destination, or already the priority. */
  readonly skipped: number;
  /** The person or program that requested it; `""` = not recorded. */
  readonly by: string;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

export interface GroupListRequest {
  readonly queue: string;
  /** The first group of the page, or the nearest after it; `""` = from the start. */
  readonly pivot: string;
  /** 1 to 1,000. */
  readonly limit: number;
  /** Only groups with waiting items of which none may be leased. */
  readonly blocked?: boolean;
}

/**
 * Why no waiting item of a group may be leased. `paused`, `dead`: until `setGroup` changes it;
 * `retry`: in order `strict`, an item that came back is not finished; `leased_max`, `rate`: its
 * limits. `""` = one may be, or none waits.
 */
export type GroupBlock = "" | "paused" | "dead" | "retry" | "leased_max" | "rate";

export interface GroupInfo {
  readonly group: string;
  /** Ready items. */
  readonly waiting: number;
  readonly leased: number;
  /** Waiting for their `enqueueAt`. */
  readonly scheduled: number;
  /** Waiting for their `retryAt`. */
  readonly retried: number;
  /** When its first ready item was created; `null` = none is ready, or unknown. */
  readonly oldestAt: number | null;
  readonly blockedBy: GroupBlock;
  /** The item by which it is blocked, such as the dead letter; `""` = none, or several. */
  readonly blockedId: string;
  /** When `rate` opens it again; `null` = it is not closed by that. */
  readonly nextAt: number | null;
  /** Its own settings; 0 and `""` = those of the queue. */
  readonly leasedMax: number;
  readonly rate: string;
  readonly weight: number;
  readonly paused: boolean;
}

/** A page of groups, in the order of their names. */
export interface GroupPage {
  readonly groups: readonly GroupInfo[];
  /** `""` = this is the last page. */
  readonly nextPivot: string;
}

/** Absent settings keep their value. */
export interface GroupChange {
  readonly queue: string;
  readonly group: string;
  /** Items that may be leased at one time; 0 = as the queue has it. */
  readonly leasedMax?: number;
  /** Items that may be leased in an interval, such as `10/1s`; `""` = as the queue has it. */
  readonly rate?: string;
  /** Items per turn, 1 to 100. */
  readonly weight?: number;
  readonly paused?: boolean;
  /** Opens a group that a dead letter has closed. */
  readonly unblock?: boolean;
}

/** Everything that can happen to an item, in the order of its life. */
export type ItemEventKind =
  | ("produced" | "imported" | "due" | "leased" | "extended" | "completed" | "retried")
  | ("released" | "lapsed" | "expired" | "dead" | "discarded" | "redriven" | "returned")
  | ("promoted" | "rejected" | "prioritized" | "removed" | "damaged");

/** An event of an item, under the id that the item had then. */
export interface ItemEvent {
  readonly at: number;
  readonly kind: ItemEventKind;
  /** The client that held it; `""` = none, or unknown. */
  readonly holder: string;
  readonly id: string;
  /** `""` = the queue no longer exists. */
  readonly queue: string;
  readonly partition: number | null;
}

/** An item, looked up by any of its ids, and why it is in its present state. */
export interface ItemExplained {
  readonly id: string;
  /** `null` = not found. */
  readonly item: FoundItem | null;
  /** For a ready item: items ahead of it in its partition; a lower bound unless `isAheadExact`. */
  readonly ahead: number;
  readonly isAheadExact: boolean;
  /** Sentences, the most important first. */
  readonly why: readonly string[];
  /** The events still in memory. */
  readonly history: readonly ItemEvent[];
  /** Earlier events may be missing; `null` = the id is unknown, or no history is kept. */
  readonly historySince: number | null;
}

export interface ImportItem {
  readonly payload: Payload;
  readonly sourceId?: string;
  readonly isLeased?: boolean;
  /** Required with `isLeased`; otherwise ignored. */
  readonly leaseDeadline?: number | null;
  /** Absent or `null`: as if produced now. */
  readonly expireDeadline?: number | null;
  readonly createdAt?: number | null;
  readonly enqueueAt?: number | null;
  readonly priority?: number;
  /** See `ProduceItem`. */
  readonly group?: string;
  readonly attempts?: number;
  readonly reference?: string;
  readonly encoding?: string;
  readonly kind?: string;
  readonly headers?: Headers;
  /** See `StoredItem`. */
  readonly past?: Past;
}

export interface ImportRequest extends Repeatable {
  readonly queue: string;
  readonly partition: number;
  readonly items: readonly ImportItem[];
}

export interface DeleteItemsRequest extends Guard {
  readonly queue: string;
  readonly partition: number;
  readonly ids: readonly string[];
}

export interface CancelItemsRequest extends Repeatable {
  readonly queue: string;
  /** 1 to 1,000 current ids. */
  readonly ids: readonly string[];
  /** See `ProduceRequest`; absent = 5 min. */
  readonly requestTimeoutMs?: number;
}

/** `retried`: it waited for its `retryAt`; `not_found`: no item of the queue has this id. */
export type CancelledState = keyof ItemCounts | "not_found";

export interface CancelledItem {
  readonly id: string;
  /** Its state before it was removed. */
  readonly was: CancelledState;
}

export interface Cancelled extends Outcome {
  /** In the order of the request. */
  readonly items: readonly CancelledItem[];
}

/** An event of a shard that an operator should know about. */
export interface Notice {
  readonly kind:
    | "shard_down"
    | "shard_up"
    | "store_full"
    | "items_quarantined"
    | "items_discarded"
    | "items_miscounted"
    | "commits_lost"
    | "items_set_aside"
    | "store_went_back";
  readonly shard: number;
  /** For `items_discarded`, which is reported per queue; absent once the queue is deleted. */
  readonly queue?: string;
  readonly count?: number;
  /** The original ids of up to ten items, for `items_discarded`. */
  readonly ids?: readonly string[];
  readonly cause?: unknown;
}

/** The failures that a confirmed change survives: a power cut, a killed process, or none. */
export type Durability = "full" | "normal" | "none";

/** A shard's file in a backup: `shard-<n>.db`. */
export interface StoreCopy {
  readonly shard: number;
  readonly bytes: number;
}

/** A snapshot for health and metrics. Counters start with the engine; gauges are current. */
export interface EngineStatus {
  /** The engine's clock, which also applies to the instants below. */
  readonly now: number;
  readonly durability: Durability;
  readonly shards: readonly ShardStatus[];
  readonly queues: readonly QueueGauges[];
  readonly waitingLeases: number;
}

export interface ShardStatus {
  readonly shard: number;
  readonly up: boolean;
  /** How often its store was reopened after a failure. */
  readonly restarts: number;
  /** Commits that the store refused or failed. */
  readonly failures: number;
  readonly commits: number;
  readonly itemsCommitted: number;
  /** Commits by number of items; bounds ascending, the last bucket unbounded. */
  readonly itemsPerCommit: Histogram;
  /** Seconds per commit, including the sync. */
  readonly commitSeconds: Histogram;
  readonly walBytes: number;
  readonly fileBytes: number;
  /** Items set aside instead of being offered: damaged ones, and those of unknown queues. */
  readonly quarantined: number;
  /** Items that starts found missing or surplus, compared with the counts of the commits. */
  readonly miscounted: number;
  /** Calls with a key that it remembers. */
  readonly receipts: number;
  /** Its store has no room; requests that only add are refused. */
  readonly full: boolean;
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
  /** Items per second; 0 = no limit. */
  readonly leaseRate: number;
  /** When the oldest ready item became ready, or slightly earlier; `null` = none is ready. */
  readonly oldestReadyAt: number | null;
  /** When the first scheduled item is due, or slightly earlier; `null` = none is scheduled. */
  readonly nextDueAt: number | null;
  readonly counters: QueueCounters;
  /** Seconds from ready to leased; `null` = none was leased. */
  readonly waited: Histogram | null;
  /** Seconds from leased to completed; `null` = none was completed. */
  readonly held: Histogram | null;
}

/**
 * Events of items since the engine has had the queue. The events of a turn whose shard failed
 * before reporting are not counted, so none is counted twice.
 */
export interface QueueCounters {
  /** Produced or imported, without duplicates of a unique key. */
  readonly produced: number;
  readonly leased: number;
  readonly completed: number;
  /** Retried by a consumer, wherever they went then. */
  readonly retried: number;
  /** Requeued without counting the attempt, including those whose client had left. */
  readonly released: number;
  readonly extended: number;
  readonly lapsed: number;
  readonly expired: number;
  /** Sent from this queue to its dead queue. */
  readonly dead: number;
  /** Removed because they failed or expired without a dead queue. */
  readonly discarded: number;
  /** Cleared, or deleted by id. */
  readonly removed: number;
  /** Arrived as dead letters of another queue, or by a redrive; they were produced elsewhere. */
  readonly arrived: number;
  /** Sent to another queue by a redrive. */
  readonly redriven: number;
}

/** Names of the time series of a queue. */
export type SeriesName =
  | keyof QueueCounters
  | "ready"
  | "held"
  | "scheduled"
  | "waiting"
  | "oldest_ready_seconds";

/** Names of the time series of a shard. */
export type ShardSeriesName =
  | ("commits" | "items_committed" | "commit_p50_us" | "commit_p99_us")
  | ("file_bytes" | "log_bytes");

export interface SeriesRequest {
  /** Absent = all queues together, or a shard. */
  readonly queue?: string;
  readonly shard?: number;
  /** At least one, each once; with `shard`, only series of shards. */
  readonly names: readonly (SeriesName | ShardSeriesName)[];
  /** The first instant; absent = the oldest kept. */
  readonly from?: number;
  /** 10 s, kept for an hour, or 60 s, kept for a day; absent = 10 s if it reaches to `from`. */
  readonly stepMs?: number;
}

/** Recent values of a queue or a shard. */
export interface Series {
  /** The start of the record; `null` = none is kept. */
  readonly since: number | null;
  /** Where the first point begins; an unfinished point is left out. */
  readonly from: number;
  readonly stepMs: number;
  /** One array per requested name: the count within each point, or a gauge at its end. */
  readonly values: readonly (readonly number[])[];
}

export interface AdvanceOptions {
  /**
   * How long to wait at each instant, by the machine's clock, for workers to finish their items and
   * to lease ready ones. Default 0, no wait.
   */
  readonly handlerTimeoutMs?: number | undefined;
}

/** `Items` is the form of leased items: `LeasedItem[]`, or the result of `renderLeased`. */
export interface Engine<Items = readonly LeasedItem[]> {
  produce(request: ProduceRequest): Promise<Produced>;
  transact(request: TransactRequest): Promise<Transacted>;
  lease(request: LeaseRequest): Promise<Lease<Items>>;
  complete(request: CompleteRequest): Promise<Outcome>;
  retry(request: RetryRequest): Promise<Outcome>;
  /** Prolongs the lease of items. */
  extend(request: ExtendRequest): Promise<Extended>;
  /** Requeues leased items at the tail without counting the attempt. */
  release(request: ReleaseRequest): Promise<Outcome>;

  listQueues(request: { pivot: string; limit: number }): readonly QueueDefinition[];
  createQueue(settings: QueueSettings, isShown?: IsShown): Promise<void>;
  /** Returns the counts of the partitions that are to be emptied and removed. */
  updateQueue(change: QueueChange & Guard, isShown?: IsShown): Promise<ItemCounts>;
  queueInfo(name: string): QueueDefinition;
  /**
   * Ends when nothing of the queue is left; its name is free before that. Throws `store` if a shard
   * stays down too long to wait for; the rest is deleted once it is up.
   */
  deleteQueue(request: DeleteQueueRequest, rules?: DeleteQueueRules): Promise<Deletion>;

  /**
   * Once it has ended, no earlier call still leases, or produces, until `resume`; also across
   * restarts. It replaces an earlier pause.
   */
  pause(request: PauseRequest): Promise<void>;
  /** Ends any pause; waiting leases are served in order of arrival. */
  resume(queue: string): Promise<void>;

  stats(queue: string): Promise<QueueStats>;
  /** Recorded from the engine's start, if the engine was given bytes for it. */
  series(request: SeriesRequest): Series;
  /** The dead queue is counted only if `isShown` permits. */
  inspect(queue: string, isShown?: IsShown): Promise<QueueInspection>;
  /** Findings from memory alone, without waiting for a shard. */
  explain(queue: string, isShown?: IsShown): Explanation;
  /** The clients that wait for its items or hold some; 1 to 1,000 of each. */
  clients(request: { queue: string; limit: number }): Promise<QueueClients>;
  /**
   * All queues at a glance, scanned at most once per second. `since`: a token of an earlier
   * overview, to return only queues that have changed; `""` = all. `isShown`: the queues to
   * include; absent = all.
   */
  overview(
    since: string,
    isShown?: IsShown,
  ): { readonly now: number; readonly overview: EngineOverview };
  /** Returns what was removed, or would be. With `expect`: the whole queue or nothing. */
  clear(request: ClearRequest): Promise<ItemCounts>;
  /** Counts the queue's items in its store and replaces the counts in memory. */
  reload(queue: string): Promise<void>;

  listItems(request: ListRequest): Promise<readonly StoredItem[]>;
  listScheduled(request: ListRequest): Promise<readonly StoredItem[]>;
  importItems(request: ImportRequest): Promise<Imported>;
  /** Returns what was deleted, or would be. */
  deleteItems(request: DeleteItemsRequest): Promise<ItemCounts>;
  /**
   * Removes unfinished items, whatever their state. The holder of a leased one learns of it when it
   * next extends, completes or retries the item.
   */
  cancelItems(request: CancelItemsRequest): Promise<Cancelled>;
  /** Items that match a filter; examines at most 100,000 per call. */
  findItems(request: FindRequest): Promise<Found<FoundItem>>;
  /** The groups that have items or settings of their own. */
  listGroups(request: GroupListRequest): Promise<GroupPage>;
  /** Returns the group as it is then. */
  setGroup(change: GroupChange): Promise<GroupInfo>;
  /** Like `findItems`, but counts the items by what they have in common. */
  summarizeItems(request: SummarizeRequest): Promise<Summarized>;
  /**
   * Moves ready items back to the queues they came from, as new items that keep their `past`.
   * Returns once it is certain to be done; the task does it, also across restarts.
   */
  redrive(request: RedriveRequest): Promise<TaskBegun>;
  /**
   * Changes items that are not leased, whatever their attempts, or takes them from their holders;
   * as a task, like `redrive`.
   */
  repair(request: RepairRequest): Promise<TaskBegun>;
  /** Newest first, ended ones included. */
  listTasks(queue?: string): readonly TaskInfo[];
  taskInfo(taskId: string): TaskInfo;
  /** Once it returns, the task moves nothing more. */
  cancelTask(taskId: string): Promise<TaskInfo>;
  /**
   * An item by its id alone, with the requested part of its payload. Throws `refused` if there is
   * none, or none in a queue that `isShown` permits; absent = all are.
   */
  getItem(id: string, range?: PayloadRange, isShown?: IsShown): Promise<FoundItem>;
  /** Like `getItem`, but by any id that the item ever had, and with the reason for its state. */
  explainItem(id: string): Promise<ItemExplained>;

  /**
   * Copies every store into an existing, empty folder, consistently as far as a start can tell.
   * Each shard pauses while its file is copied. Throws `store` if the folder cannot be written or
   * the stores have no files.
   */
  backup(folder: string): Promise<readonly StoreCopy[]>;

  /**
   * Advances a test clock by milliseconds. Returns its instant once everything due by then is
   * committed. Throws `refused` if the engine has no test clock.
   */
  advance(byMs: number, options?: AdvanceOptions): Promise<number>;

  /** Throws `invalid` unless the queue exists, and the partition if one is named. */
  requireQueue(name: string, partition?: number): void;
  status(): EngineStatus;
  /** Replies to waiting requests, finishes the turn, closes the stores. Idempotent. */
  close(): Promise<void>;
}
