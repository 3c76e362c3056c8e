import { expect, test } from "bun:test";
import { atLeast, listRequestOf, requestOf, sourceOf } from "./source.ts";
import { viewIn } from "./view.ts";

const asked = (query: string, deadQueue = "orders-dead") => {
  const source = sourceOf(viewIn(new URLSearchParams(query)), deadQueue);
  return source && requestOf(source);
};

test("what the server is asked for: a state of one partition, or the dead of a queue", () => {
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

test("the list is asked for in the order that is looked at, a count in none", () => {
  const source = sourceOf(viewIn(new URLSearchParams("name=orders&order=newest")), "");
  if (source === null) throw new Error("there is no source");
  expect(listRequestOf(source)).toEqual({ ...requestOf(source), order: "newest" });
  expect(requestOf(source)).not.toHaveProperty("order");
});

test("of a count that is only begun no fewer match than are listed", () => {
  const begun = { count: 0, lookedAt: 100_000, isPart: true };
  expect(atLeast(begun, 7)).toEqual({ ...begun, count: 7 });
  expect(atLeast({ ...begun, count: 9 }, 7)).toEqual({ ...begun, count: 9 });
  expect(atLeast({ ...begun, isPart: false }, 7)).toEqual({ ...begun, isPart: false });
  expect(atLeast(undefined, 7)).toBe(undefined);
});
