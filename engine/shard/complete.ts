// Complete: held items are removed, all of a batch or none.

import type { CallKey } from "../call-key.ts";
import { lateComplete } from "../errors.ts";
import { findHeld, wantHeld } from "./held.ts";
import { answering, done, doneOnce, type Kind, type Numbered, type Result } from "./kind.ts";
import { letGo, remove } from "./moves.ts";
import type { Turn } from "./turn-context.ts";

export interface Complete {
  readonly kind: "complete";
  readonly key?: CallKey;
  readonly slot: number;
  readonly deadline: number;
  readonly ids: readonly string[];
}

export const complete: Kind<Complete> = {
  phase: "within",
  weight: ({ ids }) => ids.length,
  lost: () => done,
  keyed: doneOnce,
  wants(asking, requests) {
    for (const request of requests) wantHeld(asking, request);
  },
  decide: answering(completeOne),
};

function completeOne(turn: Turn, request: Numbered<Complete>): Result {
  const partition = turn.memory.partition(request.slot);
  if (request.deadline <= turn.machineNow) return lateComplete.untaken;
  const found = findHeld(turn, request, "completed");
  if ("ok" in found) return found;
  for (const item of found) {
    letGo(turn, partition, item.seq, item);
    remove(turn, partition, item);
  }
  return done;
}
