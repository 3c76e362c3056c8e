import { expect, test } from "bun:test";
import {
  day,
  got,
  hour,
  minute,
  nameIn,
  produceOf,
  second,
  setup,
  start,
  textsOf,
} from "./simulation/bundle.ts";

const clear = {
  queue: "orders",
  ready: true,
  scheduled: false,
  retried: false,
  destructive: false,
};

test("fault 1: a produce whose items were not stored is not answered with success", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  bundle.store().fail({ fault: "full", sticky: true });
  expect(
    await bundle.ending(() => bundle.engine.produce(produceOf("orders", ["a"]))),
  ).toMatchObject({
    ok: false,
    code: "store",
  });
  bundle.store().heal();
  expect(await bundle.listed("orders")).toEqual([]);
});

test("fault 2: a lease whose write failed grants nothing", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a");
  bundle.store().fail({ fault: "failed" });
  const waits = await bundle.beginLease("orders");
  expect(waits.ending).toBe(null);
  await bundle.clock.advance(second);
  expect(got(waits)).toEqual(["a"]);
  expect((await bundle.beginLease("orders")).ending).toBe(null);
});

test("fault 3: a waiting item that expires moves to the dead queue, once", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "dead" });
  await bundle.createQueue({ name: "orders", deadQueue: "dead", expireTimeoutMs: hour });
  await bundle.produce("orders", "a", "b", "c");
  await bundle.clock.advance(hour);
  expect(await bundle.listed("orders")).toEqual([]);
  await bundle.complete(await bundle.lease("dead", { batchSize: 3 }));
  await bundle.clock.advance(10 * hour);
  expect(await bundle.listed("dead")).toEqual([]);
});

test("fault 4: dead sends an item to the dead queue instead of deleting it", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "dead" });
  await bundle.createQueue({ name: "orders", deadQueue: "dead" });
  await bundle.produce("orders", "a");
  await bundle.retry(await bundle.lease("orders"), { dead: true });
  expect(await bundle.listed("dead")).toEqual(["a"]);
});

test("fault 5: a retry wakes a waiting lease", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  const waits = await bundle.beginLease("orders");
  await bundle.retry(lease);
  expect(got(waits)).toEqual(["a"]);
});

test("fault 6: neither the last attempt nor the expire deadline takes an item from its holder", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", maxAttempts: 1, expireTimeoutMs: minute });
  await bundle.produce("orders", "a");
  await bundle.clock.advance(30 * second);
  const lease = await bundle.lease("orders");
  await bundle.clock.advance(45 * second);
  await bundle.produce("orders", "b");
  expect(await bundle.complete(lease)).toMatchObject({ ok: true });
});

test("fault 7: max_attempts counts for a retry", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "dead" });
  await bundle.createQueue({ name: "orders", deadQueue: "dead", maxAttempts: 1 });
  await bundle.produce("orders", "a");
  await bundle.retry(await bundle.lease("orders"));
  expect(await bundle.listed("dead")).toEqual(["a"]);
});

test("fault 8: complete and retry are all or nothing", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a", "b");
  const lease = await bundle.lease("orders", { batchSize: 2 });
  const [item] = lease.items;
  if (item === undefined) throw new Error("nothing was leased");
  const wrong = { ...lease, items: [...lease.items, { ...item, id: "0".repeat(27) }] };
  expect((await bundle.complete(wrong)).ok).toBe(false);
  expect((await bundle.retry(wrong)).ok).toBe(false);
  expect(await bundle.complete(lease)).toMatchObject({ ok: true });
});

test("fault 9: an update of one setting keeps the timeouts of new leases and items", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", reference: "r" }));
  await bundle.produce("orders", "a");
  expect((await bundle.lease("orders")).items[0]?.leaseDeadline).toBe(start + minute);
});

test("fault 10: info and list return an update at once", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", maxAttempts: 7 }));
  const info = bundle.engine.queueInfo("orders");
  expect(info.maxAttempts).toBe(7);
  expect(bundle.engine.listQueues({ pivot: "", limit: 1 })).toEqual([info]);
});

test("fault 11: no update creates a chain of dead queues, and one in use is not deleted without force", async () => {
  const bundle = await setup();
  for (const name of ["last", "dead"]) await bundle.createQueue({ name });
  await bundle.createQueue({ name: "orders", deadQueue: "dead" });
  const chain = { name: "dead", deadQueue: "last" };
  expect((await bundle.ending(() => bundle.engine.updateQueue(chain))).ok).toBe(false);
  const remove = { name: "dead", force: false };
  expect((await bundle.ending(() => bundle.engine.deleteQueue(remove))).ok).toBe(false);
});

test("fault 12: a deleted queue's items do not return with its name", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a");
  const remove = { name: "orders", force: false };
  expect((await bundle.ending(() => bundle.engine.deleteQueue(remove))).ok).toBe(false);
  await bundle.run(() => bundle.engine.deleteQueue({ name: "orders", force: true }));
  await bundle.restart();
  await bundle.createQueue({ name: "orders" });
  expect(await bundle.listed("orders")).toEqual([]);
});

