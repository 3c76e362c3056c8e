// A turn is one decision. One read of the store fetches all that the turn needs; then all waiting
// requests are decided from that, memory and the time. The caller commits, and only then answers.
//
//   before → recount → sweep → clear → within, in the order of `operations.ts` → leases → after

import { fullFailure } from "../model/errors.ts";
import { clearPiece, planClearing } from "../operations/clear.ts";
import type { Phase } from "../operations/operation.ts";
import { grantLeases, planLeases } from "../operations/serve-lines.ts";
import { type NumberedRequest, operationNamed, operations } from "../operations.ts";
import type { ChangeSet } from "./change-set.ts";
import { answerFromReceipt, decideOnce, planReadsOnce } from "./idempotency.ts";
import { planRecount, recountPiece } from "./recount.ts";
import { planSweep, sweep } from "./sweep.ts";
import { ReadPlanner, type Turn } from "./turn-context.ts";

type ByKind = ReadonlyMap<NumberedRequest["kind"], readonly NumberedRequest[]>;

function byKind(requests: readonly NumberedRequest[]): ByKind {
  return Map.groupBy(requests, ({ kind }) => kind);
}

/** The reads that the decision needs. Memory may be reordered, but its content does not change. */
export function planReads(
  context: Pick<ReadPlanner, "memory" | "now" | "machineNow" | "limits" | "linesToServe">,
  requests: readonly NumberedRequest[],
): ReadPlanner {
  const planner = new ReadPlanner(context);
  planRecount(planner);
  planSweep(planner);
  planClearing(planner);
  for (const [name, same] of byKind(requests)) planReadsOnce(planner, operationNamed(name), same);
  planLeases(planner);
  return planner;
}

/** Decides all requests. It changes memory and change set together, and nothing else. */
export function decide(turn: Turn, requests: readonly NumberedRequest[]): void {
  const asked = byKind(requests);
  decidePhase(turn, asked, "before");
  recountPiece(turn);
  if (!turn.isStill) {
    sweep(turn);
    clearPiece(turn);
  }
  decidePhase(turn, asked, "within");
  grantLeases(turn);
  decidePhase(turn, asked, "after");
}

const operationsOf = Object.groupBy(operations, ([, { phase }]) => phase);

function decidePhase(turn: Turn, asked: ByKind, phase: Phase): void {
  for (const [name, operation] of operationsOf[phase] ?? []) {
    const same = asked.get(name);
    if (same === undefined) continue;
    decideOnce(turn, operation, same);
  }
}

/**
 * Refuses all changes, because not even requests that free space found room. Receipts and the reads
 * of the void turn are still valid: it made those before it changed anything.
 */
export function refuseChanges(
  turn: Turn,
  requests: readonly NumberedRequest[],
  voided: Pick<ChangeSet, "answers" | "granted">,
): void {
  const read = new Map(voided.answers.map(({ op, outcome }) => [op, outcome]));
  for (const { outcome, ...one } of voided.granted) {
    const isChange = !("code" in outcome || outcome.replayed);
    turn.changeSet.granted.push({ ...one, outcome: isChange ? fullFailure : outcome });
  }
  for (const request of requests) {
    const operation = operationNamed(request.kind);
    if (operation.phase === "before" && operation.planReads !== undefined) {
      turn.changeSet.answer(request.op, read.get(request.op) ?? fullFailure);
    } else if (operation.phase !== "within") operation.decide(turn, [request]);
    else if (!answerFromReceipt(turn, operation, request))
      turn.changeSet.answer(request.op, fullFailure);
  }
}
