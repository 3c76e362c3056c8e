// Waiting leases: the order in which they are served, also during changes, failures and
// disconnections.

import { expect, test } from "bun:test";
import { limits } from "./model/limits.ts";
import {
  type Bundle,
  got,
  idsOf,
  minute,
  nameIn,
  produceOf,
  second,
  setup,
} from "./simulation/bundle.ts";

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `${index}`);
const replayed = { ok: true, value: { replayed: true } };
const paused = { code: "empty", message: "queue is paused; nothing is leased until it is resumed" };

const produce = (bundle: Bundle, queue: string, count: number) =>
  bundle.begin(() => bundle.engine.produce(produceOf(queue, many(count))));

test("line: a produce to a partition that was not read delays no waiting lease", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", requestedPartitions: 2 });
  for (const count of [100, 50]) await bundle.produceMany("orders", count);
  const from = bundle.store().commits;
  let servedAt = 0;
  const asked = bundle.engine.lease(bundle.leaseOf("orders")).then(() => {
    servedAt = bundle.store().commits - from;
  });
  const producing = (async () => {
    for (let turn = 0; turn < 50; turn += 1) {
      await bundle.engine.produce(produceOf("orders", many(100)));
    }
  })();
  await bundle.clock.settle();
  await Promise.all([asked, producing]);
  expect(servedAt).toBeLessThan(5);
});

test("line: a queue whose line requests more than a turn allows delays no other queue", async () => {
  const bundle = await setup();
  for (const name of ["large", "small"]) await bundle.createQueue({ name });
  await bundle.produce("small", "a");
  await bundle.produceMany("large", 60_000);
  const from = bundle.store().commits;
  let servedAt = 0;
  const consume = async (clientId: string): Promise<void> => {
    const request = { queue: "large", clientId, batchSize: 1_000, requestTimeoutMs: second };
    while (servedAt === 0) await bundle.engine.lease(request);
  };
  const consumers = Promise.all(many(10).map((client) => consume(client).catch(() => undefined)));
  const asked = bundle.engine.lease(bundle.leaseOf("small")).then(() => {
    servedAt = bundle.store().commits - from;
  });
  await bundle.clock.settle();
  await asked;
  await bundle.clock.advance(second);
  await consumers;
  expect(servedAt).toBeLessThan(6);
});

test.each([0, 100, 5_000])(
  "line: a shard idle for %d ms wakes when a rate allows more",
  async (idle) => {
    const bundle = await setup();
    await bundle.createQueue({ name: "orders", leaseRate: "1/10s" });
    await bundle.produce("orders", "a", "b");
    await bundle.lease("orders");
    await bundle.clock.advance(idle);
    const waits = await bundle.beginLease("orders", { requestTimeoutMs: 15 * minute });
    expect(waits.ending).toBe(null);
    await bundle.clock.advance(10 * second + 100 - idle);
    expect(got(waits)).toEqual(["b"]);
  },
);

test.each([undefined, "key"])(
  "line: a client that disconnects at once is not waited for; key %p",
  async (requestKey) => {
    const bundle = await setup();
    await bundle.createQueue({ name: "orders" });
    const client = new AbortController();
    const key = requestKey !== undefined && { requestKey };
    const waits = await bundle.begin(() => {
      const request = { ...bundle.leaseOf("orders", { signal: client.signal }), ...key };
      const answer = bundle.engine.lease(request);
      client.abort();
      return answer;
    });
    expect(waits.ending).toMatchObject({ message: "the client has left; nothing was leased" });
    await bundle.produce("orders", "a", "b");
    expect(await bundle.listed("orders")).toEqual(["a", "b"]);
  },
);

test("line: a client may disconnect after the turn of its lease failed", async () => {
  const bundle = await setup({ shardCount: 1 });
  for (const name of ["orders", "others"]) await bundle.createQueue({ name });
  bundle.store().fail({ fault: "failed" });
  const client = new AbortController();
  const producing = bundle.engine.produce(produceOf("others", ["a"]));
  const waits = await bundle.beginLease("orders", {
    ...{ signal: client.signal, requestKey: "key", requestTimeoutMs: 15 * minute },
  });
  await bundle.clock.advance(5 * second);
  await producing;
  expect(waits.ending).toBe(null);
  client.abort();
  await bundle.clock.settle();
  expect(waits.ending).toMatchObject({ message: "the client has left; nothing was leased" });
});

test.each([
  ["in its turn", limits.turnRequestsMax],
  ["before it", 1],
])(
  "line: a repetition arrives during the withdrawal of a grant, %s",
  async (_, turnRequestsMax) => {
    const turnLimits = { ...limits, turnRequestsMax };
    const bundle = await setup({ shardCount: 1, syncsLater: true, turnLimits });
    for (const name of ["orders", "others"]) await bundle.createQueue({ name });
    await bundle.produce("orders", "a");
    const store = bundle.store();
    store.holdSync();
    const client = new AbortController();
    const asked = { requestKey: "key" };
    const gone = await bundle.beginLease("orders", { signal: client.signal, ...asked });
    client.abort();
    // One turn is decided during the sync; the others wait, because a turn takes one request.
    for (const count of [300, 1, 1, 1]) await produce(bundle, "others", count);
    store.release();
    store.holdSync();
    await bundle.clock.settle();
    expect(gone.ending).toMatchObject({ ok: false });
    const back = await bundle.beginLease("orders", asked);
    store.release();
    await bundle.clock.settle();
    expect(back.ending).toMatchObject({
      ok: true,
      value: { replayed: false, items: [{ attempts: 1 }] },
    });
    expect((await bundle.beginLease("orders")).ending).toBe(null);
  },
);

