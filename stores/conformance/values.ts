// Sample values for the suite's rules and its model, and the results to expect from a store.

import { expect } from "bun:test";
import type { Item, Lease, OutboundItem, ScheduledItem, Tally } from "../item.ts";
import type { CatalogEntry, PartitionPlace } from "../queue.ts";
import type {
  Changes,
  EarlyRef,
  GroupCount,
  GroupedItem,
  GroupRow,
  Mark,
  Move,
  MoveDestination,
  OutboxPage,
  Read,
  ReadLimit,
  ReadPlan,
  ScheduledMark,
  SlotSeqs,
  Some,
  Span,
} from "../store.ts";

/** Mulberry32: integers from 0 up to `below`, reproducible by seed. */
export function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

export const slotMax = 2 ** 18 - 1;
export const seqMax = 2 ** 45 - 1;
/** Greater than every sequence number. */
export const end = seqMax + 1;
export const instantMax = 253_402_300_799_999;
export const all: ReadLimit = { items: 1_000_000, payloadBytes: 2 ** 40 };
export const first: EarlyRef = { expireDeadline: 0, slot: 0, seq: 0 };
const utf8 = new TextEncoder();

export const nothing: Omit<Changes, "turn"> = {
  insert: [],
  move: [],
  remove: [],
  schedule: [],
  unschedule: [],
  quarantine: [],
  lease: [],
  unlease: [],
  tally: [],
  send: [],
  unsend: [],
  quarantineOutbound: [],
  receive: [],
  receipts: null,
  forgetTurn: 0,
  unique: [],
  ununique: [],
  ungroup: [],
  group: [],
  tasks: [],
  queue: [],
  unqueue: [],
  tags: null,
};

export function item(slot: number, seq: number, fields: Partial<Item> = {}): Item {
  return {
    slot,
    seq,
    createdAt: 1_000 + seq,
    queuedAt: 1_000 + seq,
    expireDeadline: 1_000_000,
    early: false,
    attempts: 0,
    kind: "",
    encoding: "",
    reference: "",
    sourceId: "",
    headers: "",
    past: "",
    payload: `payload ${seq}`,
    ...fields,
  };
}

/** Items as one produce request writes them. */
export function alike(
  slot: number,
  from: number,
  before: number,
  fields: Partial<Item> = {},
): Item[] {
  return numbers(from, before).map((seq) =>
    item(slot, seq, { createdAt: 5, queuedAt: 5, ...fields }),
  );
}

export function scheduledItem(
  slot: number,
  seq: number,
  fields: Partial<ScheduledItem> = {},
): ScheduledItem {
  return { ...item(slot, seq), dueAt: 5_000, retried: false, ...fields };
}

export function outboundItem(
  outboundSeq: number,
  fields: Partial<OutboundItem> = {},
): OutboundItem {
  return {
    ...item(1, outboundSeq),
    outboundSeq,
    targetShard: 2,
    targetOwner: 4,
    ...fields,
  };
}

export function lease(slot: number, first: number, fields: Partial<Lease> = {}): Lease {
  return { slot, first, last: first, leaseDeadline: 9_000, leasedAt: 8_000, ...fields };
}

export function tally(slot: number, fields: Partial<Tally> = {}): Tally {
  return {
    slot,
    nextSeq: 1,
    itemCount: 0,
    createdAtSum: 0n,
    scheduledCount: 0,
    retriedCount: 0,
    expireDeadlineMax: 0,
    doomedCount: 0,
    clearReadyBelow: 0,
    clearScheduledBelow: 0,
    clearRetriedBelow: 0,
    ...fields,
  };
}

export function entry(
  queueId: number,
  name: string,
  places: readonly PartitionPlace[] = [],
): CatalogEntry {
  return {
    queueId,
    definition: {
      name,
      deadQueue: "",
      reference: "",
      leaseTimeoutMs: 60_000,
      expireTimeoutMs: 3_600_000,
      leaseTimeoutText: "60s",
      expireTimeoutText: "1h0m0s",
      maxAttempts: 0,
      requestedPartitions: 1,
      createdAt: 1_000,
      updatedAt: 2_000,
    },
    places,
    deadOwner: 0,
    deleting: false,
  };
}

