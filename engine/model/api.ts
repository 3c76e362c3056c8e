// What the engine offers, as types: requests, results and the interface that
// `createEngine` returns. Instants are epoch milliseconds; `null` = not set.
// Every method throws `QueueError`, and nothing has changed when it does, unless
// its message says so.

import type { Pause, QueueDefinition } from "../../stores/queue.ts";
import type { Filter, Grouping } from "./filter.ts";
import type { Group } from "./messages.ts";
import type { Past } from "./past.ts";

export type { Filter, Grouping } from "./filter.ts";
export type { Group } from "./messages.ts";
export type { Past } from "./past.ts";

/** Bytes, or a string that stands for its UTF-8 bytes. */
export type Payload = Uint8Array | string;

/** Texts by name. */
export type Headers = Readonly<Record<string, string>>;

export interface ProduceItem {
  readonly payload: Payload;
  readonly kind?: string;
  readonly encoding?: string;
  readonly reference?: string;
  /** For whoever leases it, such as the context of a trace; at most 2,048 bytes as JSON. */
  readonly headers?: Headers;
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
  /** In the order of the items, `""` for a duplicate; only where they were asked for. */
  readonly ids?: readonly string[];
}

export interface ProduceRequest extends Repeatable {
  readonly queue: string;
  /** 10 ms to 15 min; past it the call fails with `empty` and has no effect. */
  readonly requestTimeoutMs: number;
  /** 1 to 1,000; all go to one partition, or none is written. */
  readonly items: readonly ProduceItem[];
  /** Whether the ids are wanted; default false. */
  readonly returnIds?: boolean;
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
  /** `null` = the items are not delivered yet: the shard of their queue chooses it. */
  readonly partition: number | null;
  /** The items are in their queue; otherwise they are stored, and on their way there. */
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
  /** Absent = none. */
  readonly headers?: Headers;
  /** Absent = this is its first stay in its first queue. */
  readonly past?: Past;
}

