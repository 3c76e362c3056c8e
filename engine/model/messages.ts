// The data that an engine and the turns of its shard exchange: items on their way in and out,
// counts, and the results of the requests of `operations.ts`.

import type { Item, OutboundItem } from "../../stores/item.ts";
import type { Pause } from "../../stores/queue.ts";
import type { HeavyHitters } from "../state/heavy-hitters.ts";
import type {
  GroupInfo,
  ImportItem,
  ItemCounts,
  ItemEventKind,
  ItemState,
  ProduceItem,
  QueueCounters,
} from "./api.ts";
import type { Failure } from "./errors.ts";
import type { ItemSummary } from "./filter.ts";
import type { Observations } from "./histogram.ts";
import type { Rules } from "./lifecycle.ts";
import type { OwnSettings } from "./provenance.ts";
import type { Backoff } from "./retry-backoff.ts";

/** A destination queue. Its own shard chooses the partition and sets when the item expires. */
export interface Target {
  readonly shard: number;
  readonly owner: number;
}

/** The settings by which a shard decides for a partition. */
export interface PartitionSettings extends Rules {
  readonly slot: number;
  readonly queue: string;
  /** Identifies the queue: another queue with its name or number has another owner. */
  readonly owner: number;
  readonly dead: Target | null;
  /** Absent = the queue is not paused. */
  readonly pause?: Pause;
  /** Absent = the queue takes no unique keys. */
  readonly uniqueForMs?: number;
  /** For retries that do not say when; absent = at once. */
  readonly backoff?: Backoff;
  /** Absent = its items have no groups. */
  readonly groups?: GroupRules;
}

/** What the settings of a queue say about the items of a group that come back or die. */
export interface GroupRules {
  readonly isStrict: boolean;
  readonly isBlockedByDead: boolean;
}

/**
 * An item before the shard assigns `expireDeadline` and the like. Most items are only a text and
 * are that string: an object per item is half of what a produce costs a shard.
 */
export type NewItem = string | DescribedItem;

export interface DescribedItem
  extends Required<Omit<ProduceItem, "uniqueKey" | "headers" | "group" | keyof OwnSettings>>,
    Pick<Item, "headers" | "past"> {
  /** Digest of its unique key; `""` = none. */
  readonly unique: string;
}

/** An item with a `leaseDeadline` is leased. */
export type NewImport = Required<Omit<ImportItem, "isLeased" | "headers" | "past" | "group">> &
  Pick<Item, "headers" | "past">;

/** An item as the storage calls list it. */
export interface ListedItem extends Omit<Item, "slot" | "seq" | "early" | "payload"> {
  readonly id: string;
  readonly priority: number;
  readonly leasedAt: number | null;
  readonly leaseDeadline: number | null;
  readonly dueAt: number | null;
  readonly payload: Uint8Array;
}

export interface MatchedItem extends ListedItem {
  readonly state: ItemState;
  /** The `clientId` that holds it; `""` = none, or leased before a restart. */
  readonly holder: string;
  /** Bytes of the whole payload; `payload` may have only its head. */
  readonly payloadBytes: number;
}

/** Counts and sums of one partition; ages are milliseconds. */
export interface PartitionCounts {
  readonly slot: number;
  readonly ready: number;
  readonly leased: number;
  readonly scheduled: number;
  readonly retried: number;
  /** When the oldest ready item became ready, or slightly earlier; `null` = none or unknown. */
  readonly oldestReadyAt: number | null;
  /** When the first scheduled item is due, or slightly earlier; `null` = none. */
  readonly nextDueAt: number | null;
  /** When its next lease lapses; `null` = none is held. */
  readonly nextLapseAt: number | null;
  /** Groups of its queue with ready items that only a person opens; absent = it has no groups. */
  readonly groupsBlocked?: number;
  /** Items that a running clear has yet to remove; absent = no clear is running. */
  readonly clearing?: number;
}

export interface PartitionHolder {
  readonly slot: number;
  /** `""` = unknown, as after a start. */
  readonly client: string;
  readonly items: number;
  readonly nextLapseAt: number;
}

export interface PartitionAges {
  readonly slot: number;
  readonly averageAgeMs: number;
  readonly averageLeasedAgeMs: number;
}

/** The place of an item in a partition, or in the outbox on its way to or from another shard. */
export type Trace =
  | { readonly slot: number; readonly seq: number }
  | { readonly from: number; readonly outboundSeq: number }
  | { readonly to: number; readonly outboundSeq: number };

/** An event of an item: its place then, and where it went or came from if its id changed. */
export interface NewHistoryEvent {
  readonly slot: number;
  readonly seq: number;
  readonly what: ItemEventKind;
  /** Its holder; `""` = none, or unknown. */
  readonly by: string;
  /** For another shard: the number in the outbox to it, without a slot. */
  readonly to?: { readonly shard: number; readonly slot: number; readonly seq: number };
  readonly from?: NewHistoryEvent["to"];
}

