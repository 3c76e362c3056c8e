// The seam between the engine and what keeps its items. A store finds and
// persists; it decides nothing. One shard calls it, one turn at a time: one read
// brings all that the turn has to know, one commit takes all that it decided.

import type { Item, Lease, OutboundItem, ScheduledItem, Tally } from "./item.ts";
import type { CatalogEntry } from "./queue.ts";

/** A read item; `damaged` when its checksum does not match, and then only `slot` and `seq` can be trusted. */
export type Read<T extends Item> = T & { readonly damaged: boolean };

/** How much one read may bring: it ends with the first item that reaches either bound. */
export interface ReadLimit {
  readonly items: number;
  readonly payloadBytes: number;
}

/** Items of a slot from `from` to before `before`. */
export interface Span {
  readonly slot: number;
  readonly from: number;
  readonly before: number;
}

/** The first items of a span; the asker finds them again by the name. */
export interface Page extends Span {
  readonly name: string;
  readonly limit: ReadLimit;
}

/** An item's place and deadline, without the item. */
export interface EarlyRef {
  readonly expireDeadline: number;
  readonly slot: number;
  readonly seq: number;
}

/** What is read of an item that only moves. It is not compared with the checksum; the move does that. */
export type Mark = Pick<
  Item,
  "slot" | "seq" | "createdAt" | "expireDeadline" | "attempts" | "past"
> & {
  /** About as much as its payload has. */
  readonly payloadBytes: number;
};

export type ScheduledMark = Mark & Pick<ScheduledItem, "dueAt" | "retried">;

/** Some of what there is, in order. */
export interface Some<T> {
  readonly found: readonly T[];
  /** Nothing comes behind them. */
  readonly isAll: boolean;
}

export interface SlotSeqs {
  readonly slot: number;
  /** In rising order. */
  readonly seqs: readonly number[];
}

/** A place in a partition. */
export type SlotSeq = Pick<Item, "slot" | "seq">;

/** That an item with a key was written, and for how long no other one with it is. */
export interface UniqueKey extends SlotSeq {
  /** 32 hexadecimal digits; it says the queue too. */
  readonly digest: string;
  readonly until: number;
}

/** All that a turn, or a start, has to know of what is stored. Slots and names of one kind differ. */
export interface Wants {
  /** Heads of partitions: whole items, ready and leased. They share `headBytes`. */
  readonly heads: readonly (Span & { readonly items: number })[];
  /** Payload bytes with which the reading of heads ends. */
  readonly headBytes: number;
  readonly items: readonly Page[];
  readonly scheduled: readonly Page[];
  /** Marks of ready and leased items; payloads do not count. */
  readonly marks: readonly Page[];
  readonly scheduledMarks: readonly Page[];
  /** Single items, wherever they are. */
  readonly picks: readonly SlotSeqs[];
  /** Which of these source ids an item of the slot has, scheduled ones included. */
  readonly sources: readonly { readonly slot: number; readonly sourceIds: readonly string[] }[];
  /** Digests of unique keys, each once. */
  readonly uniques: readonly string[];
  /** Unique keys of which `until` is at most this, earliest first. */
  readonly ended: { readonly until: number; readonly keys: number } | null;
  /** Scheduled items of all slots whose `wakeAt` is at most `until`, earliest first, ties in order of `seq`. */
  readonly waking: { readonly until: number; readonly items: number } | null;
  /** `early` items of all slots that expire after `after`, in the order of (deadline, slot, seq), and by `until`. */
  readonly early: {
    readonly after: EarlyRef;
    readonly until: number;
    readonly items: number;
  } | null;
  /** What waits for a target shard, which has all up to number `arrived`. */
  readonly outbound: readonly {
    readonly targetShard: number;
    readonly arrived: number;
    readonly limit: ReadLimit;
  }[];
}

export interface Picked {
  readonly ready: ReadonlyMap<number, Mark>;
  readonly scheduled: ReadonlyMap<number, ScheduledMark>;
}

export interface OutboxPage {
  /** What the target has, without the items. */
  readonly arrived: readonly Pick<OutboundItem, "outboundSeq" | "targetOwner">[];
  /** The first of those behind it, in order. */
  readonly found: readonly Read<OutboundItem>[];
}

