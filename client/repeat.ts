// Decides whether a call may be repeated, and after what pause; `transport.ts` has the loop. The
// contract allows it if nothing was changed, if the call has a key, or if it is idempotent. The
// backoff of items that a worker retries is in `worker.ts`.

import { isUntrusted } from "./connection-errors.ts";
import type { HoldfastError } from "./errors.ts";
import { isHttpsHint } from "./https-hint.ts";
import { startTimer } from "./time.ts";
import { nonIdempotentOperations, type Operation } from "./wire.ts";

/**
 * The effect of a second attempt without a key, if the first may have been carried out.
 * - `same`: none, the call is idempotent.
 * - `twice`: the work is done again, or refused because of the first attempt.
 */
export type RepeatEffect = "same" | "twice";

export function repeatEffectOf(operation: Operation, request: object): RepeatEffect {
  if (!nonIdempotentOperations.includes(operation)) return "same";
  // Items with a `source_id` are not stored twice.
  return operation === "importItems" && isSourced(request) ? "same" : "twice";
}

function isSourced(request: object): boolean {
  const items: unknown = "items" in request ? request.items : undefined;
  return Array.isArray(items) && items.every(({ source_id }) => Boolean(source_id));
}

export interface Attempted {
  readonly operation: Operation;
  readonly effect: RepeatEffect;
  readonly error: HoldfastError;
}

export function mayRepeat({ operation, effect, error }: Attempted): boolean {
  switch (error.code) {
    case "busy":
      return true;
    case "unavailable":
      return !isUntrusted(error.cause);
    case "store":
      // An import also returns 500 if the items were stored but could not be read back, an advance
      // if the clock was advanced only in part.
      return (operation !== "importItems" && operation !== "advance") || effect === "same";
    case "unknown":
      return effect === "same" && !isHttpsHint(error.cause);
    case "invalid":
    case "unauthorized":
    case "failed":
    case "empty":
    // Its time is up, which the caller has set.
    case "late":
      return false;
  }
}

export interface Pace {
  /** Upper bound of the first pause, in milliseconds. */
  readonly baseMs: number;
  /** Upper bound of all pauses, in milliseconds. */
  readonly capMs: number;
}

export const defaultPace: Pace = { baseMs: 100, capMs: 5_000 };

/** Full jitter: random from 0 to a bound that doubles each time, so that clients spread out. */
export function pauseMs(count: number, { baseMs, capMs }: Pace, random = Math.random): number {
  return random() * Math.min(capMs, baseMs * 2 ** Math.min(count - 1, 30));
}

/** Resolves early if the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = startTimer(ms, end);
    signal?.addEventListener("abort", end);
  });
}

const { setImmediate: soon = queueMicrotask } = globalThis as {
  readonly setImmediate?: (run: () => void) => unknown;
};

/** Runs it after this round of events, or as a microtask in runtimes without `setImmediate`. */
export function afterThisRound(run: () => void): void {
  soon(run);
}
