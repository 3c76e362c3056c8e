// What a worker has to tell, and the lines it prints where the program does not listen.

import type { HoldfastError } from "./errors.ts";
import type { LeasedItem } from "./items.ts";
import { framesOf, shown } from "./shown.ts";

/** What a worker has to tell; none of it needs an answer. */
export type WorkerNotice =
  /** Its handler threw; it is offered again after `delayMs`. */
  | {
      readonly kind: "retried";
      readonly item: LeasedItem;
      readonly error: unknown;
      readonly delayMs: number;
    }
  /** It was given up, or that was its last attempt: it is in the dead queue. */
  | { readonly kind: "dead"; readonly item: LeasedItem; readonly error: unknown }
  /** That was its last attempt, and its queue has no dead queue: it is gone. */
  | { readonly kind: "removed"; readonly item: LeasedItem; readonly error: unknown }
  /** Its end was refused, as when its lease had lapsed. It may be handled again. */
  | {
      readonly kind: "lost";
      readonly item: LeasedItem;
      readonly reason: string;
      /** What its handler threw, if it did. */
      readonly error?: unknown;
    }
  /** Its handler threw after a transact that had finished it. */
  | { readonly kind: "failed"; readonly item: LeasedItem; readonly error: unknown }
  /** Another consumer waits under its name; it goes on as `clientId`. */
  | { readonly kind: "renamed"; readonly clientId: string; readonly reason: string }
  /** A `backoff` threw or returned no length of time; the worker's own is used instead. */
  | {
      readonly kind: "fault";
      readonly item: LeasedItem;
      readonly reason: string;
      readonly error?: unknown;
    }
  /** The server is away or overloaded; the worker waits and goes on. */
  | { readonly kind: "trouble"; readonly error: HoldfastError };

/** Where a program gives no function for notices: a line of each, and the stack of what was thrown. */
export function printedOf(queue: string): (notice: WorkerNotice) => void {
  return (notice) => console.warn(textOf(notice, queue));
}

/** Calls and workers go on, whatever the program does with its notices. */
export function guarded<Notice>(notice: (notice: Notice) => unknown): (notice: Notice) => void {
  const failed = (error: unknown): void => {
    console.warn(`holdfast: a function for notices failed; ${shown(error)}`);
  };
  // One that is asynchronous fails later. `await` sees also a promise whose `then` throws.
  return (told) => void (async () => await notice(told))().catch(failed);
}

export function textOf(notice: WorkerNotice, queue: string): string {
  const isTrouble = notice.kind === "trouble";
  const frames = "error" in notice && !isTrouble ? framesOf(notice.error) : "";
  return lineOf(notice, queue) + (frames === "" ? "" : `\n${frames}`);
}

function lineOf(notice: WorkerNotice, queue: string): string {
  const { item, reason, delayMs } = { ...nothing, ...notice };
  const id = item === null ? "" : ` ${item.id}`;
  const thrown = "error" in notice ? shown(notice.error) : null;
  const why = [reason, thrown].filter((words) => words !== null).join("; ");
  const after = delayMs === null ? "" : ` again in ${Math.round(delayMs)} ms`;
  return `holdfast: ${notice.kind}${id} of ${queue}${after}; ${why}`;
}

const nothing: {
  readonly item: LeasedItem | null;
  readonly reason: string | null;
  readonly delayMs: number | null;
} = { item: null, reason: null, delayMs: null };
