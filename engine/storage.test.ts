import { expect, test } from "bun:test";
import type { ImportItem, QueueSettings } from "./model/api.ts";
import { noCounters } from "./model/queue-counters.ts";
import {
  type Bundle,
  day,
  type got,
  hour,
  idsOf,
  minute,
  produceOf,
  second,
  setup,
  start,
  textsOf,
} from "./simulation/bundle.ts";

async function setupQueue(settings: Partial<QueueSettings> = {}) {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", ...settings });
  return bundle;
}

const list = { queue: "orders", partition: 0, pivot: "", limit: 20_000 };

async function take(bundle: Bundle, ...items: ImportItem[]) {
  const request = { queue: "orders", partition: 0, items };
  return (await bundle.run(() => bundle.engine.importItems(request))).items;
}

test("list: begins at the pivot, or at the nearest id after it", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b", "c", "d");
  const ids = idsOf(await bundle.run(() => bundle.engine.listItems(list)));
  const from = async (pivot: string, limit = 10) =>
    textsOf(await bundle.run(() => bundle.engine.listItems({ ...list, pivot, limit })));
  expect(await from(ids[1] ?? "", 2)).toEqual(["b", "c"]);
  expect(await from("0".repeat(27))).toEqual(["a", "b", "c", "d"]);
  expect(await from("z".repeat(27))).toEqual([]);
  const lease = await bundle.lease("orders", { batchSize: 2 });
  await bundle.complete(lease);
  expect(await from(ids[0] ?? "")).toEqual(["c", "d"]);
});

test.each([
  [{ partition: 1 }, "partition is invalid; '1' is not a valid partition"],
  [{ pivot: "x" }, "invalid storage id; 'x': Valid encoded KSUIDs are 27 characters"],
  [{ limit: 0 }, "limit is invalid; must be greater than zero"],
  [{ limit: 20_001 }, "limit is invalid; cannot be greater than 20000"],
] as const)("list: %j is refused", async (change, message) => {
  const bundle = await setupQueue();
  for (const scheduled of [false, true]) {
    const request = { ...list, ...change };
    const ending = await bundle.ending(() =>
      scheduled ? bundle.engine.listScheduled(request) : bundle.engine.listItems(request),
    );
    expect(ending).toMatchObject({ code: "invalid", message });
  }
});

test("list: contains leased items with their lease; scheduled ones are in the other list", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b");
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["s"], start + hour)));
  await bundle.clock.advance(second);
  await bundle.lease("orders");
  const items = await bundle.run(() => bundle.engine.listItems(list));
  expect(textsOf(items)).toEqual(["a", "b"]);
  expect(items[0]).toMatchObject({
    isLeased: true,
    leaseDeadline: start + second + minute,
    updatedAt: start + second,
    createdAt: start,
    attempts: 1,
  });
  const scheduled = await bundle.run(() => bundle.engine.listScheduled(list));
  expect(scheduled).toMatchObject([
    { enqueueAt: start + hour, expireDeadline: start + hour + day, isLeased: false },
  ]);
});

test("import: items get new ids and keep lease, attempts, deadlines and texts, and are returned as stored", async () => {
  const bundle = await setupQueue();
  const item: ImportItem = {
    payload: "a",
    sourceId: "elsewhere",
    isLeased: true,
    leaseDeadline: start + hour,
    expireDeadline: start + 3 * day,
    createdAt: start - day,
    attempts: 10_000,
    reference: "r",
    encoding: "e",
    kind: "k",
  };
  const stored = await take(bundle, item);
  expect(stored).toEqual([
    {
      id: expect.stringMatching(/^[0-9A-Za-z]{27}$/),
      sourceId: "elsewhere",
      isLeased: true,
      leaseDeadline: start + hour,
      expireDeadline: start + 3 * day,
      deadDeadline: null,
      createdAt: start - day,
      updatedAt: start,
      enqueueAt: null,
      priority: 0,
      attempts: 10_000,
      maxAttempts: 0,
      reference: "r",
      encoding: "e",
      kind: "k",
      payload: new TextEncoder().encode("a"),
    },
  ]);
  expect(await bundle.run(() => bundle.engine.listItems(list))).toEqual(stored);
  const waits = await bundle.beginLease("orders", { requestTimeoutMs: 15 * minute });
  await bundle.clock.advance(15 * minute);
  expect(waits.ending).toMatchObject({ code: "empty" });
  await bundle.clock.advance(45 * minute);
  expect(await bundle.lease("orders")).toMatchObject({ items: [{ attempts: 10_001 }] });
});

