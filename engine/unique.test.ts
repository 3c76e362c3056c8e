// Unique keys of items: a second item with a key is not written within the queue's `uniqueForMs`,
// whatever happened to the first one.

import { expect, test } from "bun:test";
import type { Produced, ProduceItem, QueueSettings } from "./model/api.ts";
import { limits } from "./model/limits.ts";
import {
  type Bundle,
  type Ending,
  hour,
  minute,
  type SetupOptions,
  second,
  setup,
  start,
  writtenFirst,
} from "./simulation/bundle.ts";

const uniqueForMs = hour;

async function setupQueue(options: SetupOptions & Partial<QueueSettings> = {}) {
  const bundle = await setup(options);
  await bundle.createQueue({ name: "orders", uniqueForMs, leaseTimeoutMs: minute, ...options });
  return bundle;
}

/** `text` or `text=key`. */
function itemOf(text: string): ProduceItem {
  const [payload = "", uniqueKey] = text.split("=");
  return { payload, ...(uniqueKey !== undefined && { uniqueKey }) };
}

const callOf = (texts: readonly string[]) => ({
  queue: "orders",
  requestTimeoutMs: minute,
  items: texts.map(itemOf),
});

function produce(bundle: Bundle, ...texts: string[]) {
  return bundle.ending(() => bundle.engine.produce(callOf(texts)));
}

const duplicates = (...places: number[]): Ending<Produced> => ({
  ok: true,
  value: { replayed: false, duplicates: places },
});

test("produce: an item whose key is taken counts as done, and the rest is written", async () => {
  const bundle = await setupQueue();
  expect(await produce(bundle, "a=1", "b=2")).toEqual(writtenFirst);
  expect(await produce(bundle, "c", "d=2", "e=3", "f=1", "g=")).toEqual(duplicates(1, 3));
  expect(await bundle.listed("orders")).toEqual(["a", "b", "c", "e", "g"]);
});

test("produce: of two items with one key in a batch the first is written", async () => {
  const bundle = await setupQueue();
  expect(await produce(bundle, "a=1", "b=1", "c=", "d=", "e=1")).toEqual(duplicates(1, 4));
  expect(await bundle.listed("orders")).toEqual(["a", "c", "d"]);
});

test("produce: of two items with one key in a turn the first is written", async () => {
  const bundle = await setupQueue();
  const calls = ["a=1", "b=1", "c=1"].map((text) => () => bundle.engine.produce(callOf([text])));
  const endings = await bundle.run(() => Promise.all(calls.map((call) => call())));
  expect(endings.map((ending) => ending.duplicates)).toEqual([[], [0], [0]]);
  expect(await bundle.listed("orders")).toEqual(["a"]);
});

test("produce: a unique key is taken for as long as the queue says, to the millisecond", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a=1");
  await bundle.clock.advance(uniqueForMs - 1);
  expect(await produce(bundle, "b=1")).toEqual(duplicates(0));
  await bundle.clock.advance(1);
  expect(await produce(bundle, "c=1")).toEqual(writtenFirst);
  expect(await produce(bundle, "d=1")).toEqual(duplicates(0));
  expect(await bundle.listed("orders")).toEqual(["a", "c"]);
});

test("produce: a scheduled item takes its key when it is written", async () => {
  const bundle = await setupQueue();
  const item = { payload: "a", uniqueKey: "1", enqueueAt: start + 2 * uniqueForMs };
  await bundle.run(() => bundle.engine.produce({ ...callOf([]), items: [item] }));
  expect(await produce(bundle, "b=1")).toEqual(duplicates(0));
});

const endings: [string, (bundle: Bundle) => Promise<unknown>][] = [
  ["it is completed", async (bundle) => bundle.complete(await bundle.lease("orders"))],
  ["it is retried", async (bundle) => bundle.retry(await bundle.lease("orders"))],
  [
    "its lease lapses",
    async (bundle) => {
      await bundle.lease("orders");
      await bundle.clock.advance(2 * minute);
    },
  ],
  [
    "it went to the dead queue",
    async (bundle) => bundle.retry(await bundle.lease("orders"), { dead: true }),
  ],
  ["the process starts anew", (bundle) => bundle.restart()],
  [
    "partitions were added",
    (bundle) =>
      bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 5 })),
  ],
  [
    "partitions were taken away",
    (bundle) =>
      bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 1 })),
  ],
];

test.each(endings)("produce: a key stays taken when %s", async (_, happens) => {
  const bundle = await setup();
  await bundle.createQueue({ name: "dead" });
  await bundle.createQueue({
    name: "orders",
    uniqueForMs,
    leaseTimeoutMs: minute,
    deadQueue: "dead",
    requestedPartitions: 3,
  });
  await produce(bundle, "a=1");
  await happens(bundle);
  expect(await produce(bundle, "b=1")).toEqual(duplicates(0));
});

