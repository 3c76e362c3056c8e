import { expect, test } from "bun:test";
import type { QueueSettings } from "./model/api.ts";
import { limits } from "./model/limits.ts";
import {
  completeOf,
  day,
  doneFirst,
  got,
  hour,
  idsOf,
  type Leased,
  minute,
  nameIn,
  produceOf,
  queueDefaults,
  second,
  setup,
  start,
} from "./simulation/bundle.ts";

const orders: QueueSettings = { ...queueDefaults, name: "orders" };

test("create: a queue is returned as it was defined", async () => {
  const bundle = await setup();
  await bundle.createQueue({
    ...orders,
    reference: "team a",
    maxAttempts: 3,
    leaseTimeoutText: "60s",
  });
  expect(bundle.engine.queueInfo("orders")).toEqual({
    name: "orders",
    deadQueue: "",
    reference: "team a",
    leaseTimeoutMs: minute,
    expireTimeoutMs: day,
    leaseTimeoutText: "60s",
    expireTimeoutText: "24h0m0s",
    maxAttempts: 3,
    requestedPartitions: 1,
    createdAt: start,
    updatedAt: start,
  });
});

test.each([
  [{ name: "n".repeat(513) }, "queue name is invalid; cannot be greater than '512' characters"],
  [{ name: "" }, "queue name is invalid; queue name cannot be empty"],
  [{ name: "a b" }, "queue name is invalid; 'a b' cannot contain whitespace"],
  [{ name: "a~b" }, "queue name is invalid; 'a~b' cannot contain '~' character"],
  [{ name: "a\u0000b" }, "queue name is invalid; it cannot contain control characters"],
  [{ name: "taken" }, "invalid queue; 'taken' already exists"],
  [
    { deadQueue: "d".repeat(501) },
    "dead queue is invalid; cannot be greater than '500' characters",
  ],
  [{ deadQueue: "orders" }, "dead_queue cannot reference itself"],
  [{ deadQueue: "none" }, "dead_queue does not exist; 'none' was not found, create it first"],
  [
    { deadQueue: "taken" },
    "dead_queue is invalid; 'taken' already has its own dead_queue configured",
  ],
  [
    { reference: "r".repeat(2_001) },
    "reference field is invalid; cannot be greater than '2000' characters",
  ],
  [{ maxAttempts: 65_537 }, "max attempts is invalid; cannot be greater than 65536"],
  [{ maxAttempts: -1 }, "max attempts is invalid; cannot be negative number"],
  [{ requestedPartitions: 0 }, "partitions is invalid; cannot be less than 1"],
  [{ requestedPartitions: 10_001 }, "partitions is invalid; cannot be greater than 10000"],
  [{ leaseTimeoutMs: 0 }, "lease timeout is invalid; cannot be empty"],
  [{ expireTimeoutMs: 0 }, "expire timeout is invalid; cannot be empty"],
  [{ leaseTimeoutMs: -1 }, "lease timeout is invalid; cannot be negative"],
  [
    { leaseTimeoutMs: hour, expireTimeoutMs: minute },
    "lease timeout is too long; 1h0m0s cannot be greater than the expire timeout 1m0s",
  ],
] as const)("create: %j is refused", async (change, message) => {
  const bundle = await setup();
  await bundle.createQueue({ name: "last" });
  await bundle.createQueue({ name: "taken", deadQueue: "last" });
  const ending = await bundle.ending(() => bundle.engine.createQueue({ ...orders, ...change }));
  expect(ending).toEqual({ ok: false, code: "invalid", message, details: undefined });
  expect(bundle.engine.listQueues({ pivot: "", limit: 10 })).toHaveLength(2);
});

test("create: a queue exists after a restart, with its partitions in their slots", async () => {
  const bundle = await setup({ shardCount: 3 });
  await bundle.createQueue({ name: "orders", requestedPartitions: 1_025 });
  await bundle.produce("orders", "a");
  const before = bundle.engine.queueInfo("orders");
  await bundle.restart();
  expect(bundle.engine.queueInfo("orders")).toEqual(before);
  const { partitions } = await bundle.run(() => bundle.engine.stats("orders"));
  expect(partitions.map(({ partition }) => partition)).toEqual(
    Array.from({ length: 1_025 }, (_, index) => index),
  );
  expect(partitions[0]?.total).toBe(1);
});

