// The notices of a worker, and their text for programs that do not handle them.

import type { LeasedItem } from "../model/api.ts";
import type { QueueError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";

export type WorkNotice =
  /** The handler threw; the item is offered again after `delayMs`, or dead after its last attempt. */
  | {
      readonly kind: "retried";
      readonly item: LeasedItem;
      readonly error: unknown;
      /** Absent: the queue's `retryBackoff` applies. */
      readonly delayMs?: number;
    }
  /** The handler gave the item up. */
  | { readonly kind: "dead"; readonly item: LeasedItem; readonly error: unknown }
  /** Settling was refused, for instance because the lease had lapsed. It may be handled again. */
  | { readonly kind: "lost"; readonly item: LeasedItem; readonly reason: string }
  /** A `backoff` threw, or did not return milliseconds; the worker's default is used. */
  | { readonly kind: "fault"; readonly item: LeasedItem; readonly error: unknown }
  /** The store is down or full; the worker waits and continues. */
  | { readonly kind: "trouble"; readonly error: QueueError }
  /** The worker cannot continue and leases no more; `stopped` rejects with the same error. */
  | { readonly kind: "ended"; readonly error: unknown };

/** One line, followed by the stack if a handler or a backoff threw. */
export function textOf(notice: WorkNotice, queue: string): string {
  const id = "item" in notice ? ` ${notice.item.id}` : "";
  const delayMs = notice.kind === "retried" ? notice.delayMs : undefined;
  const delay = delayMs === undefined ? "" : ` again in ${delayMs} ms`;
  const why = notice.kind === "lost" ? notice.reason : lineOf(notice.error);
  const frames = "item" in notice && "error" in notice ? framesOf(notice.error) : "";
  return `holdfast: ${notice.kind}${id} of ${queue}${delay}; ${why}${frames}`;
}

/** Keeps a message to one line. */
const shownMax = 500;
const framesMax = 20;

function lineOf(error: unknown): string {
  const words = wordsOf(error).replaceAll(/\s+/g, " ");
  return words.length > shownMax ? `${words.slice(0, shownMax)}…` : words;
}

/** One per line; `""` if the error has none. */
function framesOf(error: unknown): string {
  try {
    const stack: unknown = error instanceof Error ? error.stack : "";
    if (typeof stack !== "string") return "";
    const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
    return frames
      .slice(0, framesMax)
      .map((frame) => `\n${frame}`)
      .join("");
  } catch {
    return "";
  }
}

const encoder = new TextEncoder();

/** At most the bytes allowed for a reason, without splitting a character. */
export function reasonOf(error: unknown): string {
  const words = wordsOf(error);
  const { read } = encoder.encodeInto(words, new Uint8Array(limits.retryReasonBytesMax));
  return words.slice(0, read);
}

/** A program may throw anything. */
function wordsOf(error: unknown): string {
  try {
    const thrown: unknown = error instanceof Error ? error.message || error.name : error;
    const text = typeof thrown === "string" ? thrown : (JSON.stringify(thrown) ?? typeof thrown);
    return text.toWellFormed();
  } catch {
    return "a value that cannot be shown";
  }
}
