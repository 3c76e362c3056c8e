import { expect, test } from "bun:test";
import { ItemHandling } from "./handling.ts";

const transact = () => Promise.reject(new Error("transact must not be called"));
const lease = { queue_name: "orders", partition: 3, max_attempts: 5 };

test("handler: its second argument has queue, partition, maxAttempts and one signal", () => {
  const handling = new ItemHandling(lease, transact);
  expect([handling.queue, handling.partition, handling.maxAttempts]).toEqual(["orders", 3, 5]);
  const { signal } = handling;
  expect(signal.aborted).toBe(false);
  handling.abort("lost");
  handling.abort("stopping");
  expect(handling.signal).toBe(signal);
  expect(signal.reason).toBe("lost");
});

test("handler: a signal first read after the item was lost is aborted, with the first reason", () => {
  const handling = new ItemHandling(lease, transact);
  handling.abort("lost");
  handling.abort("stopping");
  expect([handling.signal.aborted, handling.signal.reason]).toEqual([true, "lost"]);
});
