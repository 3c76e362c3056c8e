import { expect, test } from "bun:test";
import { totalOf } from "./list/search.tsx";
import { listRequestOf, requestOf, type StoredState, sourceOf, withListed } from "./source.ts";
import { viewIn } from "./view.ts";

const asked = (query: string, deadQueue = "orders-dead") => {
  const source = sourceOf(viewIn(new URLSearchParams(query)), deadQueue);
  return source && requestOf(source);
};

test("requestOf: a state of one partition, or the dead items of a queue", () => {
  expect(asked("name=orders&state=leased&partition=1&holder=w")).toEqual({
    ...{ queue_name: "orders", state: "leased", filter: {}, holder: "w", partition: 1 },
  });
  // Its partition is not that of the queue that they came from.
  expect(asked("name=orders&state=dead&partition=1&kind=a")).toEqual({
    ...{ queue_name: "orders-dead", filter: { kind: "a", origin_queue: "orders" } },
  });
  expect(asked("name=orders&state=dead", "")).toBe(null);
  expect(asked("state=ready")).toBe(null);
});

test("listRequestOf: a list has an order, a count has none", () => {
  const source = sourceOf(viewIn(new URLSearchParams("name=orders&order=newest")), "");
  if (source === null) throw new Error("there is no source");
  expect(listRequestOf(source)).toEqual({ ...requestOf(source), order: "newest" });
  expect(requestOf(source)).not.toHaveProperty("order");
});

test("withListed: a list may exceed a partial count, and replaces it once complete", () => {
  const begun = { count: 0, scanned: 100_000, isPart: true };
  const listed = { count: 7, scanned: 300_000, isWhole: false };
  expect(withListed(begun, listed)).toEqual({ count: 7, scanned: 300_000, isPart: true });
  expect(withListed({ ...begun, count: 9 }, listed)?.count).toBe(9);
  const whole = { ...listed, isWhole: true };
  expect(withListed(begun, whole)).toEqual({ count: 7, scanned: 300_000, isPart: false });
  const known = { count: 8, scanned: 400_000, isPart: false };
  expect(withListed(known, listed)).toEqual(known);
  expect(withListed(undefined, listed)).toBe(undefined);
});

test("totalOf: a complete search scans the whole queue unless something else bounds it", () => {
  const row = { ready: 5, leased: 3, scheduled: 2 };
  const total = (state: StoredState | null, bound: object = {}) =>
    totalOf({ state, holder: null, partition: null, ...bound }, row);
  expect([total(null), total("ready"), total("leased"), total("scheduled")]).toEqual([10, 8, 8, 2]);
  expect([total("ready", { holder: "w" }), total("ready", { partition: 0 })]).toEqual([null, null]);
  expect(totalOf({ state: null, holder: null, partition: null }, undefined)).toBe(null);
});
