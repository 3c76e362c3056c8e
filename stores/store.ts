// The seam between the engine and what keeps its items. A store finds and
// persists; it decides nothing. One shard calls it, one turn at a time, so what
// a turn has read still holds when it commits.

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

/** An item's place and deadline, without the item. */
export interface EarlyRef {
  readonly expireDeadline: number;
  readonly slot: number;
  readonly seq: number;
}

export interface LeasedSeq {
  readonly seq: number;
  readonly createdAt: number;
}

/** What became of the requests of one committed turn, for a caller whose answer was lost. */
export interface TurnRecord {
  /** Rises by one per committed turn. */
  readonly turn: number;
  /** The engine time of the turn; no later turn is earlier. */
  readonly at: number;
  /** Every request up to this number has been decided. */
  readonly opLast: number;
  /** Requests of this turn that were refused, as JSON; the others took effect. */
  readonly refused: string;
}

/** Everything a shard keeps in memory, read once when it starts; its size does not grow with the items that wait. */
export interface Image {
  /** 12 random characters `0-9A-Za-z` made with the store: no two stores issue the same ids. */
  readonly tag: string;
  /** The latest turns, oldest first, at least those whose answers may be lost. */
  readonly turns: readonly TurnRecord[];
  readonly tallies: readonly Tally[];
  readonly leases: readonly Lease[];
  readonly outbound: readonly OutboundItem[];
  /** The last item taken from each other shard; under the shard's own number, the last it sent. */
  readonly inbound: readonly Inbound[];
  readonly catalog: readonly CatalogEntry[];
  /** Damaged items set aside so far. */
  readonly quarantinedCount: number;
}

export interface StoredCounts {
  /** Ready and leased. */
  readonly items: number;
  /** Scheduled and retried. */
  readonly scheduled: number;
}

export interface Inbound {
  readonly sourceShard: number;
  readonly outboundSeq: number;
}

export interface SlotSeqs {
  readonly slot: number;
  /** In rising order. */
  readonly seqs: readonly number[];
}

/** What one turn changes. Inserted and removed items never overlap. */
export interface Changes {
  readonly turn: TurnRecord;
  readonly insert: readonly Item[];
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
  readonly send: readonly OutboundItem[];
  /** By `outboundSeq`. */
  readonly unsend: readonly number[];
  readonly receive: readonly Inbound[];
  /** Replaced by `queueId`. */
  readonly catalogPut: readonly CatalogEntry[];
  readonly catalogRemove: readonly number[];
}

export interface StoreSize {
  readonly logBytes: number;
  readonly fileBytes: number;
  /** There was no room for a commit, and what was set aside for that case is not back yet. */
  readonly full: boolean;
}

/**
 * Why a store failed. `full`: there is no room, nothing was written, the store
 * goes on. `failed`: whether the commit holds is unknown until the store is
 * opened again. `locked`: another process owns the files. `damaged`: the files
 * are not what was written. `unusable`: they cannot be opened at all.
 */
export type StoreFault = "full" | "failed" | "locked" | "damaged" | "unusable";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly fault: StoreFault;

  constructor(fault: StoreFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}

/** One shard's items. Every method may throw `StoreError`; after `failed` the store must be closed. */
export interface Store {
  load(): Promise<Image>;
  /** Items of a slot from `from` to before `before`, in order, leased ones included. */
  items(slot: number, from: number, before: number, limit: ReadLimit): Promise<Read<Item>[]>;
  /**
   * The first items of several slots, by slot, in one read: of each as many as lie together, at
   * least one. Where a slot is missing, only `items` can tell.
   */
  heads(spans: readonly Span[]): Promise<Map<number, Read<Item>[]>>;
  /** Their sequence numbers and creation instants alone. */
  seqs(slot: number, from: number, before: number, limit: number): Promise<LeasedSeq[]>;
  /**
   * What each slot of a tally has below its `nextSeq`; `null` where there is too much to count it
   * at a start.
   */
  countItems(): Promise<ReadonlyMap<number, StoredCounts> | null>;
  /** Which of these sequence numbers are stored in the slot, scheduled ones aside. */
  present(slot: number, seqs: readonly number[]): Promise<number[]>;
  /** Which of these source ids an item of the slot has, scheduled ones included. */
  presentSources(slot: number, sourceIds: readonly string[]): Promise<string[]>;
  /** Scheduled items of a slot from `from` to before `before`, in order of `seq`. */
  scheduled(
    slot: number,
    from: number,
    before: number,
    limit: ReadLimit,
  ): Promise<Read<ScheduledItem>[]>;
  /** Scheduled items of all slots whose `wakeAt` is at most `now`: earliest first, ties in order of `seq`. */
  waking(now: number, limit: ReadLimit): Promise<Read<ScheduledItem>[]>;
  /** The earliest `wakeAt` of all, or `null`. */
  nextWake(): Promise<number | null>;
  /** `early` items that expire after `after` in the order of (deadline, slot, seq), leased ones included. */
  early(after: EarlyRef, limit: number): Promise<EarlyRef[]>;
  /** Applies every change or none; resolves once they would survive what the durability promises. */
  commit(changes: Changes): Promise<void>;
  /**
   * To be called when a turn is answered: does what its commit left for later, before
   * that would delay another one. `idle`: nobody waits for a turn at this moment.
   */
  relieve(idle: boolean): Promise<void>;
  /** One bounded piece of housekeeping, for a moment without requests; `true` while more is left. */
  tidy(): Promise<boolean>;
  size(): StoreSize;
  /**
   * Writes a copy of all that is committed into the folder, synced, under the name of the
   * store's own file; its bytes. `null`: it cannot be written there, or there is no file.
   */
  backup(folder: string): Promise<number | null>;
  /** Idempotent. */
  close(): Promise<void>;
}
