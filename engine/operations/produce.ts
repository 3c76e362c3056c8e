// Produce: appends new items to the tail of a partition, or schedules them until they are due.

import type { ItemEventKind } from "../model/api.ts";
import { assert } from "../model/assert.ts";
import {
  deletedFailure,
  type Failure,
  failure,
  groupFull,
  lateProduce,
  pausedProduce,
  queueFull,
} from "../model/errors.ts";
import type { IdempotencyKey } from "../model/idempotency-key.ts";
import { expireDeadlineOf } from "../model/lifecycle.ts";
import type { DescribedItem, NewItem } from "../model/messages.ts";
import { done, type Result } from "../model/messages.ts";
import { slotFor } from "../model/priority.ts";
import { readPast } from "../model/provenance.ts";
import { noOthers } from "../state/group.ts";
import { isTaken, isUnique, planUniques, takeKey } from "../state/unique.ts";
import { append, appendTexts, schedule, type Unplaced } from "../turn/item-transitions.ts";
import type { Turn } from "../turn/turn-context.ts";
import { FirstSeqs } from "./first-seqs.ts";
import { answering, type Numbered, type Operation } from "./operation.ts";

const notUnique = failure(
  "malformed",
  "unique key is invalid; the queue has no unique_for, so its items cannot have one",
);

const notGrouped = failure(
  "malformed",
  "group is invalid; the queue is not grouped, so its items cannot have one",
);

export interface Produce {
  readonly kind: "produce";
  readonly key?: IdempotencyKey;
  readonly queueId: number;
  readonly deadline: number;
  readonly items: readonly NewItem[];
  readonly returnIds?: boolean;
}

/** The part that a produce and a transact share. */
export type Addition = Pick<Produce, "queueId" | "items">;

export const produce: Operation<Produce> = {
  phase: "within",
  weight: ({ items }) => items.length,
  adds: () => true,
  keyed: { answer: answerProduce },
  planReads(planner, requests) {
    for (const { items } of requests) planUniques(planner, items);
  },
  decide: answering(produceOne),
};

function isText(item: NewItem): item is string {
  return typeof item === "string";
}

function produced(duplicates: readonly number[], ids?: string[]): Result {
  if (ids !== undefined) return { ok: true, value: { kind: "produced", duplicates, ids } };
  return duplicates.length === 0 ? done : { ok: true, value: { kind: "produced", duplicates } };
}

/** Enough to answer with ids again. */
interface Noted {
  readonly firstSeqs: FirstSeqs;
  readonly duplicates: readonly number[];
}

function producedUnder({ memory }: Turn, { items }: Addition, noted: Noted): Result {
  const { firstSeqs, duplicates } = noted;
  const absent = new Set(duplicates);
  const ids = items.map((item, index) => {
    if (absent.has(index)) return "";
    const { slot, seq } = firstSeqs.next(priorityIn(item));
    return memory.partition(slot).idOf(seq);
  });
  return produced(duplicates, ids);
}

function answerProduce(turn: Turn, request: Numbered<Produce>, values: readonly number[]): Result {
  const { firstSeqs, rest: duplicates } = FirstSeqs.read(values);
  if (request.returnIds !== true) return produced(duplicates);
  return producedUnder(turn, request, { firstSeqs, duplicates });
}

function produceOne(turn: Turn, request: Numbered<Produce>): Result {
  if (request.deadline <= turn.machineNow) return lateProduce.beforeSend;
  const refused = refusalOf(turn, request) ?? fullQueue(turn, request.queueId, [request]);
  if (refused !== null) return refused;
  const { op, returnIds } = request;
  const { firstSeqs, duplicates } = addItems(turn, request);
  if (returnIds === true || duplicates.length > 0) {
    turn.changeSet.note(op, [...firstSeqs.values, ...duplicates]);
  }
  if (returnIds === true) return producedUnder(turn, request, { firstSeqs, duplicates });
  return produced(duplicates);
}

/** Why the items cannot be written, or `null`. Changes nothing. */
export function refusalOf({ memory }: Turn, { queueId, items }: Addition): Failure | null {
  const queue = memory.rules.queueOf(queueId);
  if (queue === undefined) return deletedFailure;
  const { pause, uniqueForMs } = queue.definition;
  if (pause?.produce === true) return pausedProduce(pause);
  if (uniqueForMs === undefined && items.some(isUnique)) return notUnique;
  return !queue.definition.grouped && items.some((item) => groupIn(item) !== "")
    ? notGrouped
    : null;
}

function groupIn(item: NewItem): string {
  return isText(item) || item.past === "" ? "" : (readPast(item.past).group ?? "");
}