test("import: an imported lease can be completed", async () => {
  const bundle = await setupQueue();
  const stored = await take(bundle, { payload: "a", isLeased: true, leaseDeadline: start + hour });
  const ids = idsOf(stored);
  const request = { queue: "orders", partition: 0, requestTimeoutMs: minute, ids };
  expect(await bundle.ending(() => bundle.engine.complete(request))).toMatchObject({ ok: true });
});

test("import: absent fields are as if produced now, and enqueue_at is kept", async () => {
  const bundle = await setupQueue();
  const stored = await take(
    bundle,
    { payload: "now" },
    { payload: "later", enqueueAt: start + hour },
    { payload: "past", enqueueAt: start - hour },
  );
  expect(stored).toMatchObject([
    { createdAt: start, expireDeadline: start + day, enqueueAt: null },
    { createdAt: start, expireDeadline: start + hour + day, enqueueAt: start + hour },
    { expireDeadline: start + day, enqueueAt: null },
  ]);
  expect(await bundle.listed("orders")).toEqual(["now", "past"]);
  await bundle.clock.advance(hour);
  expect(await bundle.listed("orders")).toEqual(["now", "past", "later"]);
});

test("import: one past its expire deadline dies at once, one past its lease deadline lapses", async () => {
  const bundle = await setupQueue();
  await take(
    bundle,
    { payload: "old", expireDeadline: start - 1 },
    { payload: "lapsed", isLeased: true, leaseDeadline: start - 1, attempts: 2 },
  );
  expect(await bundle.listed("orders")).toEqual(["lapsed"]);
  expect(await bundle.lease("orders")).toMatchObject({ items: [{ attempts: 3 }] });
});

test("import: a repeated source_id is not stored twice, until the first has left", async () => {
  const bundle = await setupQueue();
  const first = { payload: "first", sourceId: "s" };
  expect(await take(bundle, first, { payload: "second", sourceId: "s" })).toHaveLength(1);
  expect(await take(bundle, { payload: "third", sourceId: "s" })).toEqual([]);
  expect(await take(bundle, { payload: "fourth" }, { payload: "fifth" })).toHaveLength(2);
  expect(await bundle.listed("orders")).toEqual(["first", "fourth", "fifth"]);
  await bundle.complete(await bundle.lease("orders"));
  expect(await take(bundle, { payload: "again", sourceId: "s" })).toHaveLength(1);
});

test.each([null, start + hour])(
  "import: two calls in one turn store a source_id once; enqueue_at %p",
  async (enqueueAt) => {
    const bundle = await setupQueue();
    const request = {
      queue: "orders",
      partition: 0,
      items: [{ payload: "a", sourceId: "s", enqueueAt }],
    };
    const stored = await bundle.run(() =>
      Promise.all([bundle.engine.importItems(request), bundle.engine.importItems(request)]),
    );
    expect(stored.map(({ items }) => items.length)).toEqual([1, 0]);
  },
);

test("import: ten thousand items in one call", async () => {
  const bundle = await setupQueue();
  const items = Array.from({ length: 10_000 }, (_, index) => ({ payload: String(index) }));
  expect(await take(bundle, ...items)).toHaveLength(10_000);
  expect(bundle.engine.status().queues[0]).toMatchObject({ queued: 10_000 });
});

test.each([
  [[], "items is invalid; cannot be empty"],
  [
    [{ payload: "a", isLeased: true }],
    "items is invalid; item 0 is leased, expected a lease_deadline, got none",
  ],
  [
    [{ payload: "a", attempts: -1 }],
    "items is invalid; attempts of item 0 cannot be negative or a fraction, got -1",
  ],
] as const)("import: %j is refused", async (items, message) => {
  const bundle = await setupQueue();
  const ending = await bundle.ending(() =>
    bundle.engine.importItems({ queue: "orders", partition: 0, items }),
  );
  expect(ending).toMatchObject({ code: "invalid", message });
});

