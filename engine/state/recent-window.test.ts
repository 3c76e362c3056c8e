import { expect, test } from "bun:test";
import { RecentCount, RecentLevels } from "./recent-window.ts";

test("RecentCount: counts the events within the window, and their start", () => {
  const recent = new RecentCount({ slotMs: 10, slots: 3 });
  expect(recent.count(5)).toBe(0);
  recent.add(2, 5);
  recent.add(0, 12);
  recent.add(3, 19);
  expect([recent.count(19), recent.firstAt]).toEqual([5, 5]);
  expect([recent.count(29), recent.count(30)]).toEqual([5, 3]);
  expect(recent.count(40)).toBe(0);
  recent.add(1, 1_000);
  expect([recent.count(1_000), recent.firstAt]).toEqual([1, 1_000]);
  recent.add(1, 1_015);
  expect([recent.count(1_029), recent.count(1_030), recent.firstAt]).toEqual([2, 1, 1_000]);
});

test("RecentLevels: a rise over all slots counts if nearly each slot has one", () => {
  const rise = (...levels: number[]) => {
    const recent = new RecentLevels({ slotMs: 10, slots: 4, now: 0 });
    for (const [index, level] of levels.entries()) recent.roll(10 * (index + 1), level);
    return recent.steadyRise;
  };
  expect(rise(0, 5, 6, 7)).toBe(0);
  expect(rise(0, 5, 6, 7, 9)).toBe(9);
  expect(rise(0, 5, 4, 7, 9)).toBe(9);
  expect(rise(0, 5, 4, 4, 9)).toBe(0);
  expect(rise(100, 0, 5, 6, 7, 9)).toBe(9);
});

test("RecentLevels: a level without updates stays as it was", () => {
  const recent = new RecentLevels({ slotMs: 10, slots: 2, now: 0 });
  recent.roll(10, 1);
  recent.roll(21, 2);
  recent.roll(30, 3);
  expect(recent.steadyRise).toBe(2);
  recent.roll(60, 4);
  expect(recent.steadyRise).toBe(0);
});