/** The answers to `Wants`. */
export interface Facts {
  /** By slot; of a slot that is missing nothing was read, because others had used up the bytes. */
  readonly heads: ReadonlyMap<number, Some<Read<Item>>>;
  /** By the page's name, as the next three. */
  readonly items: ReadonlyMap<string, Some<Read<Item>>>;
  readonly scheduled: ReadonlyMap<string, Some<Read<ScheduledItem>>>;
  readonly marks: ReadonlyMap<string, Some<Mark>>;
  readonly scheduledMarks: ReadonlyMap<string, Some<ScheduledMark>>;
  /** By slot, as the next one. */
  readonly picks: ReadonlyMap<number, Picked>;
  readonly sources: ReadonlyMap<number, ReadonlySet<string>>;
  /** The instants until which they are taken, by digest; nothing of one that is not stored, or damaged. */
  readonly uniques: ReadonlyMap<string, number>;
  /** `next`: the first `until` behind those found, whether it has come or not; `null` = none. */
  readonly ended: { readonly found: readonly SlotSeq[]; readonly next: number | null };
  /** `next`: the first `wakeAt` behind those found, whether it has come or not; `null` = none. */
  readonly waking: { readonly found: readonly ScheduledMark[]; readonly next: number | null };
  /** `next`: the first deadline behind those found, whether it has come or not; `null` = none. */
  readonly early: { readonly found: readonly Mark[]; readonly next: number | null };
  /** By target shard. */
  readonly outbound: ReadonlyMap<number, OutboxPage>;
}

export const noWants: Wants = {
  heads: [],
  headBytes: 0,
  items: [],
  scheduled: [],
  marks: [],
  scheduledMarks: [],
  picks: [],
  sources: [],
  uniques: [],
  ended: null,
  waking: null,
  early: null,
  outbound: [],
};

export const noFacts: Facts = {
  heads: new Map(),
  items: new Map(),
  scheduled: new Map(),
  marks: new Map(),
  scheduledMarks: new Map(),
  picks: new Map(),
  sources: new Map(),
  uniques: new Map(),
  ended: { found: [], next: null },
  waking: { found: [], next: null },
  early: { found: [], next: null },
  outbound: new Map(),
};

/** One committed turn, so that whoever lost its answer knows that it was. */
export interface TurnRecord {
  /** Rises by one per committed turn. */
  readonly turn: number;
  /** The engine time of the turn; no later turn is earlier. */
  readonly at: number;
  /** Of the opening that committed it: another one may have committed a turn of the same number. */
  readonly tag: string;
}

/** A lease, and what it still holds. */
export interface StoredLease extends Lease {
  readonly held: readonly Mark[];
}

/** What a turn noted of calls with a key; the store does not look inside. */
export interface StoredReceipts extends Pick<TurnRecord, "turn" | "at"> {
  readonly entries: Uint8Array;
}

/** How far a task has come that goes on for longer than a turn; the store does not look inside. */
export interface StoredTask {
  readonly taskId: string;
  readonly text: string;
}

/** Everything a shard keeps in memory, read once when it starts; its size does not grow with the items that wait. */
export interface Image {
  /** The tag that the store was made with, or what the last opening wrote in its place; the store does not look inside. */
  readonly tags: string;
  /** The latest turns, oldest first, at least those whose answers may be lost. */
  readonly turns: readonly TurnRecord[];
  readonly tallies: readonly Tally[];
  readonly leases: readonly StoredLease[];
  readonly outbox: readonly OutboxCount[];
  /**
   * The last item taken from each other shard; under the shard's own number the last it sent, and
   * under negative ones what the engine notes of targets.
   */
  readonly inbound: readonly Inbound[];
  /** Of turns that were not forgotten, oldest first; empty where they were not asked for. */
  readonly receipts: readonly StoredReceipts[];
  /** By rising `taskId`. */
  readonly tasks: readonly StoredTask[];
  /** By rising `queueId`. */
  readonly queues: readonly CatalogEntry[];
  /** Items set aside so far. */
  readonly quarantinedCount: number;
}

/** How many items wait for one queue of another shard. */
export interface OutboxCount {
  readonly targetShard: number;
  readonly targetOwner: number;
  readonly count: number;
}

export interface Inbound {
  readonly sourceShard: number;
  readonly outboundSeq: number;
}

/** All of an item that is not its producer's: a move may change it. */
type Movable = Omit<
  Item,
  "kind" | "encoding" | "reference" | "headers" | "sourceId" | "payload"
> & {
  /** `null` = as it was. */
  readonly sourceId: string | null;
};

/** Where a move leads; `null` = nowhere, the item is gone. */
export type Destination =
  | { readonly into: "items"; readonly item: Movable }
  | {
      readonly into: "scheduled";
      readonly item: Movable & Pick<ScheduledItem, "dueAt" | "retried">;
    }
  | {
      readonly into: "outbox";
      readonly item: Movable & Pick<OutboundItem, "outboundSeq" | "targetShard" | "targetOwner">;
    };

