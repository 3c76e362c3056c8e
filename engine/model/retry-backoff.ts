// The retry backoff of a queue: how long an item waits whose retry does not say when.

import { parseDuration } from "./duration.ts";
import { limits } from "./limits.ts";

export interface Backoff {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Parses a text such as `1s..5m`; `null` = malformed. */
export function parseBackoff(text: string): Backoff | null {
  const [, min = "", max = ""] = /^(\d.{0,14}?)\.\.(\d.{0,14})$/.exec(text) ?? [];
  const [first, most] = [parseDuration(min), parseDuration(max)];
  if (!first.ok || !most.ok) return null;
  const isInBounds = first.ms > 0 && first.ms <= most.ms && most.ms <= limits.durationMsMax;
  return isInBounds ? { minMs: first.ms, maxMs: most.ms } : null;
}

/** The golden ratio spreads consecutive numbers evenly. */
const ratio = (Math.sqrt(5) - 1) / 2;

/**
 * How long an item waits after this number of attempts. The delay doubles with each, and is up to a
 * tenth shorter, depending on the number of the item, so that items that failed together are not all
 * due together.
 */
export function backoffMs({ minMs, maxMs }: Backoff, attempts: number, seq: number): number {
  const ms = Math.min(maxMs, minMs * 2 ** (attempts - 1));
  return Math.ceil(ms * (1 - ((seq * ratio) % 1) / 10));
}
