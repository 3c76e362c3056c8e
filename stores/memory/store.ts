// A store without files, for tests, the simulator, and queues that may be lost with the process.
// Its image outlives the store, so that opening the image again simulates a restart.

import type { TransferableStore } from "../backend.ts";
import { bytesLeft, GroupCounts, groupPlaces, headsOfGroups, rowsOf } from "../groups.ts";
import {
  type Item,
  type Lease,
  type OutboundItem,
  type ScheduledItem,
  type Tally,
  wakeAt,
} from "../item.ts";
import { noMaintenance, type StoredCounts } from "../maintenance.ts";
import type { CatalogEntry } from "../queue.ts";
import {
  type Changes,
  type EarlyRef,
  type GroupCount,
  type GroupedItem,
  type Image,
  type Mark,
  type Move,
  type OutboxCount,
  type OutboxPage,
  type Picked,
  type Read,
  type ReadLimit,
  type ReadPlan,
  type ReadResult,
  type ScheduledMark,
  type SlotSeq,
  type SlotSeqs,
  type Some,
  type Span,
  type Store,
  type StoredLease,
  type StoredReceipts,
  StoreError,
  type TurnRecord,
  type UniqueKey,
  type Written,
} from "../store.ts";
import type { GroupedKey, Quarantined, Transfer } from "../transfer.ts";
import { SortedList } from "./sorted-list.ts";

/** Enough, as a shard waits for each turn before it commits the next. */
const turnsKeptMax = 64;

/** A stored item, whose payload is a private copy. */
type StoredIn<T extends Item> = T & { readonly payload: Uint8Array };
type SeqKey = Pick<Item, "seq">;
type LeaseKey = Pick<Lease, "slot" | "first">;
type SentKey = Pick<OutboundItem, "outboundSeq">;
type EndKey = SlotSeq & Pick<UniqueKey, "until">;
interface WakeKey {
  readonly wakeAt: number;
  readonly slot: number;
  readonly seq: number;
}
interface Wake extends WakeKey {
  readonly item: StoredIn<ScheduledItem>;
}

const bySeq = (a: SeqKey, b: SeqKey): number => a.seq - b.seq;
const byFirst = (a: LeaseKey, b: LeaseKey): number => a.slot - b.slot || a.first - b.first;
const bySent = (a: SentKey, b: SentKey): number => a.outboundSeq - b.outboundSeq;
const byDeadline = (a: EarlyRef, b: EarlyRef): number =>
  a.expireDeadline - b.expireDeadline || a.slot - b.slot || a.seq - b.seq;
const byPlace = (a: SlotSeq, b: SlotSeq): number => a.slot - b.slot || a.seq - b.seq;
const byEnd = (a: EndKey, b: EndKey): number => a.until - b.until || byPlace(a, b);
const byRank = (a: GroupedKey, b: GroupedKey): number =>
  a.partition - b.partition ||
  compared(a.group, b.group) ||
  groupPlaces.indexOf(a.place) - groupPlaces.indexOf(b.place) ||
  a.rank - b.rank;
const byWake = (a: WakeKey, b: WakeKey): number =>
  a.wakeAt - b.wakeAt || a.slot - b.slot || a.seq - b.seq;

/** In the order of UTF-8, in which halves of a pair follow all other units. */
function compared(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (one !== other) return inUtf8(one) - inUtf8(other);
  }
  return a.length - b.length;
}

function inUtf8(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x1_0000 : unit;
}

class Slot {
  readonly items = new SortedList<SeqKey, StoredIn<Item>>(bySeq);
  readonly scheduled = new SortedList<SeqKey, StoredIn<ScheduledItem>>(bySeq);
  /** Item count per source id. */
  readonly sources = new Map<string, number>();

  countSource(sourceId: string, change: 1 | -1): void {
    if (sourceId === "") return;
    const count = (this.sources.get(sourceId) ?? 0) + change;
    if (count === 0) this.sources.delete(sourceId);
    else this.sources.set(sourceId, count);
  }
}

