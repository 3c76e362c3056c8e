// Idempotency: a request whose key was used before, in this turn or within the window, is not done
// again. It gets the earlier answer.

import type { CallKey } from "../model/call-key.ts";
import { keyTaken } from "../model/call-key.ts";
import { type Failure, failure, fullFailure } from "../model/errors.ts";
import type { TurnLimits } from "../model/limits.ts";
import type { Kind, Numbered } from "../operations/kind.ts";
import type { Memory } from "../state/memory.ts";
import type { Receipt } from "../state/receipts.ts";
import type { Asking, Turn } from "./turn-context.ts";

type Known = Pick<Turn, "memory" | "now" | "limits">;

/** The receipt of a call with this key within the window. */
export function receiptOf(
  { memory, now, limits }: Known,
  { digest }: CallKey,
): Receipt | undefined {
  const receipt = memory.receipts.find(digest);
  if (receipt === undefined || receipt.values === null) return undefined;
  return receipt.at + limits.receiptsWindowMs > now ? receipt : undefined;
}

interface KeyedRequest {
  readonly kind: string;
  readonly key?: CallKey;
}

function hasKey({ key }: KeyedRequest): boolean {
  return key !== undefined;
}

/** Adds the reads of requests of one kind, except those that will be answered from receipts. */
export function wantsOnce<R extends KeyedRequest>(
  asking: Asking,
  kind: Kind<R>,
  requests: readonly Numbered<R>[],
): void {
  const isDone = ({ key }: R): boolean => key !== undefined && receiptOf(asking, key) !== undefined;
  const fresh = requests.some(hasKey) ? requests.filter((one) => !isDone(one)) : requests;
  if (fresh.length > 0) kind.wants?.(asking, fresh);
}

/** Decides requests of one kind. Of those with one key, the next runs only if one is refused. */
export function decideOnce<R extends KeyedRequest>(
  turn: Turn,
  kind: Kind<R>,
  requests: readonly Numbered<R>[],
): void {
  if (!requests.some(hasKey)) {
    decideFresh(turn, kind, requests);
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
      else if (!answerKnown(turn, kind, request)) {
        keys.add(key.digest);
        first.push(request);
      }
    }
    decideNoting(turn, kind, first);
    left = again;
  }
}

/** Answers a request that was done before, or is refused because no more keys can be remembered. */
function answerKnown<R extends KeyedRequest>(
  turn: Turn,
  kind: Kind<R>,
  request: Numbered<R>,
): boolean {
  if (answerDone(turn, kind, request)) return true;
  // A recall leaves no receipt.
  if (request.kind === "recall") return false;
  const refused = refusedKey(turn);
  if (refused !== null) turn.draft.answer(request.op, refused);
  return refused !== null;
}

/** The refusal of a new key; `null` = one more key can be remembered. */
export function refusedKey({ memory, draft, limits }: Turn): Failure | null {
  const { receiptsMax } = limits;
  if (memory.receipts.size + draft.receipts.size < receiptsMax) return null;
  return failure(
    "full",
    `too many idempotency keys are remembered; there cannot be more than ${receiptsMax}, try again later`,
  );
}

/** Answers a request from its receipt; returns whether there is one. */
export function answerDone<R extends KeyedRequest>(
  turn: Turn,
  { keyed }: Kind<R>,
  request: Numbered<R>,
): boolean {
  const { key } = request;
  if (key === undefined || keyed === undefined) return false;
  const receipt = turn.draft.receipts.get(key.digest) ?? receiptOf(turn, key);
  if (!receipt?.values) return false;
  const isSame = receipt.fingerprint === key.fingerprint;
  const result = isSame ? keyed.answer(turn, request, receipt.values) : keyTaken(key);
  turn.draft.answer(request.op, result.ok ? { ...result, replayed: true } : result);
  return true;
}

function decideFresh<R extends KeyedRequest>(
  turn: Turn,
  kind: Kind<R>,
  requests: readonly Numbered<R>[],
): void {
  const isRefused = (request: Numbered<R>): boolean => turn.full && kind.adds?.(request) === true;
  const taken = requests.some(isRefused) ? requests.filter((one) => !isRefused(one)) : requests;
  if (taken.length > 0) kind.decide(turn, taken);
  if (taken === requests) return;
  for (const one of requests) if (isRefused(one)) turn.draft.answer(one.op, fullFailure);
}

function decideNoting<R extends KeyedRequest>(
  turn: Turn,
  kind: Kind<R>,
  requests: readonly Numbered<R>[],
): void {
  if (requests.length === 0) return;
  const { draft } = turn;
  const from = draft.answers.length;
  decideFresh(turn, kind, requests);
  const keys = new Map(requests.map((request) => [request.op, request.key]));
  for (const { op, outcome } of draft.answers.slice(from)) {
    const key = keys.get(op);
    if (key === undefined || !outcome.ok || outcome.value.kind === "nothing") continue;
    draft.receipts.set(key.digest, receiptFor(key, draft.noteOf(op)));
  }
}

/** `values`: `null` if the call is withdrawn. */
export function receiptFor(
  { operation, digest, fingerprint }: CallKey,
  values: Receipt["values"],
): Receipt {
  return { operation, digest, fingerprint, values };
}

/** Removes the oldest receipts some time after the end of their window. */
export function forgetReceipts(turn: Turn, max: number): void {
  const { memory, draft, now, limits } = turn;
  if (nextForget(memory, limits) > now) return;
  draft.forgetTurn = memory.receipts.turnBefore(now - limits.receiptsWindowMs, max);
}

export function nextForget({ receipts }: Memory, { receiptsWindowMs }: TurnLimits): number {
  // Batched, because each removal costs a commit on an idle shard.
  return receipts.oldestAt + receiptsWindowMs * 1.0625;
}
