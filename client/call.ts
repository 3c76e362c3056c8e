// The options and the answer of a call.

import { bounds } from "../openapi/bounds.ts";
import { InvalidRequest } from "./errors.ts";
import { anything, type Checks, checkOptions, count, length, signal } from "./options.ts";
import { type Operation, type ReplyFor, type RequestFor, timedOperations } from "./wire.ts";

export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds that the call may take, including repeats. Also sent as `request_timeout`, for
   * operations that have one. Default 1 minute for a lease, 5 minutes for any other call.
   */
  readonly timeoutMs?: number;
  /**
   * Idempotency key of a produce, lease, retry, complete, extend, release or transact: 1 to 255
   * visible ASCII characters. For 5 minutes after the call, the server answers the same call with
   * the same key as before, and does nothing. So a program that was killed can repeat its call.
   * Default a random key.
   */
  readonly key?: string;
}

/** Options for the client's own calls. */
export interface InnerOptions extends CallOptions {
  /** Like `signal`, but an answer that has begun is still read. */
  readonly leave?: AbortSignal;
  /** Maximum attempts, for callers that need an error before the time is up. */
  readonly attemptsMax?: number;
}

export interface Answered<T> {
  readonly reply: T;
  /** When the answer began to arrive, in `steadyNow()` time. */
  readonly receivedAt: number;
}

/**
 * Encodes a request, once per attempt. `isSame`: an earlier attempt may have been carried out, so
 * the content must be the same.
 */
export type Encode = (timed: { readonly request_timeout?: string }, isSame: boolean) => string;

/** Sends a call until it has a final answer, or its time is up. */
export type Call = <Id extends Operation>(
  operation: Id,
  request: RequestFor<Id>,
  options?: InnerOptions,
) => Promise<Answered<ReplyFor<Id>>>;

export const timeoutMsDefault = 5 * 60_000;
const leaseTimeoutMsDefault = 60_000;

export function timeoutMsOf(operation: Operation): number {
  return operation === "lease" ? leaseTimeoutMsDefault : timeoutMsDefault;
}

export const callChecks: Checks<CallOptions> = { signal, timeoutMs: length, key: anything };
const innerChecks: Checks<InnerOptions> = { ...callChecks, leave: signal, attemptsMax: count };

/** Throws `InvalidRequest` for unknown or invalid call options. */
export function checkCall(operation: string, options: InnerOptions): void {
  refusing(operation, () => checkOptions(options, innerChecks, ["leave", "attemptsMax"]));
  const { timeoutMs = 0 } = options;
  const isTimed = (timedOperations as readonly string[]).includes(operation);
  if (isTimed && timeoutMs === Number.POSITIVE_INFINITY) {
    const message = `timeoutMs is invalid; expected at most ${bounds.requestTimeoutMsMax}, got Infinity`;
    throw new InvalidRequest({ operation, status: null, message });
  }
}

/** Converts the `TypeError` of a check to the call's `InvalidRequest`. */
export function refusing(operation: string, check: () => void): void {
  try {
    check();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new InvalidRequest({ operation, status: null, message: cause.message, cause });
  }
}
