// Advance: a test clock has come to an instant, for which the shard decides a turn, and says when it
// next has something to do.

import { nextDue } from "../turn/sweep.ts";
import { answering, type Kind } from "./kind.ts";

export interface Advance {
  readonly kind: "advance";
  /** Whether a store that is opened later goes on from there, though nothing else was changed. */
  readonly isKept: boolean;
}

export const advance: Kind<Advance> = {
  // What the others decide is due in its time, too.
  phase: "after",
  decide: answering(({ memory, draft, limits, lines, now }, { isKept }) => {
    if (isKept) draft.keepsTime = true;
    const next = Math.min(nextDue(memory, limits, now), lines.nextAt(now));
    return { ok: true, value: { kind: "due", at: Number.isFinite(next) ? next : null } };
  }),
};
