// Searches a bounded piece of a partition, as it was before the turn, for items that match a
// filter. Returns the position to continue from.

import type { Item, ScheduledItem } from "../../stores/item.ts";
import type { Page, Read, Some, Span } from "../../stores/store.ts";
import type { ItemState } from "../model/api.ts";
import {
  type Filter,
  type ItemSummary,
  matcherOf,
  type SummaryField,
  summaryValueOf,
} from "../model/filter.ts";
import { limits } from "../model/limits.ts";
import type { MatchedItem, Result } from "../model/messages.ts";
import { listed } from "../operations/list.ts";
import { answering, bytesWeight, type Numbered, type Operation } from "../operations/operation.ts";
import type { Memory } from "../state/memory.ts";
import type { Partition } from "../state/partition.ts";
import type { Turn } from "../turn/turn-context.ts";

export interface Find {
  readonly kind: "find";
  readonly slot: number;
  /** The owner of the queue; nothing is found if the slot belongs to another queue by then. */
  readonly owner: number;
  /** Whether to search the scheduled items instead of the others. */
  readonly aside: boolean;
  /** Numbers from here to before `before`; absent = to the end. */
  readonly from: number;
  readonly before?: number;
  /** Only this many of the last numbers, in descending order; absent = all, ascending. */
  readonly back?: number;
  readonly state: ItemState | null;
  /** The holder's `clientId`; absent = any, or none. */
  readonly holder?: string;
  readonly filter: Filter;
  /** The most items to find, and to examine. */
  readonly limit: number;
  readonly scanMax: number;
  /** Bytes of each payload to return. */
  readonly payloadHead: number;
  /** Offset of the first one; absent = 0. */
  readonly payloadOffset?: number;
  /** Return counts by this property instead of items. */
  readonly by?: SummaryField;
}

export const find: Operation<Find> = {
  phase: "before",
  weight: ({ scanMax, limit, payloadHead }) =>
    scanMax + bytesWeight(Math.min(limit * payloadHead, limits.turnBytesMax)),
  planReads({ memory, items, scheduled }, requests) {
    for (const request of requests) {
      (request.aside ? scheduled : items).push(pageOf(memory, request));
    }
  },
  decide: answering(findOne),
};

function pageOf(memory: Memory, request: Numbered<Find>): Page {
  const { op, slot, scanMax, state, back } = request;
  const { nextSeq, heldSpan } = memory.partition(slot);
  const span = state === "leased" ? heldSpan : { next: 0, before: nextSeq };
  const before = Math.max(request.from, Math.min(request.before ?? nextSeq, span.before));
  const first = back === undefined ? span.next : before - back;
  const from = Math.min(before, Math.max(request.from, first));
  const limit = { items: scanMax, payloadBytes: limits.turnBytesMax };
  return { name: `find ${op}`, slot, from, before, limit };
}

function findOne(turn: Turn, request: Numbered<Find>): Result {
  const { slot, owner, aside, state, holder, limit, by, back } = request;
  if (turn.memory.rules.ownerAt(slot)?.queue.owner !== owner) {
    return { ok: true, value: { kind: "found", scanned: 0, next: null, items: [], summaries: [] } };
  }
  const partition = turn.memory.partition(slot);
  const pages = aside ? turn.readResult.scheduled : turn.readResult.items;
  const span = pageOf(turn.memory, request);
  const page = pages.get(span.name) ?? { found: [], isAll: true };
  const isMeant = matcherOf(request.filter);
  const items: MatchedItem[] = [];
  const summaries = new Map<string, ItemSummary>();
  let scanned = 0;
  let last: number | null = null;
  for (const item of back === undefined ? page.found : backwards(page)) {
    scanned += 1;
    last = item.seq;
    if (item.damaged || partition.isCleared(item)) continue;
    const present = stateOf(partition, item, aside);
    if (state !== null && state !== present) continue;
    if (holder !== undefined && partition.held.get(item.seq)?.holder !== holder) continue;
    if (!isMeant(item, partition.idOf(item.seq), present === "leased")) continue;
    if (by === undefined) items.push(foundItem(partition, item, { present, request }));
    else count(summaries, item, { by, id: partition.idOf(item.seq) });
    if (items.length >= limit) break;
  }
  const isFull = items.length >= limit;
  const next = (back === undefined ? nextOn : nextBack)(span, { last, isFull, isAll: page.isAll });
  const value = { kind: "found", scanned, next } as const;
  return { ok: true, value: { ...value, items, summaries: [...summaries.values()] } };
}

/** A page that was cut short lacks its last items. */
function backwards({ found, isAll }: Some<Read<Item>>): readonly Read<Item>[] {
  return isAll ? found.toReversed() : [];
}

interface End {
  /** The last number examined. */
  readonly last: number | null;
  readonly isFull: boolean;
  readonly isAll: boolean;
}

function nextOn({ from }: Span, { last, isFull, isAll }: End): number | null {
  if (isAll && !isFull) return null;
  return last === null ? from : last + 1;
}

/** The end of the rest; the end of the span if it could not be read completely. */
function nextBack({ from, before }: Span, { last, isFull, isAll }: End): number | null {
  const next = isFull ? (last ?? from) : isAll ? from : before;
  return next === 0 ? null : next;
}

function stateOf(partition: Partition, { seq }: Read<Item>, aside: boolean): ItemState {
  if (aside) return "scheduled";
  return partition.held.has(seq) ? "leased" : "ready";
}

function foundItem(
  partition: Partition,
  item: Read<Item>,
  { present, request }: { readonly present: ItemState; readonly request: Numbered<Find> },
): MatchedItem {
  const { payload } = item;
  const { payloadOffset = 0, payloadHead } = request;
  const piece = payload.slice(payloadOffset, payloadOffset + payloadHead);
  const dueAt = request.aside ? { dueAt: (item as Read<ScheduledItem>).dueAt } : {};
  const held = partition.held.get(item.seq);
  const state = held?.run.lease ?? dueAt;
  return {
    ...listed(partition, { ...item, payload: piece }, state),
    state: present,
    holder: held?.holder ?? "",
    payloadBytes: payload.length,
  };
}

function count(
  summaries: Map<string, ItemSummary>,
  item: Read<Item>,
  { by, id }: { readonly by: SummaryField; readonly id: string },
): void {
  const value = summaryValueOf(item, by);
  const known = summaries.get(value);
  const at = item.createdAt;
  summaries.set(value, {
    value,
    sampleId: known?.sampleId ?? id,
    count: (known?.count ?? 0) + 1,
    firstAt: Math.min(known?.firstAt ?? at, at),
    lastAt: Math.max(known?.lastAt ?? at, at),
  });
}
