// Finds the place that has the item or task that a call names by its id alone, among the outcomes
// of the call at every place.

import { QueueError, type Reason } from "../../engine/model/errors.ts";

export type Outcomes<T> = readonly PromiseSettledResult<T>[];

/**
 * The index of the place that has it; `null` = every place refused with the reason `unknown`.
 * Throws the failure of a place that may have it, unless another place has it. Throws if several
 * places have it, because a cancel must not stop another task.
 */
export function holderOf(outcomes: Outcomes<unknown>, unknown: Reason): number | null {
  const holders = outcomes.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
  if (holders.length > 1) throw new Error(`id is in use at several places; ${holders.join(", ")}`);
  const [holder] = holders;
  if (holder !== undefined) return holder;
  for (const error of failuresIn(outcomes)) {
    if (!(error instanceof QueueError && error.reason === unknown)) throw error;
  }
  return null;
}

export function failuresIn(outcomes: Outcomes<unknown>): unknown[] {
  return outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
}
