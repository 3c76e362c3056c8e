// Transact: held items are finished and new ones are written, all of it or nothing. What belongs to
// another shard goes into the outbox with the same commit.

import type { CallKey } from "../model/call-key.ts";
import { type Failure, failure, lateTransact, pausedProduce } from "../model/errors.ts";
import { expireDeadlineOf } from "../model/lifecycle.ts";
import { wantUniques } from "../state/unique.ts";
import { type HeldItem, tooLarge, wantHeld } from "../turn/held.ts";
import { send } from "../turn/moves.ts";
import type { Turn } from "../turn/turn-context.ts";
import { type Completion, completeFound, findCompletion } from "./complete.ts";
import { answering, type Kind, type Numbered, type Result } from "./kind.ts";
import { type Addition, addItems, dueAtOf, entering, produced, refusalOf } from "./produce.ts";
import { findReturn, type Return, returnFound, wantReturn } from "./retry.ts";

/** New items of one queue, for a partition here or of another shard. */
export interface Output extends Addition {
  readonly shard: number;
  readonly queueId: number;
  readonly owner: number;
  readonly expireTimeoutMs: number;
  /** What a repetition is told of where they went. */
  readonly told: number;
}

export interface Transact {
  readonly kind: "transact";
  readonly key?: CallKey;
  readonly deadline: number;
  readonly complete: readonly Completion[];
  readonly retry: readonly Return[];
  readonly produce: readonly Output[];
}

export const transact: Kind<Transact> = {
  phase: "within",
  weight: ({ complete, retry, produce }) =>
    [...complete.map(({ ids }) => ids), ...[...retry, ...produce].map(({ items }) => items)].reduce(
      (sum, { length }) => sum + length,
      0,
    ),
  adds: ({ produce }) => produce.length > 0,
  keyed: { answer: (_, __, values) => ({ ok: true, value: { kind: "recalled", values } }) },
  wants(asking, requests) {
    for (const { complete, retry, produce } of requests) {
      for (const part of complete) wantHeld(asking, part);
      for (const part of retry) wantReturn(asking, part);
      for (const { items } of produce) wantUniques(asking, items);
    }
  },
  decide: answering(transactOne),
};

/** All parts are checked before the first is done. */
function transactOne(turn: Turn, request: Numbered<Transact>): Result {
  if (request.deadline <= turn.machineNow) return lateTransact.untaken;
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
  ]);
  if (refused !== null) return refused;
  for (const { part, found } of completed) completeFound(turn, part.slot, sound(found));
  for (const { part, found } of returned) returnFound(turn, part, sound(found));
  const duplicates = produce.map((part) => write(turn, part));
  const places = placesOf(produce, duplicates);
  if (key !== undefined)
    turn.draft.note(request.op, [...produce.map(({ told }) => told), ...places]);
  return produced(places);
}

type Found = readonly HeldItem[] | Failure | null;

/** The first that stands in the way, with the details of all that do so for the same reason. */
function refusal(found: readonly Found[]): Failure | null {
  const failures = found.flatMap((one) => (one !== null && "ok" in one ? [one] : []));
  const [first] = failures;
  if (first === undefined) return null;
  const same = failures.filter(({ reason }) => reason === first.reason);
  const details = Object.assign({}, ...same.map((one) => one.details));
  return first.details === undefined ? first : { ...first, details };
}

function sound(found: Found): readonly HeldItem[] {
  return found === null || "ok" in found ? [] : found;
}

/** Ids that more than one part names; within a part that is told by itself. */
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
  if (part.shard === turn.shard) return refusalOf(turn, part);
  const pause = turn.memory.rules.producePause(part.queueId);
  return pause === null ? null : pausedProduce(pause);
}

/** Returns the places of items that were duplicates. */
function write(turn: Turn, part: Output): readonly number[] {
  if (part.shard === turn.shard) return addItems(turn, part);
  const { now, stamp } = turn;
  for (const item of part.items) {
    const dueAt = dueAtOf(item, now);
    const expireDeadline = expireDeadlineOf(part, dueAt ?? now);
    // Its target goes by when it came there; here only that it is due later counts.
    const createdAt = dueAt === null ? stamp : now;
    send(turn, part, entering(item, createdAt, expireDeadline), dueAt ?? stamp);
  }
  return [];
}

/** Of duplicates, among all items of the request. */
function placesOf(
  produce: readonly Output[],
  duplicates: readonly (readonly number[])[],
): number[] {
  let before = 0;
  return produce.flatMap(({ items }, index) => {
    const places = (duplicates[index] ?? []).map((place) => before + place);
    before += items.length;
    return places;
  });
}
