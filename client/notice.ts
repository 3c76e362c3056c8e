// The notices of a worker, and the lines printed for them by default.

import type { HoldfastError } from "./errors.ts";
import { formatError, stackFrames } from "./format-error.ts";
import type { LeasedItem } from "./items.ts";

/** A notice of a worker; none requires a reaction. */
export type WorkerNotice =
  /** The handler threw; the item is retried after `delayMs`, or the queue's `retry_backoff`. */
  | {
      readonly kind: "retried";
      readonly item: LeasedItem;
      readonly error: unknown;
      readonly delayMs?: number;
    }
  /** The handler threw a `DeadLetter`, or in the last attempt: the item is in the dead queue. */
  | { readonly kind: "dead"; readonly item: LeasedItem; readonly error: unknown }
  /** The last attempt failed, and the queue has no dead queue: the item is removed. */
  | { readonly kind: "removed"; readonly item: LeasedItem; readonly error: unknown }
  /**
   * The outcome was refused or not reported, for example because the lease had lapsed. The item may
   * be handled again.
   */
  | {
      readonly kind: "lost";
      readonly item: LeasedItem;
      readonly reason: string;
      /** What the handler threw, if it did. */
      readonly error?: unknown;
    }
  /** The handler threw after a transact that had already finished the item. */
  | { readonly kind: "failed"; readonly item: LeasedItem; readonly error: unknown }
  /** Another consumer already waits under the worker's name; the worker continues as `clientId`. */
  | { readonly kind: "renamed"; readonly clientId: string; readonly reason: string }
  /** `backoff` threw or returned an invalid delay; the default backoff is used instead. */
  | {
      readonly kind: "fault";
      readonly item: LeasedItem;
      readonly reason: string;
      readonly error?: unknown;
    }
  /** The server is unreachable or overloaded; the worker waits and continues. */
  | { readonly kind: "trouble"; readonly error: HoldfastError };

/** The default for `notice`: prints a line, and the stack of an error. */
export function printedOf(queue: string): (notice: WorkerNotice) => void {
  return (notice) => console.warn(textOf(notice, queue));
}

/** Errors of the program's function must not stop calls or workers. */
export function guarded<Notice>(notice: (notice: Notice) => unknown): (notice: Notice) => void {
  const failed = (error: unknown): void => {
    console.warn(`holdfast: the function for notices failed; ${formatError(error)}`);
  };
  // An asynchronous one fails later. `await` also catches a promise whose `then` throws.
  return (given) => void (async () => await notice(given))().catch(failed);
}

export function textOf(notice: WorkerNotice, queue: string): string {
  const isTrouble = notice.kind === "trouble";
  const frames = "error" in notice && !isTrouble ? stackFrames(notice.error) : "";
  return lineOf(notice, queue) + (frames === "" ? "" : `\n${frames}`);
}

function lineOf(notice: WorkerNotice, queue: string): string {
  const { item, reason, delayMs } = { ...nothing, ...notice };
  const id = item === null ? "" : ` ${item.id}`;
  const thrown = "error" in notice ? formatError(notice.error) : null;
  const why = [reason, thrown].filter((words) => words !== null).join("; ");
  const after = delayMs === null ? "" : ` again in ${Math.round(delayMs)} ms`;
  return `holdfast: ${notice.kind}${id} of ${queue}${after}; ${why}`;
}

const nothing: {
  readonly item: LeasedItem | null;
  readonly reason: string | null;
  readonly delayMs: number | null;
} = { item: null, reason: null, delayMs: null };