/** Stands in for a file: outlives the stores that are opened on it. */
export class MemoryImage {
  tags: string;
  readonly slots = new Map<number, Slot>();
  readonly early = new SortedList<EarlyRef, StoredIn<Item>>(byDeadline);
  readonly waking = new SortedList<WakeKey, Wake>(byWake);
  readonly leases = new SortedList<LeaseKey, Lease>(byFirst);
  readonly tallies = new Map<number, Tally>();
  readonly outbound = new SortedList<SentKey, StoredIn<OutboundItem>>(bySent);
  readonly inbound = new Map<number, number>();
  readonly turns: TurnRecord[] = [];
  receipts: StoredReceipts[] = [];
  /** By digest. */
  readonly uniques = new Map<string, UniqueKey>();
  readonly uniquesByItem = new SortedList<SlotSeq, UniqueKey>(byPlace);
  readonly uniquesByEnd = new SortedList<EndKey, UniqueKey>(byEnd);
  readonly grouped = new SortedList<GroupedKey, GroupedItem>(byRank);
  readonly tasks = new Map<string, string>();
  readonly queues = new Map<number, CatalogEntry>();
  readonly quarantined: StoredIn<Item>[] = [];

  constructor(tags: string) {
    this.tags = tags;
  }

  slot(slot: number): Slot {
    let found = this.slots.get(slot);
    if (found === undefined) {
      found = new Slot();
      this.slots.set(slot, found);
    }
    return found;
  }

  insert(item: StoredIn<Item>): void {
    const slot = this.slot(item.slot);
    slot.items.put(item);
    slot.countSource(item.sourceId, 1);
    if (item.early) this.early.put(item);
  }

  remove(slotNumber: number, seq: number): StoredIn<Item> | undefined {
    const slot = this.slots.get(slotNumber);
    const item = slot?.items.delete({ seq });
    if (slot === undefined || item === undefined) return undefined;
    slot.countSource(item.sourceId, -1);
    if (item.early) this.early.delete(item);
    return item;
  }

  schedule(item: StoredIn<ScheduledItem>): void {
    const slot = this.slot(item.slot);
    slot.scheduled.put(item);
    slot.countSource(item.sourceId, 1);
    this.waking.put({ wakeAt: wakeAt(item), slot: item.slot, seq: item.seq, item });
  }

  unschedule(slotNumber: number, seq: number): StoredIn<ScheduledItem> | undefined {
    const slot = this.slots.get(slotNumber);
    const item = slot?.scheduled.delete({ seq });
    if (slot === undefined || item === undefined) return undefined;
    slot.countSource(item.sourceId, -1);
    this.waking.delete({ wakeAt: wakeAt(item), slot: item.slot, seq: item.seq });
    return item;
  }

  ungroup(grouped: GroupedItem): void {
    const found = this.grouped.get(grouped);
    if (found?.slot === grouped.slot && found.seq === grouped.seq) this.grouped.delete(grouped);
  }

  putUnique(unique: UniqueKey): void {
    const former = this.uniques.get(unique.digest);
    if (former !== undefined) this.removeUnique(former.slot, former.seq);
    this.uniques.set(unique.digest, unique);
    this.uniquesByItem.put(unique);
    this.uniquesByEnd.put(unique);
  }

  removeUnique(slot: number, seq: number): void {
    const unique = this.uniquesByItem.delete({ slot, seq });
    if (unique === undefined) return;
    this.uniques.delete(unique.digest);
    this.uniquesByEnd.delete(unique);
  }

  quarantine(slot: number, seq: number): void {
    const item = this.remove(slot, seq) ?? this.unschedule(slot, seq);
    if (item !== undefined) this.quarantined.push(item);
  }
}

export class MemoryStore implements Store {
  readonly #image: MemoryImage;
  #closed = false;

  constructor(image: MemoryImage) {
    this.#image = image;
  }

