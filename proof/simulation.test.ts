import { expect, test } from "bun:test";
import { bugsOf } from "./simulation.ts";

test("planted bugs: different seeds hunt different bugs, and together all", () => {
  const all = Array.from({ length: 137 }, (_, index) => index);
  const runs = Array.from({ length: 5 }, (_, index) => bugsOf(all, { bugs: 32, seed: 41 + index }));
  for (const bugs of runs) expect(bugs.length).toBeLessThanOrEqual(32);
  expect(runs.flat().sort((a, b) => a - b)).toEqual(all);
});

test("planted bugs: a large run hunts all", () => {
  const all = Array.from({ length: 137 }, (_, index) => index);
  expect(bugsOf(all, { bugs: Number.MAX_SAFE_INTEGER, seed: 7 })).toEqual(all);
});
