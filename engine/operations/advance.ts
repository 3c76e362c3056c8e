// Advance: the shard decides a turn for the instant that a test clock has reached. The answer
// contains the instant at which the shard next has something to do.

import { nextDue } from "../turn/sweep.ts";
import { answering, type Operation } from "./operation.ts";

export interface AdvanceRequest {
  readonly kind: "advance";
  /** Stores the instant even if nothing else changes, so that a later opening continues from it. */
  readonly isKept: boolean;
}

export const advance: Operation<AdvanceRequest> = {
  // The next instant includes what the other requests of this turn schedule.
  phase: "after",
  decide: answering(({ memory, changeSet, limits, lines, now }, { isKept }) => {
    if (isKept) changeSet.keepsTime = true;
    const next = Math.min(nextDue(memory, limits, now), lines.nextAt(now));
    return { ok: true, value: { kind: "due", at: Number.isFinite(next) ? next : null } };
  }),
};