test("list: queues by name, from the pivot on, inclusive", async () => {
  const bundle = await setup();
  for (const name of ["c", "a", "B", "d"]) await bundle.createQueue({ name });
  const names = (pivot: string, limit: number) =>
    bundle.engine.listQueues({ pivot, limit }).map(({ name }) => name);
  expect(names("", 10)).toEqual(["B", "a", "c", "d"]);
  expect(names("a", 2)).toEqual(["a", "c"]);
  expect(names("b", 10)).toEqual(["c", "d"]);
  expect(names("e", 10)).toEqual([]);
});

test.each([
  [{ limit: 0 }, "limit is invalid; must be greater than zero"],
  [{ limit: -1 }, "limit is invalid; limit cannot be negative"],
  [{ limit: 1_001 }, "limit is invalid; cannot be greater than 1000"],
  [{ pivot: "~" }, "pivot is invalid; '~' cannot contain '~' character"],
] as const)("list: %j is refused", async (change, message) => {
  const bundle = await setup();
  const ending = await bundle.ending(() =>
    bundle.engine.listQueues({ pivot: "", limit: 1, ...change }),
  );
  expect(ending).toMatchObject({ code: "invalid", message });
});

test("update: an absent key keeps its value, and a present one sets it, even to 0 or empty", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "dead" });
  await bundle.createQueue({ ...orders, deadQueue: "dead", reference: "r", maxAttempts: 3 });
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", leaseTimeoutMs: 2 * minute }));
  expect(bundle.engine.queueInfo("orders")).toMatchObject({
    deadQueue: "dead",
    reference: "r",
    maxAttempts: 3,
    leaseTimeoutMs: 2 * minute,
    leaseTimeoutText: "2m0s",
    expireTimeoutMs: day,
    createdAt: start,
    updatedAt: start + 1,
  });
  await bundle.clock.advance(second);
  const change = { name: "orders", deadQueue: "", reference: "", maxAttempts: 0 };
  await bundle.run(() => bundle.engine.updateQueue(change));
  await bundle.restart();
  expect(bundle.engine.queueInfo("orders")).toMatchObject({
    deadQueue: "",
    reference: "",
    maxAttempts: 0,
    leaseTimeoutMs: 2 * minute,
    updatedAt: start + second,
  });
});

test.each([
  [
    { leaseTimeoutMs: 2 * day },
    "lease timeout is too long; 48h0m0s cannot be greater than the expire timeout 24h0m0s",
  ],
  [{ deadQueue: "orders" }, "dead_queue cannot reference itself"],
  [{ deadQueue: "none" }, "dead_queue does not exist; 'none' was not found, create it first"],
  [{ requestedPartitions: 0 }, "partitions is invalid; cannot be less than 1"],
  [{ name: "none" }, "queue does not exist; no such queue named 'none'"],
] as const)("update: %j is refused and changes nothing", async (change, message) => {
  const bundle = await setup();
  await bundle.createQueue(orders);
  const before = bundle.engine.queueInfo("orders");
  const ending = await bundle.ending(() =>
    bundle.engine.updateQueue({ name: "orders", ...change }),
  );
  expect(ending).toMatchObject({ code: "invalid", message });
  expect(bundle.engine.queueInfo("orders")).toEqual(before);
});

test("update: both timeouts raised together are checked against each other", async () => {
  const bundle = await setup();
  await bundle.createQueue(orders);
  const change = { name: "orders", leaseTimeoutMs: 2 * day, expireTimeoutMs: 3 * day };
  await bundle.run(() => bundle.engine.updateQueue(change));
  expect(bundle.engine.queueInfo("orders")).toMatchObject(change);
});

test("update: a dead queue cannot get a dead queue, so no chain arises", async () => {
  const bundle = await setup();
  for (const name of ["last", "dead"]) await bundle.createQueue({ name });
  await bundle.createQueue({ ...orders, deadQueue: "dead" });
  const ending = await bundle.ending(() =>
    bundle.engine.updateQueue({ name: "dead", deadQueue: "last" }),
  );
  expect(ending).toMatchObject({
    code: "invalid",
    message: "dead_queue is invalid; 'dead' is itself the dead_queue of 'orders'",
  });
});