export interface Lease<Items> extends Outcome {
  readonly queue: string;
  readonly partition: number;
  /** Of the queue; 0 = no limit. An item with as many attempts has its last. */
  readonly maxAttempts: number;
  /** The engine's time at this answer: a deadline less this is how long it still holds. */
  readonly now: number;
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
  /** The engine's time at this answer. */
  readonly now: number;
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
  /** The same as a length, which needs no clock of the caller's; `retryAt` is then `null`. */
  readonly retryAfterMs?: number | null;
  /** Send it to the dead queue whatever attempts remain. */
  readonly dead: boolean;
  /** Why, for whoever looks at the item; at most 1,024 bytes. Absent or `""`: what was said before stays. */
  readonly reason?: string;
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
  /** Since when its oldest ready item is ready, or a little before; `null` = none is, or a start has not looked yet. */
  readonly oldestReadyAt: number | null;
  /** When its first scheduled item is due, or a little before; `null` = none is scheduled. */
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

/** Of calls that remove items. */
export interface Guard {
  /** Says what the call would remove, and changes nothing. */
  readonly dryRun?: boolean;
  /** Refused (`count_changed`) where it would remove more items than so many; absent = no bound. */
  readonly expect?: number;
}

/** Items by their state. */
export interface ItemCounts {
  readonly ready: number;
  readonly leased: number;
  /** Waiting for their `enqueueAt`. */
  readonly scheduled: number;
  /** Waiting for their `retryAt`. */
  readonly retried: number;
}

/** What can be the matter with a queue, worst first. */
export type FindingWord =
  | "shard_down"
  | "store_full"
  | "nobody_asks"
  | "falls_behind"
  | "leases_lapse"
  | "dead_items"
  | "clearing"
  | "paused"
  | "at_leased_max"
  | "at_lease_rate"
  | "all_leased"
  | "all_scheduled";

/** The worst that is the matter with it; where nothing is, whether items flow. */
export type HealthWord =
  | Exclude<FindingWord, "at_leased_max" | "at_lease_rate">
  | "at_limit"
  | "flows"
  | "idle"
  | "empty";

export interface Finding {
  readonly what: FindingWord;
  readonly since: number;
  /** Items that it is about, or partitions where it is about these. */
  readonly count: number;
  /** When time alone may change it; `null` = it does not. */
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

export interface AskingClient {
  readonly client: string;
  readonly since: number;
  readonly batchSize: number;
  /** In the line, from 1 on; 0 = it is being served. */
  readonly place: number;
}

export interface HoldingClient {
  /** `""` = unknown: it leased them before the engine started, or they were imported. */
  readonly client: string;
  readonly items: number;
  readonly partitions: readonly number[];
  readonly nextLapseAt: number;
}

export interface QueueClients {
  readonly queue: string;
  readonly asOf: number;
  /** Of all, whatever the limit. */
  readonly askingCount: number;
  readonly asking: readonly AskingClient[];
  readonly holdingCount: number;
  readonly holding: readonly HoldingClient[];
  /** A shard did not answer, so that holders may be missing. */
  readonly isPartial: boolean;
}

/** One queue at a glance; instants are 0 where there are none. */
export interface OverviewRow extends QueueCounters {
  readonly queue: string;
  readonly health: HealthWord;
  readonly healthSince: number;
  /** How many items, or what else the finding counts; 0 = there is none. */
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
  /** Leases, produces or both; 0 = neither is. */
  readonly pausedSince: number;
  /** All of its partitions are in it. */
  readonly shard: number;
}

export interface ShardGlance {
  readonly shard: number;
  readonly state: "up" | "full" | "down";
  /** Of what is the matter with it; `null` = it is up. */
  readonly since: number | null;
  /** Of the last half to whole minute; `null` = there were no commits. */
  readonly commitP50Us: number | null;
  readonly commitP99Us: number | null;
  readonly restarts: number;
  readonly failures: number;
  readonly quarantined: number;
  readonly miscounted: number;
  readonly walBytes: number;
  readonly fileBytes: number;
  /** Requests that it has not answered. */
  readonly waiting: number;
  /** Items that its commits wrote, leased or removed, on average over the last minute, rounded up. */
  readonly itemsPerSecond: number;
}

/** What a person should look at. */
export interface Alarm {
  readonly what: FindingWord | "items_damaged" | "items_miscounted";
  readonly since: number | null;
  readonly count: number;
  /** `""` = it is a shard's. */
  readonly queue: string;
  readonly shard: number | null;
  readonly text: string;
}

export type OverviewTotals = QueueCounters &
  Pick<OverviewRow, "ready" | "held" | "scheduled" | "waiting"> & { readonly queues: number };

export interface EngineOverview {
  readonly asOf: number;
  /** To be told what has changed from here on. */
  readonly since: string;
  /** The rows are those of all queues. */
  readonly isWhole: boolean;
  readonly totals: OverviewTotals;
  readonly rows: readonly OverviewRow[];
  /** Queues that are gone. */
  readonly removed: readonly string[];
  readonly shard: ShardGlance;
  readonly alarms: readonly Alarm[];
  /** Those that run, the newest first. */
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
  /** With `ready`: leased items too; their holders can no longer finish them. */
  readonly destructive: boolean;
}

/** Without `lease` and `produce`, leases are paused; a side that is not named is not. */
export interface PauseRequest extends Partial<Pause> {
  readonly queue: string;
  /** Who pauses it, to be told until the engine is closed; absent or `""` = nobody says. */
  readonly by?: string;
}

/** What a queue's owner sets; the rest of a `QueueDefinition` is the engine's. */
export type QueueSettings = Omit<
  QueueDefinition,
  "createdAt" | "updatedAt" | "pause" | TimeoutTexts
> &
  Partial<Pick<QueueDefinition, TimeoutTexts>>;

/** What a queue has to be given, and what it may be. */
export type NewQueue = Pick<QueueSettings, "name" | "leaseTimeoutMs" | "expireTimeoutMs"> &
  Partial<QueueSettings>;

/** How the durations are written in answers; made from the milliseconds when absent. */
type TimeoutTexts = "leaseTimeoutText" | "expireTimeoutText" | "uniqueForText";

/** `name` and what has to change; absent keys keep their value. */
export type QueueChange = Pick<QueueSettings, "name"> & Partial<QueueSettings>;

/** What goes with a queue. */
export interface Deletion {
  readonly counts: ItemCounts;
  /** Lease requests that wait on it, and are refused. */
  readonly waitingLeases: number;
  /** Queues whose dead queue it is, and that have none afterwards. */
  readonly dependents: readonly string[];
}

export interface DeleteQueueRequest extends Guard {
  readonly name: string;
  /** Also where it holds items, or is the dead queue of others. */
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
  /** Absent = none. */
  readonly headers?: Headers;
  /** Absent = this is its first stay in its first queue. */
  readonly past?: Past;
}

export interface ListRequest {
  readonly queue: string;
  readonly partition: number;
  /** The first id wanted, or the nearest after it; `""` = from the start. */
  readonly pivot: string;
  readonly limit: number;
}

/** `scheduled`: it waits for its `enqueueAt` or `retryAt`. */
export type ItemState = "ready" | "leased" | "scheduled";

export interface FindRequest {
  readonly queue: string;
  /** Absent or `null` = all. */
  readonly partition?: number | null;
  /** Absent or `null` = all. */
  readonly state?: ItemState | null;
  /** The client that holds it, as it named itself; absent = whoever does. */
  readonly holder?: string;
  /**
   * `newest`: those that came into the queue last come first. Absent: by partition, those that
   * wait for an instant after the others, each by their ids.
   */
  readonly order?: "newest";
  /** What the page before gave as `nextPivot`; `""` = from the start. */
  readonly pivot: string;
  /** 1 to 1,000. */
  readonly limit: number;
  readonly filter: Filter;
  /** Bytes of each payload that are wanted, up to 65,536; absent = none. */
  readonly payloadHead?: number;
}

/** A page of what was found, which may be empty although there is more. */
export interface Found<T> {
  readonly found: readonly T[];
  readonly looked: number;
  /** `""` = there is nothing more. */
  readonly nextPivot: string;
}

export interface FoundItem extends StoredItem {
  readonly queue: string;
  readonly partition: number;
  readonly state: ItemState;
  /** Who holds it, as it named itself; `""` = nobody, or one of before a restart. */
  readonly holder: string;
  /** Of the whole payload. */
  readonly payloadBytes: number;
}

/** Which bytes of a payload are wanted. */
export interface PayloadRange {
  /** The first of them; absent = the first that there is. */
  readonly payloadFrom?: number;
  /** The most of them; absent = all that follow. */
  readonly payloadLimit?: number;
}

export interface GroupsRequest extends Omit<FindRequest, "limit" | "payloadHead" | "order"> {
  readonly by: Grouping;
  /** The most groups of a page, the largest; absent = all. */
  readonly top?: number;
}

export interface Grouped extends Found<Group> {
  /** Items in groups that `top` left out. */
  readonly others: number;
}

/** Which items of a queue a task goes through; but for a `retry` nobody holds them. */
export interface TaskRequest extends Repeatable {
  readonly queue: string;
  /** Up to 1,000; absent = all that the filter means. */
  readonly ids?: readonly string[];
  readonly filter?: Filter;
  /** The most items to change. */
  readonly limit?: number;
  /** Absent = as fast as it goes. */
  readonly perSecond?: number;
  /** Only counts. */
  readonly dryRun?: boolean;
  /** With more items than that, nothing is changed (`refused`). */
  readonly expect?: number;
  /** Who asks for it, to be told of the task; absent = nobody says. */
  readonly by?: string;
}

/** Ready items of a dead queue, as a rule. */
export interface RedriveRequest extends TaskRequest {
  /** Where all go; absent = each to the queue that it came from. */
  readonly to?: string;
}

/**
 * `promote`: scheduled ones are ready at once. `reject`: they go to the dead queue, as if a consumer
 * had given them up. `retry`: leased ones go back, as if their holder had retried them, and it can
 * complete them no more. `delete`: they are removed.
 */
export type Repair = "promote" | "reject" | "retry" | "delete";

export interface RepairRequest extends TaskRequest {
  readonly action: Repair;
  /** Those alone that are so; absent = all that nobody holds, of a `promote` the scheduled ones. */
  readonly state?: ItemState | null;
  /** Of a `retry`: the client that holds them, as it named itself; absent = whoever does. */
  readonly holder?: string;
  /** Of a `reject` or a `retry`: why; up to 1,024 bytes. */
  readonly reason?: string;
}

export interface TaskBegun extends Outcome {
  /** `""` of a dry run. */
  readonly taskId: string;
  /** Items that it means now. */
  readonly matched: number;
  /** Where they go, those first to which most go: ten queues at most, and what stays. */
  readonly destinations: readonly Destination[];
}

export interface Destination {
  /** `""` = they stay where they are, as the queue that they came from is gone. */
  readonly queue: string;
  /** Whatever the limit. */
  readonly count: number;
}

export type TaskAction = Repair | "redrive";

/** `failed`: the queue that all were to go to is gone. */
export type TaskState = "running" | "done" | "cancelled" | "failed";

export interface TaskInfo {
  readonly taskId: string;
  readonly action: TaskAction;
  readonly state: TaskState;
  readonly queue: string;
  /** Of a redrive; `""` = each item to where it came from. */
  readonly to: string;
  /** Of a retry; `""` = whoever holds them. */
  readonly holder: string;
  readonly filter: Filter;
  /** 0 = as fast as it goes. */
  readonly perSecond: number;
  /** When it began. */
  readonly matched: number;
  /** Items with which it was done. */
  readonly moved: number;
  /** Left where they are: the queue that they would go to is not there, or not any more. */
  readonly skipped: number;
  /** Who asked for it; `""` = nobody said. */
  readonly by: string;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** What can happen to an item, in the order of a life. */
export type What =
  | ("produced" | "imported" | "due" | "leased" | "extended" | "completed" | "retried")
  | ("released" | "lapsed" | "expired" | "dead" | "discarded" | "redriven" | "returned")
  | ("promoted" | "rejected" | "removed" | "damaged");

/** Something that happened to an item, under the id that it had then. */
export interface ItemEvent {
  readonly at: number;
  readonly what: What;
  /** The client that held it; `""` = none did, or nobody knows. */
  readonly by: string;
  readonly id: string;
  /** `""` = it is not there any more. */
  readonly queue: string;
  readonly partition: number | null;
}

/** An item that was asked for by one of its ids, and why it is where it is. */
export interface ItemExplained {
  readonly id: string;
  /** `null` = it is nowhere that was looked. */
  readonly item: FoundItem | null;
  /** Of a ready one: how many are ahead of it in its partition; at least so many unless `isAllAhead`. */
  readonly ahead: number;
  readonly isAllAhead: boolean;
  /** Sentences, the most important first. */
  readonly why: readonly string[];
  /** What happened to it, as far as that is in memory. */
  readonly history: readonly ItemEvent[];
  /** What happened before may be missing; `null` = nothing is kept. */
  readonly historySince: number | null;
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
  readonly headers?: Headers;
  /** As of a listed item. */
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

/** Something that happened to a shard, and that an operator should know of. */
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
  /** Of `items_discarded`, which is told for each queue by itself; absent once the queue is deleted. */
  readonly queue?: string;
  readonly count?: number;
  /** The first id of each of the first ten of `items_discarded`. */
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
  /** By the engine's clock, which the instants below are of. */
  readonly now: number;
  readonly durability: Durability;
  readonly shards: readonly ShardStatus[];
  readonly queues: readonly QueueGauges[];
  readonly waitingLeases: number;
}

export interface ShardStatus {
  readonly shard: number;
  readonly up: boolean;
  /** How often its store was opened again after it failed. */
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
  /** Items set aside instead of being offered: damaged ones, and those of queues that are not known. */
  readonly quarantined: number;
  /** Items that starts found missing, or too many, against what was counted with each commit. */
  readonly miscounted: number;
  /** Calls with a key that it remembers. */
  readonly receipts: number;
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
  /** Since when the oldest ready item is ready, or a little before; `null` = none is. */
  readonly oldestReadyAt: number | null;
  /** The first instant at which a scheduled item is due, or a little before; `null` = none is. */
  readonly nextDueAt: number | null;
  readonly counters: QueueCounters;
  /** Seconds from ready to leased; `null` = none was leased. */
  readonly waited: Histogram | null;
  /** Seconds from leased to completed; `null` = none was completed. */
  readonly held: Histogram | null;
}

/**
 * Items to which something happened since the engine has the queue. A turn whose shard died before
 * it could tell is not counted, so none is counted twice.
 */
export interface QueueCounters {
  /** Produced or imported; duplicates of a unique key are not. */
  readonly produced: number;
  readonly leased: number;
  readonly completed: number;
  /** Given back with a retry, whatever became of them. */
  readonly retried: number;
  /** Given back as if they had not been leased, also because their client had left. */
  readonly released: number;
  readonly extended: number;
  readonly lapsed: number;
  readonly expired: number;
  /** Sent to the dead queue from this one. */
  readonly dead: number;
  /** Removed because they failed or expired with no dead queue to go to. */
  readonly discarded: number;
  /** Cleared, or deleted by their ids. */
  readonly removed: number;
  /** Came from another queue, in which they died, or back by a redrive; these were produced elsewhere. */
  readonly arrived: number;
  /** Sent by a redrive to another queue. */
  readonly redriven: number;
}

/** By which name something of a queue is told over time. */
export type SeriesName =
  | keyof QueueCounters
  | "ready"
  | "held"
  | "scheduled"
  | "waiting"
  | "oldest_ready_seconds";

/** The same of a shard. */
export type ShardSeriesName =
  | ("commits" | "items_committed" | "commit_p50_us" | "commit_p99_us")
  | ("file_bytes" | "log_bytes");

export interface SeriesRequest {
  /** Absent = of all queues together, or of a shard. */
  readonly queue?: string;
  readonly shard?: number;
  /** At least one, each once; of a shard those that shards have. */
  readonly names: readonly (SeriesName | ShardSeriesName)[];
  /** The first instant wanted; absent = as far back as there is. */
  readonly from?: number;
  /** 10 s, kept for an hour, or 60 s, kept for a day; absent = the first, where that goes back to `from`. */
  readonly stepMs?: number;
}

/** What became of a queue or a shard lately, point by point. */
export interface Series {
  /** From when on it is kept; `null` = it is not. */
  readonly since: number | null;
  /** Where the first point begins; one that is not over yet is left out. */
  readonly from: number;
  readonly stepMs: number;
  /** By name, as asked: what was counted in each point, or a gauge as it was at its end. */
  readonly values: readonly (readonly number[])[];
}

export interface AdvanceOptions {
  /**
   * Before time goes on from an instant, workers have so long by the machine's clock to finish the
   * items that they hold and to lease those that are ready; default 0, they are not waited for.
   */
  readonly handlerTimeoutMs?: number | undefined;
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
  createQueue(settings: QueueSettings, isShown?: IsShown): Promise<void>;
  /** Returns what the partitions hold that are no longer wanted, and are to be emptied. */
  updateQueue(change: QueueChange & Guard, isShown?: IsShown): Promise<ItemCounts>;
  queueInfo(name: string): QueueDefinition;
  /**
   * Ends when nothing of the queue is left; its name is free before that. Throws `store` when a
   * shard stays down for so long that nobody should wait for it: the rest goes when it is up.
   */
  deleteQueue(request: DeleteQueueRequest, rules?: DeleteQueueRules): Promise<Deletion>;

