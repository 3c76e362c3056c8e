// List: a page of the stored items of a partition, as they were before the turn.

import type { Item } from "../../stores/item.ts";
import type { Page, Span } from "../../stores/store.ts";
import { oneMore } from "../model/lifecycle.ts";
import { limits } from "../model/limits.ts";
import type { ListedItem } from "../model/messages.ts";
import type { Partition } from "../state/partition.ts";
import { payloadBytes } from "../state/payload.ts";
import type { Turn } from "../turn/turn-context.ts";
import { answering, bytesWeight, type Numbered, type Operation } from "./operation.ts";

export interface List {
  readonly kind: "list";
  readonly slot: number;
  readonly scheduled: boolean;
  /** The page starts at this id, or at the nearest after it; `""` = at the first item. */
  readonly pivot: string;
  readonly limit: number;
}

export const list: Operation<List> = {
  phase: "before",
  weight: ({ limit }) => limit + bytesWeight(limits.storageListBytesMax),
  planReads({ memory, items, scheduled }, requests) {
    for (const request of requests) {
      for (const partition of memory.partitionsAt(request.slot)) {
        (request.scheduled ? scheduled : items).push(...pagesOf(partition, request));
      }
    }
  },
  decide: answering((turn, request) => {
    const partitions = turn.memory.partitionsAt(request.slot);
    const pages = partitions.map((partition) => pageOf(turn, partition, request));
    return { ok: true, value: { kind: "items", items: merged(pages, request.limit) } };
  }),
};

interface ListedPage {
  readonly items: readonly ListedItem[];
  /** The id at which the page was cut short; `null` = it has all items. */
  readonly end: string | null;
}

function pageOf(turn: Turn, partition: Partition, request: Numbered<List>): ListedPage {
  const spans = pagesOf(partition, request);
  const results = request.scheduled ? turn.readResult.scheduled : turn.readResult.items;
  const read = spans.map(({ name }) => results.get(name) ?? { found: [], isAll: true });
  const isAll = read.every((one) => one.isAll) && spans.at(-1)?.before === partition.nextSeq;
  const last = read.flatMap(({ found }) => found).at(-1);
  const items = spans.flatMap(({ name }) =>
    (request.scheduled ? setAside : waiting)(turn, partition, name),
  );
  return { items, end: isAll || last === undefined ? null : partition.idOf(last.seq) };
}

/**
 * The pivot of the next page is an id, so items of all priorities are in the order of their ids. The
 * page ends where that of a priority was cut short, as the items behind that are not known.
 */
function merged(pages: readonly ListedPage[], limit: number): readonly ListedItem[] {
  const [only, second] = pages;
  if (only !== undefined && second === undefined) return only.items.slice(0, limit);
  const ends = pages.flatMap(({ end }) => end ?? []).sort();
  const [end = null] = ends;
  const all = pages.flatMap(({ items }) => items).sort((a, b) => (a.id < b.id ? -1 : 1));
  const known = all.filter(({ id }) => end === null || id <= end).slice(0, limit);
  let left: number = limits.storageListBytesMax;
  const tooLarge = known.findIndex(({ payload }) => {
    const isFull = left <= 0;
    left -= payload.length;
    return isFull;
  });
  return tooLarge < 0 ? known : known.slice(0, tooLarge);
}

/**
 * Below the mark of a clear, only leased items are read. Reading and then omitting the cleared
 * items would make a page look like the last one.
 */
function pagesOf(partition: Partition, request: Numbered<List>): Page[] {
  const { slot, nextSeq, clearReadyBelow } = partition;
  const limit = { items: request.limit, payloadBytes: limits.storageListBytesMax };
  const from = firstFrom(partition, request.pivot);
  const isBelow = !request.scheduled && from < clearReadyBelow;
  const spans = isBelow ? heldSpans(partition, from, request.limit) : [{ from, before: nextSeq }];
  return spans.map((span, at) => {
    return { name: `list ${request.op}.${slot}.${at}`, slot, ...span, limit };
  });
}

/** Up to one page: the spans of leased items below the mark of a clear, then the span above it. */
function heldSpans(partition: Partition, from: number, limit: number): Omit<Span, "slot">[] {
  const { runs, clearReadyBelow, nextSeq } = partition;
  const spans: Omit<Span, "slot">[] = [];
  let items = 0;
  let payloadBytes = 0;
  const inOrder = [...runs].sort((a, b) => a.lease.first - b.lease.first);
  for (const { lease, heldCount, payloadBytesMean } of inOrder) {
    if (items >= limit || payloadBytes >= limits.storageListBytesMax) return spans;
    const before = Math.min(lease.last + 1, clearReadyBelow);
    if (before <= from || lease.first >= before) continue;
    spans.push({ from: Math.max(from, lease.first), before });
    items += heldCount;
    payloadBytes += heldCount * payloadBytesMean;
  }
  return [...spans, { from: clearReadyBelow, before: nextSeq }];
}

/** A pivot need not be an id of this partition; the page starts at the nearest id after it. */
function firstFrom(partition: Partition, pivot: string): number {
  return pivot === "" ? 0 : Math.min(partition.seqFrom(pivot), partition.nextSeq);
}

function waiting({ readResult }: Turn, partition: Partition, name: string): ListedItem[] {
  return (readResult.items.get(name)?.found ?? [])
    .filter(({ damaged }) => !damaged)
    .map((item) => listed(partition, item, partition.held.get(item.seq)?.run.lease ?? {}));
}

function setAside({ readResult }: Turn, partition: Partition, name: string): ListedItem[] {
  return (readResult.scheduled.get(name)?.found ?? [])
    .filter(({ damaged }) => !damaged)
    .map((item) => listed(partition, item, { dueAt: item.dueAt }));
}

export function listed(
  partition: Partition,
  item: Item,
  state: { readonly leasedAt?: number; readonly leaseDeadline?: number; readonly dueAt?: number },
): ListedItem {
  const { createdAt, queuedAt, expireDeadline, kind, encoding, reference, sourceId } = item;
  const texts = { kind, encoding, reference, sourceId, headers: item.headers, past: item.past };
  const { leasedAt = null, leaseDeadline = null, dueAt = null } = state;
  const instants = { createdAt, queuedAt, expireDeadline, leasedAt, leaseDeadline, dueAt };
  const id = partition.idOf(item.seq);
  const attempts = leasedAt === null ? item.attempts : oneMore(item.attempts);
  const { priority } = partition;
  return { id, ...instants, priority, attempts, ...texts, payload: payloadBytes(item) };
}