test("update: existing deadlines stay, and new ones follow the new timeouts", async () => {
  const bundle = await setup();
  await bundle.createQueue(orders);
  await bundle.produce("orders", "a", "b");
  await bundle.lease("orders");
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", leaseTimeoutMs: hour }));
  const later = await bundle.lease("orders");
  expect(later.items[0]?.leaseDeadline).toBe(start + hour);
  await bundle.clock.advance(minute);
  expect(await bundle.run(() => bundle.engine.inspect("orders"))).toMatchObject({
    queued: 1,
    leased: 1,
  });
});

test("partitions: additional ones exist at once", async () => {
  const bundle = await setup({ shardCount: 2 });
  await bundle.createQueue(orders);
  await bundle.produce("orders", "a");
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 3 }));
  await bundle.produce("orders", "b");
  expect(await bundle.listed("orders", 1)).toEqual(["b"]);
  expect((await bundle.run(() => bundle.engine.inspect("orders"))).partitions).toBe(3);
});

test("partitions: surplus ones take no new items, and are removed when they are empty", async () => {
  const bundle = await setup({ shardCount: 2 });
  await bundle.createQueue({ ...orders, requestedPartitions: 3 });
  for (const text of ["0", "1", "2"]) await bundle.produce("orders", text);
  const lease = await bundle.lease("orders");
  expect(lease.partition).toBe(0);
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 1 }));
  const inspect = () => bundle.run(() => bundle.engine.inspect("orders"));
  expect((await inspect()).partitions).toBe(3);
  for (const text of ["3", "4"]) await bundle.produce("orders", text);
  expect(await bundle.listed("orders", 0)).toEqual(["0", "3", "4"]);
  const items = [{ payload: "x" }];
  const taken = await bundle.ending(() =>
    bundle.engine.importItems({ queue: "orders", partition: 2, items }),
  );
  expect(taken).toMatchObject({ code: "refused" });
  await bundle.restart();
  const rest = [];
  for (let index = 0; index < 4; index += 1) rest.push(await bundle.lease("orders"));
  expect(rest.map(({ partition }) => partition).sort()).toEqual([0, 0, 1, 2]);
  for (const one of rest) await bundle.complete(one);
  expect((await inspect()).partitions).toBe(1);
  const gone = await bundle.ending(() => bundle.complete({ ...lease, partition: 2 }));
  expect(gone).toMatchObject({ value: { code: "invalid" } });
});

test("partitions: a partition that becomes empty while another is removed is removed with it", async () => {
  const bundle = await setup({ shardCount: 2 });
  const other = nameIn(0, 2, "other");
  await bundle.createQueue({ name: other });
  await bundle.createQueue({ ...orders, requestedPartitions: 6 });
  for (let count = 0; count < 6; count += 1) await bundle.produce("orders", "a");
  const leases: Leased[] = [];
  for (let count = 0; count < 6; count += 1) leases.push(await bundle.lease("orders"));
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 1 }));
  const ofPartition = (wanted: number) => leases.find(({ partition }) => partition === wanted);
  const complete = async (partition: number) => {
    const { items = [] } = ofPartition(partition) ?? {};
    const request = completeOf("orders", partition, idsOf(items));
    expect(await bundle.ending(() => bundle.engine.complete(request))).toEqual(doneFirst);
  };
  // Every shard has to reply before the first of the partitions is removed.
  bundle.store(0).hold();
  await bundle.begin(() => bundle.engine.produce(produceOf(other, ["a"])));
  for (let partition = 1; partition < 6; partition += 1) await complete(partition);
  bundle.store(0).release();
  await bundle.clock.settle();
  expect((await bundle.run(() => bundle.engine.inspect("orders"))).partitions).toBe(1);
});

