// One turn is one decision: what it has to know is read in one look at the store, and all
// that waits is decided from that, from memory and from the instant. The caller commits what
// was decided and only then lets the answers out.
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

/** Requests of one kind stay in the order of their arrival. */
function byKind(requests: readonly NumberedRequest[]): ByKind {
  return Map.groupBy(requests, ({ kind }) => kind);
}

/** What has to be known for the decision. Memory is only put in order for it, never changed. */
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

/** Decides everything: memory and draft are changed together, nothing else is. */
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
 * There is no room even for what makes room. What was done before stays done, and what the turn
 * that is void had read before it changed anything still is what is stored.
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
