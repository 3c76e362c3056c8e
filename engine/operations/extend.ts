// Extend: gives the leases of items a later deadline, all of a batch or none. A deadline that was
// returned before stays valid, so an extend never makes a deadline earlier. Items may have different
// deadlines then; the answer is the earliest, until which the client holds all of them.

import { deletedFailure, lateExtend } from "../model/errors.ts";
import type { IdempotencyKey } from "../model/idempotency-key.ts";
import type { Result } from "../model/messages.ts";
import { rulesFor } from "../model/provenance.ts";
import { extendRun } from "../turn/item-transitions.ts";
import { findHeld, planHeld } from "../turn/leased-items.ts";
import type { Turn } from "../turn/turn-context.ts";
import { answering, type Numbered, type Operation } from "./operation.ts";

export interface Extend {
  readonly kind: "extend";
  readonly key?: IdempotencyKey;
  readonly slot: number;
  readonly deadline: number;
  readonly ids: readonly string[];
  /** Counts from the turn; `null` = the timeout of each item, or of the queue. */
  readonly leaseTimeoutMs: number | null;
}

export const extend: Operation<Extend> = {
  phase: "within",
  weight: ({ ids }) => ids.length,
  keyed: { answer: (_, __, [leaseDeadline = 0]) => extended(leaseDeadline) },
  planReads(planner, requests) {
    for (const request of requests) planHeld(planner, request);
  },
  decide: answering(extendOne),
};

function extendOne(turn: Turn, request: Numbered<Extend>): Result {
  const { memory } = turn;
  if (request.deadline <= turn.machineNow) return lateExtend.beforeSend;
  const found = findHeld(turn, request, "extended");
  if ("ok" in found) return found;
  const { settings } = memory.partition(request.slot);
  if (settings === null) return deletedFailure;
  let leaseDeadline = Number.POSITIVE_INFINITY;
  for (const [run, items] of Map.groupBy(found, (item) => item.run)) {
    const before = run.lease.leaseDeadline;
    const later = new Map<number, number>();
    for (const { seq, past } of items) {
      const ms = request.leaseTimeoutMs ?? rulesFor(past, settings).leaseTimeoutMs;
      const wanted = turn.now + ms;
      if (before < wanted) later.set(seq, wanted);
      leaseDeadline = Math.min(leaseDeadline, Math.max(before, wanted));
    }
    if (later.size > 0) extendRun(turn, memory.partition(run.lease.slot), run, later);
  }
  turn.changeSet.count(request.slot, "extended", found.length);
  for (const { slot, seq, holder: by } of found) {
    turn.changeSet.history?.add({ slot, seq, what: "extended", by });
  }
  if (request.key !== undefined) turn.changeSet.note(request.op, [leaseDeadline]);
  return extended(leaseDeadline);
}

function extended(leaseDeadline: number): Result {
  return { ok: true, value: { kind: "extended", leaseDeadline } };
}
