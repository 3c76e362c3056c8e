// A store without files: for tests, for the simulator, and for queues that may
// be lost with the process. What it keeps is an image that outlives the store,
// so that a restart can be played by opening the same image again.

import {
  type Item,
  type Lease,
  type OutboundItem,
  type ScheduledItem,
  type Tally,
  wakeAt,
} from "../item.ts";
import type { CatalogEntry } from "../queue.ts";
import {
  type Changes,
  type EarlyRef,
  type Image,
  type LeasedSeq,
  type Read,
  type ReadLimit,
  type SlotSeqs,
  type Span,
  type Store,
  type StoredCounts,
  StoreError,
  type StoreSize,
  type TurnRecord,
} from "../store.ts";
import { SortedList } from "./sorted-list.ts";

/** Answers of later turns cannot be lost: a shard waits for a turn before it starts the next. */
const turnsKeptMax = 64;

/** An item as it is kept: its payload is a copy that nobody else holds. */
type Kept<T extends Item> = T & { readonly payload: Uint8Array };
type SeqKey = Pick<Item, "seq">;
type LeaseKey = Pick<Lease, "slot" | "first">;
interface WakeKey {
  readonly wakeAt: number;
  readonly slot: number;
  readonly seq: number;
}
interface Wake extends WakeKey {
  readonly item: Kept<ScheduledItem>;
}

const bySeq = (a: SeqKey, b: SeqKey): number => a.seq - b.seq;
const byFirst = (a: LeaseKey, b: LeaseKey): number => a.slot - b.slot || a.first - b.first;
const byDeadline = (a: EarlyRef, b: EarlyRef): number =>
  a.expireDeadline - b.expireDeadline || a.slot - b.slot || a.seq - b.seq;
const byWake = (a: WakeKey, b: WakeKey): number =>
  a.wakeAt - b.wakeAt || a.slot - b.slot || a.seq - b.seq;

class Slot {
  readonly items = new SortedList<SeqKey, Kept<Item>>(bySeq);
  readonly scheduled = new SortedList<SeqKey, Kept<ScheduledItem>>(bySeq);
  /** How many items have a source id. */
  readonly sources = new Map<string, number>();

  countSource(sourceId: string, change: 1 | -1): void {
    if (sourceId === "") return;
    const count = (this.sources.get(sourceId) ?? 0) + change;
    if (count === 0) this.sources.delete(sourceId);
    else this.sources.set(sourceId, count);
  }
}

/** What a file would be to another store; outlives the stores that are opened on it. */
export class MemoryImage {
  readonly tag: string;
  readonly slots = new Map<number, Slot>();
  readonly early = new SortedList<EarlyRef, Kept<Item>>(byDeadline);
  readonly waking = new SortedList<WakeKey, Wake>(byWake);
  readonly leases = new SortedList<LeaseKey, Lease>(byFirst);
  readonly tallies = new Map<number, Tally>();
  readonly outbound = new Map<number, Kept<OutboundItem>>();
  readonly inbound = new Map<number, number>();
  readonly catalog = new Map<number, CatalogEntry>();
  readonly turns: TurnRecord[] = [];
  readonly quarantined: Kept<Item>[] = [];

  constructor(tag: string) {
    this.tag = tag;
  }

  slot(slot: number): Slot {
    let found = this.slots.get(slot);
    if (found === undefined) {
      found = new Slot();
      this.slots.set(slot, found);
    }
    return found;
  }

  insert(item: Kept<Item>): void {
    const slot = this.slot(item.slot);
    slot.items.put(item);
    slot.countSource(item.sourceId, 1);
    if (item.early) this.early.put(item);
  }

  remove(slotNumber: number, seq: number): Kept<Item> | undefined {
    const slot = this.slots.get(slotNumber);
    const item = slot?.items.delete({ seq });
    if (slot === undefined || item === undefined) return undefined;
    slot.countSource(item.sourceId, -1);
    if (item.early) this.early.delete(item);
    return item;
  }

  schedule(item: Kept<ScheduledItem>): void {
    const slot = this.slot(item.slot);
    slot.scheduled.put(item);
    slot.countSource(item.sourceId, 1);
    this.waking.put({ wakeAt: wakeAt(item), slot: item.slot, seq: item.seq, item });
  }

  unschedule(slotNumber: number, seq: number): Kept<ScheduledItem> | undefined {
    const slot = this.slots.get(slotNumber);
    const item = slot?.scheduled.delete({ seq });
    if (slot === undefined || item === undefined) return undefined;
    slot.countSource(item.sourceId, -1);
    this.waking.delete({ wakeAt: wakeAt(item), slot: item.slot, seq: item.seq });
    return item;
  }

