import { expect, test } from "bun:test";
import { rateOfMany, rateOfOne } from "./shard-account.ts";

test.each([
  [1, 1],
  [2, 1],
  [4, 1.6],
])("rateOfMany: a crossing that costs twice the call; %i shards make %p", (shards, rate) => {
  expect(rateOfMany({ one: 10, two: 20 }, shards)).toBeCloseTo(rate);
});

test.each([
  [1, 1],
  [2, 1.25],
  [4, 1 / 0.7],
])("rateOfOne: connections that are two fifths of the call; %i shards make %p", (shards, rate) => {
  expect(rateOfOne({ one: 10, two: 8 }, shards)).toBeCloseTo(rate);
});
