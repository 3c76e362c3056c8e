// Complete: removes leased items, all of a batch or none.

import { lateComplete } from "../model/errors.ts";
import type { IdempotencyKey } from "../model/idempotency-key.ts";
import { done, type Result } from "../model/messages.ts";
import { endKey, endLease, remove } from "../turn/item-transitions.ts";
import { bySlot, findHeld, type HeldItem, planHeld } from "../turn/leased-items.ts";
import type { Turn } from "../turn/turn-context.ts";
import { answering, doneOnce, type Numbered, type Operation } from "./operation.ts";

export interface Complete {
  readonly kind: "complete";
  readonly key?: IdempotencyKey;
  readonly slot: number;
  readonly deadline: number;
  readonly ids: readonly string[];
}

/** The part that a complete and a transact share. */
export type Completion = Pick<Complete, "slot" | "ids">;

export const complete: Operation<Complete> = {
  phase: "within",
  weight: ({ ids }) => ids.length,
  keyed: doneOnce,
  planReads(planner, requests) {
    for (const request of requests) planHeld(planner, request);
  },
  decide: answering(completeOne),
};

function completeOne(turn: Turn, request: Numbered<Complete>): Result {
  if (request.deadline <= turn.machineNow) return lateComplete.beforeSend;
  const found = findCompletion(turn, request);
  if ("ok" in found) return found;
  completeFound(turn, found);
  return done;
}

/** Changes nothing. */
export function findCompletion(turn: Turn, asked: Completion): ReturnType<typeof findHeld> {
  return findHeld(turn, asked, "completed");
}

export function completeFound(turn: Turn, found: readonly HeldItem[]): void {
  const { changeSet, memory } = turn;
  for (const [slot, items] of bySlot(found)) {
    const partition = memory.partition(slot);
    for (const item of items) {
      endLease(turn, partition, item.seq, item);
      remove(turn, partition, item);
      endKey(turn, partition, item);
    }
    const what = { slot, what: "completed" } as const;
    changeSet.history?.addEach(what, items, (index) => items[index]?.holder ?? "");
    changeSet.count(slot, "completed", items.length);
    countHeld(turn, slot, items);
  }
}

/** Consecutive items were mostly leased together, so one call per run of equal times is enough. */
function countHeld({ changeSet, now }: Turn, slot: number, items: readonly HeldItem[]): void {
  let first = 0;
  for (let index = 1; index <= items.length; index += 1) {
    const leasedAt = items[first]?.run.lease.leasedAt ?? 0;
    if (items[index]?.run.lease.leasedAt === leasedAt) continue;
    changeSet.heldFor(slot, now - leasedAt, index - first);
    first = index;
  }
}