  quarantine(slot: number, seq: number): void {
    const item = this.remove(slot, seq) ?? this.unschedule(slot, seq);
    if (item !== undefined) this.quarantined.push(item);
  }
}

function countBelow(list: SortedList<SeqKey, SeqKey>, nextSeq: number): number {
  let count = 0;
  list.walk({ seq: 0 }, ({ seq }) => {
    if (seq < nextSeq) count += 1;
    return seq < nextSeq;
  });
  return count;
}

export class MemoryStore implements Store {
  readonly #image: MemoryImage;
  #closed = false;

  constructor(image: MemoryImage) {
    this.#image = image;
  }

  async load(): Promise<Image> {
    const image = this.#open();
    return {
      tag: image.tag,
      turns: [...image.turns],
      tallies: [...image.tallies.values()],
      leases: image.leases.values(),
      outbound: Array.from(image.outbound.values(), copied),
      inbound: Array.from(image.inbound, ([sourceShard, outboundSeq]) => ({
        sourceShard,
        outboundSeq,
      })),
      catalog: Array.from(image.catalog.values(), (entry) => structuredClone(entry)),
      quarantinedCount: image.quarantined.length,
    };
  }

  async items(slot: number, from: number, before: number, limit: ReadLimit): Promise<Read<Item>[]> {
    const page = new Page<Item>(limit);
    const items = this.#open().slots.get(slot)?.items;
    items?.walk({ seq: from }, (item) => item.seq < before && page.take(item));
    return page.items;
  }

  async countItems(): Promise<ReadonlyMap<number, StoredCounts>> {
    const { slots, tallies } = this.#open();
    const counts = new Map<number, StoredCounts>();
    for (const { slot, nextSeq } of tallies.values()) {
      const { items, scheduled } = slots.get(slot) ?? new Slot();
      counts.set(slot, {
        items: countBelow(items, nextSeq),
        scheduled: countBelow(scheduled, nextSeq),
      });
    }
    return counts;
  }

  async heads(spans: readonly Span[]): Promise<Map<number, Read<Item>[]>> {
    const heads = new Map<number, Read<Item>[]>();
    for (const { slot, from, before } of spans) {
      const items = await this.items(slot, from, before, { items: 1, payloadBytes: 1 });
      if (items.length > 0) heads.set(slot, items);
    }
    return heads;
  }

  async seqs(slot: number, from: number, before: number, limit: number): Promise<LeasedSeq[]> {
    const found: LeasedSeq[] = [];
    const items = this.#open().slots.get(slot)?.items;
    items?.walk({ seq: from }, ({ seq, createdAt }) => {
      if (seq >= before || found.length >= limit) return false;
      found.push({ seq, createdAt });
      return true;
    });
    return found;
  }

  async present(slot: number, seqs: readonly number[]): Promise<number[]> {
    const items = this.#open().slots.get(slot)?.items;
    return seqs.filter((seq) => items?.get({ seq }) !== undefined);
  }

  async presentSources(slot: number, sourceIds: readonly string[]): Promise<string[]> {
    const sources = this.#open().slots.get(slot)?.sources;
    return sourceIds.filter((sourceId) => sources?.has(sourceId));
  }

  async scheduled(
    slot: number,
    from: number,
    before: number,
    limit: ReadLimit,
  ): Promise<Read<ScheduledItem>[]> {
    const page = new Page<ScheduledItem>(limit);
    const items = this.#open().slots.get(slot)?.scheduled;
    items?.walk({ seq: from }, (item) => item.seq < before && page.take(item));
    return page.items;
  }

  async waking(now: number, limit: ReadLimit): Promise<Read<ScheduledItem>[]> {
    const page = new Page<ScheduledItem>(limit);
    const start = { wakeAt: Number.NEGATIVE_INFINITY, slot: 0, seq: 0 };
    this.#open().waking.walk(start, (wake) => wake.wakeAt <= now && page.take(wake.item));
    return page.items;
  }

  async nextWake(): Promise<number | null> {
    return this.#open().waking.first()?.wakeAt ?? null;
  }

