// What the shards of one server ask of each other. All of it is data, so that it is the same whether two
// shards share a thread or not.

import type { OutboundItem } from "../../stores/item.ts";
import type { Pause } from "../../stores/queue.ts";
import type { ItemEvent, ItemExplained } from "../model/api.ts";
import type { Passed, Target } from "../model/messages.ts";
import type { Result } from "../operations/kind.ts";
import type { HistoryOf, Trace } from "../state/history.ts";

/** A queue as the other shards know it: enough to send it items, and to know who names whom. */
export interface QueueReference extends Target {
  readonly name: string;
  /** `""` = it has none. */
  readonly deadQueue: string;
  /** Which queue that is: one that was deleted since counts as none, whatever has its name now. */
  readonly deadOwner: number;
  /** Absent = it is not paused. */
  readonly pause?: Pause;
}

/** How far a shard has come in telling what becomes of its queues. */
export interface Said {
  /** No other opening of the shard has it. */
  readonly run: string;
  /** Rises by one with each change, from 0 at the opening. */
  readonly version: number;
}

/** The shard that asks another for something that lasts. */
export interface Asker {
  readonly shard: number;
  readonly run: string;
  /** Rises with each time that it asks. */
  readonly order: number;
}

/** A queue is about to name a dead queue. */
export interface Claim {
  readonly deadQueue: string;
  readonly by: string;
}

/** What a shard has. */
export interface Standing extends Said, Asker {
  /** What time it is there; a thread's clock begins at the last turn of its shards if that is later. */
  readonly now: number;
  readonly passed: Passed;
  readonly queues: readonly QueueReference[];
  readonly claims: readonly Claim[];
  /** Owners of queues that it is about to delete. */
  readonly retiring: readonly number[];
}

/** What became of the queues of a shard. */
export interface ReferenceChange extends Said {
  readonly shard: number;
  /** Created, or changed. */
  readonly put: readonly QueueReference[];
  /** Deleted. */
  readonly removed: readonly QueueReference[];
  /** Something is paused, so the shard is to end what it decides by what was before. */
  readonly isPause?: boolean;
}

/** What a shard knows of one item, in its own terms. */
export interface HistoryPart {
  readonly events: readonly ItemEvent[];
  /** Where it was when it was last heard of there. */
  readonly lastId: string | null;
  readonly next: { readonly shard: number; readonly trace: Trace } | null;
  /** What happened before may be missing; `null` = nothing is kept. */
  readonly since: number | null;
}

/** An item and why it is where it is, without what happened to it. */
export type Explained = Omit<ItemExplained, "history" | "historySince">;

/**
 * `receive` and `claim` wait until the shard has started; until then all but `introduce`, `lastSaid` and
 * `hear` throw `not_ready`, and these while its store is not open, as `receive` does after the start. What an earlier opening asks is refused
 * in the same way.
 */
export interface OtherShard {
  /** Tells each of the two shards what the other has. */
  introduce(standing: Standing): Promise<Standing>;
  lastSaid(): Promise<Said>;
  /** Takes items that are for its queues from the outbox of another shard. */
  receive(sourceShard: number, items: readonly OutboundItem[]): Promise<Result>;
  /**
   * Ends when it knows; at a pause when it has decided all that came before, unless it is down. Throws
   * where it lacks what was told before.
   */
  hear(change: ReferenceChange): Promise<void>;
  /**
   * A queue is about to name this one as its dead queue: until `unclaim` it gets no dead queue of its
   * own, and is deleted by force alone. Throws `bad_dead_queue`.
   */
  claim(claim: Claim, asker: Asker): Promise<void>;
  unclaim(claim: Claim, asker: Asker): Promise<void>;
  /** Whether it has items for a queue of another shard, by its owner. */
  isSending(owner: number): Promise<boolean>;
  /**
   * The same, once nothing more is sent there: the queue is being deleted. `hear` ends it, either way.
   */
  retire(owner: number, asker: Asker): Promise<boolean>;
  /** In whatever state; 0 of a queue that is not there. */
  itemCount(queue: string): Promise<number>;
  historyOf(request: HistoryOf): Promise<HistoryPart>;
  /** The item that has an id of this shard now, for who asked by another; `null` = none has. */
  explainHere(id: string, askedId: string): Promise<Explained | null>;
  /** The item of a queue that had this id first, in whichever shard; `null` = none had. */
  explainFormer(queue: string, originId: string): Promise<Explained | null>;
}
