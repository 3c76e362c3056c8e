// A turn is one decision. One read of the store fetches all that the turn needs; then all waiting
// requests are decided from that, memory and the time. The caller commits, and only then answers.
//
//   before → recount → sweep → clear → within, in the order of `kinds.ts` → leases → after

import { kindNamed, kinds, type NumberedRequest } from "../kinds.ts";
import { fullFailure } from "../model/errors.ts";
import { clearPiece, wantClearing } from "../operations/clear.ts";
import type { Phase } from "../operations/kind.ts";
import { grantLeases, wantLeases } from "../operations/serve-lines.ts";
import type { Draft } from "./draft.ts";
import { recountPiece, wantRecount } from "./recount.ts";
import { answerDone, decideOnce, wantsOnce } from "./repeated.ts";
import { sweep, wantSweep } from "./sweep.ts";
import { Asking, type Turn } from "./turn-context.ts";

type ByKind = ReadonlyMap<NumberedRequest["kind"], readonly NumberedRequest[]>;

function byKind(requests: readonly NumberedRequest[]): ByKind {
  return Map.groupBy(requests, ({ kind }) => kind);
}

/** The reads that the decision needs. Memory may be reordered, but its content does not change. */
export function wants(
  context: Pick<Asking, "memory" | "now" | "machineNow" | "limits" | "looking">,
  requests: readonly NumberedRequest[],
): Asking {
  const asking = new Asking(context);
  wantRecount(asking);
  wantSweep(asking);
  wantClearing(asking);
  for (const [name, same] of byKind(requests)) wantsOnce(asking, kindNamed(name), same);
  wantLeases(asking);
  return asking;
}

/** Decides all requests. It changes memory and draft together, and nothing else. */
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

const kindsOf = Object.groupBy(kinds, ([, { phase }]) => phase);

function decidePhase(turn: Turn, asked: ByKind, phase: Phase): void {
  for (const [name, kind] of kindsOf[phase] ?? []) {
    const same = asked.get(name);
    if (same === undefined) continue;
    decideOnce(turn, kind, same);
  }
}

/**
 * Refuses all changes, because not even requests that free space found room. Receipts and the reads
 * of the void turn are still valid: it made those before it changed anything.
 */
export function refuseChanges(
  turn: Turn,
  requests: readonly NumberedRequest[],
  voided: Pick<Draft, "answers" | "granted">,
): void {
  const read = new Map(voided.answers.map(({ op, outcome }) => [op, outcome]));
  for (const { outcome, ...one } of voided.granted) {
    const isChange = !("code" in outcome || outcome.replayed);
    turn.draft.granted.push({ ...one, outcome: isChange ? fullFailure : outcome });
  }
  for (const request of requests) {
    const kind = kindNamed(request.kind);
    if (kind.phase === "before" && kind.wants !== undefined) {
      turn.draft.answer(request.op, read.get(request.op) ?? fullFailure);
    } else if (kind.phase !== "within") kind.decide(turn, [request]);
    else if (!answerDone(turn, kind, request)) turn.draft.answer(request.op, fullFailure);
  }
}