test("partitions: a draining partition that is wanted again takes items again", async () => {
  const bundle = await setup();
  await bundle.createQueue({ ...orders, requestedPartitions: 2 });
  await bundle.produce("orders", "a");
  await bundle.produce("orders", "b");
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 1 }));
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 2 }));
  await bundle.produce("orders", "c");
  await bundle.produce("orders", "d");
  expect(await bundle.listed("orders", 1)).toEqual(["b", "d"]);
});

test.each([
  ["", {}],
  [", in turns of one request", { turnLimits: { ...limits, turnRequestsMax: 1 } }],
])(
  "partitions: a start that removes an empty one loses no item whose lease has lapsed%s",
  async (_, options) => {
    const bundle = await setup(options);
    await bundle.createQueue(orders);
    await bundle.createQueue({ ...orders, name: "mails", requestedPartitions: 2 });
    for (const text of ["b", "c"]) await bundle.produce("mails", text);
    for (const _ of ["b", "c"]) await bundle.complete(await bundle.lease("mails"));
    await bundle.produce("orders", "a");
    await bundle.lease("orders");
    // The process is killed before the partition is removed.
    bundle.store().killAt({ commitsBefore: 1, applied: false });
    await bundle.begin(() => bundle.engine.updateQueue({ name: "mails", requestedPartitions: 1 }));
    await bundle.restart({ now: bundle.clock.now() + hour });
    expect(await bundle.listed("orders")).toEqual(["a"]);
    const { partitions } = await bundle.run(() => bundle.engine.inspect("mails"));
    expect(partitions).toBe(1);
  },
);

test("partitions: a reused slot returns no old item and reuses no id", async () => {
  const bundle = await setup();
  await bundle.createQueue(orders);
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  await bundle.run(() => bundle.engine.deleteQueue({ name: "orders", force: true }));
  await bundle.createQueue(orders);
  expect(bundle.image().queues.size).toBe(1);
  expect(await bundle.listed("orders")).toEqual([]);
  expect(await bundle.complete(lease)).toMatchObject({ code: "refused" });
  await bundle.produce("orders", "b");
  const next = await bundle.lease("orders");
  expect(idsOf(next.items)[0] ?? "").not.toBe(idsOf(lease.items)[0] ?? "");
});

test.each(["ready", "leased", "scheduled"] as const)(
  "delete: without force, a queue with a %s item is refused and stays",
  async (state) => {
    const bundle = await setup();
    await bundle.createQueue(orders);
    const enqueueAt = state === "scheduled" ? start + hour : null;
    await bundle.run(() => bundle.engine.produce(produceOf("orders", ["a"], enqueueAt)));
    if (state === "leased") await bundle.lease("orders");
    const remove = (force: boolean) =>
      bundle.ending(() => bundle.engine.deleteQueue({ name: "orders", force }));
    expect(await remove(false)).toEqual({
      ok: false,
      code: "refused",
      message: "queue is not empty; 'orders' holds 1 items",
      details: undefined,
    });
    expect(bundle.engine.queueInfo("orders").name).toBe("orders");
    expect(await remove(true)).toMatchObject({ ok: true });
    expect(bundle.image().slots.get(0)?.items.values()).toEqual([]);
    expect(bundle.image().slots.get(0)?.scheduled.values()).toEqual([]);
    expect(bundle.image().leases.values()).toEqual([]);
    expect(bundle.image().queues.size).toBe(0);
  },
);

test("delete: a queue with items is refused at once, and never appears deleted", async () => {
  const bundle = await setup();
  await bundle.createQueue(orders);
  await bundle.produce("orders", "a");
  bundle.store().hold();
  const before = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["b"])));
  const remove = { name: "orders", force: false };
  const removal = await bundle.begin(() => bundle.engine.deleteQueue(remove));
  const after = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["c"])));
  expect(removal.ending).toMatchObject({ ok: false, code: "refused" });
  bundle.store().release();
  await bundle.clock.settle();
  expect([before.ending, after.ending]).toMatchObject([{ ok: true }, { ok: true }]);
});

test("delete: an empty queue is deleted without force, and its waiting leases are refused", async () => {
  const bundle = await setup();
  await bundle.createQueue(orders);
  const waits = await bundle.beginLease("orders");
  await bundle.run(() => bundle.engine.deleteQueue({ name: "orders", force: false }));
  expect(waits.ending).toMatchObject({ ok: false, code: "refused" });
  const ending = await bundle.ending(() => bundle.engine.queueInfo("orders"));
  expect(ending).toMatchObject({
    code: "invalid",
    message: "queue does not exist; no such queue named 'orders'",
  });
});