  async load({ receipts } = { receipts: true }): Promise<Image> {
    const image = this.#open();
    return {
      tags: image.tags,
      turns: [...image.turns],
      tallies: [...image.tallies.values()],
      groups: countsOf(image.grouped.values()),
      leases: image.leases.values().map((lease) => this.#stored(lease)),
      outbox: outboxOf(image.outbound.values()),
      inbound: Array.from(image.inbound, ([sourceShard, outboundSeq]) => ({
        sourceShard,
        outboundSeq,
      })),
      receipts: receipts ? [...image.receipts] : [],
      tasks: Array.from(image.tasks, ([taskId, text]) => ({ taskId, text })).sort((a, b) =>
        a.taskId < b.taskId ? -1 : 1,
      ),
      queues: Array.from(image.queues.values(), (entry) => structuredClone(entry)).sort(
        (a, b) => a.queueId - b.queueId,
      ),
      quarantinedCount: image.quarantined.length,
    };
  }

  #stored(lease: Lease): StoredLease {
    const { slot, first, last } = lease;
    const held = page(this.#items(slot), { from: first, before: last + 1 }, everything, markOf);
    return { ...lease, held: held.found };
  }

  async read(plan: ReadPlan): Promise<ReadResult> {
    this.#open();
    const heads = this.#heads(plan);
    return {
      heads,
      groups: this.#groups(plan, heads),
      items: byName(plan.items, (one) => page(this.#items(one.slot), one, one.limit, readOf)),
      scheduled: byName(plan.scheduled, (one) =>
        page(this.#scheduled(one.slot), one, one.limit, readOf),
      ),
      marks: byName(plan.marks, (one) =>
        page(this.#items(one.slot), one, ofAnyBytes(one.limit), markOf),
      ),
      scheduledMarks: byName(plan.scheduledMarks, (one) =>
        page(this.#scheduled(one.slot), one, ofAnyBytes(one.limit), scheduledMarkOf),
      ),
      picks: new Map(plan.picks.map((one) => [one.slot, this.#pick(one)])),
      sources: new Map(
        plan.sources.map(({ slot, sourceIds }) => {
          const sources = this.#image.slots.get(slot)?.sources;
          return [slot, new Set(sourceIds.filter((sourceId) => sources?.has(sourceId)))];
        }),
      ),
      uniques: new Map(
        plan.uniques.flatMap((digest) => {
          const unique = this.#image.uniques.get(digest);
          return unique === undefined ? [] : [[digest, unique] as const];
        }),
      ),
      ended: this.#ended(plan.ended),
      waking: this.#waking(plan.waking),
      early: this.#early(plan.early),
      outbound: new Map(plan.outbound.map((want) => [want.targetShard, this.#outbox(want)])),
    };
  }

  #items(slot: number): SortedList<SeqKey, StoredIn<Item>> | undefined {
    return this.#image.slots.get(slot)?.items;
  }

  #scheduled(slot: number): SortedList<SeqKey, StoredIn<ScheduledItem>> | undefined {
    return this.#image.slots.get(slot)?.scheduled;
  }

  #heads({ heads, headBytes }: ReadPlan): Map<number, Some<Read<Item>>> {
    const found = new Map<number, Some<Read<Item>>>();
    let payloadBytes = headBytes;
    for (const { slot, items, ...span } of heads) {
      if (payloadBytes <= 0) break;
      const some = page(this.#items(slot), span, { items, payloadBytes }, readOf);
      for (const { payload } of some.found) payloadBytes -= payload.length;
      found.set(slot, some);
    }
    return found;
  }

  #groups(plan: ReadPlan, heads: ReadResult["heads"]): ReadResult["groups"] {
    const rows = plan.groups.map((head): GroupedItem[] => {
      const { partition, group, from } = head;
      const some: GroupedItem[] = [];
      this.#image.grouped.walk({ partition, group, place: "queued", rank: from }, (one) => {
        const isHere = one.partition === partition && one.group === group && one.place === "queued";
        return isHere && some.push(one) < rowsOf(head);
      });
      return some;
    });
    const itemOf = ({ slot, seq }: GroupedItem): Read<Item> | null => {
      const item = this.#items(slot)?.get({ seq });
      return item === undefined ? null : readOf(item);
    };
    return headsOfGroups(plan.groups, rows, itemOf, bytesLeft(plan, heads));
  }

  #pick({ slot, seqs }: SlotSeqs): Picked {
    const ready = new Map<number, Mark>();
    const scheduled = new Map<number, ScheduledMark>();
    for (const seq of seqs) {
      const item = this.#items(slot)?.get({ seq });
      if (item !== undefined) ready.set(seq, markOf(item));
      const aside = this.#scheduled(slot)?.get({ seq });
      if (aside !== undefined) scheduled.set(seq, scheduledMarkOf(aside));
    }
    return { ready, scheduled };
  }

  #outbox({ targetShard, arrived, limit }: ReadPlan["outbound"][number]): OutboxPage {
    const there: Pick<OutboundItem, "outboundSeq" | "targetOwner">[] = [];
    const taken = new Taken<Read<OutboundItem>>(limit);
    this.#image.outbound.walk({ outboundSeq: 0 }, (item) => {
      if (item.targetShard !== targetShard) return true;
      const { outboundSeq, targetOwner } = item;
      if (outboundSeq > arrived) return taken.take(readOf(item), item);
      there.push({ outboundSeq, targetOwner });
      return true;
    });
    return { arrived: there, found: taken.items };
  }

  #ended(want: ReadPlan["ended"]): ReadResult["ended"] {
    const found: SlotSeq[] = [];
    if (want === null) return { found, next: null };
    let next: number | null = null;
    const start = { until: Number.NEGATIVE_INFINITY, slot: 0, seq: 0 };
    this.#image.uniquesByEnd.walk(start, ({ slot, seq, until }) => {
      if (until > want.until || found.length >= want.keys) next = until;
      else found.push({ slot, seq });
      return next === null;
    });
    return { found, next };
  }