/** An item at its new place; `null` = it keeps its source id. */
type Moved<T extends Item> = Omit<T, "sourceId"> & { readonly sourceId: string | null };

function movable(item: Moved<Item>) {
  const { slot, seq, createdAt, queuedAt, expireDeadline, early, attempts, sourceId, past } = item;
  return { slot, seq, createdAt, queuedAt, expireDeadline, early, attempts, sourceId, past };
}

export function toItems(item: Moved<Item>): MoveDestination {
  return { into: "items", item: movable(item) };
}

export function toScheduled(item: Moved<ScheduledItem>): MoveDestination {
  const { dueAt, retried } = item;
  return { into: "scheduled", item: { ...movable(item), dueAt, retried } };
}

export function toOutbox(item: Moved<OutboundItem>): MoveDestination {
  const { outboundSeq, targetShard, targetOwner } = item;
  const route = { outboundSeq, targetShard, targetOwner };
  return { into: "outbox", item: { ...movable(item), ...route } };
}

export function moveOf(
  { slot, seq }: Pick<Item, "slot" | "seq">,
  to: MoveDestination | null,
  from: Move["from"] = "items",
): Move {
  return { slot, seq, from, to };
}

/** The moves, and the removal of the moved items. */
export function leaving(move: readonly Move[]): Pick<Changes, "move" | "remove" | "unschedule"> {
  const sources = (from: Move["from"]) => slotSeqs(move.filter((one) => one.from === from));
  return { move, remove: sources("items"), unschedule: sources("scheduled") };
}

export function slotSeqs(items: readonly Pick<Item, "slot" | "seq">[]): SlotSeqs[] {
  const bySlot = Map.groupBy(items, ({ slot }) => slot);
  return Array.from(bySlot, ([slot, some]) => ({ slot, seqs: rising(seqsOf(some)) }));
}

export const bytesOf = (payload: Item["payload"]): Uint8Array =>
  typeof payload === "string" ? utf8.encode(payload) : new Uint8Array(payload);

/** The item as a store returns it. */
export function readOf<T extends Item>(written: T): Read<T> {
  return { ...written, payload: bytesOf(written.payload), damaged: false };
}

/** The mark that a store must return, except the payload bytes, which may be approximate. */
export function markOf({ slot, seq, createdAt, expireDeadline, attempts, past }: Item): Mark {
  return { slot, seq, createdAt, expireDeadline, attempts, past, payloadBytes: 0 };
}

export function scheduledMarkOf(item: ScheduledItem): ScheduledMark {
  return { ...markOf(item), dueAt: item.dueAt, retried: item.retried };
}

/** Marks to compare with `markOf`. */
export function bare<T extends Mark>(marks: Iterable<T>): T[] {
  return Array.from(marks, (mark) => ({ ...mark, payloadBytes: 0 }));
}

export const seqsOf = (items: Iterable<{ readonly seq: number }>): number[] =>
  Array.from(items, ({ seq }) => seq);
export const numbers = (from: number, before: number): number[] =>
  Array.from({ length: before - from }, (_, index) => from + index);
export const rising = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);

/** Sorted by a key, because an image has no defined order. */
export function byKey<K extends string, T extends { readonly [key in K]: number }>(
  values: readonly T[],
  key: K,
): T[] {
  return values.toSorted((a, b) => a[key] - b[key]);
}

/** The result of a bounded read of these items, which are in order. */
export function bounded<T extends Item>(items: readonly T[], limit: ReadLimit): T[] {
  let payloadBytes = 0;
  const reached = items.findIndex((item, index) => {
    payloadBytes += bytesOf(item.payload).length;
    return index + 1 >= limit.items || payloadBytes >= limit.payloadBytes;
  });
  return reached === -1 ? [...items] : items.slice(0, reached + 1);
}

/** The items of a span, in order. */
export function inSpan<T extends Item>(items: readonly T[], { slot, from, before }: Span): T[] {
  const some = items.filter((one) => one.slot === slot && one.seq >= from && one.seq < before);
  return byKey(some, "seq");
}

export function grouped(
  group: string,
  rank: number,
  fields: Partial<GroupedItem> = {},
): GroupedItem {
  return { partition: 1, group, place: "queued", rank, slot: 1, seq: rank, ...fields };
}