test("fault 13: an item scheduled beyond expire_timeout is alive when it is due", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", expireTimeoutMs: hour });
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["a"], start + day)));
  await bundle.clock.advance(day);
  expect(textsOf((await bundle.lease("orders")).items)).toEqual(["a"]);
});

test("fault 14: the source_id of an item that died can be imported again", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", expireTimeoutMs: hour });
  const request = { queue: "orders", partition: 0, items: [{ payload: "a", sourceId: "s" }] };
  const take = async () => (await bundle.run(() => bundle.engine.importItems(request))).items;
  expect(await take()).toHaveLength(1);
  await bundle.clock.advance(hour);
  expect(await take()).toHaveLength(1);
});

test("fault 15: an import without an expire deadline gets one, and keeps enqueue_at", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  const items = [{ payload: "a" }, { payload: "b", enqueueAt: start + hour }];
  const stored = await bundle.run(() =>
    bundle.engine.importItems({ queue: "orders", partition: 0, items }),
  );
  expect(stored.items).toMatchObject([
    { expireDeadline: start + day },
    { enqueueAt: start + hour },
  ]);
  await bundle.clock.advance(hour);
  expect(await bundle.listed("orders")).toEqual(["a", "b"]);
});

test("fault 16: dead letters are distributed over partitions, counted, and wake waiting leases", async () => {
  const bundle = await setup({ shardCount: 2 });
  const [orders, dead] = [nameIn(0, 2, "orders"), nameIn(1, 2, "dead")];
  await bundle.createQueue({ name: dead, requestedPartitions: 4 });
  await bundle.createQueue({ name: orders, deadQueue: dead, requestedPartitions: 4 });
  const waits = await bundle.beginLease(dead);
  for (let index = 0; index < 8; index += 1) await bundle.produce(orders, String(index));
  for (let index = 0; index < 8; index += 1) {
    await bundle.retry(await bundle.lease(orders), { dead: true });
  }
  expect(got(waits)).toHaveLength(1);
  const { partitions } = await bundle.run(() => bundle.engine.stats(dead));
  expect(partitions.reduce((sum, { total }) => sum + total, 0)).toBe(8);
  expect(partitions.filter(({ total }) => total > 0).length).toBeGreaterThan(1);
});

test("fault 17: the reads of a lease do not grow with the waiting or leased items", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: hour });
  await bundle.produceMany("orders", 20_000);
  for (let call = 0; call < 10; call += 1) await bundle.lease("orders", { batchSize: 1_000 });
  expect(textsOf((await bundle.lease("orders")).items)).toEqual(["10000"]);
  expect(bundle.image().leases.values()).toHaveLength(11);
});

test("fault 18: counters follow every way in which an item can leave or return", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  const counts = async () => {
    const { queued, leased } = await bundle.run(() => bundle.engine.inspect("orders"));
    return [queued, leased];
  };
  await bundle.produce("orders", "a", "b", "c", "d");
  const lease = await bundle.lease("orders", { batchSize: 2 });
  expect(await counts()).toEqual([2, 2]);
  await bundle.retry(lease);
  expect(await counts()).toEqual([4, 0]);
  await bundle.lease("orders", { batchSize: 3 });
  await bundle.clock.advance(minute);
  expect(await counts()).toEqual([4, 0]);
  await bundle.run(() => bundle.engine.clear(clear));
  expect(await counts()).toEqual([0, 0]);
});

test("fault 19: stats of a partition are its own", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", requestedPartitions: 3 });
  for (const count of [3, 5, 7]) await bundle.produceMany("orders", count);
  const { partition } = await bundle.lease("orders", { batchSize: 6 });
  const { partitions } = await bundle.run(() => bundle.engine.stats("orders"));
  expect(partition).toBe(2);
  expect(partitions.map((one) => [one.partition, one.total, one.totalLeased])).toEqual([
    [0, 3, 0],
    [1, 5, 0],
    [2, 7, 6],
  ]);
});

test.each([0, 1])(
  "fault 20: the slow store of shard %i delays only its own queues",
  async (slow) => {
    const bundle = await setup({ shardCount: 2 });
    const queues = [nameIn(0, 2), nameIn(1, 2)];
    for (const name of queues) await bundle.createQueue({ name });
    bundle.store(slow).hold();
    const produced: boolean[] = [];
    for (const queue of queues) {
      const { ending } = await bundle.begin(() => bundle.engine.produce(produceOf(queue, ["a"])));
      produced.push(ending?.ok === true);
    }
    expect(produced).toEqual([slow !== 0, slow !== 1]);
    bundle.store(slow).release();
  },
);

test("fault 21: request_timeout applies to produce and complete, and a stuck store does not block the close", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  bundle.store().openFault = "failed";
  bundle.store().fail({ fault: "failed" });
  await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["a"])));
  await bundle.clock.advance(second);
  const request = {
    queue: "orders",
    partition: 0,
    requestTimeoutMs: second,
    ids: ["0".repeat(27)],
  };
  const completed = await bundle.begin(() => bundle.engine.complete(request));
  await bundle.clock.advance(second);
  expect(completed.ending).toMatchObject({ code: "empty" });
  const closed = await bundle.begin(() => bundle.engine.close());
  await bundle.clock.settle();
  expect(closed.ending).toMatchObject({ ok: true });
});

