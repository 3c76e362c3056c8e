// The notices of a worker, and the text of each for programs that do not listen.

import type { LeasedItem } from "../model/api.ts";
import type { QueueError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";

export type WorkNotice =
  /** Its handler threw; it is offered again after `delayMs`, or is dead if that was its last attempt. */
  | {
      readonly kind: "retried";
      readonly item: LeasedItem;
      readonly error: unknown;
      readonly delayMs: number;
    }
  /** Its handler gave it up. */
  | { readonly kind: "dead"; readonly item: LeasedItem; readonly error: unknown }
  /** Its end was refused, for instance because its lease had lapsed. It may be handled again. */
  | { readonly kind: "lost"; readonly item: LeasedItem; readonly reason: string }
  /** A `backoff` threw or returned no length of time; the worker's own is used instead. */
  | { readonly kind: "fault"; readonly item: LeasedItem; readonly error: unknown }
  /** The store is down or full; the worker waits and continues. */
  | { readonly kind: "trouble"; readonly error: QueueError }
  /** The worker cannot continue and leases no more; `stopped` rejects with the same error. */
  | { readonly kind: "ended"; readonly error: unknown };

/** A line, and below it the stack of what the program threw. */
export function textOf(notice: WorkNotice, queue: string): string {
  const id = "item" in notice ? ` ${notice.item.id}` : "";
  const delay = notice.kind === "retried" ? ` again in ${notice.delayMs} ms` : "";
  const why = notice.kind === "lost" ? notice.reason : lineOf(notice.error);
  const frames = "item" in notice && "error" in notice ? framesOf(notice.error) : "";
  return `holdfast: ${notice.kind}${id} of ${queue}${delay}; ${why}${frames}`;
}

/** A message is a line, not a dump. */
const shownMax = 500;
const framesMax = 20;

function lineOf(error: unknown): string {
  const words = wordsOf(error).replaceAll(/\s+/g, " ");
  return words.length > shownMax ? `${words.slice(0, shownMax)}…` : words;
}

/** Each on a line of its own; `""` if the error has none. */
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

/** As many bytes as a reason may have, and no half of a character. */
export function reasonOf(error: unknown): string {
  const words = wordsOf(error);
  const { read } = encoder.encodeInto(words, new Uint8Array(limits.retryReasonBytesMax));
  return words.slice(0, read);
}

/** A program may throw anything. */
function wordsOf(error: unknown): string {
  try {
    const said: unknown = error instanceof Error ? error.message || error.name : error;
    const text = typeof said === "string" ? said : (JSON.stringify(said) ?? typeof said);
    return text.toWellFormed();
  } catch {
    return "a value that cannot be shown";
  }
}