test("delete: a produce in progress counts", async () => {
  const bundle = await setup();
  await bundle.createQueue(orders);
  bundle.store().hold();
  const produced = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["a"])));
  const deleted = await bundle.begin(() =>
    bundle.engine.deleteQueue({ name: "orders", force: false }),
  );
  expect(deleted.ending).toMatchObject({ code: "refused" });
  bundle.store().release();
  await bundle.clock.settle();
  expect(produced.ending).toMatchObject({ ok: true });
  expect(await bundle.listed("orders")).toEqual(["a"]);
});

test("delete: an import in progress counts", async () => {
  const bundle = await setup();
  await bundle.createQueue(orders);
  bundle.store().hold();
  const imported = await bundle.begin(() =>
    bundle.engine.importItems({ queue: "orders", partition: 0, items: [{ payload: "a" }] }),
  );
  const deleted = await bundle.begin(() =>
    bundle.engine.deleteQueue({ name: "orders", force: false }),
  );
  bundle.store().release();
  await bundle.clock.settle();
  expect(imported.ending).toMatchObject({ ok: true });
  expect(deleted.ending).toMatchObject({ code: "refused" });
  expect(await bundle.listed("orders")).toEqual(["a"]);
});

test("delete: a certain delete is completed, even if the store has no room for a while", async () => {
  const bundle = await setup();
  await bundle.createQueue(orders);
  await bundle.produceMany("orders", 10);
  const store = bundle.store();
  store.onCommit = ({ queue }) => {
    if (queue.some(({ deleting }) => deleting)) store.fail({ fault: "full", sticky: true });
  };
  const deleted = await bundle.begin(() =>
    bundle.engine.deleteQueue({ name: "orders", force: true }),
  );
  await bundle.clock.advance(second);
  expect(deleted.ending).toBe(null);
  store.onCommit = null;
  store.heal();
  await bundle.clock.advance(minute);
  expect(deleted.ending).toMatchObject({ ok: true });
  await bundle.createQueue(orders);
  expect(await bundle.listed("orders")).toEqual([]);
});

test("delete: the dead queue of another queue is deleted only with force, and the other then has none", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "dead" });
  await bundle.createQueue({ ...orders, deadQueue: "dead" });
  const remove = (force: boolean) =>
    bundle.ending(() => bundle.engine.deleteQueue({ name: "dead", force }));
  expect(await remove(false)).toMatchObject({
    code: "refused",
    message: "queue is in use; 'dead' is the dead_queue of 'orders'",
  });
  expect(await remove(true)).toMatchObject({ ok: true });
  await bundle.restart();
  expect(bundle.engine.queueInfo("orders").deadQueue).toBe("");
});

test("delete: with force, many items are deleted in pieces, and others are served meanwhile", async () => {
  const bundle = await setup();
  await bundle.createQueue(orders);
  await bundle.createQueue({ name: "other" });
  await bundle.produceMany("orders", 20_000);
  const before = bundle.store().commits;
  const left: number[] = [];
  await bundle.run(async () => {
    const deleted = bundle.engine.deleteQueue({ name: "orders", force: true });
    for (let call = 0; call < 3; call += 1) {
      await bundle.engine.produce(produceOf("other", ["x"]));
      left.push(bundle.image().slots.get(0)?.items.values().length ?? 0);
    }
    await deleted;
  });
  expect(bundle.store().commits - before).toBeGreaterThan(5);
  expect(left[2]).toBeGreaterThan(0);
  expect(bundle.image().slots.get(0)?.items.values()).toEqual([]);
});

