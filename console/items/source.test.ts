import { expect, test } from "bun:test";
import { requestOf, sourceOf } from "./source.ts";
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
