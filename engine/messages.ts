// What crosses between the engine and a shard. Everything here survives JSON,
// except payload bytes, for which `link.ts` has a form of its own.

import type { Item, OutboundItem, Payload } from "../stores/item.ts";
import type { CatalogEntry } from "../stores/queue.ts";
import type { Failure } from "./errors.ts";
import type { Rules } from "./lifecycle.ts";

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
}

/** An item as it enters: `expireDeadline` and the like are the shard's to decide. */
export interface NewItem {
  readonly payload: Payload;
  readonly kind: string;
  readonly encoding: string;
  readonly reference: string;
  readonly enqueueAt: number | null;
}

export interface NewImport extends NewItem {
  readonly sourceId: string;
  readonly leaseDeadline: number | null;
  readonly expireDeadline: number | null;
  readonly createdAt: number | null;
  readonly attempts: number;
}

/** One request to a shard. `deadline`: an instant past which it must have no effect. */
export type Request =
  | {
      readonly kind: "produce";
      readonly slot: number;
      readonly deadline: number;
      readonly items: readonly NewItem[];
    }
  | {
      readonly kind: "lease";
      readonly slot: number;
      readonly deadline: number;
      readonly batchSize: number;
    }
  | {
      readonly kind: "complete";
      readonly slot: number;
      readonly deadline: number;
      readonly ids: readonly string[];
    }
  | {
      readonly kind: "retry";
      readonly slot: number;
      readonly deadline: number;
      readonly items: readonly RetryOf[];
    }
  /** The client of this lease request had left before it was told what it holds. */
  | { readonly kind: "release"; readonly slot: number; readonly leaseOp: number }
  | { readonly kind: "import"; readonly slot: number; readonly items: readonly NewImport[] }
  | { readonly kind: "delete"; readonly slot: number; readonly ids: readonly string[] }
  | {
      readonly kind: "list";
      readonly slot: number;
      readonly scheduled: boolean;
      readonly pivot: string;
      readonly limit: number;
    }
  | { readonly kind: "stats"; readonly slots: readonly number[] }
  | { readonly kind: "clear"; readonly slots: readonly number[]; readonly what: Clearing }
  /** Answered once nothing that was cleared is left of these slots. */
  | { readonly kind: "settle"; readonly slots: readonly number[] }
  /** Answered once the counts of these slots are those of the store. */
  | { readonly kind: "recount"; readonly slots: readonly number[] }
  | {
      readonly kind: "catalog";
      readonly put: readonly CatalogEntry[];
      readonly remove: readonly number[];
    }
  /** Items from the outbox of another shard. */
  | {
      readonly kind: "receive";
      readonly sourceShard: number;
      readonly items: readonly OutboundItem[];
    }
  /** The other shard has them. */
  | { readonly kind: "received"; readonly outboundSeqs: readonly number[] }
  /** Copies the store into a folder, once this turn is committed. */
  | { readonly kind: "backup"; readonly folder: string }
  /** Not a change of the store: what the shard goes by from now on. */
  | {
      readonly kind: "configure";
      readonly partitions: readonly PartitionSettings[];
      readonly forget: readonly number[];
    };

export interface RetryOf {
  readonly id: string;
  readonly retryAt: number | null;
  readonly dead: boolean;
}

/** Which items a clear takes. */
export interface Clearing {
  readonly ready: boolean;
  readonly leased: boolean;
  readonly scheduled: boolean;
  readonly retried: boolean;
}

/** `op` numbers rise by one per request to a shard, also across restarts of either side. */
export type NumberedRequest = Request & { readonly op: number };

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
  /** `items` as `renderLeased` wrote them. */
  | { readonly kind: "leased"; readonly count: number; readonly items: string }
  /** `more`: not all of the partition was looked at, so asking again may bring something. */
  | { readonly kind: "nothing"; readonly more: boolean }
  | { readonly kind: "items"; readonly items: readonly ListedItem[] }
  | { readonly kind: "copied"; readonly bytes: number }
  | { readonly kind: "ages"; readonly ages: readonly PartitionAges[] };

export interface Answer {
  readonly op: number;
  readonly outcome: { readonly ok: true; readonly value: Value } | Failure;
}

/** What happened to items of one partition since the last report. */
export interface Events {
  readonly slot: number;
  readonly lapsed: number;
  readonly expired: number;
  readonly deadLettered: number;
  readonly discarded: number;
}

/** What a shard says after each turn. */
export interface Report {
  readonly answers: readonly Answer[];
  /** Of every partition that the turn touched. */
  readonly counts: readonly PartitionCounts[];
  readonly events: readonly Events[];
  /** Items that have to go to other shards. */
  readonly outbound: readonly OutboundItem[];
  readonly commit: CommitReport | null;
  /** The store had no room for what the turn wanted to write. */
  readonly full: boolean;
}

/** One commit, for the metrics. */
export interface CommitReport {
  readonly items: number;
  readonly seconds: number;
  readonly quarantined: number;
  /** Only now and then: it is asked of the file system. */
  readonly size: { readonly logBytes: number; readonly fileBytes: number } | null;
}

/** A request that was decided against. */
export interface Refusal {
  readonly op: number;
  readonly failure: Failure;
}

/** What a shard says once, when it has read its store. */
export interface Opened {
  readonly catalog: readonly CatalogEntry[];
  readonly counts: readonly PartitionCounts[];
  readonly outbound: readonly OutboundItem[];
  /** The instant of the last turn. */
  readonly at: number;
  readonly opLast: number;
  /** Requests refused in the latest turns, so that lost answers can be given after all. */
  readonly refused: readonly Refusal[];
  readonly quarantined: number;
  /** By how many items its partitions differ from what was counted with each commit. */
  readonly miscounted: number;
}
