import { expect, test } from "bun:test";
import { rateOf, rateText } from "./rates.ts";

const look = (at: number, produced: number, leased = 0) => ({ at, counters: { produced, leased } });

test("rate: is computed from two samples, and unknown from one", () => {
  expect(rateOf("produced", null, look(5_000, 100))).toBeNull();
  expect(rateOf("produced", look(5_000, 100), look(7_000, 150))).toBe(25);
  expect(rateOf("leased", look(5_000, 100, 7), look(7_000, 150, 7))).toBe(0);
  expect(rateOf("produced", look(5_000, 100), look(5_000, 150))).toBeNull();
});

test("rate: if one counter is lower than before, all are computed from 0", () => {
  const [before, now] = [look(0, 900, 50), look(10_000, 30, 60)];
  expect(rateOf("produced", before, now)).toBe(3);
  expect(rateOf("leased", before, now)).toBe(6);
});

test.each([
  [null, "-"],
  [0, "0"],
  [0.25, "0.3"],
  [9.94, "9.9"],
  [12.4, "12"],
  [48_210.6, "48211"],
])("rate: %p is printed as %p", (rate, text) => {
  expect(rateText(rate)).toBe(text);
});
