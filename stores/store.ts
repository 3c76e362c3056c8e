// The seam between the engine and its storage. A store finds and persists; it decides nothing. One
// shard calls it, one turn at a time: one read returns what the turn needs, one commit applies what
// it decided.

import type { Item, Lease, OutboundItem, ScheduledItem, Tally } from "./item.ts";
import type { CatalogEntry } from "./queue.ts";

/** A read item. `damaged`: its checksum does not match, so only `slot` and `seq` are reliable. */
export type Read<T extends Item> = T & { readonly damaged: boolean };

/** Bounds of one read, which ends with the first item that reaches either. */
export interface ReadLimit {
  readonly items: number;
  readonly payloadBytes: number;
}

/** Items of a slot from `from` up to, but not including, `before`. */
export interface Span {
  readonly slot: number;
  readonly from: number;
  readonly before: number;
}

/** The first items of a span. The name identifies them in the result. */
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

/** What is read of an item that only moves. Its checksum is not checked before the move. */
export type Mark = Pick<
  Item,
  "slot" | "seq" | "createdAt" | "expireDeadline" | "attempts" | "past"
> & {
  /** Approximate size of its payload. */
  readonly payloadBytes: number;
};

export type ScheduledMark = Mark & Pick<ScheduledItem, "dueAt" | "retried">;

/** The first results, in order. */
export interface Some<T> {
  readonly found: readonly T[];
  /** There are no further results. */
  readonly isAll: boolean;
}

export interface SlotSeqs {
  readonly slot: number;
  /** In rising order. */
  readonly seqs: readonly number[];
}

/** A place in a partition. */
export type SlotSeq = Pick<Item, "slot" | "seq">;

/** A unique key of an item, and the instant until which no other item may have it. */
export interface UniqueKey extends SlotSeq {
  /** 32 hexadecimal digits; covers the queue as well as the key. */
  readonly digest: string;
  readonly until: number;
}

/** Whether a grouped item is ready or leased, or set aside until an instant, and by whom. */
export type GroupPlace = "queued" | "scheduled" | "retried";

/** The row of a grouped item in the index of its partition. */
export interface GroupedItem {
  /** The own slot of the partition, whatever the item's priority. */
  readonly partition: number;
  /** Up to 256 bytes of UTF-8; `""` is the group of items without one. */
  readonly group: string;
  readonly place: GroupPlace;
  /** Its order in the group; never the same for two items of a shard. */
  readonly rank: number;
  readonly slot: number;
  readonly seq: number;
}

/** The first items of a group at `queued`, in order of `rank`, beginning with `from`. */
export interface GroupHead extends Pick<GroupedItem, "partition" | "group"> {
  readonly from: number;
  /** Items that are read whole; the row of one more is read without its item. */
  readonly items: number;
}

/** `item`: absent = not read; `null` = there is none in its place, which only damage explains. */
export interface GroupRow extends Pick<GroupedItem, "rank" | "slot" | "seq"> {
  readonly item?: Read<Item> | null;
}

/** All that a turn or a start reads. Slots and names are unique within each kind. */
export interface ReadPlan {
  /** Heads of partitions: whole items, ready and leased, within `headBytes` for all of them. */
  readonly heads: readonly (Span & { readonly items: number })[];
  /** Heads of groups; the bytes that `heads` leaves are for them. */
  readonly groups: readonly GroupHead[];
  /** Reading of heads stops at so many payload bytes. */
  readonly headBytes: number;
  readonly items: readonly Page[];
  readonly scheduled: readonly Page[];
  /** Marks of ready and leased items; the bound of payload bytes does not apply. */
  readonly marks: readonly Page[];
  readonly scheduledMarks: readonly Page[];
  /** Single items, ready, leased or scheduled. */
  readonly picks: readonly SlotSeqs[];
  /** Which of these source ids occur in the slot, including scheduled items. */
  readonly sources: readonly { readonly slot: number; readonly sourceIds: readonly string[] }[];
  /** Digests of unique keys, without duplicates. */
  readonly uniques: readonly string[];
  /** Unique keys whose `until` is at most this, earliest first. */
  readonly ended: { readonly until: number; readonly keys: number } | null;
  /** Scheduled items of all slots with `wakeAt` up to `until`, earliest first, ties by `seq`. */
  readonly waking: { readonly until: number; readonly items: number } | null;
  /**
   * `early` items of all slots after `after` in order of (deadline, slot, seq), and at most
   * `until`.
   */
  readonly early: {
    readonly after: EarlyRef;
    readonly until: number;
    readonly items: number;
  } | null;
  /** Items for a target shard, which has received all up to number `arrived`. */
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
  /** Items that the target has received, without their content. */
  readonly arrived: readonly Pick<OutboundItem, "outboundSeq" | "targetOwner">[];
  /** The first of the remaining items, in order. */
  readonly found: readonly Read<OutboundItem>[];
}

