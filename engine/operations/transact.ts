// Transact: finishes leased items and produces new ones, all or nothing. Items for a queue in
// another shard are written to the outbox in the same commit.

import {
  deletedFailure,
  type Failure,
  failure,
  lateTransact,
  pausedProduce,
} from "../model/errors.ts";
import type { IdempotencyKey } from "../model/idempotency-key.ts";
import type { Result, Target } from "../model/messages.ts";
import { planUniques } from "../state/unique.ts";
import { send } from "../turn/item-transitions.ts";
import { type HeldItem, planHeld, tooLarge } from "../turn/leased-items.ts";
import type { Turn } from "../turn/turn-context.ts";
import { type Completion, completeFound, findCompletion } from "./complete.ts";
import { answering, type Numbered, type Operation } from "./operation.ts";
import {
  type Addition,
  addItems,
  dueAtOf,
  entering,
  fullQueue,
  priorityIn,
  refusalOf,
} from "./produce.ts";
import { findReturn, planReturn, type Return, returnFound } from "./retry.ts";

/** New items for one queue; `far` is set if that is in another shard. */
export interface Output extends Addition {
  readonly far?: Target;
}

export interface Transact {
  readonly kind: "transact";
  readonly key?: IdempotencyKey;
  readonly deadline: number;
  readonly complete: readonly Completion[];
  readonly retry: readonly Return[];
  readonly produce: readonly Output[];
}

export const transact: Operation<Transact> = {
  phase: "within",
  weight: ({ complete, retry, produce }) =>
    [...complete.map(({ ids }) => ids), ...[...retry, ...produce].map(({ items }) => items)].reduce(
      (sum, { length }) => sum + length,
      0,
    ),
  adds: ({ produce }) => produce.length > 0,
  keyed: { answer: (_, __, values) => recalled(values) },
  planReads(planner, requests) {
    for (const { complete, retry, produce } of requests) {
      for (const part of complete) planHeld(planner, part);
      for (const part of retry) planReturn(planner, part);
      for (const { items } of produce) planUniques(planner, items);
    }
  },
  decide: answering(transactOne),
};

/** Checks all parts before it applies the first. */
function transactOne(turn: Turn, request: Numbered<Transact>): Result {
  if (request.deadline <= turn.machineNow) return lateTransact.beforeSend;
  const { complete, retry, produce, key } = request;
  const completed = complete.map((part) => ({ part, found: findCompletion(turn, part) }));
  const returned = retry.map((part) => ({ part, found: findReturn(turn, part) }));
  const refused = refusal([
    ...[...completed, ...returned].map(({ found }) => found),
    namedTwice(request),
    tooLarge(
      turn,
      returned.flatMap(({ found }) => ("ok" in found ? [] : found)),
      "retried",
    ),
    ...produce.map((part) => refusalOfOutput(turn, part)),
    ...fullQueues(turn, produce),
  ]);
  if (refused !== null) return refused;
  for (const { found } of completed) completeFound(turn, sound(found));
  for (const { part, found } of returned) returnFound(turn, part, sound(found));
  const written = produce.map((part) => write(turn, part));
  const places = written.map(({ partition, isHere }) => 2 * partition + (isHere ? 1 : 0));
  const values = [...places, ...placesOf(produce, written)];
  if (key !== undefined) turn.changeSet.note(request.op, values);
  return recalled(values);
}

/** `values`: where each output went, then the indexes of duplicates among all items. */
function recalled(values: readonly number[]): Result {
  return { ok: true, value: { kind: "recalled", values } };
}

type FoundBatch = readonly HeldItem[] | Failure | null;

/** The first failure, with the details of all failures for the same reason. */
function refusal(found: readonly FoundBatch[]): Failure | null {
  const failures = found.flatMap((one) => (one !== null && "ok" in one ? [one] : []));
  const [first] = failures;
  if (first === undefined) return null;
  const same = failures.filter(({ reason }) => reason === first.reason);
  const details = Object.assign({}, ...same.map((one) => one.details));
  return first.details === undefined ? first : { ...first, details };
}

function sound(found: FoundBatch): readonly HeldItem[] {
  return found === null || "ok" in found ? [] : found;
}

/** Refuses ids that occur in more than one part; each part checks its own repetitions. */
function namedTwice({ complete, retry }: Transact): Failure | null {
  const parts = [
    ...complete.map(({ ids }) => ids),
    ...retry.map(({ items }) => items.map(({ id }) => id)),
  ];
  if (parts.length < 2) return null;
  const seen = new Set<string>();
  const details: [id: string, why: string][] = [];
  for (const ids of parts) {
    const own = new Set(ids);
    for (const id of own) {
      if (seen.has(id))
        details.push([id, `item(s) cannot be finished; '${id}' is named more than once`]);
      seen.add(id);
    }
  }
  const [first] = details;
  return first === undefined ? null : failure("not_leased", first[1], Object.fromEntries(details));
}

function refusalOfOutput(turn: Turn, part: Output): Failure | null {
  if (part.far === undefined) return refusalOf(turn, part);
  const { rules } = turn.memory;
  if (!rules.isOpen(part.far.owner)) return deletedFailure;
  const pause = rules.pauseOf(part.far.owner);
  return pause?.produce === true ? pausedProduce(pause) : null;
}

/** Outputs to other shards are not refused: only those know how many items wait there. */
function fullQueues(turn: Turn, produce: readonly Output[]): (Failure | null)[] {
  const here = produce.filter(({ far }) => far === undefined);
  const byQueue = Map.groupBy(here, ({ queueId }) => queueId);
  return [...byQueue].map(([queueId, parts]) => fullQueue(turn, queueId, parts));
}

interface ProducedPart {
  readonly partition: number;
  readonly isHere: boolean;
  readonly duplicates: readonly number[];
}

function write(turn: Turn, part: Output): ProducedPart {
  const { far } = part;
  if (far === undefined) return { ...addItems(turn, part), isHere: true };
  const { now, stamp } = turn;
  for (const item of part.items) {
    const dueAt = dueAtOf(item, now);
    // The target stamps the item at its arrival; here only a later due time matters.
    const createdAt = dueAt === null ? stamp : now;
    const how = { priority: priorityIn(item), queuedAt: dueAt ?? stamp };
    send(turn, far, entering(item, createdAt, 0), how);
  }
  return { partition: 0, isHere: false, duplicates: [] };
}

/** The indexes of duplicates among all items of the request. */
function placesOf(produce: readonly Output[], written: readonly ProducedPart[]): number[] {
  let before = 0;
  return produce.flatMap(({ items }, index) => {
    const places = (written[index]?.duplicates ?? []).map((place) => before + place);
    before += items.length;
    return places;
  });
}