test.each(
  Array.from({ length: 9 }, (_, index) => [Math.floor(index / 2), index % 2 === 1] as const),
)(
  "delete: after a crash at commit %d, applied %p, it is complete or not begun, and the next start finishes it",
  async (commitsBefore, applied) => {
    const bundle = await setup();
    await bundle.createQueue(orders);
    await bundle.produceMany("orders", 10_000);
    bundle.store().killAt({ commitsBefore, applied });
    await bundle.begin(() => bundle.engine.deleteQueue({ name: "orders", force: true }));
    await bundle.restart();
    const names = bundle.engine.listQueues({ pivot: "", limit: 10 }).map(({ name }) => name);
    const count = bundle.image().slots.get(0)?.items.values().length ?? 0;
    const isBegun = commitsBefore > 0 || applied;
    expect([names, count, bundle.image().queues.size]).toEqual(
      isBegun ? [[], 0, 0] : [["orders"], 10_000, 1],
    );
    if (!isBegun) return;
    await bundle.createQueue(orders);
    expect(await bundle.listed("orders")).toEqual([]);
    await bundle.produce("orders", "new");
    expect(await bundle.lease("orders")).toMatchObject({ items: [{ attempts: 1 }] });
  },
);

test("delete: items in transit to a deleted dead queue do not return with its name", async () => {
  const bundle = await setup({ shardCount: 2 });
  const [dead, name] = [nameIn(1, 2, "dead"), nameIn(0, 2)];
  await bundle.createQueue({ name: dead });
  await bundle.createQueue({ name, deadQueue: dead, maxAttempts: 1 });
  // Enough items for a clear of several turns, between which the items arrive.
  await bundle.produceMany(dead, 10_000);
  await bundle.produce(name, "a", "b");
  const leases = [await bundle.lease(name), await bundle.lease(name)];
  bundle.store(1).hold();
  for (const lease of leases) await bundle.retry(lease);
  const deleted = await bundle.begin(() => bundle.engine.deleteQueue({ name: dead, force: true }));
  bundle.store(1).release();
  await bundle.clock.advance(2 * second);
  expect(deleted.ending).toMatchObject({ ok: true });
  await bundle.createQueue({ name: dead });
  expect(await bundle.listed(dead)).toEqual([]);
  for (const shard of [0, 1]) {
    expect(bundle.image(shard).outbound.values().length).toBe(0);
    for (const slot of bundle.image(shard).slots.values()) expect(slot.items.values()).toEqual([]);
  }
});

test("close: waiting calls are answered, the turn ends, and no more calls are accepted", async () => {
  const bundle = await setup();
  await bundle.createQueue(orders);
  await bundle.createQueue({ name: "empty" });
  const waits = await bundle.beginLease("empty");
  bundle.store().hold();
  const inTurn = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["a"])));
  const behind = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["b"])));
  const third = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["c"])));
  const closed = await bundle.begin(() => bundle.engine.close());
  expect(waits.ending).toMatchObject({ ok: false, code: "closing" });
  expect(third.ending).toMatchObject({ ok: false, code: "closing" });
  expect(closed.ending).toBe(null);
  bundle.store().release();
  await bundle.clock.settle();
  expect(closed.ending).toMatchObject({ ok: true });
  expect(inTurn.ending).toMatchObject({ ok: true });
  expect(behind.ending).toMatchObject({ ok: false, code: "closing" });
  expect(
    await bundle.ending(() => bundle.engine.produce(produceOf("orders", ["d"]))),
  ).toMatchObject({
    code: "closing",
  });
  await bundle.run(() => bundle.engine.close());
  await bundle.restart();
  expect(await bundle.listed("orders")).toEqual(["a"]);
});

test("close: right after an interrupted delete was found, it ends without a notice", async () => {
  const bundle = await setup();
  await bundle.createQueue(orders);
  await bundle.produceMany("orders", 10_000);
  bundle.store().killAt({ commitsBefore: 1, applied: true });
  await bundle.begin(() => bundle.engine.deleteQueue({ name: "orders", force: true }));
  bundle.kill();
  await bundle.run(async () => {
    await bundle.opening();
    await bundle.engine.close();
  });
  await bundle.restart();
  expect(bundle.image().queues.size).toBe(0);
});

test("got: the helper of these tests fails when a lease waits", async () => {
  const bundle = await setup();
  await bundle.createQueue(orders);
  const waits = await bundle.beginLease("orders");
  expect(() => got(waits)).toThrow("the lease still waits");
});
