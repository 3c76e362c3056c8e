import { expect, test } from "bun:test";
import { rateOfMany, rateOfOne } from "./shard-account.ts";

test.each([
  [1, 1],
  [2, 2 / 1.25],
  [4, 4 / 1.375],
])("rateOfMany: a crossing that costs half of a local call; %i shards make %p", (shards, rate) => {
  expect(rateOfMany({ local: 10, crossing: 5 }, shards)).toBeCloseTo(rate);
});

test.each([
  [1, 1],
  [2, 1.25],
  [4, 1 / 0.7],
])("rateOfOne: a call that costs 0.6 in the other thread; %i shards make %p", (shards, rate) => {
  expect(rateOfOne({ own: 10, crossing: 6 }, shards)).toBeCloseTo(rate);
});
