import { expect, test } from "bun:test";
import fc from "fast-check";
import { backoffMs, parseBackoff } from "./retry-backoff.ts";

const minute = 60_000;

test.each([
  ["1s..5m", { minMs: 1_000, maxMs: 5 * minute }],
  ["1.5s..1m30s", { minMs: 1_500, maxMs: 90_000 }],
  ["1ms..366d", { minMs: 1, maxMs: 366 * 24 * 60 * minute }],
  ["10s..10s", { minMs: 10_000, maxMs: 10_000 }],
])("parseBackoff: %s", (text, backoff) => {
  expect(parseBackoff(text)).toEqual(backoff);
});

test.each([
  ...["", "1s", "1s..", "..5m", "1s...5m", "1s-5m", "5m..1s", "0s..5m", "-1s..5m", "1s..367d"],
  ...["1s..never", "1..5", " 1s..5m", "1s..5m ", "1s..2s..3s", "1s..1000000000000000s"],
])("parseBackoff: '%s' is not a backoff", (text) => {
  expect(parseBackoff(text)).toBe(null);
});

const backoff = { minMs: 1_000, maxMs: 5 * minute };

test("backoffMs: doubles with each attempt, up to the longest", () => {
  const delays = [1, 2, 3, 9, 10, 2 ** 31 - 1].map((attempts) => backoffMs(backoff, attempts, 0));
  expect(delays).toEqual([1_000, 2_000, 4_000, 256_000, 300_000, 300_000]);
});

test("backoffMs: is a whole number, and up to a tenth shorter", () => {
  const attempts = fc.integer({ min: 1, max: 20 });
  fc.assert(
    fc.property(attempts, fc.nat(2 ** 45 - 1), (count, seq) => {
      const [ms, most] = [backoffMs(backoff, count, seq), backoffMs(backoff, count, 0)];
      expect(Number.isInteger(ms) && ms > 0.9 * most && ms <= most).toBe(true);
      expect(backoffMs(backoff, count, seq)).toBe(ms);
    }),
  );
});

test("backoffMs: spreads consecutive items evenly", () => {
  const delays = Array.from({ length: 100 }, (_, seq) => backoffMs(backoff, 10, 1_000_000 + seq));
  delays.sort((a, b) => a - b);
  const gaps = delays.slice(1).map((ms, index) => ms - (delays[index] ?? 0));
  // Of a tenth of five minutes, 100 items are 300 ms apart in the mean.
  expect(Math.max(...gaps)).toBeLessThan(800);
});