/** A lease is granted during a pause, by a store that fails afterwards. */
async function setupLate(asked: { requestKey?: string; requestTimeoutMs: number }) {
  const turnLimits = { ...limits, secondTurnWeightMin: 1, turnRequestsMax: 1 };
  const bundle = await setup({ shardCount: 1, turnLimits });
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a");
  const store = bundle.store();
  const { clock } = bundle;
  store.syncsLater = { nextTick: (run) => clock.nextTick(run), copy: () => () => undefined };
  store.holdSync();
  const pausing = await bundle.begin(() => bundle.engine.pause({ queue: "orders" }));
  const lease = await bundle.beginLease("orders", asked);
  store.fail({ fault: "failed", sync: "kept" });
  store.openFault = "failed";
  store.release();
  await clock.settle();
  expect([pausing.ending?.ok, lease.ending]).toEqual([true, null]);
  return { bundle, store, lease };
}

test("line: a lease with a key that was granted during a pause waits until the queue is resumed", async () => {
  const asked = { requestKey: "key", requestTimeoutMs: 15 * minute };
  const { bundle, store, lease } = await setupLate(asked);
  store.heal();
  await bundle.clock.advance(second);
  expect(lease.ending).toBe(null);
  await bundle.run(() => bundle.engine.resume("orders"));
  expect(got(lease)).toEqual(["a"]);
});

test("line: a lease granted during a pause is answered at its deadline", async () => {
  const { bundle, store, lease } = await setupLate({ requestTimeoutMs: second });
  await bundle.clock.advance(1.5 * second);
  store.heal();
  await bundle.clock.advance(second);
  expect(lease.ending).toMatchObject(paused);
});

test("line: a grant is returned again, however many leases wait", async () => {
  const bundle = await setup({ waitingLeasesMax: 1 });
  for (const name of ["orders", "others"]) await bundle.createQueue({ name });
  await bundle.produce("orders", "a");
  const asked = { requestKey: "key" };
  const first = await bundle.lease("orders", asked);
  await bundle.beginLease("others");
  const again = await bundle.beginLease("orders", asked);
  expect(again.ending).toMatchObject(replayed);
  expect(got(again)).toEqual(["a"]);
  expect(idsOf(first.items)).toHaveLength(1);
});

test.each(["failed", "full"] as const)(
  "line: a lease that a turn served during the delete of its queue is told of the delete; %s",
  async (fault) => {
    const turnLimits = { ...limits, secondTurnWeightMin: 1 };
    const bundle = await setup({ shardCount: 2, turnLimits });
    const [orders, source] = [nameIn(0, 2, "orders"), nameIn(1, 2, "source")];
    await bundle.createQueue({ name: orders });
    await bundle.createQueue({ name: source, deadQueue: orders });
    await bundle.produce(source, "a");
    const held = await bundle.lease(source);
    const { clock } = bundle;
    const store = bundle.store(0);
    store.syncsLater = { nextTick: (run) => clock.nextTick(run), copy: () => () => undefined };
    const lease = await bundle.beginLease(orders, { requestTimeoutMs: 10 * minute });
    store.holdSync();
    await bundle.begin(() => bundle.engine.deleteQueue({ name: orders, force: true }));
    // The dead letter arrives during the sync of the delete.
    store.fail({ fault });
    if (fault === "full") store.fail({ fault });
    await bundle.retry(held, { dead: true });
    await clock.settle();
    store.release();
    await clock.advance(20 * second);
    expect(lease.ending).toMatchObject({ ok: false });
  },
);

test("close: a lease with a grant of unknown outcome reports it", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a");
  const store = bundle.store();
  store.hold();
  const lease = await bundle.beginLease("orders");
  store.fail({ fault: "failed", applied: true });
  await bundle.begin(() => bundle.engine.close());
  store.release();
  await bundle.clock.settle();
  expect(lease.ending).toMatchObject({ code: "unknown" });
});

test("line: a lease that arrives while a turn reads is granted for its full timeout", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: second });
  await bundle.produce("orders", "a");
  bundle.store().holdReads();
  // The turn reads for this lease; its deadline passes before the turn decides.
  await bundle.beginLease("orders", { requestTimeoutMs: second });
  await bundle.clock.advance(3 * second);
  const during = await bundle.beginLease("orders", { requestTimeoutMs: minute });
  bundle.store().release();
  await bundle.clock.settle();
  expect(got(during)).toEqual(["a"]);
  const { ending } = during;
  expect(ending?.ok && ending.value.items.map(({ leaseDeadline }) => leaseDeadline)).toEqual([
    bundle.now + second,
  ]);
});