/** Refuses items that would exceed the `waiting_max` of their queue, or that of its groups. */
export function fullQueue(
  turn: Turn,
  queueId: number,
  additions: readonly Addition[],
): Failure | null {
  const queue = turn.memory.rules.queueOf(queueId);
  if (queue === undefined) return null;
  const { waitingMax: max, groupWaitingMax, uniqueForMs = 0 } = queue.definition;
  if (max === undefined && groupWaitingMax === undefined) return null;
  const seen = new Set<string>();
  const byGroup = new Map<string, number>();
  let added = 0;
  for (const item of additions.flatMap(({ items }) => items)) {
    if (isUnique(item)) {
      if (seen.has(item.unique) || isTaken(turn, item, uniqueForMs)) continue;
      seen.add(item.unique);
    }
    added += 1;
    const group = groupIn(item);
    byGroup.set(group, (byGroup.get(group) ?? 0) + 1);
  }
  if (groupWaitingMax !== undefined) {
    const groups = turn.memory.groupsAt(queue.place(0).slot);
    for (const [name, count] of byGroup) {
      const { waiting = 0, others } = groups.find(name) ?? {};
      const { scheduled, retried } = others ?? noOthers;
      const counts = { waiting: waiting + scheduled + retried, added: count, max: groupWaitingMax };
      if (counts.waiting + count > groupWaitingMax) return groupFull(name, counts);
    }
  }
  if (max === undefined) return null;
  let waiting = 0;
  for (const partition of queue.slots.flatMap((slot) => turn.memory.partitionsAt(slot))) {
    waiting += partition.readyCount + partition.asideCount;
  }
  return added > 0 && waiting + added > max ? queueFull({ waiting, added, max }) : null;
}

interface Added extends Noted {
  readonly partition: number;
}

/** Writes the items, except duplicates, into the partition that has the fewest like the first. */
export function addItems(turn: Turn, { queueId, items }: Addition): Added {
  const { memory, now, stamp } = turn;
  const queue = memory.rules.queueOf(queueId);
  assert(queue !== undefined, "items were to be written into a queue that is gone");
  const place = items.some(isUnique)
    ? queue.uniqueHome
    : queue.placeForProduce(priorityIn(items[0] ?? ""));
  const own = memory.partition(place.slot);
  const { settings } = own;
  assert(settings !== null, "items were to be written into a queue that is gone");
  const { uniqueForMs = 0 } = settings;
  const expireSoonest = expireDeadlineOf(settings, now);
  const duplicates: number[] = [];
  const firstSeqs = new FirstSeqs(place.slot);
  const texts = items.every(isText) ? items : [];
  if (texts.length > 0) {
    firstSeqs.begin(own);
    appendTexts(turn, own, texts, { createdAt: stamp, expireDeadline: expireSoonest });
  }
  for (let index = texts.length; index < items.length; index += 1) {
    const item = items[index] as NewItem;
    if (isUnique(item) && isTaken(turn, item, uniqueForMs)) {
      duplicates.push(index);
      continue;
    }
    const dueAt = dueAtOf(item, now);
    const expireDeadline = dueAt === null ? expireSoonest : expireDeadlineOf(settings, dueAt);
    const unplaced = entering(item, stamp, expireDeadline);
    const partition = memory.partition(slotFor(place.slot, priorityIn(item)));
    firstSeqs.begin(partition);
    const { slot, seq } =
      dueAt === null
        ? append(turn, partition, unplaced)
        : schedule(turn, partition, unplaced, { dueAt, retried: false });
    if (uniqueForMs > 0 && isUnique(item)) takeKey(turn, item, { slot, seq, uniqueForMs });
  }
  const count = items.length - duplicates.length;
  turn.changeSet.count(place.slot, "produced", count);
  recordWritten(turn, firstSeqs, "produced");
  // The next produce of this turn may choose another partition.
  if (queue.places.size > 1) {
    for (const { partition } of firstSeqs.written(memory)) memory.updateLoad(partition);
  }
  return { firstSeqs, duplicates, partition: place.partition };
}

export function recordWritten(
  { changeSet: { history }, memory }: Turn,
  firstSeqs: FirstSeqs,
  what: ItemEventKind,
): void {
  if (history === null) return;
  for (const { partition, first: seq, count } of firstSeqs.written(memory)) {
    history.add({ slot: partition.slot, seq, what, by: "" }, count);
  }
}

export function priorityIn(item: NewItem): number {
  return isText(item) ? 0 : item.priority;
}

/** `null` if the item is due now. */
export function dueAtOf(item: NewItem, now: number): number | null {
  if (isText(item)) return null;
  const { enqueueAt } = item;
  return enqueueAt !== null && enqueueAt > now ? enqueueAt : null;
}

export function entering(item: NewItem, createdAt: number, expireDeadline: number): Unplaced {
  const { kind, encoding, reference, headers, past, payload } = isText(item)
    ? textAlone(item)
    : item;
  return {
    createdAt,
    expireDeadline,
    attempts: 0,
    kind,
    encoding,
    reference,
    sourceId: "",
    headers,
    past,
    payload,
  };
}

function textAlone(payload: string): Omit<DescribedItem, "priority" | "enqueueAt" | "unique"> {
  return { kind: "", encoding: "", reference: "", headers: "", past: "", payload };
}
