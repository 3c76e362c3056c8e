// Sequence numbers where some may have been issued of which nothing is known any more: a standby
// that was behind took over, perhaps while nobody was there to notice. An id that was told is never
// another item's, so numbers go on behind all that can have been issued.

import type { Tally } from "./item.ts";

/** 2020-01-01. */
const begin = 1_577_836_800_000;
/** More than a partition issues for long; of 2^45 numbers they take 70 years. */
const numbersPerMs = 16;
/** More than a partition that is faster can have issued since a standby was last in step. */
const numbersSkipped = 2 ** 24;

/**
 * Where a partition begins of which nothing is known. By time alone, which is never lost: a number
 * that is raised by the same step after each loss comes back to where it was.
 */
export function firstNumber(now: number): number {
  return Math.max(0, now - begin) * numbersPerMs;
}

/**
 * The same partition behind what may be lost of it. Where it is ahead of time, by a step that grows
 * with the time since its last turn: it may be lost again, and with it what was skipped.
 */
export function skipped(tally: Tally, { now, lastAt }: { now: number; lastAt: number }): Tally {
  const first = firstNumber(now);
  const step = numbersSkipped + Math.max(0, now - lastAt) * numbersPerMs;
  const nextSeq = tally.nextSeq < first ? first : tally.nextSeq + step;
  return { ...tally, nextSeq };
}
