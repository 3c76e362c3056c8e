// Retry: requeues leased items, now or later, or moves them to the dead queue; all of a batch or
// none.

import type { RetryItem } from "../model/api.ts";
import { assert } from "../model/assert.ts";
import { deletedFailure, type Failure, failure, lateRetry } from "../model/errors.ts";
import type { IdempotencyKey } from "../model/idempotency-key.ts";
import { oneMore, reject, retry as retryFate } from "../model/lifecycle.ts";
import { limits } from "../model/limits.ts";
import { done, type Result } from "../model/messages.ts";
import { rulesFor } from "../model/provenance.ts";
import { type Backoff, backoffMs } from "../model/retry-backoff.ts";
import { endLease, move } from "../turn/item-transitions.ts";
import { type Batch, findMovable, type HeldItem, planHeld } from "../turn/leased-items.ts";
import type { ReadPlanner, Turn } from "../turn/turn-context.ts";
import { answering, doneOnce, type Numbered, type Operation } from "./operation.ts";

export interface Retry {
  readonly kind: "retry";
  readonly key?: IdempotencyKey;
  readonly slot: number;
  readonly deadline: number;
  readonly items: readonly RetryItem[];
}

/** The part that a retry and a transact share. */
export type Return = Pick<Retry, "slot" | "items">;

export const retry: Operation<Retry> = {
  phase: "within",
  weight: ({ items }) => items.length,
  keyed: doneOnce,
  planReads(planner, requests) {
    for (const request of requests) planReturn(planner, request);
  },
  decide: answering(retryOne),
};

function batchOf(asked: Return): Batch {
  return { slot: asked.slot, ids: asked.items.map(({ id }) => id), by: asked };
}

export function planReturn(planner: ReadPlanner, asked: Return): void {
  planHeld(planner, batchOf(asked));
}

function noDeadQueue(items: readonly RetryItem[]): Failure {
  const details = items.map(({ id }) => [
    id,
    `item(s) cannot be retried; '${id}' is given up, and the queue has no dead queue`,
  ]);
  return failure("no_dead_queue", String(details[0]?.[1]), Object.fromEntries(details));
}

function retryOne(turn: Turn, request: Numbered<Retry>): Result {
  if (request.deadline <= turn.machineNow) return lateRetry.beforeSend;
  const found = findReturn(turn, request);
  if ("ok" in found) return found;
  returnFound(turn, request, found);
  return done;
}

/** Changes nothing. */
export function findReturn(turn: Turn, asked: Return): ReturnType<typeof findMovable> {
  const found = findMovable(turn, batchOf(asked), "retried");
  if ("ok" in found) return found;
  const { settings } = turn.memory.partition(asked.slot);
  if (settings === null) return deletedFailure;
  // Without a dead queue the item would be lost, which the client may not expect.
  if (settings.dead === null) {
    const given = asked.items.filter(({ dead }) => dead);
    if (given.length > 0) return noDeadQueue(given);
  }
  return found;
}

/** A delay counts from the turn, by the clock of the shard. */
function dueAtOf(
  { retryAt = null, retryAfterMs = null }: Partial<RetryItem>,
  { attempts, seq }: HeldItem,
  { backoff, now }: { readonly backoff: Backoff | undefined; readonly now: number },
): number | null {
  if (retryAt !== null) return retryAt;
  const own = backoff === undefined ? null : backoffMs(backoff, oneMore(attempts), seq);
  const delayMs = retryAfterMs ?? own;
  return delayMs === null ? null : Math.min(now + delayMs, limits.instantMax);
}

export function returnFound(turn: Turn, asked: Return, found: readonly HeldItem[]): void {
  const { memory, now } = turn;
  const { settings } = memory.partition(asked.slot);
  assert(settings !== null, "items of a queue that is gone were to be retried");
  for (const [index, item] of found.entries()) {
    const { dead = false, reason, ...when }: Partial<RetryItem> = asked.items[index] ?? {};
    const partition = memory.partition(item.slot);
    endLease(turn, partition, item.seq, item);
    const dueAt = dueAtOf(when, item, { backoff: settings.backoff, now });
    const rules = rulesFor(item.past, settings);
    const fate = dead ? reject(item) : retryFate(item, rules, now, dueAt);
    move(turn, partition, item, { fate, what: "retried", ...(reason && { reason }) });
  }
  turn.changeSet.count(asked.slot, "retried", found.length);
}
