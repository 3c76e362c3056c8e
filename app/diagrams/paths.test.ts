import { expect, test } from "bun:test";
import { arrowHead, roundedPath } from "./paths.ts";

test("roundedPath: a line of two points has no corner", () => {
  expect(
    roundedPath([
      [0, 0],
      [10, 0],
    ]),
  ).toBe("M0 0L10 0");
});

test("roundedPath: a corner is cut by at most half of its shorter side", () => {
  expect(
    roundedPath([
      [0, 0],
      [20, 0],
      [20, 4],
    ]),
  ).toBe("M0 0L18 0Q20 0 20 2L20 4");
});

test("arrowHead: the tip is the last point", () => {
  expect(
    arrowHead([
      [0, 0],
      [20, 0],
    ]),
  ).toBe("M20 0L13 -4L13 4Z");
});