/** The heads of groups that a store with these rows and items must return. */
export function groupsOf(
  rows: readonly GroupedItem[],
  items: readonly Item[],
  plan: Pick<ReadPlan, "heads" | "groups" | "headBytes">,
): Some<GroupRow>[] {
  const sizeOf = (some: readonly Item[]): number =>
    some.reduce((sum, { payload }) => sum + bytesOf(payload).length, 0);
  let left = plan.headBytes;
  for (const { of, limit } of headsOf(items, plan)) left -= sizeOf(bounded(of, limit));
  const heads: Some<GroupRow>[] = [];
  for (const { partition, group, from, items: whole } of plan.groups) {
    if (left <= 0) break;
    const here = rows.filter((row) => row.partition === partition && row.group === group);
    const queued = here.filter(({ place, rank }) => place === "queued" && rank >= from);
    const found: GroupRow[] = [];
    for (const { rank, slot, seq } of byKey(queued, "rank")) {
      if (left <= 0 || found.length > whole) break;
      const item = items.find((one) => one.slot === slot && one.seq === seq);
      const read = { item: item === undefined ? null : readOf(item) };
      const isWhole = found.length < whole;
      found.push({ rank, slot, seq, ...(isWhole && read) });
      if (isWhole && item !== undefined) left -= sizeOf([item]);
    }
    heads.push({ found, isAll: found.length === queued.length });
  }
  return heads;
}

const places = ["queued", "scheduled", "retried"];

/** The counts of these rows at a start. */
export function countsOf(rows: readonly GroupedItem[]): GroupCount[] {
  const keys = Map.groupBy(byKey(rows, "rank"), ({ partition, group, place }) =>
    JSON.stringify([partition, group, place]),
  );
  const counts = [...keys.values()].flatMap((some) =>
    some.slice(0, 1).map(({ partition, group, place, rank, slot, seq }): GroupCount => {
      const [first, rankLast] = [{ rank, slot, seq }, some.at(-1)?.rank ?? 0];
      return { partition, group, place, count: some.length, first, rankLast };
    }),
  );
  return counts.sort(
    (a, b) =>
      a.partition - b.partition ||
      Buffer.compare(Buffer.from(a.group), Buffer.from(b.group)) ||
      places.indexOf(a.place) - places.indexOf(b.place),
  );
}

interface Head {
  readonly slot: number;
  readonly of: readonly Item[];
  readonly limit: ReadLimit;
}

/** The slots whose heads are read, each with its items and the remaining bound. */
export function headsOf(
  items: readonly Item[],
  { heads, headBytes }: Pick<ReadPlan, "heads" | "headBytes">,
): Head[] {
  const found: Head[] = [];
  let payloadBytes = headBytes;
  for (const head of heads) {
    if (payloadBytes <= 0) break;
    const limit = { items: head.items, payloadBytes };
    const of = inSpan(items, head);
    for (const { payload } of bounded(of, limit)) payloadBytes -= bytesOf(payload).length;
    found.push({ slot: head.slot, of, limit });
  }
  return found;
}

/** Expects all that the bound allows; `isAll` if no bound was reached, and only if it is all. */
export function expectSome<T extends Item, F>(
  some: Some<F> | undefined,
  { of, limit, form }: { of: readonly T[]; limit: ReadLimit; form: (item: T) => F },
): void {
  const expected = bounded(of, limit);
  expect(some?.found).toEqual(expected.map(form));
  const bytes = expected.reduce((sum, { payload }) => sum + bytesOf(payload).length, 0);
  const isBound = expected.length >= limit.items || bytes >= limit.payloadBytes;
  if (!isBound) expect(some?.isAll).toBe(true);
  if (some?.isAll === true) expect(expected.length).toBe(of.length);
}

/** The result that an outbox of these items, in order, must return. */
export function outboxPageOf(
  sent: readonly OutboundItem[],
  { targetShard, arrived, limit }: ReadPlan["outbound"][number],
): OutboxPage {
  const of = sent.filter((one) => one.targetShard === targetShard);
  return {
    arrived: of
      .filter(({ outboundSeq }) => outboundSeq <= arrived)
      .map(({ outboundSeq, targetOwner }) => ({ outboundSeq, targetOwner })),
    found: bounded(
      of.filter(({ outboundSeq }) => outboundSeq > arrived),
      limit,
    ).map(readOf),
  };
}