/** The results of `ReadPlan`. */
export interface ReadResult {
  /** By slot. A slot is missing if the slots before it used up `headBytes`. */
  readonly heads: ReadonlyMap<number, Some<Read<Item>>>;
  /** In the order of the plan; shorter if the bytes did not suffice. */
  readonly groups: readonly Some<GroupRow>[];
  /** By the page's name, like the next three. */
  readonly items: ReadonlyMap<string, Some<Read<Item>>>;
  readonly scheduled: ReadonlyMap<string, Some<Read<ScheduledItem>>>;
  readonly marks: ReadonlyMap<string, Some<Mark>>;
  readonly scheduledMarks: ReadonlyMap<string, Some<ScheduledMark>>;
  /** By slot, like the next one. */
  readonly picks: ReadonlyMap<number, Picked>;
  readonly sources: ReadonlyMap<number, ReadonlySet<string>>;
  /** By digest; omits keys not stored, or damaged. */
  readonly uniques: ReadonlyMap<string, UniqueKey>;
  /** `next`: the first `until` after those found, past or future; `null` = none. */
  readonly ended: { readonly found: readonly SlotSeq[]; readonly next: number | null };
  /** `next`: the first `wakeAt` after those found, past or future; `null` = none. */
  readonly waking: { readonly found: readonly ScheduledMark[]; readonly next: number | null };
  /** `next`: the first deadline after those found, past or future; `null` = none. */
  readonly early: { readonly found: readonly Mark[]; readonly next: number | null };
  /** By target shard. */
  readonly outbound: ReadonlyMap<number, OutboxPage>;
}

