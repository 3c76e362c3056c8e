// Retry: held items go back to their queue, now or later, or to its dead queue; all
// of a batch or none.

import type { RetryItem } from "../api.ts";
import type { CallKey } from "../call-key.ts";
import { deletedFailure, failure, lateRetry } from "../errors.ts";
import { reject, retry as retryFate } from "../lifecycle.ts";
import { type Batch, findMovable, wantHeld } from "./held.ts";
import { answering, done, doneOnce, type Kind, type Numbered, type Result } from "./kind.ts";
import { letGo, move } from "./moves.ts";
import type { Turn } from "./turn-context.ts";

export interface Retry {
  readonly kind: "retry";
  readonly key?: CallKey;
  readonly slot: number;
  readonly deadline: number;
  readonly items: readonly RetryItem[];
}

export const retry: Kind<Retry> = {
  phase: "within",
  weight: ({ items }) => items.length,
  lost: () => done,
  keyed: doneOnce,
  wants(asking, requests) {
    for (const request of requests) wantHeld(asking, batchOf(request));
  },
  decide: answering(retryOne),
};

function batchOf({ op, slot, items }: Numbered<Retry>): Batch {
  return { op, slot, ids: items.map(({ id }) => id) };
}

function noDeadQueue(items: readonly RetryItem[]): Result {
  const details = items.map(({ id }) => [
    id,
    `item(s) cannot be retried; '${id}' is given up, and the queue has no dead queue`,
  ]);
  return failure("no_dead_queue", String(details[0]?.[1]), Object.fromEntries(details));
}

function retryOne(turn: Turn, request: Numbered<Retry>): Result {
  const { memory, now, machineNow } = turn;
  if (request.deadline <= machineNow) return lateRetry.untaken;
  const found = findMovable(turn, batchOf(request), "retried");
  if ("ok" in found) return found;
  const partition = memory.partition(request.slot);
  const { settings } = partition;
  if (settings === null) return deletedFailure;
  // It would be gone, and whoever gave it up may not know that the queue keeps nothing.
  if (settings.dead === null) {
    const given = request.items.filter(({ dead }) => dead);
    if (given.length > 0) return noDeadQueue(given);
  }
  for (const [index, item] of found.entries()) {
    const wanted = request.items[index];
    letGo(turn, partition, item.seq, item);
    const isDead = wanted?.dead === true;
    const fate = isDead ? reject() : retryFate(item, settings, now, wanted?.retryAt ?? null);
    move(turn, partition, item, fate);
  }
  turn.draft.count(request.slot, "retried", found.length);
  return done;
}
