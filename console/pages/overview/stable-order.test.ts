import { expect, test } from "bun:test";
import type { Overview, QueueRow } from "../../state/overview-state.ts";
import { sortFrom } from "./order.ts";
import { type Held, heldBy } from "./stable-order.ts";

/** Queues with what is ready in each, as the server tells of them at that second. */
const seenAt = (second: number, ready: Readonly<Record<string, number>>) =>
  ({
    asOfMs: second * 1_000,
    queues: new Map(
      Object.entries(ready).map(([queue_name, count]) => [
        queue_name,
        { queue_name, ready: count, in: [], out: [] } as unknown as QueueRow,
      ]),
    ),
  }) as unknown as Overview;

const sort = sortFrom("ready");
const away = { sort, sinceTouchedMs: Number.POSITIVE_INFINITY, isHere: false };
const first: Held = { names: ["b", "a"], sort: "ready", atMs: 1_000 };

test("the order is made anew when ten seconds have passed and nobody touched the table for ten", () => {
  const at = (second: number, sinceTouchedMs: number) =>
    heldBy(first, { ...away, sinceTouchedMs, overview: seenAt(second, { a: 9, b: 2 }) });
  expect(at(10, 60_000)).toBe(first);
  expect(at(11, 9_999)).toBe(first);
  expect(at(11, 10_000)).toEqual({ names: ["a", "b"], sort: "ready", atMs: 11_000 });
});

test("it holds for as long as a pointer, the focus or the row of the keyboard rests in the table", () => {
  const overview = seenAt(3_600, { a: 9, b: 2 });
  expect(heldBy(first, { ...away, overview, isHere: true })).toBe(first);
  const turned = { ...away, sort: sortFrom("-ready"), overview, isHere: true };
  expect(heldBy(first, turned).names).toEqual(["b", "a"]);
});

test("a queue that is gone keeps its place, and what holds stays the same object", () => {
  expect(heldBy(first, { ...away, overview: seenAt(2, { a: 1 }) })).toBe(first);
});

test("one that is new stands at the end, also when another went at the same time", () => {
  const held = heldBy(first, { ...away, overview: seenAt(2, { b: 1, c: 9 }) });
  expect(held).toEqual({ ...first, names: ["b", "a", "c"] });
});