  #waking(want: ReadPlan["waking"]): ReadResult["waking"] {
    const found: ScheduledMark[] = [];
    if (want === null) return { found, next: null };
    let next: number | null = null;
    const start = { wakeAt: Number.NEGATIVE_INFINITY, slot: 0, seq: 0 };
    this.#image.waking.walk(start, (wake) => {
      if (wake.wakeAt > want.until || found.length >= want.items) next = wake.wakeAt;
      else found.push(scheduledMarkOf(wake.item));
      return next === null;
    });
    return { found, next };
  }

  #early(want: ReadPlan["early"]): ReadResult["early"] {
    const found: Mark[] = [];
    if (want === null) return { found, next: null };
    let next: number | null = null;
    this.#image.early.walk(want.after, (item) => {
      if (byDeadline(item, want.after) === 0) return true;
      if (item.expireDeadline > want.until || found.length >= want.items)
        next = item.expireDeadline;
      else found.push(markOf(item));
      return next === null;
    });
    return { found, next };
  }

  async commit(changes: Changes): Promise<Written> {
    const image = this.#open();
    // Everything that can throw comes before the first change, which makes the commit atomic.
    const insert = changes.insert.map(kept);
    const schedule = changes.schedule.map(kept);
    const send = changes.send.map(kept);
    const queues = changes.queue.map((entry) => structuredClone(entry));
    for (const move of changes.move) {
      const item = this.#moving(move);
      if (move.to === null) continue;
      const { kind, encoding, reference, headers, payload } = item;
      const sourceId = move.to.item.sourceId ?? item.sourceId;
      const texts = { kind, encoding, reference, headers, sourceId, payload };
      if (move.to.into === "items") insert.push({ ...move.to.item, ...texts });
      else if (move.to.into === "scheduled") schedule.push({ ...move.to.item, ...texts });
      else send.push({ ...move.to.item, ...texts });
    }
    requireFree(insert, (item) => this.#items(item.slot));
    requireFree(schedule, (item) => this.#scheduled(item.slot));
    requireUnsent(send, image.outbound);

    each(changes.remove, (slot, seq) => image.remove(slot, seq));
    each(changes.unschedule, (slot, seq) => image.unschedule(slot, seq));
    each(changes.quarantine, (slot, seq) => image.quarantine(slot, seq));
    for (const item of insert) image.insert(item);
    for (const item of schedule) image.schedule(item);
    for (const lease of changes.unlease) image.leases.delete(lease);
    for (const lease of changes.lease) image.leases.put({ ...lease });
    for (const tally of changes.tally) image.tallies.set(tally.slot, { ...tally });
    for (const outboundSeq of changes.unsend) image.outbound.delete({ outboundSeq });
    for (const outboundSeq of changes.quarantineOutbound) {
      const item = image.outbound.delete({ outboundSeq });
      if (item !== undefined) image.quarantined.push(item);
    }
    for (const item of send) image.outbound.put(item);
    if (changes.tags !== null) image.tags = changes.tags;
    for (const last of changes.receive) image.inbound.set(last.sourceShard, last.outboundSeq);
    each(changes.ununique, (slot, seq) => image.removeUnique(slot, seq));
    for (const unique of changes.unique) image.putUnique({ ...unique });
    for (const grouped of changes.ungroup) image.ungroup(grouped);
    for (const grouped of changes.group) image.grouped.put({ ...grouped });
    for (const { taskId, text } of changes.tasks) {
      if (text === "") image.tasks.delete(taskId);
      else image.tasks.set(taskId, text);
    }
    for (const queueId of changes.unqueue) image.queues.delete(queueId);
    for (const entry of queues) image.queues.set(entry.queueId, entry);
    const { receipts: entries, forgetTurn, turn } = changes;
    if (forgetTurn > 0) image.receipts = image.receipts.filter((one) => one.turn > forgetTurn);
    if (entries !== null) {
      image.receipts.push({ turn: turn.turn, at: turn.at, entries: entries.slice() });
    }
    image.turns.push({ ...turn });
    if (image.turns.length > turnsKeptMax) image.turns.shift();
    return { synced: null };
  }

  #moving({ slot, seq, from }: Move): StoredIn<Item> {
    const list = from === "items" ? this.#items(slot) : this.#scheduled(slot);
    const item = list?.get({ seq });
    if (item !== undefined) return item;
    throw new StoreError("failed", `item that is to move is not stored; slot ${slot}, seq ${seq}`);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #open(): MemoryImage {
    if (this.#closed) throw new StoreError("unusable", "store is closed");
    return this.#image;
  }
}

/** `tag` is for a new image; a given `image` keeps its own. */
export function openMemoryStore(options: { tag: string; image?: MemoryImage }): TransferableStore {
  const image = options.image ?? new MemoryImage(options.tag);
  return {
    store: new MemoryStore(image),
    maintenance: { ...noMaintenance, countItems: async () => countItems(image) },
    transfer: transferOf(image),
  };
}

function transferOf(image: MemoryImage): Transfer {
  return {
    outbound: async (after, limit) => {
      const taken = new Taken<Read<OutboundItem>>(limit);
      image.outbound.walk({ outboundSeq: after + 1 }, (item) => taken.take(readOf(item), item));
      return taken.items;
    },
    uniques: async (after, limit) => {
      const found: UniqueKey[] = [];
      image.uniquesByItem.walk({ slot: after.slot, seq: after.seq + 1 }, (unique) => {
        found.push({ ...unique });
        return found.length < limit;
      });
      return { found, next: found.length < limit ? null : (found.at(-1) ?? null) };
    },
    grouped: async (after, limit) => {
      const found: GroupedItem[] = [];
      image.grouped.walk({ ...after, rank: after.rank + 1 }, (grouped) => {
        found.push({ ...grouped });
        return found.length < limit;
      });
      return { found, next: found.length < limit ? null : (found.at(-1) ?? null) };
    },
    quarantined: async (after, limit) => {
      const found = image.quarantined.slice(after, after + limit).map(quarantinedOf);
      const next = after + found.length;
      return { found, next: next < image.quarantined.length ? next : null };
    },
    quarantine: async (items) => {
      for (const { columns, payload, slot, seq } of items) {
        const item = JSON.parse(columns) as Omit<Item, "payload">;
        image.quarantined.push({ ...item, slot, seq, payload: payload ?? new Uint8Array() });
      }
    },
  };
}

function quarantinedOf({ payload, ...item }: StoredIn<Item>): Quarantined {
  return { slot: item.slot, seq: item.seq, columns: JSON.stringify(item), payload };
}

const everything: ReadLimit = {
  items: Number.MAX_SAFE_INTEGER,
  payloadBytes: Number.POSITIVE_INFINITY,
};

function ofAnyBytes({ items }: ReadLimit): ReadLimit {
  return { ...everything, items };
}

/** Collects items until a bound is reached. */
class Taken<T> {
  readonly items: T[] = [];
  readonly #limit: ReadLimit;
  #payloadBytes = 0;

  constructor(limit: ReadLimit) {
    this.#limit = limit;
  }

  /** Whether another item may be taken. */
  take(found: T, { payload }: StoredIn<Item>): boolean {
    this.items.push(found);
    this.#payloadBytes += payload.length;
    return this.items.length < this.#limit.items && this.#payloadBytes < this.#limit.payloadBytes;
  }
}

function page<T extends Item, F>(
  list: SortedList<SeqKey, StoredIn<T>> | undefined,
  { from, before }: Omit<Span, "slot">,
  limit: ReadLimit,
  form: (item: StoredIn<T>) => F,
): Some<F> {
  const taken = new Taken<F>(limit);
  let isAll = true;
  list?.walk({ seq: from }, (item) => {
    if (item.seq >= before) return false;
    isAll = taken.take(form(item), item);
    return isAll;
  });
  return { found: taken.items, isAll };
}

function byName<P extends { readonly name: string }, F>(
  pages: readonly P[],
  read: (page: P) => F,
): Map<string, F> {
  return new Map(pages.map((one) => [one.name, read(one)]));
}

function readOf<T extends Item>(item: StoredIn<T>): Read<T> {
  // The reader may change or transfer the payload, so it gets its own copy.
  return { ...item, payload: new Uint8Array(item.payload), damaged: false };
}

function markOf(item: StoredIn<Item>): Mark {
  const { slot, seq, createdAt, expireDeadline, attempts, past, payload } = item;
  return { slot, seq, createdAt, expireDeadline, attempts, past, payloadBytes: payload.length };
}

function scheduledMarkOf(item: StoredIn<ScheduledItem>): ScheduledMark {
  return { ...markOf(item), dueAt: item.dueAt, retried: item.retried };
}

function countItems({ slots, tallies }: MemoryImage): Map<number, StoredCounts> {
  const counts = new Map<number, StoredCounts>();
  for (const { slot, nextSeq } of tallies.values()) {
    const span = { from: 0, before: nextSeq };
    const count = (list: SortedList<SeqKey, StoredIn<Item>> | undefined): number =>
      page(list, span, everything, () => null).found.length;
    const { items, scheduled } = slots.get(slot) ?? {};
    counts.set(slot, { items: count(items), scheduled: count(scheduled) });
  }
  return counts;
}

function countsOf(grouped: readonly GroupedItem[]): GroupCount[] {
  const counts = new GroupCounts();
  for (const one of grouped) counts.add(one);
  return counts.all;
}

function outboxOf(items: readonly OutboundItem[]): OutboxCount[] {
  const counts = new Map<string, OutboxCount & { count: number }>();
  for (const { targetShard, targetOwner } of items) {
    const none = () => ({ targetShard, targetOwner, count: 0 });
    counts.getOrInsertComputed(`${targetShard}/${targetOwner}`, none).count += 1;
  }
  return [...counts.values()];
}

const utf8 = new TextEncoder();

/** Not `slice`, which does not copy a `Buffer`. */
function kept<T extends Item>(item: T): StoredIn<T> {
  const given = item.payload;
  const payload = typeof given === "string" ? utf8.encode(given) : new Uint8Array(given);
  return { ...item, payload };
}

function each(removed: readonly SlotSeqs[], visit: (slot: number, seq: number) => void): void {
  for (const { slot, seqs } of removed) for (const seq of seqs) visit(slot, seq);
}

/** Refuses items whose number is stored already or occurs twice. */
function requireFree<T extends Item>(
  items: readonly T[],
  stored: (item: T) => SortedList<SeqKey, T & StoredIn<Item>> | undefined,
): void {
  const seen = new Map<number, Set<number>>();
  for (const item of items) {
    const seqs = seen.getOrInsertComputed(item.slot, () => new Set());
    if (seqs.has(item.seq) || stored(item)?.get(item) !== undefined) {
      throw new StoreError("failed", `item is stored already; slot ${item.slot}, seq ${item.seq}`);
    }
    seqs.add(item.seq);
  }
}

function requireUnsent(
  items: readonly OutboundItem[],
  stored: SortedList<SentKey, StoredIn<OutboundItem>>,
): void {
  const seen = new Set<number>();
  for (const { outboundSeq } of items) {
    if (seen.has(outboundSeq) || stored.get({ outboundSeq }) !== undefined) {
      throw new StoreError("failed", `item is sent already; outboundSeq ${outboundSeq}`);
    }
    seen.add(outboundSeq);
  }
}
