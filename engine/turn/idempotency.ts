// Idempotency: a request whose key was used before, in this turn or within the window, is not done
// again. It gets the earlier answer.

import { type Failure, failure, fullFailure } from "../model/errors.ts";
import type { IdempotencyKey } from "../model/idempotency-key.ts";
import { keyTaken } from "../model/idempotency-key.ts";
import type { TurnLimits } from "../model/limits.ts";
import type { Numbered, Operation } from "../operations/operation.ts";
import type { Memory } from "../state/memory.ts";
import type { Receipt } from "../state/receipts.ts";
import type { ReadPlanner, Turn } from "./turn-context.ts";

type ReceiptContext = Pick<Turn, "memory" | "now" | "limits">;

/** The receipt of a call with this key within the window. */
export function receiptOf(
  { memory, now, limits }: ReceiptContext,
  { digest }: IdempotencyKey,
): Receipt | undefined {
  const receipt = memory.receipts.find(digest);
  if (receipt === undefined || receipt.values === null) return undefined;
  return receipt.at + limits.receiptsWindowMs > now ? receipt : undefined;
}

interface KeyedRequest {
  readonly kind: string;
  readonly key?: IdempotencyKey;
}

function hasKey({ key }: KeyedRequest): boolean {
  return key !== undefined;
}

/** Adds the reads of one operation, except for requests that receipts will answer. */
export function planReadsOnce<R extends KeyedRequest>(
  planner: ReadPlanner,
  operation: Operation<R>,
  requests: readonly Numbered<R>[],
): void {
  const isDone = ({ key }: R): boolean =>
    key !== undefined && receiptOf(planner, key) !== undefined;
  const fresh = requests.some(hasKey) ? requests.filter((one) => !isDone(one)) : requests;
  if (fresh.length > 0) operation.planReads?.(planner, fresh);
}

/** Decides requests of one operation; of those with one key, the next only if one is refused. */
export function decideOnce<R extends KeyedRequest>(
  turn: Turn,
  operation: Operation<R>,
  requests: readonly Numbered<R>[],
): void {
  if (!requests.some(hasKey)) {
    decideFresh(turn, operation, requests);
    return;
  }
  for (let left = requests; left.length > 0; ) {
    const first: Numbered<R>[] = [];
    const again: Numbered<R>[] = [];
    const keys = new Set<string>();
    for (const request of left) {
      const { key } = request;
      if (key === undefined) first.push(request);
      else if (keys.has(key.digest)) again.push(request);
      else if (!answerKnown(turn, operation, request)) {
        keys.add(key.digest);
        first.push(request);
      }
    }
    decideNoting(turn, operation, first);
    left = again;
  }
}

/** Answers a request that was done before, or is refused because no more keys can be remembered. */
function answerKnown<R extends KeyedRequest>(
  turn: Turn,
  operation: Operation<R>,
  request: Numbered<R>,
): boolean {
  if (answerFromReceipt(turn, operation, request)) return true;
  // A recall leaves no receipt.
  if (request.kind === "recall") return false;
  const refused = refusedKey(turn);
  if (refused !== null) turn.changeSet.answer(request.op, refused);
  return refused !== null;
}

/** The refusal of a new key; `null` = one more key can be remembered. */
export function refusedKey({ memory, changeSet, limits }: Turn): Failure | null {
  const { receiptsMax } = limits;
  if (memory.receipts.size + changeSet.receipts.size < receiptsMax) return null;
  return failure(
    "full",
    `too many idempotency keys are remembered; there cannot be more than ${receiptsMax}, try again later`,
  );
}

/** Answers a request from its receipt; returns whether there is one. */
export function answerFromReceipt<R extends KeyedRequest>(
  turn: Turn,
  { keyed }: Operation<R>,
  request: Numbered<R>,
): boolean {
  const { key } = request;
  if (key === undefined || keyed === undefined) return false;
  const receipt = turn.changeSet.receipts.get(key.digest) ?? receiptOf(turn, key);
  if (!receipt?.values) return false;
  const isSame = receipt.fingerprint === key.fingerprint;
  const result = isSame ? keyed.answer(turn, request, receipt.values) : keyTaken(key);
  turn.changeSet.answer(request.op, result.ok ? { ...result, replayed: true } : result);
  return true;
}

function decideFresh<R extends KeyedRequest>(
  turn: Turn,
  operation: Operation<R>,
  requests: readonly Numbered<R>[],
): void {
  const isRefused = (request: Numbered<R>): boolean =>
    turn.full && operation.adds?.(request) === true;
  const taken = requests.some(isRefused) ? requests.filter((one) => !isRefused(one)) : requests;
  if (taken.length > 0) operation.decide(turn, taken);
  if (taken === requests) return;
  for (const one of requests) if (isRefused(one)) turn.changeSet.answer(one.op, fullFailure);
}

function decideNoting<R extends KeyedRequest>(
  turn: Turn,
  operation: Operation<R>,
  requests: readonly Numbered<R>[],
): void {
  if (requests.length === 0) return;
  const { changeSet } = turn;
  const from = changeSet.answers.length;
  decideFresh(turn, operation, requests);
  const keys = new Map(requests.map((request) => [request.op, request.key]));
  for (const { op, outcome } of changeSet.answers.slice(from)) {
    const key = keys.get(op);
    if (key === undefined || !outcome.ok || outcome.value.kind === "nothing") continue;
    changeSet.receipts.set(key.digest, receiptFor(key, changeSet.noteOf(op)));
  }
}

/** `values`: `null` if the call is withdrawn. */
export function receiptFor(
  { operation, digest, fingerprint }: IdempotencyKey,
  values: Receipt["values"],
): Receipt {
  return { operation, digest, fingerprint, values };
}

/** Removes the oldest receipts some time after the end of their window. */
export function forgetReceipts(turn: Turn, max: number): void {
  const { memory, changeSet, now, limits } = turn;
  if (nextForget(memory, limits) > now) return;
  changeSet.forgetTurn = memory.receipts.turnBefore(now - limits.receiptsWindowMs, max);
}

export function nextForget({ receipts }: Memory, { receiptsWindowMs }: TurnLimits): number {
  // Batched, because each removal costs a commit on an idle shard.
  return receipts.oldestAt + receiptsWindowMs * 1.0625;
}