test("produce: a moved item is not blocked by its own unique key", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a=1");
  await bundle.retry(await bundle.lease("orders"));
  await bundle.lease("orders");
  await bundle.clock.advance(2 * minute);
  expect(await bundle.listed("orders")).toEqual(["a"]);
});

test("produce: all items with unique keys go to one partition, the others to the smallest", async () => {
  const bundle = await setupQueue({ requestedPartitions: 6 });
  for (let number = 0; number < 6; number += 1) await produce(bundle, `a=${number}`, "b");
  expect(await bundle.listed("orders", 0)).toHaveLength(12);
  for (const text of ["c", "d"]) await produce(bundle, text);
  expect(await bundle.listed("orders", 0)).toHaveLength(12);
});

test("clear: removes the unique keys of cleared items, and of no others", async () => {
  const bundle = await setupQueue({ leaseTimeoutMs: 50 * minute });
  await produce(bundle, "held=1", "ready=2", "gone=3");
  const item = { payload: "later", uniqueKey: "4", enqueueAt: start + hour };
  await bundle.run(() => bundle.engine.produce({ ...callOf([]), items: [item] }));
  const { items, ...lease } = await bundle.lease("orders", { batchSize: 3 });
  await bundle.complete({ ...lease, items: items.slice(2) });
  await bundle.run(() =>
    bundle.engine.release({ ...lease, ids: items.slice(1, 2).map(({ id }) => id) }),
  );
  await produce(bundle, "ready=5");
  const what = { queue: "orders", destructive: false, scheduled: false, retried: false };
  await bundle.run(() => bundle.engine.clear({ ...what, ready: true }));
  expect(await produce(bundle, "a=1", "b=3", "c=4", "d=5")).toEqual(duplicates(0, 1, 2));
  await bundle.run(() => bundle.engine.clear({ ...what, ready: false, scheduled: true }));
  expect(await produce(bundle, "e=4")).toEqual(writtenFirst);
});

test("clear: a destructive clear removes the unique keys of leased items", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a=1");
  await bundle.lease("orders");
  await bundle.run(() =>
    bundle.engine.clear({
      queue: "orders",
      ready: true,
      destructive: true,
      scheduled: false,
      retried: false,
    }),
  );
  await bundle.restart();
  expect(await produce(bundle, "b=1")).toEqual(writtenFirst);
});

test("delete: a queue that is created again does not have the unique keys of the former one", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a=1");
  await bundle.complete(await bundle.lease("orders"));
  await bundle.run(() => bundle.engine.deleteQueue({ name: "orders", force: true }));
  // After a start the last queue number is reused.
  await bundle.clock.advance(second);
  await bundle.restart();
  await bundle.createQueue({ name: "orders", uniqueForMs });
  expect(await produce(bundle, "b=1")).toEqual(writtenFirst);
});

test("produce: unique keys are scoped to a queue", async () => {
  const bundle = await setupQueue();
  await bundle.createQueue({ name: "other", uniqueForMs });
  await produce(bundle, "a=1");
  const request = { ...callOf(["a=1"]), queue: "other" };
  expect(await bundle.ending(() => bundle.engine.produce(request))).toEqual(writtenFirst);
});

test("produce: a queue without unique_for refuses a key, and writes nothing", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  expect(await produce(bundle, "a", "b=1")).toEqual({
    ok: false,
    code: "invalid",
    message: "unique key is invalid; the queue has no unique_for, so its items cannot have one",
    details: undefined,
  });
  expect(await bundle.listed("orders")).toEqual([]);
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", uniqueForMs: 1 }));
  expect(await produce(bundle, "b=1")).toEqual(writtenFirst);
  expect(bundle.engine.queueInfo("orders")).toMatchObject({ uniqueForMs: 1, uniqueForText: "1ms" });
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", uniqueForMs: 0 }));
  expect(await produce(bundle, "c=1")).toMatchObject({ ok: false });
  expect(bundle.engine.queueInfo("orders").uniqueForMs).toBeUndefined();
});

test("produce: a key has 256 bytes at most", async () => {
  const bundle = await setupQueue();
  expect(await produce(bundle, `a=${"é".repeat(128)}`)).toEqual(writtenFirst);
  expect(await produce(bundle, `a=${"é".repeat(128)}x`)).toMatchObject({
    code: "invalid",
    message: "unique key is invalid; cannot be greater than '256' characters",
  });
  expect(await produce(bundle, "a=\ud800")).toMatchObject({
    message: "unique key is invalid; it is not well-formed Unicode",
  });
});

