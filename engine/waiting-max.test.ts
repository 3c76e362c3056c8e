// The limit of the items that wait in a queue: a produce that would exceed it is refused.

import { expect, test } from "bun:test";
import type { ProduceItem, QueueSettings } from "./model/api.ts";
import {
  type Bundle,
  hour,
  idsOf,
  minute,
  second,
  setup,
  start,
  writtenFirst,
} from "./simulation/bundle.ts";

async function setupQueue(settings: Partial<QueueSettings> = {}): Promise<Bundle> {
  const bundle = await setup();
  await bundle.createQueue({ name: "dead" });
  await bundle.createQueue({ name: "orders", deadQueue: "dead", waitingMax: 4, ...settings });
  return bundle;
}

function callOf(items: readonly (string | ProduceItem)[], queue = "orders") {
  const all = items.map((item) => (typeof item === "string" ? { payload: item } : item));
  return { queue, requestTimeoutMs: minute, items: all };
}

function produce(bundle: Bundle, ...items: (string | ProduceItem)[]) {
  return bundle.ending(() => bundle.engine.produce(callOf(items)));
}

const full = (waiting: number, added: number, max = 4) => ({
  ok: false,
  code: "refused",
  message: `queue is full; ${waiting} items wait and ${added} would be added, expected at most ${max}`,
});

const update = (bundle: Bundle, change: Partial<QueueSettings>) =>
  bundle.run(() => bundle.engine.updateQueue({ name: "orders", ...change }));

test.each([
  [-1, "waiting max is invalid; cannot be negative number"],
  [1.5, "waiting max is invalid; expected a whole number, got 1.5"],
  [2 ** 31, "waiting max is invalid; cannot be greater than 2147483647"],
])("update: a waiting_max of %d is refused", async (waitingMax, message) => {
  const bundle = await setupQueue();
  const ending = await bundle.ending(() =>
    bundle.engine.updateQueue({ name: "orders", waitingMax }),
  );
  expect(ending).toMatchObject({ ok: false, code: "invalid", message });
});

test("produce: a batch that would exceed waiting_max is refused as a whole", async () => {
  const bundle = await setupQueue();
  expect(await produce(bundle, "a", "b")).toEqual(writtenFirst);
  expect(await produce(bundle, "c", "d", "e")).toMatchObject(full(2, 3));
  expect(await bundle.listed("orders")).toEqual(["a", "b"]);
  expect(await produce(bundle, "c", "d")).toEqual(writtenFirst);
  expect(await produce(bundle, "e")).toMatchObject(full(4, 1));
});

test("produce: several calls of one turn never exceed waiting_max together", async () => {
  const bundle = await setupQueue({ requestedPartitions: 3 });
  const endings = await bundle.run(() =>
    Promise.allSettled(
      ["a", "b", "c"].map((text) => bundle.engine.produce(callOf([`${text}1`, `${text}2`]))),
    ),
  );
  expect(endings.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
});

test("produce: ready and scheduled items, retries, all partitions and priorities count", async () => {
  const bundle = await setupQueue({ requestedPartitions: 2, waitingMax: 5 });
  await produce(bundle, "r", { payload: "s", enqueueAt: start + hour });
  await produce(bundle, { payload: "u", priority: 9 });
  await produce(bundle, "t");
  const leased = await bundle.lease("orders", { priorityMin: 9 });
  expect(await produce(bundle, "v", "w", "x")).toMatchObject(full(3, 3, 5));
  await bundle.retry(leased, { retryAt: start + hour });
  expect(await produce(bundle, "v", "w")).toMatchObject(full(4, 2, 5));
  expect(await produce(bundle, "v")).toEqual(writtenFirst);
  await bundle.restart();
  expect(await produce(bundle, "w")).toMatchObject(full(5, 1, 5));
});

test("produce: leased items do not count", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a", "b", "c", "d");
  const leased = await bundle.lease("orders", { batchSize: 3 });
  expect(await produce(bundle, "e", "f", "g")).toEqual(writtenFirst);
  await bundle.complete(leased);
  expect(await produce(bundle, "h")).toMatchObject(full(4, 1));
});

test("produce: a repetition of a call that was done is done, even if the queue is full", async () => {
  const bundle = await setupQueue();
  const call = { ...callOf(["a", "b", "c"]), requestKey: "k" };
  expect(await bundle.ending(() => bundle.engine.produce(call))).toEqual(writtenFirst);
  expect(await bundle.ending(() => bundle.engine.produce(call))).toEqual({
    ok: true,
    value: { replayed: true, duplicates: [] },
  });
  const other = { ...callOf(["d", "e"]), requestKey: "l" };
  expect(await bundle.ending(() => bundle.engine.produce(other))).toMatchObject(full(3, 2));
  await update(bundle, { waitingMax: 0 });
  expect(bundle.engine.queueInfo("orders").waitingMax).toBeUndefined();
  expect(await bundle.ending(() => bundle.engine.produce(other))).toEqual(writtenFirst);
});

test("produce: duplicates of unique keys do not count", async () => {
  const bundle = await setupQueue({ uniqueForMs: hour });
  const unique = (uniqueKey: string) => ({ payload: uniqueKey, uniqueKey });
  await produce(bundle, unique("1"), unique("2"), unique("3"));
  const items = [unique("4"), unique("1"), unique("4"), unique("2")];
  expect(await produce(bundle, ...items)).toMatchObject({
    value: { duplicates: [1, 2, 3] },
  });
  expect(await produce(bundle, unique("4"))).toMatchObject({ value: { duplicates: [0] } });
  expect(await produce(bundle, unique("5"))).toMatchObject(full(4, 1));
});

test("transact: its outputs to a full queue are refused together, and nothing is done", async () => {
  const bundle = await setupQueue();
  await bundle.createQueue({ name: "invoices", leaseTimeoutMs: hour });
  await bundle.produce("invoices", "in");
  await produce(bundle, "a", "b");
  const leased = await bundle.lease("invoices");
  const complete = [{ queue: "invoices", partition: leased.partition, ids: idsOf(leased.items) }];
  const transact = (...outputs: string[][]) =>
    bundle.ending(() =>
      bundle.engine.transact({
        requestTimeoutMs: minute,
        complete,
        produce: outputs.map((texts) => callOf(texts)),
      }),
    );
  expect(await transact(["c"], ["d", "e"])).toMatchObject(full(2, 3));
  expect(await transact(["c"], ["d"])).toMatchObject({ ok: true });
});

test("waiting max: retries, lapses, dead letters and imports are not refused", async () => {
  const bundle = await setupQueue({ waitingMax: 1, leaseTimeoutMs: second });
  await bundle.run(() => bundle.engine.updateQueue({ name: "dead", waitingMax: 1 }));
  for (const text of ["x", "y"]) {
    await produce(bundle, text);
    await bundle.retry(await bundle.lease("orders"), { dead: true });
  }
  expect(await bundle.listed("dead")).toEqual(["x", "y"]);
  await produce(bundle, "a");
  await bundle.lease("orders");
  await produce(bundle, "b");
  await bundle.clock.advance(second);
  expect(await produce(bundle, "c")).toMatchObject(full(2, 1, 1));
  await bundle.run(() =>
    bundle.engine.importItems({ queue: "orders", partition: 0, items: [{ payload: "i" }] }),
  );
  expect(await produce(bundle, "c")).toMatchObject(full(3, 1, 1));
});
