import { expect, test } from "bun:test";
import { shardOf } from "./placement.ts";

test("shardOf: returns the same shard for the same name", () => {
  // Stored data depend on these values.
  expect(["orders", "mails", "", "ü"].map((name) => shardOf(name, 16))).toEqual([11, 0, 2, 14]);
  expect(shardOf("orders", 1)).toBe(0);
  // Tests rely on the two being in different shards, and on which one is in the first.
  expect([2, 3].map((count) => [shardOf("orders", count), shardOf("dead", count)])).toEqual([
    [1, 0],
    [0, 1],
  ]);
});

test("shardOf: names are spread evenly", () => {
  const counts = Array.from({ length: 16 }, () => 0);
  for (let index = 0; index < 16_000; index += 1) {
    const shard = shardOf(`customer-${index}`, counts.length);
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  for (const count of counts) {
    expect(count).toBeGreaterThan(850);
    expect(count).toBeLessThan(1_150);
  }
});

test.each([
  ["{orders}", "{orders}.dead"],
  ["orders", "{orders}.dead"],
  ["a{orders}b", "{orders}{other}"],
  ["{{orders}", "x{{orders}x"],
])("shardOf: %s and %s have one tag", (one, other) => {
  for (const shardCount of [2, 3, 16, 64]) {
    expect(shardOf(one, shardCount)).toBe(shardOf(other, shardCount));
  }
});

test.each([
  ["{}orders", "{}mails"],
  ["{orders", "{mails"],
  ["}orders{", "}mails{"],
])("shardOf: %s and %s have no tag", (one, other) => {
  const places = (name: string) => [61, 62, 63, 64].map((count) => shardOf(name, count));
  expect(places(one)).not.toEqual(places(other));
});
