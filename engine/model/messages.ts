// What a shard tells its engine, beside what it is asked by the requests of `kinds.ts`.

import type { Item, OutboundItem } from "../../stores/item.ts";
import type { CatalogEntry, Origin, Pause } from "../../stores/queue.ts";
import type { OutboxCount, StoredTask } from "../../stores/store.ts";
import type { Result } from "../operations/kind.ts";
import type { Trace } from "../state/history.ts";
import type { Granted } from "../state/lines.ts";
import type { Mentions } from "../state/mentions.ts";
import type { LogicalQueue, Owner } from "../state/queue.ts";
import type { ItemCounts, ItemState, ProduceItem, QueueCounters, What } from "./api.ts";
import type { Epochs } from "./epochs.ts";
import type { Observations } from "./histogram.ts";
import type { Rules } from "./lifecycle.ts";

/** A queue that items go to. Its own shard chooses a partition, and decides when they expire. */
export interface Target {
  readonly shard: number;
  readonly owner: number;
}

/** What a shard decides by for a partition. */
export interface PartitionSettings extends Rules {
  readonly slot: number;
  /** The name of the queue. */
  readonly queue: string;
  /** Which queue that is: another one of its name, or its number, has another owner. */
  readonly owner: number;
  readonly dead: Target | null;
  /** Of the queue; absent = it is not paused. */
  readonly pause?: Pause;
  /** Of the queue; absent = it takes no unique keys. */
  readonly uniqueForMs?: number;
}

/** What the turns of a shard decide by, as it is now. */
export interface QueueRules {
  /** `null` = no queue has the slot. */
  settingsAt(slot: number): PartitionSettings | null;
  ownerAt(slot: number): Owner | undefined;
  /** Of the partition that has the slot, see `PartitionPlace`. */
  originsAt(slot: number): readonly Origin[];
  /** Where an item for the queue goes now; `null` = the shard has no such queue. */
  homeOf(owner: number): number | null;
  /** Whether no queue of the shard has it, or had: then its store went back, or is another one's. */
  isLost(owner: number): boolean;
  queueOf(queueId: number): LogicalQueue | undefined;
  /** The queue of this name in whichever shard, also while it is being deleted; `null` = there is none. */
  targetOf(name: string): Target | null;
  /** Whether a queue of whichever shard is there, and takes items. */
  isOpen(owner: number): boolean;
  /** Of a queue in whichever shard; `undefined` = it is not paused, or not there. */
  pauseOf(owner: number): Pause | undefined;
}

/**
 * An item as it enters: `expireDeadline` and the like are the shard's to decide. One that is a text and
 * nothing else, as most are, is that text: an object for each is half of what a produce costs a shard.
 */
export type NewItem = string | DescribedItem;

export interface DescribedItem extends Required<Omit<ProduceItem, "uniqueKey" | "headers">> {
  /** As stores keep them. */
  readonly headers: string;
  /** Digest of its unique key; `""` = it has none. */
  readonly unique: string;
}

/** An item as the storage calls list it. */
export interface ListedItem extends Omit<Item, "slot" | "seq" | "early" | "payload"> {
  readonly id: string;
  readonly leasedAt: number | null;
  readonly leaseDeadline: number | null;
  readonly dueAt: number | null;
  readonly payload: Uint8Array;
}

export interface FoundItem extends ListedItem {
  readonly state: ItemState;
  /** Who holds it, as it named itself; `""` = nobody, or who did before a restart. */
  readonly holder: string;
  /** Of the whole payload, of which only the head may be here. */
  readonly payloadBytes: number;
}