test.each([
  [-1, "unique for is invalid; cannot be negative"],
  [1.5, "unique for is invalid; expected a whole number, got 1.5"],
  [367 * 24 * hour, "unique for is invalid; cannot be greater than '8784h0m0s'"],
])("createQueue: %d ms for unique keys is refused", async (ms, message) => {
  const bundle = await setup();
  const ending = await bundle.ending(() =>
    bundle.engine.createQueue({
      name: "orders",
      deadQueue: "",
      reference: "",
      leaseTimeoutMs: minute,
      expireTimeoutMs: hour,
      maxAttempts: 0,
      requestedPartitions: 1,
      uniqueForMs: ms,
    }),
  );
  expect(ending).toMatchObject({ code: "invalid", message });
});

test("produce: a repetition with a request key returns the same duplicates", async () => {
  const bundle = await setupQueue({ requestedPartitions: 4 });
  await produce(bundle, "a=1");
  const request = { ...callOf(["b", "c=1", "d=2", "e=2"]), requestKey: "k" };
  const call = () => bundle.ending(() => bundle.engine.produce(request));
  expect(await call()).toEqual(duplicates(1, 3));
  const again: Ending<Produced> = { ok: true, value: { replayed: true, duplicates: [1, 3] } };
  expect(await call()).toEqual(again);
  await bundle.restart();
  await bundle.clock.advance(limits.receiptsWindowMs - second);
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", uniqueForMs: 0 }));
  expect(await call()).toEqual(again);
  const other = { ...request, items: callOf(["b", "c=1", "d=3", "e=2"]).items };
  expect(await bundle.ending(() => bundle.engine.produce(other))).toMatchObject({
    code: "invalid",
    message: "idempotency key is taken; 'k' was used with another request",
  });
});

test("produce: a request key used in another partition is recognized for items with unique keys", async () => {
  const bundle = await setupQueue({ requestedPartitions: 2 });
  await produce(bundle, "a=1");
  const keyed = (text: string) => ({ ...callOf([text]), requestKey: "k" });
  await bundle.run(() => bundle.engine.produce(keyed("b")));
  expect(await bundle.listed("orders", 1)).toEqual(["b"]);
  expect(await bundle.ending(() => bundle.engine.produce(keyed("c=2")))).toMatchObject({
    code: "invalid",
    message: "idempotency key is taken; 'k' was used with another request",
  });
});

test.each([true, false])(
  "produce: duplicates are returned even if the store fails; its commit took effect: %p",
  async (applied) => {
    const bundle = await setupQueue();
    bundle.store().fail({ fault: "failed", applied });
    const started = await bundle.begin(() => bundle.engine.produce(callOf(["a=1", "b=1"])));
    await bundle.clock.advance(second);
    expect(started.ending).toEqual(duplicates(1));
    expect(await bundle.listed("orders")).toEqual(["a"]);
    expect(await produce(bundle, "c=1")).toEqual(duplicates(0));
  },
);

test("produce: with a request key, a lost answer is found with its duplicates", async () => {
  const bundle = await setupQueue();
  bundle.store().fail({ fault: "failed", applied: true });
  const request = { ...callOf(["a=1", "b=1"]), requestKey: "k" };
  const started = await bundle.begin(() => bundle.engine.produce(request));
  await bundle.clock.advance(second);
  expect(started.ending).toMatchObject({ ok: true, value: { duplicates: [1] } });
  expect(await bundle.listed("orders")).toEqual(["a"]);
});

test("produce: the unique key of a refused call is not taken", async () => {
  const bundle = await setupQueue();
  bundle.store().fail({ fault: "full" });
  expect(await produce(bundle, "a=1")).toMatchObject({ ok: false });
  bundle.store().heal();
  await bundle.clock.advance(2 * second);
  expect(await produce(bundle, "b=1")).toEqual(writtenFirst);
});

test("unique keys: expired keys are removed from the store in pieces, without a call", async () => {
  const turnLimits = { ...limits, sweepItemsMax: 10 };
  const bundle = await setupQueue({ turnLimits });
  const keys = (from: number) => Array.from({ length: 25 }, (_, place) => `a=${from + place}`);
  await produce(bundle, ...keys(0));
  await bundle.clock.advance(minute);
  await produce(bundle, ...keys(25));
  const { uniques } = bundle.image();
  expect(uniques.size).toBe(50);
  const { commits } = bundle.store();
  await bundle.clock.advance(uniqueForMs - minute + limits.uniqueBunchMs);
  expect(uniques.size).toBe(25);
  expect(bundle.store().commits - commits).toBe(3);
  await bundle.restart();
  await bundle.clock.advance(minute);
  expect(uniques.size).toBe(0);
  await bundle.clock.advance(10 * uniqueForMs);
  expect(bundle.store().commits - commits).toBe(6);
});