export const noReads: ReadPlan = {
  heads: [],
  groups: [],
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

export const nothingRead: ReadResult = {
  heads: new Map(),
  groups: [],
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

/** Record of a committed turn, to look up a commit whose outcome is unknown. */
export interface TurnRecord {
  /** Increases by one per committed turn. */
  readonly turn: number;
  /** The engine time of the turn; no later turn is earlier. */
  readonly at: number;
  /** Tag of the opening that committed it; another opening may have committed the same number. */
  readonly tag: string;
}

/** A lease and the items that it still holds. */
export interface StoredLease extends Lease {
  readonly held: readonly Mark[];
}

/** A turn's receipts of calls with a key; opaque to the store. */
export interface StoredReceipts extends Pick<TurnRecord, "turn" | "at"> {
  readonly entries: Uint8Array;
}

/** What a start reads of a group at one place. */
export interface GroupCount extends Pick<GroupedItem, "partition" | "group" | "place"> {
  readonly count: number;
  /** The row with the lowest rank. */
  readonly first: Pick<GroupedItem, "rank" | "slot" | "seq">;
  readonly rankLast: number;
}

/** Progress of a task that takes longer than a turn; opaque to the store. */
export interface StoredTask {
  readonly taskId: string;
  readonly text: string;
}

/** The memory of a shard, read at its start. Its size does not grow with waiting items. */
export interface Image {
  /** The tag of the new store, or its replacement by the last opening; opaque to the store. */
  readonly tags: string;
  /** The latest turns, oldest first, including all whose answers may be lost. */
  readonly turns: readonly TurnRecord[];
  readonly tallies: readonly Tally[];
  /** In order of partition, group in UTF-8, and place. */
  readonly groups: readonly GroupCount[];
  readonly leases: readonly StoredLease[];
  readonly outbox: readonly OutboxCount[];
  /**
   * The last item received from each other shard. Under the shard's own number, the last item it
   * sent; under negative numbers, the engine's own records about targets.
   */
  readonly inbound: readonly Inbound[];
  /** Oldest first, without those forgotten; empty if not requested. */
  readonly receipts: readonly StoredReceipts[];
  /** In order of `taskId`. */
  readonly tasks: readonly StoredTask[];
  /** In order of `queueId`. */
  readonly queues: readonly CatalogEntry[];
  readonly quarantinedCount: number;
}

/** The number of items to be sent to one queue of another shard. */
export interface OutboxCount {
  readonly targetShard: number;
  readonly targetOwner: number;
  readonly count: number;
}

export interface Inbound {
  readonly sourceShard: number;
  readonly outboundSeq: number;
}

/** The fields of an item that a move may change: all but the producer's. */
type Movable = Omit<
  Item,
  "kind" | "encoding" | "reference" | "headers" | "sourceId" | "payload"
> & {
  /** `null` = unchanged. */
  readonly sourceId: string | null;
};

/** The target of a move. */
export type MoveDestination =
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
 * Moves an item, and the store copies the producer's fields. The item's old place must also be
 * listed in `remove` or `unschedule`. `to`: `null` = the item is removed.
 */
export interface Move {
  readonly slot: number;
  readonly seq: number;
  readonly from: "items" | "scheduled";
  readonly to: MoveDestination | null;
}

/** The changes of one turn. Inserted and removed items never overlap. */
export interface Changes {
  readonly turn: TurnRecord;
  readonly insert: readonly Item[];
  /** Items stored before this commit, each at most once. */
  readonly move: readonly Move[];
  readonly remove: readonly SlotSeqs[];
  readonly schedule: readonly ScheduledItem[];
  readonly unschedule: readonly SlotSeqs[];
  /** Damaged items, ready or scheduled, to be quarantined with whatever can be read of them. */
  readonly quarantine: readonly SlotSeqs[];
  /** Replaced by `slot` and `first`. */
  readonly lease: readonly Lease[];
  readonly unlease: readonly Pick<Lease, "slot" | "first">[];
  /** Replaced by `slot`. */
  readonly tally: readonly Tally[];
  /** New items for other shards; items stored here are sent by a move. */
  readonly send: readonly OutboundItem[];
  /** By `outboundSeq`. */
  readonly unsend: readonly number[];
  /** Damaged items of the outbox to quarantine, by `outboundSeq`. */
  readonly quarantineOutbound: readonly number[];
  readonly receive: readonly Inbound[];
  /** This turn's receipts of calls with a key; `null` = none. */
  readonly receipts: Uint8Array | null;
  /** Removes the receipts of turns up to this one; 0 = none. */
  readonly forgetTurn: number;
  /** Replaced by `digest`. */
  readonly unique: readonly UniqueKey[];
  /** Removes the unique keys of these items, if they have any. */
  readonly ununique: readonly SlotSeqs[];
  /** Removed before those of `group` are added, if slot and seq match too; others are ignored. */
  readonly ungroup: readonly GroupedItem[];
  /** Replaced by all fields but `slot` and `seq`; each at most once. */
  readonly group: readonly GroupedItem[];
  /** Replaced by `taskId`, each at most once; an empty `text` removes the task. */
  readonly tasks: readonly StoredTask[];
  /** Replaced by `queueId`, each at most once. */
  readonly queue: readonly CatalogEntry[];
  /** By `queueId`; never one that is in `queue`. */
  readonly unqueue: readonly number[];
  /** Replaces the tags; `null` = unchanged. */
  readonly tags: string | null;
}

/**
 * Why a store failed:
 * - `full`: no disk space; nothing was written, and the store remains usable.
 * - `damaged_items`: items to be moved are damaged; nothing was written, and the store remains
 *   usable.
 * - `failed`: the outcome of the commit is unknown until the store is opened again.
 * - `lost`: the database lacks commits that this process has acknowledged. The caller must drop
 *   its state before it opens the store again.
 * - `locked`: another process has the store open.
 * - `damaged`: the stored bytes differ from the written ones.
 * - `unusable`: the store cannot be opened.
 */
export type StoreFault =
  | "full"
  | "damaged_items"
  | "failed"
  | "lost"
  | "locked"
  | "damaged"
  | "unusable";

export class StoreError extends Error {
  override readonly name: string = "StoreError";
  readonly fault: StoreFault;

  constructor(fault: StoreFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}

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

/** `damaged_items`, with the damaged items. */
export class DamagedItems extends StoreError {
  override readonly name = "SpoiltItems";
  readonly items: readonly { readonly slot: number; readonly seq: number }[];

  constructor(items: DamagedItems["items"]) {
    super("damaged_items", "stored items are damaged");
    this.items = items;
  }
}

/** A commit that every read sees. */
export interface Written {
  /**
   * Resolves once the commit has the promised durability; `null` = it has it already. Until then
   * the store may be read, but nothing else may be committed.
   */
  readonly synced: Promise<void> | null;
}

/** Every method may throw `StoreError`. After `failed` the store must be closed. */
export interface Store {
  /** Pass `receipts: false` if they are known already. */
  load(what?: { readonly receipts: boolean }): Promise<Image>;
  /** Reads everything from one committed state. */
  read(plan: ReadPlan): Promise<ReadResult>;
  /** Applies every change or none. */
  commit(changes: Changes): Promise<Written>;
  /** Idempotent. Also closes what was opened with the store. */
  close(): Promise<void>;
}
