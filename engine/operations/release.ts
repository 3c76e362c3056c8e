// Release: requeues leased items at the tail without counting the attempt, all of a batch or none.
// Each gets a new id, because the client may still use the old one.

import { lateRelease } from "../model/errors.ts";
import type { IdempotencyKey } from "../model/idempotency-key.ts";
import { release as releaseFate } from "../model/lifecycle.ts";
import { done, type Result } from "../model/messages.ts";
import { endLease, move } from "../turn/item-transitions.ts";
import { bySlot, findMovable, type HeldItem, planHeld } from "../turn/leased-items.ts";
import type { Turn } from "../turn/turn-context.ts";
import { answering, doneOnce, type Numbered, type Operation } from "./operation.ts";

export interface Release {
  readonly kind: "release";
  readonly key?: IdempotencyKey;
  readonly slot: number;
  readonly deadline: number;
  readonly ids: readonly string[];
}

export const release: Operation<Release> = {
  phase: "within",
  weight: ({ ids }) => ids.length,
  keyed: doneOnce,
  planReads(planner, requests) {
    for (const request of requests) planHeld(planner, request);
  },
  decide: answering(releaseOne),
};

function releaseOne(turn: Turn, request: Numbered<Release>): Result {
  if (request.deadline <= turn.machineNow) return lateRelease.beforeSend;
  const found = findMovable(turn, request, "released");
  if ("ok" in found) return found;
  releaseFound(turn, found);
  return done;
}

export function releaseFound(turn: Turn, found: readonly HeldItem[]): void {
  for (const item of found) {
    const partition = turn.memory.partition(item.slot);
    endLease(turn, partition, item.seq, item);
    move(turn, partition, item, { fate: releaseFate(item, turn.now), what: "released" });
  }
  for (const [slot, items] of bySlot(found)) turn.changeSet.count(slot, "released", items.length);
}
