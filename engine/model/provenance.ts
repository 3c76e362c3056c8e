// The provenance that an item carries, and its own settings, in the text that stores keep. An item
// that was never requeued and has no settings of its own has none and pays nothing for it.

import type { Headers } from "./headers.ts";
import { type Death, oneMore, type Rules } from "./lifecycle.ts";

/** An item's settings; absent or 0 = its queue's. In a dead queue only those of the queue apply. */
export interface OwnSettings {
  /** Up to 65,536. */
  readonly maxAttempts?: number;
  /** Comes after the timeout that a lease or an extend names. */
  readonly leaseTimeoutMs?: number;
}

/** Why an item is where it is, and where it came from; absent = has not happened. */
export interface Past extends OwnSettings {
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
  /** The group that its producer chose; absent = the one without a name. */
  readonly group?: string;
  /** Its order in its group, while it is in a queue that is grouped. */
  readonly rank?: number;
}

const none: Past = {};

export function readPast(text: string): Past {
  return text === "" ? none : (JSON.parse(text) as Past);
}

type ItemRules = Pick<Rules, "maxAttempts" | "leaseTimeoutMs">;

/** The settings that apply to an item: its own, then those of the queue that it is in. */
export function rulesFor(past: string, queue: ItemRules): ItemRules {
  // Few have any, and a search costs less than parsing.
  if (!/"(?:maxAttempts|leaseTimeoutMs)":/.test(past)) return queue;
  const { maxAttempts, leaseTimeoutMs } = ownSettings(readUnlessDamaged(past));
  return {
    maxAttempts: maxAttempts || queue.maxAttempts,
    leaseTimeoutMs: leaseTimeoutMs || queue.leaseTimeoutMs,
  };
}

/** Those of a dead item do not apply. */
export function ownSettings({ death, ...own }: Past = none): OwnSettings {
  return death === undefined ? own : none;
}

/** The id under which the item was produced; `undefined` also if the text is damaged. */
export function originIn(text: string): string | undefined {
  return readUnlessDamaged(text).origin;
}

function readUnlessDamaged(text: string): Past {
  try {
    return readPast(text);
  } catch {
    return none;
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
  readonly group?: string;
} {
  const read = readPast(past);
  return {
    ...(headers !== "" && { headers: JSON.parse(headers) as Headers }),
    ...(past !== "" && { past: read }),
    ...(read.group !== undefined && { group: read.group }),
  };
}

/** The group and the order of an item in its group; `null` = it is in none. */
export function groupIn(past: string): { readonly group: string; readonly rank: number } | null {
  if (past === "") return null;
  const { group = "", rank } = readUnlessDamaged(past);
  return rank === undefined ? null : { group, rank };
}

/** The text for an item that is in no group's order. */
export function unrankedPast(past: string): string {
  if (past === "") return past;
  const { rank, ...others } = readPast(past);
  return rank === undefined ? past : pastText(others);
}

/** For a dead item that goes back: keeps its creation time, failure reason, origin and settings. */
export function revivedPast(text: string, id: string): string {
  const { death: _, queue: __, attempts: ___, ...kept } = readPast(text);
  return JSON.stringify({ origin: id, ...kept, redriven: oneMore(kept.redriven ?? 0) });
}

/** `id`: its id so far; the first of these becomes the origin. */
export function writePast(text: string, id: string, change: Past): string {
  return JSON.stringify({ origin: id, ...readPast(text), ...change });
}
