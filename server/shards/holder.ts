// Finds the shard of an item or task that a call names by its id alone, from the outcomes of the
// call at every shard.

import { QueueError, type Reason } from "../../engine/model/errors.ts";
import { isUnreached, unreachedError } from "./reached.ts";

export type Outcomes<T> = readonly PromiseSettledResult<T>[];

/** The reason with which a shard refuses an id that it does not have. */
export type UnknownReason = Extract<Reason, "no_such_item" | "no_such_task">;

/**
 * Returns the number of the shard that has the id; `null`: every shard refused with the reason
 * `unknown`. If no shard has the id, throws the failure of a shard that may have it. Throws if
 * several shards have it, because a cancel must not stop another task.
 */
export function holderOf(outcomes: Outcomes<unknown>, unknown: UnknownReason): number | null {
  const holders = outcomes.flatMap(({ status }, shard) => (status === "fulfilled" ? [shard] : []));
  if (holders.length > 1) throw new Error(`id is in use at several places; ${holders.join(", ")}`);
  const [holder] = holders;
  if (holder !== undefined) return holder;
  const isUnknown = (error: unknown) => error instanceof QueueError && error.reason === unknown;
  const effect = `the ${unknown === "no_such_item" ? "item" : "task"} may be there`;
  throwFailure(outcomes, { isExpected: isUnknown, effect });
  return null;
}

/**
 * Throws the failure of a shard, if any. Unreachable shards come last, because a retry does not
 * help with another failure, such as a malformed id. `effect`: the consequence of an unreachable
 * shard, as a clause.
 */
export function throwFailure(
  outcomes: Outcomes<unknown>,
  {
    isExpected = () => false,
    effect,
  }: { readonly isExpected?: (error: unknown) => boolean; readonly effect: string },
): void {
  const failures = outcomes.flatMap((one, shard) =>
    one.status === "rejected" && !isExpected(one.reason) ? [{ shard, error: one.reason }] : [],
  );
  const unreached = failures.filter(({ error }) => isUnreached(error));
  const other = failures.find(({ error }) => !isUnreached(error));
  if (other !== undefined) throw other.error;
  const [first] = unreached;
  if (first === undefined) return;
  if (unreached.length === outcomes.length) throw first.error;
  throw unreachedError(
    unreached.map(({ shard }) => shard),
    effect,
  );
}
