// The errors of calls: a class per kind of answer, each with a `code`. What a class guarantees
// about the queue follows from the contract's reply codes.

/** With `unknown` the call may have been carried out; with any other code nothing was changed. */
export type HoldfastErrorCode =
  | "invalid"
  | "unauthorized"
  | "busy"
  | "failed"
  | "empty"
  | "late"
  | "store"
  | "unavailable"
  | "unknown";

export interface Refused {
  /** The operation's name in the contract. */
  readonly operation: string;
  /** HTTP status; `null` = no answer. */
  readonly status: number | null;
  readonly message: string;
  /** The contract's reason; absent if the answer is not the server's. */
  readonly reason?: string | undefined;
  readonly details?: Readonly<Record<string, string>> | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

export abstract class HoldfastError extends Error {
  abstract readonly code: HoldfastErrorCode;
  readonly operation: string;
  readonly status: number | null;
  /** The contract's reason, such as `no_such_queue`; absent without a reply of the server. */
  readonly reason: string | undefined;
  /**
   * An earlier attempt of this call, which has no key, had no answer. That attempt may be the
   * reason for the refusal, for example if an item to delete no longer exists.
   */
  followsUnknown = false;

  constructor({ operation, status, message, reason, cause }: Refused) {
    super(message, cause === undefined ? undefined : { cause });
    this.operation = operation;
    this.status = status;
    this.reason = reason;
  }
}

/** 400, 404, 405, 413 or 415, or the client did not send the request: it can never be accepted. */
export class InvalidRequest extends HoldfastError {
  override readonly name = "InvalidRequest";
  readonly code = "invalid";
}

/** Whether a call was refused because of some of its items, so that others may be accepted. */
export function concernsItems(error: unknown): error is InvalidRequest {
  return (
    error instanceof InvalidRequest &&
    [400, 413].includes(error.status ?? 0) &&
    !["no_such_queue", "no_such_partition"].includes(error.reason ?? "")
  );
}

/** 401 or 403: the API key is missing, invalid or not permitted to do this. */
export class NotAuthorized extends HoldfastError {
  override readonly name = "NotAuthorized";
  readonly code = "unauthorized";
}

/** 429: the server has too many waiting requests. */
export class Busy extends HoldfastError {
  override readonly name = "Busy";
  readonly code = "busy";
  /** How long to wait before the next attempt, in milliseconds; 0 = not specified. */
  readonly retryAfterMs: number;

  constructor(refused: Refused) {
    super(refused);
    this.retryAfterMs = refused.retryAfterMs ?? 0;
  }
}

/** 453: the state of the queue or of an item does not allow the call. */
export class RequestFailed extends HoldfastError {
  override readonly name = "RequestFailed";
  readonly code = "failed";
  /** The reason per item id; empty if the refusal is not about items. */
  readonly details: Readonly<Record<string, string>>;

  constructor(refused: Refused) {
    super(refused);
    this.details = refused.details ?? {};
  }

  get ids(): readonly string[] {
    return Object.keys(this.details);
  }
}

/** 454 of a lease: no item arrived in time. Workers handle it themselves. */
export class LeaseEmpty extends HoldfastError {
  override readonly name = "LeaseEmpty";
  readonly code = "empty";
}

/** 454 of another call: its time was up, and nothing was done. */
export class NotInTime extends HoldfastError {
  override readonly name = "NotInTime";
  readonly code = "late";
}

/** 500: the store failed, for instance because its disk is full. */
export class StoreFailed extends HoldfastError {
  override readonly name = "StoreFailed";
  readonly code = "store";
}

/** 503, or no connection could be made: the request was not processed. */
export class Unavailable extends HoldfastError {
  override readonly name = "Unavailable";
  readonly code = "unavailable";
}

/**
 * The connection broke, there was no answer in time, or the answer was not the server's: the call
 * may have been carried out or not. A call with a key is first repeated until its time is up.
 */
export class OutcomeUnknown extends HoldfastError {
  override readonly name = "OutcomeUnknown";
  readonly code = "unknown";
}

/** Thrown by a handler to send its item to the dead queue, regardless of remaining attempts. */
export class DeadLetter extends Error {
  override readonly name = "DeadLetter";
}

/** The abort reason of a handler's signal when its lease is about to lapse. */
export class LeaseLapsing extends Error {
  override readonly name = "LeaseLapsing";
}

/** The abort reason of a handler's signal when its lease is lost. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** The abort reason of a handler's signal when its worker must end now. */
export class WorkerStopping extends Error {
  override readonly name = "WorkerStopping";
}

type ErrorClass = new (refused: Refused) => HoldfastError;

/** Whether these come from the server or a proxy, the call was not carried out. */
const classOfAny: Readonly<Record<number, ErrorClass>> = {
  400: InvalidRequest,
  401: NotAuthorized,
  403: NotAuthorized,
  404: InvalidRequest,
  405: InvalidRequest,
  413: InvalidRequest,
  415: InvalidRequest,
  429: Busy,
};

/** Only as the server's own replies: from a proxy they prove nothing about the server. */
const classOfReply: Readonly<Record<number, ErrorClass>> = {
  453: RequestFailed,
  454: NotInTime,
  500: StoreFailed,
  503: Unavailable,
};

/** The error for a status other than 200. `isReply`: the answer is the server's, not a proxy's. */
export function errorOf(refused: Refused, isReply: boolean): HoldfastError {
  const status = refused.status ?? 0;
  if (isReply && status === 454 && refused.operation === "lease") return new LeaseEmpty(refused);
  const ErrorOfStatus =
    classOfAny[status] ?? (isReply ? classOfReply[status] : undefined) ?? OutcomeUnknown;
  return new ErrorOfStatus(refused);
}
