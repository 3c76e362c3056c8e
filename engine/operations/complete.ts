// Complete: removes leased items, all of a batch or none.

import type { CallKey } from "../model/call-key.ts";
import { lateComplete } from "../model/errors.ts";
import { done, type Result } from "../model/messages.ts";
import { findHeld, type HeldItem, wantHeld } from "../turn/held.ts";
import { letGo, remove } from "../turn/moves.ts";
import type { Turn } from "../turn/turn-context.ts";
import { answering, doneOnce, type Kind, type Numbered } from "./kind.ts";

export interface Complete {
  readonly kind: "complete";
  readonly key?: CallKey;
  readonly slot: number;
  readonly deadline: number;
  readonly ids: readonly string[];
}

/** The part that a complete and a transact share. */
export type Completion = Pick<Complete, "slot" | "ids">;

export const complete: Kind<Complete> = {
  phase: "within",
  weight: ({ ids }) => ids.length,
  keyed: doneOnce,
  wants(asking, requests) {
    for (const request of requests) wantHeld(asking, request);
  },
  decide: answering(completeOne),
};

function completeOne(turn: Turn, request: Numbered<Complete>): Result {
  if (request.deadline <= turn.machineNow) return lateComplete.untaken;
  const found = findCompletion(turn, request);
  if ("ok" in found) return found;
  completeFound(turn, request.slot, found);
  return done;
}

/** Changes nothing. */
export function findCompletion(turn: Turn, asked: Completion): ReturnType<typeof findHeld> {
  return findHeld(turn, asked, "completed");
}

export function completeFound(turn: Turn, slot: number, found: readonly HeldItem[]): void {
  const partition = turn.memory.partition(slot);
  for (const item of found) {
    letGo(turn, partition, item.seq, item);
    remove(turn, partition, item);
  }
  const { draft } = turn;
  draft.history?.addEach({ slot, what: "completed" }, found, (index) => found[index]?.holder ?? "");
  draft.count(slot, "completed", found.length);
  countHeld(turn, slot, found);
}

/** Consecutive items were mostly leased together, so one call per run of equal times is enough. */
function countHeld({ draft, now }: Turn, slot: number, items: readonly HeldItem[]): void {
  let first = 0;
  for (let index = 1; index <= items.length; index += 1) {
    const leasedAt = items[first]?.run.lease.leasedAt ?? 0;
    if (items[index]?.run.lease.leasedAt === leasedAt) continue;
    draft.heldFor(slot, now - leasedAt, index - first);
    first = index;
  }
}