test("delete: removes items in any state, and ignores ids that do not exist", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "leased", "ready", "stays");
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["scheduled"], start + hour)));
  const lease = await bundle.lease("orders");
  const items = await bundle.run(() => bundle.engine.listItems(list));
  const scheduled = await bundle.run(() => bundle.engine.listScheduled(list));
  const ids = [...idsOf(items).slice(0, 2), ...idsOf(scheduled), "0".repeat(27)];
  const remove = () => bundle.engine.deleteItems({ queue: "orders", partition: 0, ids });
  await bundle.run(remove);
  await bundle.run(remove);
  expect(bundle.engine.status().queues[0]).toMatchObject({
    queued: 1,
    leased: 0,
    scheduled: 0,
  });
  expect(await bundle.listed("orders")).toEqual(["stays"]);
  expect(await bundle.complete(lease)).toMatchObject({ code: "refused" });
});

test.each([
  [[], "ids is invalid; cannot be empty"],
  [["x"], "invalid storage id; 'x': Valid encoded KSUIDs are 27 characters"],
] as const)("delete: %j is refused", async (ids, message) => {
  const bundle = await setupQueue();
  const ending = await bundle.ending(() =>
    bundle.engine.deleteItems({ queue: "orders", partition: 0, ids }),
  );
  expect(ending).toMatchObject({ code: "invalid", message });
});

test("stats: counts and ages per partition, and the waiting calls", async () => {
  const bundle = await setupQueue({ requestedPartitions: 2 });
  await bundle.produceMany("orders", 4);
  await bundle.clock.advance(10 * second);
  await bundle.lease("orders", { batchSize: 1 });
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["s"], start + hour)));
  await bundle.clock.advance(10 * second);
  expect(await bundle.run(() => bundle.engine.stats("orders"))).toEqual({
    queue: "orders",
    averageLeasedAgeMs: 10 * second,
    produceWaiting: 0,
    leaseWaiting: 0,
    completeWaiting: 0,
    inFlight: 0,
    partitions: [
      {
        partition: 0,
        total: 4,
        totalLeased: 1,
        scheduled: 0,
        failures: 0,
        averageAgeMs: 20 * second,
        averageLeasedAgeMs: 10 * second,
        oldestReadyAt: start,
        nextDueAt: null,
      },
      {
        partition: 1,
        total: 0,
        totalLeased: 0,
        scheduled: 1,
        failures: 0,
        averageAgeMs: 0,
        averageLeasedAgeMs: 0,
        oldestReadyAt: null,
        nextDueAt: start + hour,
      },
    ],
    counters: { ...noCounters, produced: 5, leased: 1 },
  });
});

test("stats: total_leased falls again when a lease ends, for any reason", async () => {
  const bundle = await setupQueue();
  const leased = async () =>
    (await bundle.run(() => bundle.engine.stats("orders"))).partitions[0]?.totalLeased;
  for (const end of ["complete", "retry", "lapse", "clear", "delete"]) {
    await bundle.produce("orders", end);
    const lease = await bundle.lease("orders");
    expect(await leased()).toBe(1);
    if (end === "complete") await bundle.complete(lease);
    else if (end === "retry") await bundle.retry(lease, { retryAt: bundle.clock.now() + hour });
    else if (end === "lapse") await bundle.clock.advance(minute);
    else if (end === "clear") {
      const clear = { queue: "orders", scheduled: false, retried: false, destructive: true };
      await bundle.run(() => bundle.engine.clear({ ...clear, ready: true }));
    } else {
      const ids = idsOf(lease.items);
      await bundle.run(() => bundle.engine.deleteItems({ queue: "orders", partition: 0, ids }));
    }
    expect([end, await leased()]).toEqual([end, 0]);
    const waits = await bundle.beginLease("orders", { requestTimeoutMs: 10 });
    await bundle.clock.advance(10);
    if (end === "lapse") await bundle.complete({ ...lease, items: await leasedNow(waits) });
  }
});

async function leasedNow(waits: Parameters<typeof got>[0]) {
  return waits.ending?.ok === true ? waits.ending.value.items : [];
}

test("import: a scheduled item that expired before 1970 is removed at once too", async () => {
  const bundle = await setupQueue();
  await take(bundle, { payload: "x", enqueueAt: start + hour, expireDeadline: -1 });
  await bundle.clock.advance(second);
  expect(bundle.engine.status().queues).toMatchObject([{ scheduled: 0, counters: { expired: 1 } }]);
});

test.each([-62_135_596_800_000, -1, 0, start - 1])(
  "import: an item that expired at %d is removed without a call",
  async (expireDeadline) => {
    const bundle = await setupQueue();
    await take(bundle, { payload: "x", expireDeadline });
    await bundle.clock.advance(second);
    expect(bundle.engine.status().queues).toMatchObject([{ queued: 0, counters: { expired: 1 } }]);
  },
);