/**
 * An item changes its place, and the store takes along what its producer gave it. Where it comes
 * from it is named in `remove` or `unschedule` too.
 */
export interface Move {
  readonly slot: number;
  readonly seq: number;
  readonly from: "items" | "scheduled";
  readonly to: Destination | null;
}

/** What one turn changes. Inserted and removed items never overlap. */
export interface Changes {
  readonly turn: TurnRecord;
  readonly insert: readonly Item[];
  /** Of what was stored before this commit, each once. */
  readonly move: readonly Move[];
  readonly remove: readonly SlotSeqs[];
  readonly schedule: readonly ScheduledItem[];
  readonly unschedule: readonly SlotSeqs[];
  /** Damaged items, ready or scheduled, to be set aside with all that is left of them. */
  readonly quarantine: readonly SlotSeqs[];
  /** Replaced by `slot` and `first`. */
  readonly lease: readonly Lease[];
  readonly unlease: readonly Pick<Lease, "slot" | "first">[];
  /** Replaced by `slot`. */
  readonly tally: readonly Tally[];
  /** New items of other shards; those that were stored here come by a move. */
  readonly send: readonly OutboundItem[];
  /** By `outboundSeq`. */
  readonly unsend: readonly number[];
  /** Damaged items of the outbox, by `outboundSeq`, to be set aside. */
  readonly quarantineOutbound: readonly number[];
  readonly receive: readonly Inbound[];
  /** What this turn notes of calls with a key; `null` = nothing. */
  readonly receipts: Uint8Array | null;
  /** Receipts of turns up to this one go; 0 = none. */
  readonly forgetTurn: number;
  /** Replaced by `digest`. */
  readonly unique: readonly UniqueKey[];
  /** Unique keys that were stored before, by the items that they came with; most may have none. */
  readonly ununique: readonly SlotSeqs[];
  /** Replaced by `taskId`, each once; `""` as the text removes it. */
  readonly tasks: readonly StoredTask[];
  /** Replaced by `queueId`, each once. */
  readonly queue: readonly CatalogEntry[];
  /** By `queueId`; none of those in `queue`. */
  readonly unqueue: readonly number[];
  /** Replaces the tags; `null` = they stay as they are. */
  readonly tags: string | null;
}

/**
 * Why a store failed. `full`: there is no room, nothing was written, the store
 * goes on. `spoilt`: items that were to move are damaged, nothing was written, the
 * store goes on. `failed`: whether the commit holds is unknown until the store is
 * opened again. `lost`: the database lacks commits that this process has acknowledged; the
 * store can be opened again, by who forgets all it knew. `locked`: another process owns the files. `damaged`: the files
 * are not what was written. `unusable`: they cannot be opened at all.
 */
export type StoreFault = "full" | "spoilt" | "failed" | "lost" | "locked" | "damaged" | "unusable";

export class StoreError extends Error {
  override readonly name: string = "StoreError";
  readonly fault: StoreFault;

  constructor(fault: StoreFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}

/** What was written is of a format that only a later version knows. */
export function laterFormat(format: {
  readonly expected: number;
  readonly got: number;
}): StoreError {
  const { expected, got } = format;
  return new StoreError(
    "unusable",
    `the store was written by a later version; expected format ${expected} or less, got ${got}`,
  );
}

/** Which items cannot move because they are damaged. */
export class SpoiltItems extends StoreError {
  override readonly name = "SpoiltItems";
  readonly items: readonly { readonly slot: number; readonly seq: number }[];

  constructor(items: SpoiltItems["items"]) {
    super("spoilt", "stored items are damaged");
    this.items = items;
  }
}

/** A commit that every read sees. */
export interface Written {
  /**
   * Resolves once it would survive what the durability promises; `null` = it would by now. Until
   * then the store can be read, and nothing else may be committed.
   */
  readonly synced: Promise<void> | null;
}

/** One shard's items and queues. Every method may throw `StoreError`; after `failed` the store must be closed. */
export interface Store {
  /** Without `receipts` for who has them already. */
  load(what?: { readonly receipts: boolean }): Promise<Image>;
  /** One look at what is committed, whatever number of things is asked. */
  read(wants: Wants): Promise<Facts>;
  /** Applies every change or none. */
  commit(changes: Changes): Promise<Written>;
  /** Idempotent. What was opened beside the store goes with it. */
  close(): Promise<void>;
}
