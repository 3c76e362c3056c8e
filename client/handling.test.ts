import { expect, test } from "bun:test";
import { ItemHandling } from "./handling.ts";
import { leasedItem } from "./items.ts";

const transact = () => Promise.reject(new Error("transact must not be called"));
const item = leasedItem({
  ...{ id: "1", kind: "", encoding: "", reference: "", bytes: "", priority: 0, attempts: 1 },
  lease_deadline: "2026-03-01T12:00:00.000Z",
});
const lease = { queue_name: "orders", partition: 3, max_attempts: 5 };

test("handler: its second argument has queue, partition, maxAttempts and one signal", () => {
  const handling = new ItemHandling(item, lease, transact);
  expect([handling.queue, handling.partition, handling.maxAttempts]).toEqual(["orders", 3, 5]);
  const { signal } = handling;
  expect(signal.aborted).toBe(false);
  handling.abort("lost");
  handling.abort("stopping");
  expect(handling.signal).toBe(signal);
  expect(signal.reason).toBe("lost");
});

test("handler: maxAttempts is the item's own, except in a dead queue", () => {
  const own = { ...item, own_max_attempts: 2 };
  expect(new ItemHandling(own, lease, transact).maxAttempts).toBe(2);
  const dead = { ...own, death: "failed" };
  expect(new ItemHandling(dead, lease, transact).maxAttempts).toBe(5);
});

test("handler: a signal first read after the item was lost is aborted, with the first reason", () => {
  const handling = new ItemHandling(item, lease, transact);
  handling.abort("lost");
  handling.abort("stopping");
  expect([handling.signal.aborted, handling.signal.reason]).toEqual([true, "lost"]);
});
