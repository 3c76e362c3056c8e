import { expect, test } from "bun:test";
import { median, percentile, Samples, spreadOf } from "./statistics.ts";

const hundred = Array.from({ length: 100 }, (_, index) => index + 1);

test.each([
  [0.5, 50],
  [0.99, 99],
  [1, 100],
  [0, 1],
])("percentile: share %p of 1 to 100 is %p", (share, expected) => {
  expect(percentile(hundred, share)).toBe(expected);
});

test.each([
  [[7], 0.5, 7],
  [[7], 0.99, 7],
  [[1, 2], 0.5, 1],
  [[1, 2], 0.51, 2],
  [[], 0.99, 0],
])("percentile: of %p, share %p is %p", (sorted, share, expected) => {
  expect(percentile(sorted, share)).toBe(expected);
});

test.each([
  [[], 0],
  [[3], 3],
  [[9, 1], 5],
  [[5, 1, 100], 5],
  [[4, 1, 3, 2], 2.5],
  [[10, 9, 8, 7, 6], 8],
])("median: of %p is %p", (values, expected) => {
  expect(median(values)).toBe(expected);
});

test("spreadOf: median, lowest and highest, and the values in their order", () => {
  expect(spreadOf([5, 1, 9])).toEqual({ median: 5, min: 1, max: 9, values: [5, 1, 9] });
});

test("Samples: more values than the initial capacity", () => {
  const samples = new Samples();
  for (let value = 10_000; value >= 1; value -= 1) samples.add(value);
  expect(samples.times()).toEqual({ calls: 10_000, p50Ms: 5_000, p99Ms: 9_900, maxMs: 10_000 });
});

test("Samples: without values the times are 0", () => {
  expect(new Samples().times()).toEqual({ calls: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 });
});
