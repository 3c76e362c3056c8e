// When a call may be sent again, and after how long. The contract decides the first: an answer
// that says nothing changed, a call that has a key, or one of which doing it twice is doing it once.

import type { HoldfastError } from "./errors.ts";
import { isHttpsHint } from "./https-hint.ts";
import { startTimer } from "./time.ts";
import { isUntrusted } from "./unsent.ts";
import { doubledOperations, type Operation } from "./wire.ts";

/**
 * What a second attempt without a key does when the first may have been carried out unheard.
 * - `same`: no more than the first alone.
 * - `twice`: its work again, or it is refused for what the first has done.
 */
export type Echo = "same" | "twice";

export function echoOf(operation: Operation, request: object): Echo {
  if (!doubledOperations.includes(operation)) return "same";
  // Items with a `source_id` are not stored twice.
  return operation === "importItems" && isSourced(request) ? "same" : "twice";
}

function isSourced(request: object): boolean {
  const items: unknown = "items" in request ? request.items : undefined;
  return Array.isArray(items) && items.every(({ source_id }) => Boolean(source_id));
}

export interface Attempted {
  readonly operation: Operation;
  readonly echo: Echo;
  readonly error: HoldfastError;
}

export function mayRepeat({ operation, echo, error }: Attempted): boolean {
  switch (error.code) {
    case "busy":
      return true;
    case "unavailable":
      return !isUntrusted(error.cause);
    case "store":
      // An import says 500 also when the items were stored and could not be read back.
      // An advance, when the clock has gone on in part.
      return (operation !== "importItems" && operation !== "advance") || echo === "same";
    case "unknown":
      return echo === "same" && !isHttpsHint(error.cause);
    case "invalid":
    case "unauthorized":
    case "failed":
    case "empty":
    // Its time is up, and that was the caller's to set.
    case "late":
      return false;
  }
}

export interface Pace {
  /** Of the first pause. */
  readonly baseMs: number;
  /** No pause is longer, whatever its number. */
  readonly capMs: number;
}

/** Full jitter: anything from nothing up to a bound that doubles, so that clients spread out. */
export function pauseMs(count: number, { baseMs, capMs }: Pace, random = Math.random): number {
  return random() * Math.min(capMs, baseMs * 2 ** Math.min(count - 1, 30));
}

/** Ends early, without an error, when the signal is aborted. */
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

/** Runs it when the events of this round have been heard; where a runtime cannot tell, at once. */
export function afterThisRound(run: () => void): void {
  soon(run);
}
