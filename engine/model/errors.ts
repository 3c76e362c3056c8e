// The ways in which a call can fail, independent of HTTP. The engine's public methods throw
// `QueueError`; inside, a `Failure` carries the same as data.

import type { Pause } from "../../stores/queue.ts";
import { limits } from "./limits.ts";

/**
 * - `invalid`: the request can never be accepted as it is.
 * - `refused`: well formed, but the state of the queue forbids it; nothing changed.
 * - `empty`: no item arrived, or the call could not be done in time; nothing changed, try again.
 * - `full`: a bound on waiting work is reached; nothing changed, try later.
 * - `store`: the store failed; nothing was written.
 * - `unknown`: the time is up without a reply from the shard; the call may be done, now or later.
 * - `closing`: the engine is shutting down or restarting; nothing changed.
 */
export type ErrorCode = "invalid" | "refused" | "empty" | "full" | "store" | "unknown" | "closing";

/** Each reason with its code: part of the contract, described in `openapi/reasons.ts`. */
const codeOf = {
  malformed: "invalid",
  no_such_queue: "invalid",
  no_such_partition: "invalid",
  queue_exists: "invalid",
  bad_dead_queue: "invalid",
  too_many: "invalid",
  duplicate_client: "invalid",
  key_taken: "invalid",
  not_leased: "refused",
  too_large: "refused",
  no_dead_queue: "refused",
  different_stores: "refused",
  queue_deleted: "refused",
  queue_paused: "refused",
  queue_full: "refused",
  group_full: "refused",
  queue_not_empty: "refused",
  queue_in_use: "refused",
  partition_draining: "refused",
  count_changed: "refused",
  no_test_clock: "refused",
  no_such_item: "refused",
  no_such_task: "refused",
  empty: "empty",
  late: "empty",
  client_gone: "empty",
  leases_paused: "empty",
  limited: "empty",
  lease_over: "empty",
  repeated: "empty",
  full: "full",
  store_full: "store",
  store_failed: "store",
  in_part: "store",
  backup_failed: "store",
  unknown_outcome: "unknown",
  shutting_down: "closing",
  not_ready: "closing",
} as const satisfies Record<string, ErrorCode>;

export type Reason = keyof typeof codeOf;

/** Reasons per id; the keys are the ids as given. */
export type Details = Readonly<Record<string, string>>;

export interface Failure {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly reason: Reason;
  readonly message: string;
  readonly details?: Details;
}

export function failure(reason: Reason, message: string, details?: Details): Failure {
  return { ok: false, code: codeOf[reason], reason, message, ...(details && { details }) };
}

/** Why every call is refused, whatever it asks for. */
const causes: Readonly<Partial<Record<ErrorCode, string>>> = {
  store: "there is no space left on the disk",
  full: "too many requests wait for the store",
  closing: "service is shutting down",
  unknown: "a shard has not answered",
};

/** `what`: the effect that did not happen, as a clause. */
function late(what: string): Failure {
  return failure("late", `request timeout; ${what}, try again`);
}

/** The failure of a call whose time is up. */
export interface Late {
  /** Before a turn has taken the call, which then has no effect. */
  readonly beforeSend: Failure;
  /** After that; `null` = wait for the reply. */
  readonly afterSend: Failure | null;
}

export const emptyLease = failure("empty", "request timeout; no items are in the queue, try again");
export const unreachableLease = failure(
  "not_ready",
  "request timeout; the shard of the queue is down, try again",
);
export const limitedLease = failure(
  "limited",
  "request timeout; the queue's limits allowed no more items, try again",
);
export function noSuchItem(id: string): Failure {
  return failure("no_such_item", `item does not exist; no item has the id '${id}'`);
}

export function noSuchTask(taskId: string): Failure {
  const shown = taskId.slice(0, limits.quotedMax);
  return failure("no_such_task", `task does not exist; no such task '${shown}'`);
}

export const unknownOutcome = failure("unknown_outcome", "request timeout; it may be done or not");
/** For a call with a `request_timeout`. `what`: the effect that did not happen, as a clause. */
function lateIn(what: string): Late {
  return { beforeSend: late(what), afterSend: unknownOutcome };
}