test("fault 22: at the close waiting calls are answered, and later calls are refused", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  const waits = await bundle.beginLease("orders");
  await bundle.run(() => bundle.engine.close());
  expect(waits.ending).toMatchObject({ code: "closing" });
  expect((await bundle.beginLease("orders")).ending).toMatchObject({ code: "closing" });
});

test("fault 23: updates and deletes in progress block nothing, not even dead-lettering", async () => {
  const bundle = await setup({ shardCount: 2 });
  const [orders, dead] = [nameIn(0, 2, "orders"), nameIn(1, 2, "dead")];
  await bundle.createQueue({ name: dead });
  await bundle.createQueue({ name: orders, deadQueue: dead, maxAttempts: 1 });
  await bundle.produce(orders, "a", "b");
  const { items } = await bundle.lease(orders);
  const retried = items.map(({ id }) => ({ id, retryAt: null, dead: false }));
  const all = await bundle.ending(() =>
    Promise.all([
      bundle.engine.updateQueue({ name: dead, reference: "r" }),
      bundle.engine.retry({ queue: orders, partition: 0, items: retried }),
      bundle.engine.updateQueue({ name: orders, reference: "r" }),
      bundle.engine.deleteQueue({ name: dead, force: true }),
      bundle.engine.produce(produceOf(orders, ["c"])),
    ]),
  );
  expect(all.ok).toBe(true);
});

test("fault 24: a clear whose store fails is answered", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a");
  bundle.store().fail({ fault: "full", sticky: true });
  expect(await bundle.ending(() => bundle.engine.clear(clear))).toMatchObject({ code: "store" });
  bundle.store().heal();
  expect(await bundle.listed("orders")).toEqual(["a"]);
});

test.each([1, 2, 3, 99, 100])("fault 25: %d partitions are created as %d", async (count) => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", requestedPartitions: count });
  expect((await bundle.run(() => bundle.engine.inspect("orders"))).partitions).toBe(count);
  await bundle.produce("orders", "a");
  const requestedPartitions = count + 1;
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions }));
  expect((await bundle.run(() => bundle.engine.inspect("orders"))).partitions).toBe(count + 1);
});

test("fault 26: a lease ends exactly at its deadline, and a disconnected client gets nothing", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a");
  await bundle.lease("orders");
  const abort = new AbortController();
  const left = await bundle.beginLease("orders", {
    signal: abort.signal,
    requestTimeoutMs: hour / 4,
  });
  const waits = await bundle.beginLease("orders", { requestTimeoutMs: hour / 4 });
  abort.abort();
  await bundle.clock.advance(minute);
  expect(left.ending?.ok).toBe(false);
  expect(got(waits)).toEqual(["a"]);
});

test("fault 27: a retry uses the engine's clock", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a");
  await bundle.retry(await bundle.lease("orders"), { retryAt: start + second });
  expect(await bundle.scheduled("orders")).toEqual(["a"]);
  await bundle.clock.advance(second);
  expect(await bundle.listed("orders")).toEqual(["a"]);
});

test.each(["../../escape", "a/b", "..", "__proto__", "constructor", "n".repeat(512)])(
  "fault 28: the name %p is a name like any other",
  async (name) => {
    const bundle = await setup();
    await bundle.createQueue({ name });
    await bundle.produce(name, "a");
    await bundle.restart();
    expect(await bundle.listed(name)).toEqual(["a"]);
    expect(bundle.engine.listQueues({ pivot: "", limit: 10 })).toHaveLength(1);
  },
);

test("fault 29: partitions have a bound", async () => {
  const bundle = await setup();
  const ending = await bundle.ending(() =>
    bundle.engine.createQueue({
      name: "orders",
      deadQueue: "",
      reference: "",
      leaseTimeoutMs: minute,
      expireTimeoutMs: hour,
      maxAttempts: 0,
      requestedPartitions: 2_147_483_647,
    }),
  );
  expect(ending).toMatchObject({ code: "invalid" });
});

test("fault 32: max_attempts can be set back to 0, and nothing else changes with it", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", maxAttempts: 5 });
  const before = bundle.engine.queueInfo("orders");
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", maxAttempts: 0 }));
  expect(bundle.engine.queueInfo("orders")).toEqual({
    ...before,
    maxAttempts: 0,
    updatedAt: start + 1,
  });
});

test("fault 33: pages of queues are full, and in the order of the names' bytes", async () => {
  const bundle = await setup();
  for (const name of ["b", "Z", "ä", "a", "1"]) await bundle.createQueue({ name });
  const page = (pivot: string) =>
    bundle.engine.listQueues({ pivot, limit: 3 }).map(({ name }) => name);
  expect(page("")).toEqual(["1", "Z", "a"]);
  expect(page("b")).toEqual(["b", "ä"]);
});