/** A `NewHistoryEvent` as the history returns it. */
export interface HistoryEvent extends Omit<NewHistoryEvent, "to" | "from"> {
  readonly at: number;
}

/** A leased item of a group. */
export interface GroupHolder {
  readonly id: string;
  /** `""` = unknown. */
  readonly client: string;
  readonly leaseDeadline: number;
}

/** The group of a ready item, and what keeps it closed. */
export interface GroupAhead extends Pick<GroupInfo, "group" | "waiting" | "blockedBy" | "nextAt"> {
  readonly isFirst: boolean;
  /** The dead letter that closed it; `""` = none. */
  readonly deadId: string;
  /** `null` = none of its items is leased. */
  readonly holder: GroupHolder | null;
}

/** The result of a request, by its operation. */
export type Value =
  | { readonly kind: "done" }
  /** `duplicates`: indexes of items that were not written because their unique key was taken. */
  | { readonly kind: "produced"; readonly duplicates: readonly number[]; readonly ids?: string[] }
  | { readonly kind: "nothing" }
  | { readonly kind: "extended"; readonly leaseDeadline: number }
  /** From the receipt of the key. */
  | { readonly kind: "recalled"; readonly values: readonly number[] }
  | { readonly kind: "items"; readonly items: readonly ListedItem[] }
  /** `next`: the number to continue from; `null` = nothing is left. */
  | {
      readonly kind: "found";
      readonly scanned: number;
      readonly next: number | null;
      readonly items: readonly MatchedItem[];
      readonly summaries: readonly ItemSummary[];
    }
  /** `next`: the first group of the next page; `""` = none follows. */
  | { readonly kind: "groups"; readonly groups: readonly GroupInfo[]; readonly next: string }
  | { readonly kind: "task"; readonly text: string }
  /** `hasOthers`: items of other priorities, which are not counted, may come first. */
  | {
      readonly kind: "ahead";
      readonly count: number;
      readonly isAll: boolean;
      readonly hasOthers?: true;
      readonly group?: GroupAhead;
    }
  /**
   * The history of one item in one shard, in order. `last`: its last known place here; `next`:
   * where it continues. `since`: earlier events may be missing; `null` = no history is kept.
   */
  | {
      readonly kind: "history";
      readonly happened: readonly HistoryEvent[];
      readonly last: { readonly slot: number; readonly seq: number } | null;
      readonly next: { readonly shard: number; readonly trace: Trace } | null;
      readonly since: number | null;
    }
  | { readonly kind: "outbound"; readonly items: readonly OutboundItem[] }
  /** `strays`: numbers of items for unknown queues; nothing from the first of them on was taken. */
  | { readonly kind: "received"; readonly strays: readonly number[] }
  | { readonly kind: "copied"; readonly bytes: number }
  | { readonly kind: "passed"; readonly passed: Passed }
  /** When the shard next has something to do; `null` = never. */
  | { readonly kind: "due"; readonly at: number | null }
  | { readonly kind: "ages"; readonly ages: readonly PartitionAges[] }
  | { readonly kind: "holders"; readonly holders: readonly PartitionHolder[] }
  /** Items that were removed, or would be. */
  | ({ readonly kind: "counted" } & ItemCounts);

/** `replayed`: the answer of an earlier request with the same key. */
export type Result =
  | { readonly ok: true; readonly value: Value; readonly replayed?: true }
  | Failure;

export const done: Result = { ok: true, value: { kind: "done" } };

export interface Answer {
  readonly op: number;
  readonly outcome: Result;
}

/** Events of the items of one partition since the last report. */
export interface ItemEvents {
  readonly slot: number;
  readonly counts: Partial<QueueCounters>;
  /** Seconds from ready to leased. */
  readonly waited?: Observations;
  /** Seconds from leased to completed. */
  readonly held?: Observations;
  /** The original ids of the first discarded items, at most `limits.discardedIdsMax`. */
  readonly discardedIds?: readonly string[];
  /** The holders of lapsed leases, and the causes of deaths, as `heavy-hitters.ts` counts them. */
  readonly lapsedOf?: HeavyHitters;
  readonly diedOf?: HeavyHitters;
}

/** Numbers of the last items exchanged with other shards; they reveal a store that went back. */
export interface Passed {
  /** The last number that the shard sent. */
  readonly sent: number;
  /** By source, the last number that it has taken. */
  readonly taken: readonly (readonly [shard: number, outboundSeq: number])[];
  /** By target, the last number that the target is known to have. */
  readonly arrived: readonly (readonly [shard: number, outboundSeq: number])[];
}