export const lateProduce = lateIn("the items were not written");
export const lateComplete = lateIn("the items were not completed");
export const lateRetry = lateIn("the items were not retried");
export const lateExtend = lateIn("the leases were not extended");
export const lateTransact = lateIn("nothing was changed");
export const lateCancel = lateIn("no item was cancelled");
export const lateRelease = lateIn("the items were not released");
const noAnswer = failure("store_failed", "the store does not answer; nothing was changed");
/** For work in pieces: once taken, it is answered when it is done. */
export const lateLong: Late = { beforeSend: noAnswer, afterSend: null };
/** For a call that one turn does. */
export const lateWrite: Late = { beforeSend: noAnswer, afterSend: unknownOutcome };
/** For a call that changes nothing, so that its outcome does not matter. */
export const lateLook: Late = { beforeSend: noAnswer, afterSend: noAnswer };
/** `CatalogChanges` times its caller out itself; it still has to learn whether it was written. */
export const lateChange: Late = { beforeSend: late("the queue was not changed"), afterSend: null };

/** For a repeated lease call. */
export const leaseOver = failure(
  "lease_over",
  "that lease is over; nothing of it is held any more",
);
export const fullFailure = failure("store_full", `${causes.store}; nothing was written`);
export const drainingFailure = (partition: number) =>
  failure("partition_draining", `partition takes no new items; '${partition}' is draining`);
export const backlogFailure = failure("full", `${causes.full}; try again later`);
export const unwritableBackup = failure(
  "backup_failed",
  "the backup could not be written; the stores themselves are as they were",
);
export const undeliveredBackup = failure(
  "backup_failed",
  "items on their way to another shard do not arrive; it is down or busy, try again later",
);
export const deletedFailure = failure("queue_deleted", "queue is shutting down; it was deleted");
export const noTestClock = failure(
  "no_test_clock",
  "there is no test clock; start with --test-clock or testClock",
);
export const closingFailure = failure("shutting_down", `${causes.closing}; nothing was changed`);
/** For work in pieces that the engine leaves unfinished. */
export const unfinishedFailure: Failure = {
  ...failure("in_part", `done in part, call again; ${causes.closing}`),
  code: "closing",
};
export const unknownShardFailure = failure(
  "not_ready",
  "the shard of another queue that this is about cannot be reached; nothing was changed, try again",
);
/** For an engine whose store lost commits; it discards its state. */
export const reopeningFailure = failure(
  "not_ready",
  "a store is opened again after a loss; nothing was changed, try again",
);

export function pausedProduce({ reason }: Pause): Failure {
  return failure(
    "queue_paused",
    `queue is paused; ${reason || "it takes no items until it is resumed"}`,
  );
}

export function queueFull({ waiting, added, max }: Record<"waiting" | "added" | "max", number>) {
  const why = `${waiting} items wait and ${added} would be added, expected at most ${max}`;
  return failure("queue_full", `queue is full; ${why}`);
}

export function groupFull(
  group: string,
  { waiting, added, max }: Record<"waiting" | "added" | "max", number>,
) {
  const why = `${waiting} items wait in '${group}' and ${added} would be added, expected at most ${max}`;
  return failure("group_full", `group is full; ${why}`);
}

/** For a lease whose time ran out while the lease side was paused. */
export function pausedLease({ reason }: Pause): Failure {
  return failure(
    "leases_paused",
    `queue is paused; ${reason || "nothing is leased until it is resumed"}`,
  );
}

export function malformedId(id: string): string {
  return `invalid storage id; '${id}': Valid encoded KSUIDs are 27 characters`;
}

export function tooMany(reason: "too_many" | "full", what: string, max: number): QueueError {
  return new QueueError(failure(reason, `too many ${what}; there cannot be more than ${max}`));
}

/** For a call with `expect`. */
export function countChanged(
  count: number,
  expect: number,
  { verb = "removed", what = "items" }: { readonly verb?: string; readonly what?: string } = {},
): Failure {
  const text = `count has changed; ${count} ${what} would be ${verb}, expected at most ${expect}`;
  return failure("count_changed", text, { count: String(count) });
}

/** The delete is certain, but items are left to remove. */
export function deletedInPart(code: ErrorCode): Failure {
  const rest = "the rest goes when every shard is up";
  return { ...failure("in_part", `the queue was deleted, its items not all; ${rest}`), code };
}

/** The only error that the engine throws; `message` is `constant part; variable detail`. */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly code: ErrorCode;
  readonly reason: Reason;
  readonly details: Details | undefined;
  readonly failure: Failure;

  constructor(failed: Failure) {
    super(failed.message);
    this.code = failed.code;
    this.reason = failed.reason;
    this.details = failed.details;
    this.failure = failed;
  }

  static from(failed: Failure): QueueError {
    return new QueueError(failed);
  }
}

export function isFailure(
  { reason, message }: Pick<Failure, "reason" | "message">,
  failed: Failure,
): boolean {
  return reason === failed.reason && message === failed.message;
}
