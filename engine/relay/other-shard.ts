// The interface between the shards of one server. It passes only data, so that it is the same
// within a thread and between threads.

import type { OutboundItem } from "../../stores/item.ts";
import type { Pause } from "../../stores/queue.ts";
import type { ItemEvent, ItemExplained } from "../model/api.ts";
import type { Passed, Result, Target, Trace } from "../model/messages.ts";
import type { HistoryOf } from "../state/history.ts";

/** A queue as other shards know it: enough to send it items and to know its dead queue. */
export interface QueueReference extends Target {
  readonly name: string;
  /** `""` = none. */
  readonly deadQueue: string;
  /** Identifies the dead queue: its deletion voids the reference, even if the name is reused. */
  readonly deadOwner: number;
  /** Absent = not paused. */
  readonly pause?: Pause;
}

/** The number of changes of its queues that a shard has sent. */
export interface ShardVersion {
  /** Unique to this opening of the shard. */
  readonly run: string;
  /** Increases by one with each change, from 0 at the opening. */
  readonly version: number;
}

/** The sender of a request with a lasting effect. */
export interface Requester {
  readonly shard: number;
  readonly run: string;
  /** Increases with each such request. */
  readonly order: number;
}

/** Announces that a queue will name a dead queue. */
export interface Claim {
  readonly deadQueue: string;
  readonly by: string;
}

export interface Standing extends ShardVersion, Requester {
  /** The shard's time; a thread's clock starts at the last turn of its shards if that is later. */
  readonly now: number;
  readonly passed: Passed;
  readonly queues: readonly QueueReference[];
  readonly claims: readonly Claim[];
  /** Owners of queues that it is about to delete. */
  readonly retiring: readonly number[];
}

export interface ReferenceChange extends ShardVersion {
  readonly shard: number;
  /** Created or changed. */
  readonly put: readonly QueueReference[];
  readonly removed: readonly QueueReference[];
  /** A pause: the receiver must first finish the turns decided without it. */
  readonly isPause?: boolean;
}

/** The part of an item's history that one shard knows, with the names of that shard. */
export interface HistoryPart {
  readonly events: readonly ItemEvent[];
  /** Its last known id there. */
  readonly lastId: string | null;
  readonly next: { readonly shard: number; readonly trace: Trace } | null;
  /** Earlier events may be missing; `null` = no history is kept. */
  readonly since: number | null;
}

export type Explained = Omit<ItemExplained, "history" | "historySince">;

/**
 * `receive` and `claim` wait until the shard has started. Before that all others throw `not_ready`,
 * except `introduce`, `lastVersion` and `receiveChange`, which throw it while the store is not open,
 * as `receive` does after the start. Requests of an earlier opening are refused with the same error.
 */
export interface OtherShard {
  /** Exchanges the states of the two shards. */
  introduce(standing: Standing): Promise<Standing>;
  lastVersion(): Promise<ShardVersion>;
  /** Takes items for its queues from the outbox of another shard. */
  receive(sourceShard: number, items: readonly OutboundItem[]): Promise<Result>;
  /**
   * Ends when the change is known; for a pause, when everything before it is decided, unless the
   * shard is down. Throws if an earlier change is missing.
   */
  receiveChange(change: ReferenceChange): Promise<void>;
  /**
   * Announces that a queue will name this one as its dead queue. Until `unclaim` it gets no dead
   * queue of its own, and only a forced delete removes it. Throws `bad_dead_queue`.
   */
  claim(claim: Claim, requester: Requester): Promise<void>;
  unclaim(claim: Claim, requester: Requester): Promise<void>;
  /** Whether its outbox has items for the queue `owner` of another shard. */
  isSending(owner: number): Promise<boolean>;
  /**
   * Like `isSending`, once the shard sends nothing more there because the queue is being deleted.
   * `receiveChange` ends this in either case.
   */
  retire(owner: number, requester: Requester): Promise<boolean>;
  /** Items in any state; 0 if there is no such queue. */
  itemCount(queue: string): Promise<number>;
  historyOf(request: HistoryOf): Promise<HistoryPart>;
  /** The item that has this id now; `askedId`: the id in the request. `null` = none here. */
  explainHere(id: string, askedId: string): Promise<Explained | null>;
  /** The item of a queue that first had this id, in any shard; `null` = none. */
  explainFormer(queue: string, originId: string): Promise<Explained | null>;
}
