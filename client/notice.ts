// What a worker has to tell, and the line it makes of it where nobody listens.

import type { HoldfastError } from "./errors.ts";
import type { LeasedItem } from "./items.ts";
import { shown } from "./shown.ts";

/** What a worker has to tell; none of it needs an answer. */
export type WorkerNotice =
  /** Its handler threw; it is offered again after `delayMs`, if it has attempts left. */
  | {
      readonly kind: "retried";
      readonly item: LeasedItem;
      readonly error: unknown;
      readonly delayMs: number;
    }
  | { readonly kind: "dead"; readonly item: LeasedItem; readonly error: unknown }
  /** It was handled, but could not be finished: its lease had lapsed. It may be handled again. */
  | { readonly kind: "lost"; readonly item: LeasedItem; readonly reason: string }
  /** Another consumer waits under its name; it goes on as `clientId`. */
  | { readonly kind: "renamed"; readonly clientId: string; readonly reason: string }
  /** The server is away or overloaded; the worker waits and goes on. */
  | { readonly kind: "trouble"; readonly error: HoldfastError };

export function printed(notice: WorkerNotice): void {
  console.warn(lineOf(notice));
}

export function lineOf(notice: WorkerNotice): string {
  const { item, error, reason, delayMs } = { ...nothing, ...notice };
  const id = item === null ? "" : ` ${item.id}`;
  const why = reason ?? shown(error);
  const after = delayMs === null ? "" : ` again in ${Math.round(delayMs)} ms`;
  return `holdfast: ${notice.kind}${id}${after}; ${why}`;
}

const nothing: {
  readonly item: LeasedItem | null;
  readonly error: unknown;
  readonly reason: string | null;
  readonly delayMs: number | null;
} = { item: null, error: null, reason: null, delayMs: null };
