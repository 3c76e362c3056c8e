import { expect, test } from "bun:test";
import type { Overview, QueueRow } from "../../state/overview-state.ts";
import { sortFrom } from "./order.ts";
import { nextOrder, type Order } from "./stable-order.ts";

/** Queues with their counts of ready items, as of that second. */
const overviewAt = (second: number, ready: Readonly<Record<string, number>>) =>
  ({
    asOfMs: second * 1_000,
    names: Object.keys(ready),
    queues: new Map(
      Object.entries(ready).map(([queue_name, count]) => [
        queue_name,
        { queue_name, ready: count, in: [], out: [] } as unknown as QueueRow,
      ]),
    ),
  }) as unknown as Overview;

const sort = sortFrom("ready");
const first: Order = { names: ["b", "a"], sort: "ready", atMs: 1_000 };

const idle = { sort, isInUse: false, sinceTouchMs: Number.POSITIVE_INFINITY };

test("stable order: renewed after ten seconds, unless the table is in use or was touched since", () => {
  const at = (second: number, use: { isInUse?: boolean; sinceTouchMs?: number } = {}) =>
    nextOrder(first, { ...idle, ...use, overview: overviewAt(second, { a: 9, b: 2 }) });
  expect(at(10)).toBe(first);
  expect(at(3_600, { isInUse: true })).toBe(first);
  expect(at(3_600, { sinceTouchMs: 9_999 })).toBe(first);
  expect(at(11, { sinceTouchMs: 10_000 })).toEqual({
    names: ["a", "b"],
    sort: "ready",
    atMs: 11_000,
  });
});

test("stable order: another order takes effect at once", () => {
  const overview = overviewAt(2, { a: 9, b: 2 });
  const turned = nextOrder(first, { ...idle, sort: sortFrom("-ready"), overview, isInUse: true });
  expect(turned.names).toEqual(["b", "a"]);
});

test("stable order: a deleted queue keeps its place, and a new one is last, until it is renewed", () => {
  expect(nextOrder(first, { ...idle, overview: overviewAt(2, { a: 1 }) })).toBe(first);
  const overview = overviewAt(2, { b: 1, c: 9 });
  expect(nextOrder(first, { ...idle, overview })).toEqual({
    ...first,
    names: ["b", "a", "c"],
  });
});