  /**
   * Once it has ended, nothing is leased, or a produce is refused, by whatever was under way, until
   * `resume`; also across restarts. What is to be paused takes the place of what was.
   */
  pause(request: PauseRequest): Promise<void>;
  /** Whatever is paused goes on; leases that wait are served in the order in which they came. */
  resume(queue: string): Promise<void>;

  stats(queue: string): Promise<QueueStats>;
  /** Kept from the engine's start, where it was given bytes for it. */
  series(request: SeriesRequest): Series;
  /** The dead queue is counted only if it is shown. */
  inspect(queue: string, isShown?: IsShown): Promise<QueueInspection>;
  /** What is the matter with it, from memory alone: it waits for no shard. */
  explain(queue: string, isShown?: IsShown): Explanation;
  /** Who waits for its items, and who holds some; 1 to 1,000 of each. */
  clients(request: { queue: string; limit: number }): Promise<QueueClients>;
  /**
   * All queues at a glance, looked at anew at most once a second. `since`: of an earlier one, to be
   * told only of queues that have changed; `""` = all. `isShown`: the queues that it is about; absent = all.
   */
  overview(
    since: string,
    isShown?: IsShown,
  ): { readonly now: number; readonly overview: EngineOverview };
  /** Returns what was removed, or would be. With `expect` a queue is cleared whole or not at all. */
  clear(request: ClearRequest): Promise<ItemCounts>;
  /** Counts the queue's items from its store, and puts that in place of the counts kept. */
  reload(queue: string): Promise<void>;

