// Produce: appends new items to the tail of a partition, or schedules them until they are due.

import { assert } from "../model/assert.ts";
import {
  deletedFailure,
  type Failure,
  failure,
  lateProduce,
  pausedProduce,
} from "../model/errors.ts";
import type { IdempotencyKey } from "../model/idempotency-key.ts";
import { expireDeadlineOf } from "../model/lifecycle.ts";
import type { DescribedItem, NewItem } from "../model/messages.ts";
import { done, type Result } from "../model/messages.ts";
import { isTaken, isUnique, planUniques, takeKey } from "../state/unique.ts";
import { append, appendTexts, schedule, type Unplaced } from "../turn/item-transitions.ts";
import type { Turn } from "../turn/turn-context.ts";
import { answering, type Numbered, type Operation } from "./operation.ts";

const notUnique = failure(
  "malformed",
  "unique key is invalid; the queue has no unique_for, so its items cannot have one",
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

/** Enough to answer with ids again: written items have consecutive numbers from `first`. */
interface Noted {
  readonly slot: number;
  readonly first: number;
  readonly duplicates: readonly number[];
}

function producedUnder({ memory }: Turn, { items }: Addition, noted: Noted): Result {
  const { slot, first, duplicates } = noted;
  const partition = memory.partition(slot);
  const absent = new Set(duplicates);
  let seq = first;
  const ids = items.map((_, index) => {
    if (absent.has(index)) return "";
    seq += 1;
    return partition.idOf(seq - 1);
  });
  return produced(duplicates, ids);
}

function answerProduce(turn: Turn, request: Numbered<Produce>, values: readonly number[]): Result {
  const [slot = 0, first = 0, ...duplicates] = values;
  if (request.returnIds !== true) return produced(duplicates);
  return producedUnder(turn, request, { slot, first, duplicates });
}

function produceOne(turn: Turn, request: Numbered<Produce>): Result {
  if (request.deadline <= turn.machineNow) return lateProduce.beforeSend;
  const refused = refusalOf(turn, request);
  if (refused !== null) return refused;
  const { op, returnIds } = request;
  const { slot, first, duplicates } = addItems(turn, request);
  if (returnIds === true || duplicates.length > 0) {
    turn.changeSet.note(op, [slot, first, ...duplicates]);
  }
  if (returnIds === true) return producedUnder(turn, request, { slot, first, duplicates });
  return produced(duplicates);
}

/** Why the items cannot be written, or `null`. Changes nothing. */
export function refusalOf({ memory }: Turn, { queueId, items }: Addition): Failure | null {
  const queue = memory.rules.queueOf(queueId);
  if (queue === undefined) return deletedFailure;
  const { pause, uniqueForMs } = queue.definition;
  if (pause?.produce === true) return pausedProduce(pause);
  return uniqueForMs === undefined && items.some(isUnique) ? notUnique : null;
}

interface Added extends Noted {
  readonly partition: number;
}

/** Writes the items, except duplicates, into the partition that has the fewest. */
export function addItems(turn: Turn, { queueId, items }: Addition): Added {
  const { memory, now, stamp } = turn;
  const queue = memory.rules.queueOf(queueId);
  assert(queue !== undefined, "items were to be written into a queue that is gone");
  const place = items.some(isUnique) ? queue.uniqueHome : queue.placeForProduce();
  const { slot } = place;
  const partition = memory.partition(slot);
  const { settings } = partition;
  assert(settings !== null, "items were to be written into a queue that is gone");
  const { uniqueForMs } = settings;
  const expireSoonest = expireDeadlineOf(settings, now);
  const duplicates: number[] = [];
  const first = partition.nextSeq;
  const texts = items.every(isText) ? items : [];
  appendTexts(turn, partition, texts, { createdAt: stamp, expireDeadline: expireSoonest });
  for (let index = texts.length; index < items.length; index += 1) {
    const item = items[index] as NewItem;
    if (isUnique(item) && isTaken(turn, item)) {
      duplicates.push(index);
      continue;
    }
    const dueAt = dueAtOf(item, now);
    const expireDeadline = dueAt === null ? expireSoonest : expireDeadlineOf(settings, dueAt);
    const unplaced = entering(item, stamp, expireDeadline);
    const { seq } =
      dueAt === null
        ? append(turn, partition, unplaced)
        : schedule(turn, partition, unplaced, { dueAt, retried: false });
    if (uniqueForMs === undefined || !isUnique(item)) continue;
    takeKey(turn, item, { slot, seq, until: now + uniqueForMs });
  }
  const count = items.length - duplicates.length;
  turn.changeSet.count(slot, "produced", count);
  if (count > 0) turn.changeSet.history?.add({ slot, seq: first, what: "produced", by: "" }, count);
  // The next produce of this turn may choose another partition.
  if (queue.places.size > 1) memory.updateLoad(partition);
  return { slot, first, duplicates, partition: place.partition };
}

/** `null` if the item is due now. */
export function dueAtOf(item: NewItem, now: number): number | null {
  if (isText(item)) return null;
  const { enqueueAt } = item;
  return enqueueAt !== null && enqueueAt > now ? enqueueAt : null;
}

export function entering(item: NewItem, createdAt: number, expireDeadline: number): Unplaced {
  const { kind, encoding, reference, headers, payload } = isText(item) ? textAlone(item) : item;
  return {
    createdAt,
    expireDeadline,
    attempts: 0,
    kind,
    encoding,
    reference,
    sourceId: "",
    headers,
    past: "",
    payload,
  };
}

function textAlone(payload: string): Omit<DescribedItem, "enqueueAt" | "unique"> {
  return { kind: "", encoding: "", reference: "", headers: "", payload };
}
