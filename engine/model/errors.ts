// The ways a call can fail, without a word about HTTP. `QueueError` is thrown at
// the engine's face; inside, a `Failure` carries the same as data.

import type { Pause } from "../../stores/queue.ts";
import { limits } from "./limits.ts";

/**
 * - `invalid`: the request can never be accepted as it is.
 * - `refused`: well formed, but the state of the queue forbids it; nothing changed.
 * - `empty`: nothing came, or it could not be done in time; nothing changed, ask again.
 * - `full`: a bound on waiting work is reached; nothing changed, ask later.
 * - `store`: the store failed; nothing was written.
 * - `unknown`: its time is up and its shard has not said what became of it; it may be done, or yet be.
 * - `closing`: the engine is shutting down, or begins anew; nothing changed.
 */
export type ErrorCode = "invalid" | "refused" | "empty" | "full" | "store" | "unknown" | "closing";

/**
 * Why a call failed, each with its code: stable words, of which the contract tells
 * (`openapi/reasons.ts`).
 */
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

/** What can be said per id, from the id as it was given to the reason. */
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

/** Why nothing is taken, whatever was asked for. */
const causes: Readonly<Partial<Record<ErrorCode, string>>> = {
  store: "there is no space left on the disk",
  full: "too many requests wait for the store",
  closing: "service is shutting down",
  unknown: "a shard has not answered",
};

/** A call that could not be done in time. `what`: what did not happen, as a clause. */
function late(what: string): Failure {
  return failure("late", `request timeout; ${what}, try again`);
}

/** What a call is told when its time is up. */
export interface Late {
  /** While no shard has taken it: it has no effect. */
  readonly untaken: Failure;
  /** Once one has; `null`: it may wait for its answer. */
  readonly taken: Failure | null;
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
/** Of a call that says how long it may take. `what`: what did not happen, as a clause. */
function lateIn(what: string): Late {
  return { untaken: late(what), taken: unknownOutcome };
}

export const lateProduce = lateIn("the items were not written");
export const lateComplete = lateIn("the items were not completed");
export const lateRetry = lateIn("the items were not retried");
export const lateExtend = lateIn("the leases were not extended");
export const lateTransact = lateIn("nothing was changed");
export const lateRelease = lateIn("the items were not released");
const noAnswer = failure("store_failed", "the store does not answer; nothing was changed");
/** Of work that goes on in pieces: once it is taken, it is answered when it is done. */
export const lateLong: Late = { untaken: noAnswer, taken: null };
/** Of a call that one turn does. */
export const lateWrite: Late = { untaken: noAnswer, taken: unknownOutcome };
/** Of a call that changes nothing, so that it is all one. */
export const lateLook: Late = { untaken: noAnswer, taken: noAnswer };
/** The registrar tells its caller in time; what it has to know itself is whether it was written. */
export const lateChange: Late = { untaken: late("the queue was not changed"), taken: null };

/** Of a lease that is asked for again. */
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
/** Of work in pieces that the engine leaves half done. */
export const unfinishedFailure: Failure = {
  ...failure("in_part", `done in part, call again; ${causes.closing}`),
  code: "closing",
};
/** Of an engine whose database has lost something: it forgets what it knew. */
/** Of a shard whose queues are not known; see `relay/introductions.ts`. */
export const unknownShardFailure = failure(
  "not_ready",
  "the shard of another queue that this is about cannot be reached; nothing was changed, try again",
);
export const reopeningFailure = failure(
  "not_ready",
  "a store is opened again after a loss; nothing was changed, try again",
);

/** Of a queue whose produce side is paused. */
export function pausedProduce({ reason }: Pause): Failure {
  return failure(
    "queue_paused",
    `queue is paused; ${reason || "it takes no items until it is resumed"}`,
  );
}

/** Of a lease that waited for its time on a queue whose lease side is paused. */
export function pausedLease({ reason }: Pause): Failure {
  return failure(
    "leases_paused",
    `queue is paused; ${reason || "nothing is leased until it is resumed"}`,
  );
}

/** What is wrong with an id that no item can have. */
export function malformedId(id: string): string {
  return `invalid storage id; '${id}': Valid encoded KSUIDs are 27 characters`;
}

/** A bound on what there may be of something. */
export function tooMany(reason: "too_many" | "full", what: string, max: number): QueueError {
  return new QueueError(failure(reason, `too many ${what}; there cannot be more than ${max}`));
}

/** `expect`: of a call that was told how many it may touch. */
export function countChanged(
  count: number,
  expect: number,
  { verb = "removed", what = "items" }: { readonly verb?: string; readonly what?: string } = {},
): Failure {
  const text = `count has changed; ${count} ${what} would be ${verb}, expected at most ${expect}`;
  return failure("count_changed", text, { count: String(count) });
}

/** A delete that is certain, of which something is left to do. */
export function deletedInPart(code: ErrorCode): Failure {
  const rest = "the rest goes when every shard is up";
  return { ...failure("in_part", `the queue was deleted, its items not all; ${rest}`), code };
}

/** The one error the engine throws; `message` is `constant part; variable detail`. */
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

/** Whether it says exactly that. */
export function isFailure(
  { reason, message }: Pick<Failure, "reason" | "message">,
  failed: Failure,
): boolean {
  return reason === failed.reason && message === failed.message;
}
