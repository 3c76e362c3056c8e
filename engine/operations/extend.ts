// Extend: gives the leases of items a later deadline, all of a batch or none. A deadline that was
// returned before stays valid, so an extend never makes a deadline earlier.

import type { CallKey } from "../model/call-key.ts";
import { deletedFailure, lateExtend } from "../model/errors.ts";
import type { Result } from "../model/messages.ts";
import { findHeld, wantHeld } from "../turn/held.ts";
import { extendRun } from "../turn/moves.ts";
import type { Turn } from "../turn/turn-context.ts";
import { answering, type Kind, type Numbered } from "./kind.ts";

export interface Extend {
  readonly kind: "extend";
  readonly key?: CallKey;
  readonly slot: number;
  readonly deadline: number;
  readonly ids: readonly string[];
  /** Counts from the turn; `null` = the lease timeout of the queue. */
  readonly leaseTimeoutMs: number | null;
}

export const extend: Kind<Extend> = {
  phase: "within",
  weight: ({ ids }) => ids.length,
  keyed: { answer: (_, __, [leaseDeadline = 0]) => extended(leaseDeadline) },
  wants(asking, requests) {
    for (const request of requests) wantHeld(asking, request);
  },
  decide: answering(extendOne),
};

function extendOne(turn: Turn, request: Numbered<Extend>): Result {
  const partition = turn.memory.partition(request.slot);
  if (request.deadline <= turn.machineNow) return lateExtend.untaken;
  const found = findHeld(turn, request, "extended");
  if ("ok" in found) return found;
  const { settings } = partition;
  if (settings === null) return deletedFailure;
  const wanted = turn.now + (request.leaseTimeoutMs ?? settings.leaseTimeoutMs);
  let leaseDeadline = Number.POSITIVE_INFINITY;
  for (const [run, items] of Map.groupBy(found, (item) => item.run)) {
    const before = run.lease.leaseDeadline;
    leaseDeadline = Math.min(leaseDeadline, Math.max(before, wanted));
    if (before < wanted) extendRun(turn, partition, run, items, wanted);
  }
  turn.draft.count(request.slot, "extended", found.length);
  for (const { seq, holder: by } of found) {
    turn.draft.history?.add({ slot: request.slot, seq, what: "extended", by });
  }
  if (request.key !== undefined) turn.draft.note(request.op, [leaseDeadline]);
  return extended(leaseDeadline);
}

function extended(leaseDeadline: number): Result {
  return { ok: true, value: { kind: "extended", leaseDeadline } };
}
