import { expect, test } from "bun:test";
import type { ClearRequest } from "./model/api.ts";
import {
  type Bundle,
  hour,
  minute,
  produceOf,
  setup,
  start,
  textsOf,
} from "./simulation/bundle.ts";

const nothing: ClearRequest = {
  queue: "orders",
  ready: false,
  scheduled: false,
  retried: false,
  destructive: false,
};

/** One item in each state: `ready`, `leased`, `scheduled` by its producer, `retried` for later. */
async function setupStates() {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: hour });
  await bundle.produce("orders", "leased", "retried", "ready");
  const lease = await bundle.lease("orders");
  await bundle.retry(await bundle.lease("orders"), { retryAt: start + minute });
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["scheduled"], start + minute)));
  return { bundle, lease };
}

async function left(bundle: Bundle): Promise<string[]> {
  return [...(await bundle.listed("orders")), ...(await bundle.scheduled("orders"))].sort();
}

test.each<{ set: string[]; takes: string[] }>([
  { set: ["ready"], takes: ["ready"] },
  { set: ["scheduled"], takes: ["scheduled"] },
  { set: ["retried"], takes: ["retried"] },
  { set: ["ready", "destructive"], takes: ["leased", "ready"] },
  { set: ["scheduled", "destructive"], takes: ["scheduled"] },
  { set: ["scheduled", "retried"], takes: ["retried", "scheduled"] },
  { set: ["ready", "scheduled", "retried"], takes: ["ready", "retried", "scheduled"] },
  {
    set: ["ready", "scheduled", "retried", "destructive"],
    takes: ["leased", "ready", "retried", "scheduled"],
  },
])("clear: $set removes $takes", async ({ set, takes }) => {
  const { bundle, lease } = await setupStates();
  const flags = Object.fromEntries(set.map((name) => [name, true]));
  await bundle.run(() => bundle.engine.clear({ ...nothing, ...flags }));
  const all = ["leased", "ready", "retried", "scheduled"];
  const kept = all.filter((state) => !takes.includes(state));
  expect(await left(bundle)).toEqual(kept);
  const status = { queued: 0, leased: 0, scheduled: 0, retried: 0 };
  for (const state of kept) status[state === "ready" ? "queued" : (state as "leased")] += 1;
  expect(bundle.engine.status().queues[0]).toMatchObject(status);
  const completed = await bundle.complete(lease);
  expect(completed.ok).toBe(!takes.includes("leased"));
  await bundle.restart();
  expect(await left(bundle)).toEqual(kept.filter((state) => state !== "leased"));
});

test.each([{}, { destructive: true }])("clear: %j names nothing to clear", async (change) => {
  const { bundle } = await setupStates();
  const ending = await bundle.ending(() => bundle.engine.clear({ ...nothing, ...change }));
  expect(ending).toMatchObject({
    code: "invalid",
    message: "invalid clear request; one of 'queue', 'scheduled', 'retry' must be true",
  });
});

test("clear: a clear covers every partition, and only the items present at its start", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", requestedPartitions: 4 });
  for (let call = 0; call < 8; call += 1) await bundle.produceMany("orders", 700);
  await bundle.run(async () => {
    const cleared = bundle.engine.clear({ ...nothing, ready: true });
    await bundle.engine.produce(produceOf("orders", ["after"]));
    await cleared;
  });
  const { partitions } = await bundle.run(() => bundle.engine.stats("orders"));
  expect(partitions.reduce((sum, { total }) => sum + total, 0)).toBeLessThanOrEqual(1);
});

test("clear: a clear is answered when nothing is left, and does not disturb other calls meanwhile", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produceMany("orders", 20_000);
  const order: string[] = [];
  await bundle.run(async () => {
    const cleared = bundle.engine
      .clear({ ...nothing, ready: true })
      .then(() => order.push("clear"));
    await bundle.engine.produce(produceOf("orders", ["new"]));
    const lease = await bundle.engine.lease(bundle.leaseOf("orders", { batchSize: 10 }));
    order.push(...textsOf(lease.items));
    expect(bundle.image().slots.get(0)?.items.values().length).toBeGreaterThan(1);
    await cleared;
    expect(bundle.image().slots.get(0)?.items.values()).toHaveLength(1);
  });
  expect(order).toEqual(["new", "clear"]);
});

test("clear: leased items ahead of cleared ones do not delay it", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: hour });
  await bundle.produceMany("orders", 5_001);
  for (let call = 0; call < 5; call += 1) await bundle.lease("orders", { batchSize: 1_000 });
  await bundle.run(() => bundle.engine.clear({ ...nothing, ready: true }));
  expect(bundle.engine.status().queues[0]).toMatchObject({ queued: 0, leased: 5_000 });
});

