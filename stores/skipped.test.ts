import { expect, test } from "bun:test";
import type { Tally } from "./item.ts";
import { firstNumber, skipped } from "./skipped.ts";

const lastAt = Date.UTC(2026, 0, 1);
const second = 1_000;

const ahead = { slot: 0, nextSeq: firstNumber(lastAt + 60 * second) } as Tally;

test("skipped: numbers go on behind those that were skipped to from a state that is there again", () => {
  const once = skipped(ahead, { now: lastAt + second, lastAt }).nextSeq;
  const again = skipped(ahead, { now: lastAt + 10 * second, lastAt }).nextSeq;
  expect(once).toBeGreaterThan(ahead.nextSeq);
  expect(again - once).toBe(firstNumber(lastAt + 9 * second) - firstNumber(lastAt));
});

test("skipped: where time is ahead of a partition, its numbers go on by time", () => {
  const now = lastAt + 61 * second;
  expect(skipped(ahead, { now, lastAt }).nextSeq).toBe(firstNumber(now));
});
