// What an item carries along of what became of it, in the text that stores keep. An item that was
// never requeued has none, and costs nothing for it.

import type { Headers } from "./api.ts";
import { type Death, oneMore } from "./lifecycle.ts";

/** Why an item is where it is, and where it came from; what it does not say has not happened. */
export interface Past {
  /** The id that it was produced under. */
  readonly origin?: string;
  /** What the last who gave it back said why. */
  readonly reason?: string;
  /** Why it left its queue for the dead queue, and what it was when it did. */
  readonly death?: Death;
  /** The queue that it left, by its name. */
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

/** As stores keep it, and as callers see it: nothing of an item that has none. */
export function pastText(past: Past | undefined): string {
  return past === undefined || Object.keys(past).length === 0 ? "" : JSON.stringify(past);
}

export function headersText(headers: Headers | undefined): string {
  return headers === undefined || Object.keys(headers).length === 0 ? "" : JSON.stringify(headers);
}

/** Spread into an item for a caller. */
export function told({ headers, past }: { readonly headers: string; readonly past: string }): {
  readonly headers?: Headers;
  readonly past?: Past;
} {
  return {
    ...(headers !== "" && { headers: JSON.parse(headers) as Headers }),
    ...(past !== "" && { past: readPast(past) }),
  };
}

/** Of a dead item that goes back; when it was produced first, why it failed and where it came from stay. */
export function revivedPast(text: string, id: string): string {
  const { death: _, queue: __, attempts: ___, ...kept } = readPast(text);
  return JSON.stringify({ origin: id, ...kept, redriven: oneMore(kept.redriven ?? 0) });
}

/** `id`: under which it is known until now; the first of these stays its origin. */
export function writePast(text: string, id: string, change: Past): string {
  return JSON.stringify({ origin: id, ...readPast(text), ...change });
}