test("clear: scheduled items that stay do not delay it", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: hour });
  await bundle.produceMany("orders", 5_000);
  for (let call = 0; call < 5; call += 1) {
    const lease = await bundle.lease("orders", { batchSize: 1_000 });
    await bundle.retry(lease, { retryAt: start + hour });
  }
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["a"], start + hour)));
  await bundle.run(() => bundle.engine.clear({ ...nothing, scheduled: true }));
  expect(bundle.engine.status().queues[0]).toMatchObject({ scheduled: 0, retried: 5_000 });
});

test("clear: a clear received by a shard that stalls is answered 504 in time, and continues", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", requestedPartitions: 2 });
  for (const text of ["a", "b", "c", "d"]) await bundle.produce("orders", text);
  bundle.store().hold();
  const clear = (dryRun: boolean) =>
    bundle.outcome(() => bundle.engine.clear({ ...nothing, ready: true, dryRun }));
  const both = await bundle.begin(() => Promise.all([clear(false), clear(true)]));
  await bundle.clock.advance(5 * minute - 1);
  expect(both.ending).toBe(null);
  await bundle.clock.advance(1);
  const unchanged = "the store does not answer; nothing was changed";
  expect(both.ending).toMatchObject({ value: [{ code: "unknown" }, { message: unchanged }] });
  bundle.store().release();
  await bundle.clock.settle();
  expect(await bundle.allListed("orders")).toEqual([]);
});

test("clear: after a crash during a clear, no cleared item is offered or counted", async () => {
  const bundle = await setup();
  for (const name of ["bulk", "orders"]) await bundle.createQueue({ name });
  await bundle.produceMany("bulk", 30_000);
  await bundle.produceMany("orders", 8_000);
  bundle.store().killAt({ commitsBefore: 1, applied: true });
  await bundle.begin(() =>
    Promise.all([
      bundle.engine.clear({ ...nothing, queue: "bulk", ready: true }),
      bundle.engine.clear({ ...nothing, ready: true }),
    ]),
  );
  bundle.kill();
  const lease = await bundle.run(async () => {
    await bundle.opening();
    expect(bundle.engine.status().queues[1]).toMatchObject({ queued: 0 });
    await bundle.engine.produce(produceOf("orders", ["new"]));
    return bundle.engine.lease(bundle.leaseOf("orders", { batchSize: 10 }));
  });
  expect(textsOf(lease.items)).toEqual(["new"]);
  expect(bundle.image().slots.get(0)?.items.values()).toEqual([]);
  expect(await bundle.listed("orders")).toEqual(["new"]);
});

test.each([0, 1, 2, 3])(
  "clear: a store that fails at commit %d delays the answer and changes nothing else",
  async (at) => {
    for (const applied of [false, true]) {
      const bundle = await setup();
      await bundle.createQueue({ name: "orders" });
      await bundle.produceMany("orders", 10_000);
      let commits = 0;
      bundle.store().onCommit = () => {
        commits += 1;
        if (commits === at) bundle.store().fail({ fault: "failed", applied });
      };
      if (at === 0) bundle.store().fail({ fault: "failed", applied });
      const started = await bundle.begin(() => bundle.engine.clear({ ...nothing, ready: true }));
      await bundle.clock.advance(minute);
      expect(started.ending).toMatchObject({ ok: true });
      expect(await bundle.listed("orders")).toEqual([]);
      expect(bundle.engine.status().shards[0]).toMatchObject({ restarts: 1, up: true });
    }
  },
);

test("clear: a clear that is partly done when the engine closes reports it, and continues at the next start", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produceMany("orders", 30_000);
  bundle.store().holdAfter(1);
  const cleared = await bundle.begin(() => bundle.engine.clear({ ...nothing, ready: true }));
  const closed = await bundle.begin(() => bundle.engine.close());
  expect([cleared.ending, closed.ending]).toEqual([null, null]);
  bundle.store().release();
  await bundle.clock.settle();
  expect(cleared.ending).toEqual({
    ok: false,
    code: "closing",
    message: "done in part, call again; service is shutting down",
    details: undefined,
  });
  expect(closed.ending).toMatchObject({ ok: true });
  expect(bundle.image().slots.get(0)?.items.values().length).toBeGreaterThan(1);
  await bundle.open();
  expect(bundle.image().slots.get(0)?.items.values()).toEqual([]);
});
