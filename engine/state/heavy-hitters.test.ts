import { expect, test } from "bun:test";
import { limits } from "../model/limits.ts";
import { addHits, type HeavyHitters, RecentHeavyHitters } from "./heavy-hitters.ts";

test("addHits: the most frequent name has its count, whatever comes between", () => {
  const hitters: HeavyHitters = new Map();
  for (let other = 0; other < 1_000; other += 1) {
    addHits(hitters, `other-${other}`, 1);
    addHits(hitters, "most", 1);
  }
  const [first] = [...hitters].sort(([, a], [, b]) => b - a);
  expect(first?.[0]).toBe("most");
  expect(first?.[1]).toBeGreaterThan(750);
  expect(first?.[1]).toBeLessThanOrEqual(1_000);
  expect(hitters.size).toBeLessThanOrEqual(limits.heavyHittersMax);
});

test("addHits: a few names are counted exactly, and the empty name is not counted", () => {
  const hitters: HeavyHitters = new Map();
  for (const [name, count] of [
    ["a", 2],
    ["", 9],
    ["b", 0],
    ["a", 3],
    ["c", 1],
  ] as const) {
    addHits(hitters, name, count);
  }
  expect([...hitters]).toEqual([
    ["a", 5],
    ["c", 1],
  ]);
});

test("addHits: a name that outweighs all others replaces them", () => {
  const hitters: HeavyHitters = new Map();
  for (let other = 0; other < limits.heavyHittersMax; other += 1) addHits(hitters, `${other}`, 2);
  addHits(hitters, "late", 5);
  expect([...hitters]).toEqual([["late", 3]]);
});

test("RecentHeavyHitters: the most frequent names of the window, over its slots", () => {
  const recent = new RecentHeavyHitters({ slotMs: 10, slots: 3 });
  expect(recent.most(0)).toBeNull();
  recent.add(
    [
      ["a", 3],
      ["b", 2],
    ],
    5,
  );
  recent.add([["b", 2]], 15);
  expect(recent.most(29)).toEqual({ name: "b", count: 4 });
  expect(recent.most(30)).toEqual({ name: "b", count: 2 });
  expect(recent.most(40)).toBeNull();
});