  listItems(request: ListRequest): Promise<readonly StoredItem[]>;
  listScheduled(request: ListRequest): Promise<readonly StoredItem[]>;
  importItems(request: ImportRequest): Promise<Imported>;
  /** Returns what was deleted, or would be. */
  deleteItems(request: DeleteItemsRequest): Promise<ItemCounts>;
  /** Items that a filter means; looks at no more than 100,000 in a call. */
  findItems(request: FindRequest): Promise<Found<FoundItem>>;
  /** The same, counted by what they have in common. */
  groupItems(request: GroupsRequest): Promise<Grouped>;
  /**
   * Moves ready items back to the queues that they came from, as new ones but for what they carry
   * along. Returns once that is certain to be done; the task does it, also across restarts.
   */
  redrive(request: RedriveRequest): Promise<TaskBegun>;
  /**
   * Changes items that nobody holds, whatever their attempts, or takes them from who does; as a
   * task, like `redrive`.
   */
  repair(request: RepairRequest): Promise<TaskBegun>;
  /** Newest first, ended ones included. */
  listTasks(queue?: string): readonly TaskInfo[];
  taskInfo(taskId: string): TaskInfo;
  /** Once it returns nothing more moves. */
  cancelTask(taskId: string): Promise<TaskInfo>;
  /**
   * An item by its id alone, with as much of its payload as is wanted. Throws `refused` where there
   * is none, or none in a queue that `isShown`; absent = all are.
   */
  getItem(id: string, range?: PayloadRange, isShown?: IsShown): Promise<FoundItem>;
  /** The same, by any id that it ever had, and why it is there. */
  explainItem(id: string): Promise<ItemExplained>;

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
  advance(byMs: number, options?: AdvanceOptions): Promise<number>;

  /** Throws `invalid` unless the queue exists, and the partition if one is named; for callers that have to check them first. */
  requireQueue(name: string, partition?: number): void;
  status(): EngineStatus;
  /** Answers what waits, finishes the turn, closes the stores. Idempotent. */
  close(): Promise<void>;
}