/** Items that have something in common. */
export interface Group {
  readonly value: string;
  readonly count: number;
  /** When the first and the last of them came into their queue. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly sampleId: string;
}

/** Counts and sums of one partition; ages are milliseconds. */
export interface PartitionCounts {
  readonly slot: number;
  /** Ready items that may be leased now. */
  readonly ready: number;
  readonly leased: number;
  readonly scheduled: number;
  readonly retried: number;
  /** Since when the oldest ready item is ready, or a little before; `null` = none, or not known yet. */
  readonly oldestReadyAt: number | null;
  /** The first instant at which a scheduled item is due, or a little before; `null` = none. */
  readonly nextDueAt: number | null;
  /** When the next of its leases lapses; `null` = none is held. */
  readonly nextLapseAt: number | null;
  /** Items that a clear has still to remove; absent = none is under way. */
  readonly clearing?: number;
}

/** What one client holds of one partition. */
export interface PartitionHolder {
  readonly slot: number;
  /** `""` = nobody knows, as after a start. */
  readonly client: string;
  readonly items: number;
  /** When the first of its leases lapses. */
  readonly nextLapseAt: number;
}

export interface PartitionAges {
  readonly slot: number;
  readonly averageAgeMs: number;
  readonly averageLeasedAgeMs: number;
}

/** What happened to an item: where it was then, and where it went or came from if that gave it another id. */
export interface Happening {
  readonly slot: number;
  readonly seq: number;
  readonly what: What;
  /** Who held it; `""` = nobody, or nobody knows. */
  readonly by: string;
  /** Of another shard the number in the outbox for it, and no slot. */
  readonly to?: { readonly shard: number; readonly slot: number; readonly seq: number };
  readonly from?: Happening["to"];
}

/** The same as it is told. */
export interface Happened extends Omit<Happening, "to" | "from"> {
  readonly at: number;
}

/** What a request's success brings, by its kind. */
export type Value =
  | { readonly kind: "done" }
  /** `duplicates`: places of items that were not written, because their unique key was taken. */
  | { readonly kind: "produced"; readonly duplicates: readonly number[]; readonly ids?: string[] }
  | { readonly kind: "nothing" }
  | { readonly kind: "extended"; readonly leaseDeadline: number }
  /** What the receipt of a key says. */
  | { readonly kind: "recalled"; readonly values: readonly number[] }
  | { readonly kind: "items"; readonly items: readonly ListedItem[] }
  /** `next`: the number to go on from; `null` = nothing is left. */
  | {
      readonly kind: "found";
      readonly looked: number;
      readonly next: number | null;
      readonly items: readonly FoundItem[];
      readonly groups: readonly Group[];
    }
  | { readonly kind: "task"; readonly text: string }
  | { readonly kind: "ahead"; readonly count: number; readonly isAll: boolean }
  /**
   * Of one item in one shard, in order. `last`: where it was when it was last heard of here;
   * `next`: where it goes on. `since`: what happened before may be missing; `null` = nothing is kept.
   */
  | {
      readonly kind: "history";
      readonly happened: readonly Happened[];
      readonly last: { readonly slot: number; readonly seq: number } | null;
      readonly next: { readonly shard: number; readonly trace: Trace } | null;
      readonly since: number | null;
    }
  | { readonly kind: "outbound"; readonly items: readonly OutboundItem[] }
  /** `strays`: numbers of items of queues that the shard never had; nothing from the first of them on was taken. */
  | { readonly kind: "received"; readonly strays: readonly number[] }
  | { readonly kind: "copied"; readonly bytes: number }
  | { readonly kind: "passed"; readonly passed: Passed }
  /** When the shard next has something to do; `null` = never. */
  | { readonly kind: "due"; readonly at: number | null }
  | { readonly kind: "ages"; readonly ages: readonly PartitionAges[] }
  | { readonly kind: "holders"; readonly holders: readonly PartitionHolder[] }
  /** Items that were removed, or would be. */
  | ({ readonly kind: "counted" } & ItemCounts);

export interface Answer {
  readonly op: number;
  readonly outcome: Result;
}

/** What happened to items of one partition since the last report. */
export interface Events {
  readonly slot: number;
  readonly counts: Partial<QueueCounters>;
  /** Seconds from ready to leased. */
  readonly waited?: Observations;
  /** Seconds from leased to completed. */
  readonly held?: Observations;
  /** Of the first that were discarded, at most `limits.discardedIdsMax`: the first id of each. */
  readonly discardedIds?: readonly string[];
  /** Who held what lapsed, and why items died, as `mentions.ts` counts it. */
  readonly lapsedOf?: Mentions;
  readonly diedOf?: Mentions;
}

/** What a shard says after each turn. */
export interface Report {
  readonly answers: readonly Answer[];
  readonly granted: readonly Granted[];
  /** Of every partition that the turn touched. */
  readonly counts: readonly PartitionCounts[];
  readonly events: readonly Events[];
  /** How many items wait for which queues, of every shard for which that has changed. */
  readonly outbox: readonly ShardOutbox[];
  readonly commit: CommitReport | null;
  /** How many receipts are kept. */
  readonly receipts: number;
  /** The store had no room for what the turn wanted to write. */
  readonly full: boolean;
  /** What only adds is refused, until there is room again. */
  readonly refusing: boolean;
}

/** One commit, for the metrics. */
export interface CommitReport {
  readonly items: number;
  readonly seconds: number;
  readonly quarantined: number;
  /** Only now and then: it is asked of the file system. */
  readonly size: { readonly logBytes: number; readonly fileBytes: number } | null;
}

/** All that waits for one shard. */
export interface ShardOutbox {
  readonly targetShard: number;
  readonly counts: readonly OutboxCount[];
}

/** Numbers of items that go from shard to shard, by which a store that went back is told from the others. */
export interface Passed {
  /** The last that the shard sent. */
  readonly sent: number;
  /** By source, the last that it has taken. */
  readonly taken: readonly (readonly [shard: number, outboundSeq: number])[];
  /** By target, the last that the target was known to have. */
  readonly arrived: readonly (readonly [shard: number, outboundSeq: number])[];
}

/** What a shard says once, when it has read its store. */
export interface Opened {
  /** Of its ids. */
  readonly epochs: Epochs;
  readonly queues: readonly CatalogEntry[];
  readonly counts: readonly PartitionCounts[];
  readonly outbox: readonly OutboxCount[];
  readonly passed: Passed;
  /** Commits that were acknowledged and are gone, at least. */
  readonly lostCommits: number;
  /** Of a turn that was committed before the store failed, and not answered. */
  readonly answers: readonly Answer[];
  readonly granted: readonly Granted[];
  readonly events: readonly Events[];
  /** Requests that wait for work which continues. */
  readonly settling: readonly number[];
  /** How many receipts are kept. */
  readonly receipts: number;
  readonly tasks: readonly StoredTask[];
  readonly quarantined: number;
  /** By how many items its partitions differ from what was counted with each commit. */
  readonly miscounted: number;
  /** There is no room for what it sets aside for a full disk, so what only adds is refused. */
  readonly full: boolean;
}
