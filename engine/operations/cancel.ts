// Cancel: removes unfinished items of a queue by id, whatever their state, and reports what each was.
// The holder of a leased one can no longer finish it.

import type { SlotSeq } from "../../stores/store.ts";
import type { CancelledState } from "../model/api.ts";
import { deletedFailure, lateCancel } from "../model/errors.ts";
import type { IdempotencyKey } from "../model/idempotency-key.ts";
import type { Result } from "../model/messages.ts";
import type { Turn } from "../turn/turn-context.ts";
import { deleteOne, findOne } from "./delete.ts";
import { answering, type Numbered, type Operation } from "./operation.ts";

export interface Cancel {
  readonly kind: "cancel";
  readonly key?: IdempotencyKey;
  readonly queueId: number;
  readonly deadline: number;
  /** By id, in the order of the request; `null` = an id that no item of the queue has. */
  readonly places: readonly (SlotSeq | null)[];
}

/** The answer has an index for each id; receipts store it, so the order must not change. */
export const cancelledStates = [
  "not_found",
  "ready",
  "leased",
  "scheduled",
  "retried",
] as const satisfies readonly CancelledState[];

export const cancel: Operation<Cancel> = {
  phase: "within",
  weight: ({ places }) => places.length,
  keyed: { answer: (_, __, values) => recalled(values) },
  planReads(planner, requests) {
    for (const { places } of requests) {
      for (const place of places) if (place !== null) planner.pick(place.slot, [place.seq]);
    }
  },
  decide: answering(cancelOne),
};

function recalled(values: readonly number[]): Result {
  return { ok: true, value: { kind: "recalled", values } };
}

function cancelOne(turn: Turn, request: Numbered<Cancel>): Result {
  if (request.deadline <= turn.machineNow) return lateCancel.beforeSend;
  if (turn.memory.rules.queueOf(request.queueId) === undefined) return deletedFailure;
  const values = request.places.map((place) => {
    const found = place === null ? null : findOne(turn, place);
    if (found !== null) deleteOne(turn, found);
    return cancelledStates.indexOf(found?.state ?? "not_found");
  });
  if (request.key !== undefined) turn.changeSet.note(request.op, values);
  return recalled(values);
}
