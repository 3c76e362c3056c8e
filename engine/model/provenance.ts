// The provenance that an item carries, in the text that stores keep. An item that was never
// requeued has none and pays nothing for it.

import type { Headers } from "./headers.ts";
import { type Death, oneMore } from "./lifecycle.ts";

/** Why an item is where it is, and where it came from; absent = has not happened. */
export interface Past {
  /** The id under which it was produced. */
  readonly origin?: string;
  /** The reason of the last retry. */
  readonly reason?: string;
  /** Why it left its queue for the dead queue. `queue` to `createdAt` describe it then. */
  readonly death?: Death;
  /** The name of the queue that it left. */
  readonly queue?: string;
  readonly attempts?: number;
  readonly createdAt?: number;
  /** How often it was sent back from a dead queue. */
  readonly redriven?: number;
}

const none: Past = {};

export function readPast(text: string): Past {
  return text === "" ? none : (JSON.parse(text) as Past);
}

/** The id under which the item was produced; `undefined` also if the text is damaged. */
export function originIn(text: string): string | undefined {
  try {
    return readPast(text).origin;
  } catch {
    return undefined;
  }
}

/** The form of stores and callers; an item without a past has `""`. */
export function pastText(past: Past | undefined): string {
  return past === undefined || Object.keys(past).length === 0 ? "" : JSON.stringify(past);
}

/** To spread into an item for a caller. */
export function carriedFields({
  headers,
  past,
}: {
  readonly headers: string;
  readonly past: string;
}): {
  readonly headers?: Headers;
  readonly past?: Past;
} {
  return {
    ...(headers !== "" && { headers: JSON.parse(headers) as Headers }),
    ...(past !== "" && { past: readPast(past) }),
  };
}

/** For a dead item that goes back: keeps its creation time, failure reason and origin. */
export function revivedPast(text: string, id: string): string {
  const { death: _, queue: __, attempts: ___, ...kept } = readPast(text);
  return JSON.stringify({ origin: id, ...kept, redriven: oneMore(kept.redriven ?? 0) });
}

/** `id`: its id so far; the first of these becomes the origin. */
export function writePast(text: string, id: string, change: Past): string {
  return JSON.stringify({ origin: id, ...readPast(text), ...change });
}