  async early(after: EarlyRef, limit: number): Promise<EarlyRef[]> {
    const found: EarlyRef[] = [];
    this.#open().early.walk(after, (item) => {
      if (byDeadline(item, after) === 0) return true;
      if (found.length >= limit) return false;
      found.push({ expireDeadline: item.expireDeadline, slot: item.slot, seq: item.seq });
      return true;
    });
    return found;
  }

  async commit(changes: Changes): Promise<void> {
    const image = this.#open();
    // All that can throw comes before the first change, which makes the commit atomic.
    const insert = changes.insert.map(kept);
    const schedule = changes.schedule.map(kept);
    const send = changes.send.map(kept);
    const catalogPut = changes.catalogPut.map((entry) => structuredClone(entry));
    requireFree(insert, (item) => image.slots.get(item.slot)?.items);
    requireFree(schedule, (item) => image.slots.get(item.slot)?.scheduled);
    requireUnsent(send, image.outbound);

    each(changes.remove, (slot, seq) => image.remove(slot, seq));
    each(changes.unschedule, (slot, seq) => image.unschedule(slot, seq));
    each(changes.quarantine, (slot, seq) => image.quarantine(slot, seq));
    for (const item of insert) image.insert(item);
    for (const item of schedule) image.schedule(item);
    for (const lease of changes.unlease) image.leases.delete(lease);
    for (const lease of changes.lease) image.leases.put({ ...lease });
    for (const tally of changes.tally) image.tallies.set(tally.slot, { ...tally });
    for (const outboundSeq of changes.unsend) image.outbound.delete(outboundSeq);
    for (const item of send) image.outbound.set(item.outboundSeq, item);
    for (const last of changes.receive) image.inbound.set(last.sourceShard, last.outboundSeq);
    for (const queueId of changes.catalogRemove) image.catalog.delete(queueId);
    for (const entry of catalogPut) image.catalog.set(entry.queueId, entry);
    image.turns.push({ ...changes.turn });
    if (image.turns.length > turnsKeptMax) image.turns.shift();
  }

  async relieve(): Promise<void> {
    this.#open();
  }

  async tidy(): Promise<boolean> {
    this.#open();
    return false;
  }

  async backup(): Promise<number | null> {
    this.#open();
    return null;
  }

  size(): StoreSize {
    return { logBytes: 0, fileBytes: 0, full: false };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #open(): MemoryImage {
    if (this.#closed) throw new StoreError("unusable", "store is closed");
    return this.#image;
  }
}

/** `tag` is that of a new image; an `image` that is handed in keeps its own. */
export function openMemoryStore(options: { tag: string; image?: MemoryImage }): MemoryStore {
  return new MemoryStore(options.image ?? new MemoryImage(options.tag));
}

/** Collects copies of items until a bound is reached. */
class Page<T extends Item> {
  readonly items: Read<T>[] = [];
  readonly #limit: ReadLimit;
  #payloadBytes = 0;

  constructor(limit: ReadLimit) {
    this.#limit = limit;
  }

  /** Whether there may be room for another item. */
  take(item: Kept<T>): boolean {
    if (this.items.length >= this.#limit.items) return false;
    this.items.push({ ...copied(item), damaged: false });
    this.#payloadBytes += item.payload.length;
    return this.#payloadBytes < this.#limit.payloadBytes;
  }
}

const utf8 = new TextEncoder();

/** Not `slice`, which of a `Buffer` is no copy. */
function kept<T extends Item>(item: T): Kept<T> {
  const given = item.payload;
  const payload = typeof given === "string" ? utf8.encode(given) : new Uint8Array(given);
  return { ...item, payload };
}

/** Copied again for the reader, who may change or transfer what it was given. */
function copied<T extends Item>(item: Kept<T>): Kept<T> {
  const payload = new Uint8Array(item.payload);
  return { ...item, payload };
}

function each(removed: readonly SlotSeqs[], visit: (slot: number, seq: number) => void): void {
  for (const { slot, seqs } of removed) for (const seq of seqs) visit(slot, seq);
}

/** Refuses items whose number is stored already or comes twice. */
function requireFree<T extends Item>(
  items: readonly T[],
  stored: (item: T) => SortedList<SeqKey, T & Kept<Item>> | undefined,
): void {
  const seen = new Map<number, Set<number>>();
  for (const item of items) {
    const seqs = seen.get(item.slot) ?? new Set();
    seen.set(item.slot, seqs);
    if (seqs.has(item.seq) || stored(item)?.get(item) !== undefined) {
      throw new StoreError("failed", `item is stored already; slot ${item.slot}, seq ${item.seq}`);
    }
    seqs.add(item.seq);
  }
}

function requireUnsent(
  items: readonly OutboundItem[],
  stored: ReadonlyMap<number, OutboundItem>,
): void {
  const seen = new Set<number>();
  for (const { outboundSeq } of items) {
    if (seen.has(outboundSeq) || stored.has(outboundSeq)) {
      throw new StoreError("failed", `item is sent already; outboundSeq ${outboundSeq}`);
    }
    seen.add(outboundSeq);
  }
}
