// How a call can fail, a class for each kind of answer and a `code` to switch on. What a
// class promises about the queue is the contract's word (`../codes.ts`), not a guess.

/** - `unknown` alone leaves open whether the call was carried out; after any other nothing changed. */
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
  /** The call, by its name in the contract. */
  readonly operation: string;
  /** Status of the answer; `null` = none came. */
  readonly status: number | null;
  readonly message: string;
  /** The contract's word for why; absent where the answer is not the server's. */
  readonly reason?: string | undefined;
  readonly details?: Readonly<Record<string, string>> | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

export abstract class HoldfastError extends Error {
  abstract readonly code: HoldfastErrorCode;
  readonly operation: string;
  readonly status: number | null;
  /** The contract's word for why, such as `no_such_queue`; absent where no reply came. */
  readonly reason: string | undefined;
  /**
   * An earlier attempt of this call, which has no key, was left without an answer. What is refused
   * now, such as the delete of an item that is gone, may be what that attempt has done.
   */
  followsUnknown = false;

  constructor({ operation, status, message, reason, cause }: Refused) {
    super(message, cause === undefined ? undefined : { cause });
    this.operation = operation;
    this.status = status;
    this.reason = reason;
  }
}

/** 400, 404, 405, 413, 415, or it was not sent at all: it can never be accepted as it is. */
export class InvalidRequest extends HoldfastError {
  override readonly name = "InvalidRequest";
  readonly code = "invalid";
}

/** 401, 403: who calls may not. */
export class NotAuthorized extends HoldfastError {
  override readonly name = "NotAuthorized";
  readonly code = "unauthorized";
}

/** 429: too much waits already. */
export class Busy extends HoldfastError {
  override readonly name = "Busy";
  readonly code = "busy";
  /** How long the server asks to be left alone. */
  readonly retryAfterMs: number;

  constructor(refused: Refused) {
    super(refused);
    this.retryAfterMs = refused.retryAfterMs ?? 0;
  }
}

/** 453: the state of the queue or of an item forbids it. */
export class RequestFailed extends HoldfastError {
  override readonly name = "RequestFailed";
  readonly code = "failed";
  /** Why, by the id of each item in the way; empty where it is not about items. */
  readonly details: Readonly<Record<string, string>>;

  constructor(refused: Refused) {
    super(refused);
    this.details = refused.details ?? {};
  }

  get ids(): readonly string[] {
    return Object.keys(this.details);
  }
}

/** 454 of a lease: the queue stayed empty. A worker never sees it. */
export class LeaseEmpty extends HoldfastError {
  override readonly name = "LeaseEmpty";
  readonly code = "empty";
}

/** 454 of another call: it could not be done within its time, and was not. */
export class NotInTime extends HoldfastError {
  override readonly name = "NotInTime";
  readonly code = "late";
}

/** 500: the store failed, for instance because its disk is full. */
export class StoreFailed extends HoldfastError {
  override readonly name = "StoreFailed";
  readonly code = "store";
}

/** 503, or there was no connection to send anything on: the request was not taken. */
export class Unavailable extends HoldfastError {
  override readonly name = "Unavailable";
  readonly code = "unavailable";
}

/**
 * The connection broke, no answer came in time, or it was not the server's: it may be done or not.
 * Of a call with a key it comes last, when repeating it for as long as its time was told nothing.
 */
export class OutcomeUnknown extends HoldfastError {
  override readonly name = "OutcomeUnknown";
  readonly code = "unknown";
}

/** What a handler throws to send its item to the dead queue, whatever attempts remain. */
export class DeadLetter extends Error {
  override readonly name = "DeadLetter";
}

/** The reason of a handler's signal when its lease is about to lapse. */
export class LeaseLapsing extends Error {
  override readonly name = "LeaseLapsing";
}

/** The reason of a handler's signal when its item is no longer its own. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** The reason of a handler's signal when its worker has to end now. */
export class WorkerStopping extends Error {
  override readonly name = "WorkerStopping";
}

type ErrorClass = new (refused: Refused) => HoldfastError;

/** Whoever answers so, the server or what stands before it, the call was not carried out. */
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

/** What a proxy answers in the server's place does not say what the server did. */
const classOfReply: Readonly<Record<number, ErrorClass>> = {
  453: RequestFailed,
  454: NotInTime,
  500: StoreFailed,
  503: Unavailable,
};

/** The error for an answer that is not 200. `isReply`: it is the server's own, not a proxy's. */
export function errorOf(refused: Refused, isReply: boolean): HoldfastError {
  const status = refused.status ?? 0;
  if (isReply && status === 454 && refused.operation === "lease") return new LeaseEmpty(refused);
  const ErrorOfStatus =
    classOfAny[status] ?? (isReply ? classOfReply[status] : undefined) ?? OutcomeUnknown;
  return new ErrorOfStatus(refused);
}
