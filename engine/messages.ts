// What crosses between the engine and a shard, beside the requests of `kinds.ts`. Everything
// here survives JSON, except payload bytes, for which `codec.ts` has a form.

import type { CatalogImage } from "../stores/catalog.ts";
import type { Item, OutboundItem } from "../stores/item.ts";
import type { Pause } from "../stores/queue.ts";
import type { OutboxCount } from "../stores/store.ts";
import type { ProduceItem } from "./api.ts";
import type { Rules } from "./lifecycle.ts";
import type { Result } from "./shard/kind.ts";

/** Where a queue's failed and expired items go: one partition for each shard to send to. */
export interface DeadTarget {
  readonly shard: number;
  readonly slot: number;
  readonly expireTimeoutMs: number;
}

/** What a shard has to know of a partition; sent again whenever it changes. */
export interface PartitionSettings extends Rules {
  readonly slot: number;
  readonly dead: DeadTarget | null;
  /** Of the queue; absent = it is not paused. */
  readonly pause?: Pause;
  /** Of the queue; absent = it takes no unique keys. */
  readonly uniqueForMs?: number;
}

/** Whether a queue takes items, for shards that send it some; `null` = it does. */
export interface QueuePause {
  readonly queueId: number;
  readonly pause: Pause | null;
}

/** An item as it enters: `expireDeadline` and the like are the shard's to decide. */
export interface NewItem extends Required<Omit<ProduceItem, "uniqueKey">> {
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

/** Counts and sums of one partition; ages are milliseconds. */
export interface PartitionCounts {
  readonly slot: number;
  /** Ready items that may be leased now. */
  readonly ready: number;
  readonly leased: number;
  readonly scheduled: number;
  readonly retried: number;
}

export interface PartitionAges {
  readonly slot: number;
  readonly averageAgeMs: number;
  readonly averageLeasedAgeMs: number;
}

/** What a request's success brings, by its kind. */
export type Value =
  | { readonly kind: "done" }
  /** `duplicates`: places of items that were not written, because their unique key was taken. */
  | { readonly kind: "produced"; readonly duplicates: readonly number[] }
  /** `items` as `renderLeased` wrote them. */
  | { readonly kind: "leased"; readonly count: number; readonly items: string }
  /** `more`: not all of the partition was looked at, so asking again may bring something. */
  | { readonly kind: "nothing"; readonly more: boolean }
  | { readonly kind: "extended"; readonly leaseDeadline: number }
  /** What the receipt of a key says. */
  | { readonly kind: "recalled"; readonly values: readonly number[] }
  | { readonly kind: "items"; readonly items: readonly ListedItem[] }
  | { readonly kind: "outbound"; readonly items: readonly OutboundItem[] }
  | { readonly kind: "copied"; readonly bytes: number }
  /** When the shard next has something to do; `null` = never. */
  | { readonly kind: "due"; readonly at: number | null }
  | { readonly kind: "ages"; readonly ages: readonly PartitionAges[] };

export interface Answer {
  readonly op: number;
  readonly outcome: Result;
}

/** What happened to items of one partition since the last report. */
export interface Events {
  readonly slot: number;
  readonly lapsed: number;
  readonly expired: number;
  readonly deadLettered: number;
  readonly discarded: number;
  /** Of the first that were discarded, at most `limits.discardedIdsMax`: under which id each was last known. */
  readonly discardedIds: readonly string[];
}

/** What a shard says after each turn. */
export interface Report {
  readonly answers: readonly Answer[];
  /** Of every partition that the turn touched. */
  readonly counts: readonly PartitionCounts[];
  readonly events: readonly Events[];
  /** How many items wait for which partitions, of every shard for which that has changed. */
  readonly outbox: readonly ShardOutbox[];
  readonly commit: CommitReport | null;
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

/** Where a lease with a key was granted, for when it is asked for again. */
export interface LeaseKey {
  readonly digest: string;
  readonly slot: number;
  readonly at: number;
}

/** What a shard says once, when it has read its store. */
export interface Opened {
  readonly catalog: CatalogImage;
  readonly counts: readonly PartitionCounts[];
  readonly outbox: readonly OutboxCount[];
  /** The instant of the last turn. */
  readonly at: number;
  readonly opLast: number;
  /** Requests of the latest turns that had no effect. */
  readonly refused: readonly number[];
  /** Leases with a key whose items may still be held. */
  readonly leaseKeys: readonly LeaseKey[];
  readonly quarantined: number;
  /** By how many items its partitions differ from what was counted with each commit. */
  readonly miscounted: number;
  /** There is no room for what it sets aside for a full disk, so what only adds is refused. */
  readonly full: boolean;
}
