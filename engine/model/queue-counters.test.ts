// The counters of a queue are exact with every kind of store.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../stores/sqlite/store.ts";
import { immediateSyncer } from "../../stores/sqlite/testing/immediate-syncer.ts";
import {
  type Bundle,
  day,
  deadPlacements,
  hour,
  idsOf,
  minute,
  produceOf,
  type SetupOptions,
  second,
  setup,
} from "../simulation/bundle.ts";
import { seededRandom } from "../simulation/seeded-random.ts";
import type { QueueCounters, QueueGauges } from "./api.ts";
import { newTag } from "./ids.ts";
import { limits } from "./limits.ts";
import { noCounters } from "./queue-counters.ts";

type Test = (bundle: Bundle) => Promise<void>;

/** Runs the test with a store in memory and with SQLite. */
function bothStores(name: string, options: SetupOptions, run: Test): void {
  test(`memory: ${name}`, async () => run(await setup(options)));
  test(`sqlite: ${name}`, async () => {
    const directory = mkdtempSync(join(tmpdir(), "holdfast-queue-counters-"));
    const random = seededRandom(1);
    try {
      const bundle = await setup({
        ...options,
        openStore: (shard) =>
          openSqliteStore({
            path: join(directory, `shard-${shard}.db`),
            durability: "normal",
            syncer: immediateSyncer,
            newTag: () => newTag(random),
            acceptLogLoss: false,
            ballastBytes: 0,
          }),
      });
      await run(bundle);
      await bundle.engine.close();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
}

function gaugesOf(bundle: Bundle, name = "orders"): QueueGauges {
  const gauges = bundle.engine.status().queues.find(({ queue }) => queue === name);
  if (gauges === undefined) throw new Error(`there is no queue ${name}`);
  return gauges;
}

function counted(bundle: Bundle, name = "orders"): Partial<QueueCounters> {
  const some = Object.entries(gaugesOf(bundle, name).counters).filter(([, count]) => count !== 0);
  return Object.fromEntries(some);
}

const letters = ["a", "b", "c", "d", "e", "f", "g", "h"];

// `orders` and `dead` are in different shards.
bothStores("each way of an item is counted once", { shardCount: 2 }, async (bundle) => {
  const { engine } = bundle;
  await bundle.createQueue({ name: "dead", expireTimeoutMs: 9 * day });
  const rules = {
    deadQueue: "dead",
    maxAttempts: 2,
    expireTimeoutMs: hour,
    requestedPartitions: 1,
  };
  await bundle.createQueue({ name: "orders", ...rules });
  await bundle.produce("orders", ...letters);
  await bundle.run(() =>
    engine.produce(produceOf("orders", ["later"], bundle.clock.now() + 2 * minute)),
  );
  const all = { produced: 9 };
  expect(counted(bundle)).toEqual(all);

  const lease = await bundle.lease("orders", { batchSize: 6 });
  const [a, b, c, d, e, f] = idsOf(lease.items) as [string, string, string, string, string, string];
  const batch = { queue: "orders", partition: 0 };
  await bundle.run(() => engine.extend({ ...batch, ids: [a, b, c, d], leaseTimeoutMs: null }));
  await bundle.run(() => engine.complete({ ...batch, ids: [a, b], requestTimeoutMs: minute }));
  await bundle.run(() => engine.release({ ...batch, ids: [c] }));
  await bundle.run(() => engine.retry({ ...batch, items: [{ id: d, retryAt: null, dead: true }] }));
  await bundle.run(() =>
    engine.retry({ ...batch, items: [{ id: e, retryAt: null, dead: false }] }),
  );
  await bundle.run(() => engine.deleteItems({ ...batch, ids: [f] }));
  const some = { ...all, leased: 6, extended: 4, completed: 2, released: 1, retried: 2 };
  expect(counted(bundle)).toEqual({ ...some, dead: 1, removed: 1 });

  // g and h lapse; later c and e are ready too, and one of them has an attempt left.
  await bundle.lease("orders", { batchSize: 2 });
  await bundle.clock.advance(minute + second);
  const lapsed = { ...some, leased: 8, lapsed: 2, dead: 1, removed: 1 };
  expect(counted(bundle)).toEqual(lapsed);
  await bundle.lease("orders", { batchSize: 4 });
  await bundle.clock.advance(minute + second);
  const failed = { ...lapsed, leased: 12, lapsed: 6, dead: 4 };
  expect(counted(bundle)).toEqual(failed);

  // The rest expires: c, and the scheduled item that has become due.
  await bundle.clock.advance(2 * hour);
  expect(counted(bundle)).toEqual({ ...failed, expired: 2, dead: 6 });
  expect(gaugesOf(bundle)).toMatchObject({ queued: 0, leased: 0, scheduled: 0, retried: 0 });
  expect(counted(bundle, "dead")).toEqual({ arrived: 6 });
  const what = { ready: true, scheduled: true, retried: true, destructive: true };
  await bundle.run(() => engine.clear({ queue: "dead", ...what }));
  expect(counted(bundle, "dead")).toEqual({ arrived: 6, removed: 6 });
});

for (const [where, shardCount] of deadPlacements) {
  const setting = { shardCount };
  bothStores(
    `a redrive counts where items leave and come; the dead queue ${where}`,
    setting,
    async (bundle) => {
      const { engine } = bundle;
      await bundle.createQueue({ name: "dead" });
      await bundle.createQueue({ name: "orders", deadQueue: "dead", maxAttempts: 1 });
      await bundle.produce("orders", "a", "b", "c");
      await bundle.retry(await bundle.lease("orders", { batchSize: 3 }));
      await bundle.clock.settle();
      expect(counted(bundle, "dead")).toEqual({ arrived: 3 });
      const redriven = await bundle.run(() => engine.redrive({ queue: "dead", limit: 2 }));
      await bundle.ended(redriven.taskId);
      await bundle.clock.settle();
      expect(counted(bundle, "dead")).toEqual({ arrived: 3, redriven: 2 });
      const died = { produced: 3, leased: 3, retried: 3, dead: 3 };
      expect(counted(bundle)).toEqual({ ...died, arrived: 2 });
    },
  );
}

bothStores("without a dead queue, what fails is discarded", {}, async (bundle) => {
  await bundle.createQueue({ name: "orders", maxAttempts: 1 });
  await bundle.produce("orders", "a", "b");
  await bundle.retry(await bundle.lease("orders"));
  const all = { produced: 2, leased: 1, retried: 1, discarded: 1 };
  expect(counted(bundle)).toEqual(all);
});

bothStores("duplicates, replays and refusals are not counted", {}, async (bundle) => {
  const { engine } = bundle;
  await bundle.createQueue({ name: "orders", uniqueForMs: hour });
  const items = ["a", "b", "a"].map((uniqueKey) => ({ payload: uniqueKey, uniqueKey }));
  const produce = { queue: "orders", items, requestTimeoutMs: minute, requestKey: "one" };
  await bundle.run(() => engine.produce(produce));
  await bundle.run(() => engine.produce(produce));
  expect(counted(bundle)).toEqual({ produced: 2 });
  const { items: leased } = await bundle.lease("orders", { requestKey: "two" });
  const complete = { queue: "orders", partition: 0, ids: idsOf(leased), requestTimeoutMs: minute };
  await bundle.run(() => engine.complete({ ...complete, requestKey: "three" }));
  await bundle.run(() => engine.complete({ ...complete, requestKey: "three" }));
  expect((await bundle.ending(() => engine.complete(complete))).ok).toBe(false);
  expect(counted(bundle)).toEqual({ produced: 2, leased: 1, completed: 1 });
});

bothStores(
  "a clear counts what it took, also of what was leased or set aside",
  {},
  async (bundle) => {
    const { engine } = bundle;
    await bundle.createQueue({ name: "orders" });
    await bundle.produce("orders", "a", "b", "c");
    await bundle.run(() => engine.produce(produceOf("orders", ["d"], bundle.clock.now() + hour)));
    await bundle.lease("orders");
    const what = { ready: true, scheduled: true, retried: false, destructive: true };
    await bundle.run(() => engine.clear({ queue: "orders", ...what }));
    expect(counted(bundle)).toEqual({ produced: 4, leased: 1, removed: 4 });
  },
);

bothStores(
  "a clear counts what it took from partitions that are given up for it",
  { turnLimits: { ...limits, sweepItemsMax: 1 } },
  async (bundle) => {
    await bundle.createQueue({ name: "orders", requestedPartitions: 3 });
    for (let round = 0; round < 30; round += 1) await bundle.produce("orders", "a");
    await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 1 }));
    const what = { ready: true, scheduled: false, retried: false, destructive: false };
    await bundle.run(() => bundle.engine.clear({ queue: "orders", ...what }));
    expect(counted(bundle)).toEqual({ produced: 30, removed: 30 });
  },
);

bothStores(
  "the times that items waited and were held are reported in seconds",
  {},
  async (bundle) => {
    await bundle.createQueue({ name: "orders", leaseTimeoutMs: hour });
    const none = gaugesOf(bundle);
    expect([none.waited, none.held]).toEqual([null, null]);
    await bundle.produce("orders", "a", "b");
    await bundle.clock.advance(second);
    await bundle.produce("orders", "c");
    await bundle.clock.advance(3 * second);
    const lease = await bundle.lease("orders", { batchSize: 3 });
    await bundle.clock.advance(90 * second);
    await bundle.complete(lease);
    const { waited, held } = gaugesOf(bundle);
    // Bounds: … 0.5, 2, 10, 60, 300, …
    expect(waited?.counts.slice(3, 9)).toEqual([0, 0, 3, 0, 0, 0]);
    expect(waited?.sum).toBeCloseTo(4 + 4 + 3, 1);
    expect(held?.counts.slice(3, 9)).toEqual([0, 0, 0, 0, 3, 0]);
    expect(held?.sum).toBeCloseTo(270, 1);
  },
);

test.each([true, false])(
  "counters: a turn whose store failed is counted once, and counting continues; applied %p",
  async (applied) => {
    const bundle = await setup();
    await bundle.createQueue({ name: "orders" });
    await bundle.produce("orders", "a");
    bundle.store().fail({ fault: "failed", applied });
    const produced = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["b"])));
    await bundle.clock.advance(second);
    expect(produced.ending?.ok).toBe(true);
    expect(bundle.downs).toBe(1);
    expect(gaugesOf(bundle).queued).toBe(2);
    expect(counted(bundle)).toEqual({ produced: 2 });
    await bundle.produce("orders", "c");
    expect(counted(bundle)).toEqual({ produced: 3 });
  },
);

test("counters: a turn without room is not counted, and its second decision is", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a", "b");
  const lease = await bundle.lease("orders");
  bundle.store().fail({ fault: "full", applied: false });
  const [produced, completed] = await bundle.run(() =>
    Promise.allSettled([
      bundle.engine.produce(produceOf("orders", ["c"])),
      bundle.engine.complete({ ...lease, ids: idsOf(lease.items), requestTimeoutMs: minute }),
    ]),
  );
  expect([produced.status, completed.status]).toEqual(["rejected", "fulfilled"]);
  expect(counted(bundle)).toEqual({ produced: 2, leased: 1, completed: 1 });
});

bothStores("a process that starts counts from nothing, and knows the ages", {}, async (bundle) => {
  await bundle.createQueue({ name: "orders" });
  const since = bundle.clock.now();
  await bundle.produce("orders", "a");
  await bundle.clock.advance(minute);
  await bundle.produce("orders", "b");
  const dueAt = bundle.clock.now() + hour;
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["c"], dueAt)));
  expect(gaugesOf(bundle)).toMatchObject({ oldestReadyAt: since, nextDueAt: dueAt });
  await bundle.engine.close();
  await bundle.open();
  expect(gaugesOf(bundle).counters).toEqual(noCounters);
  expect(gaugesOf(bundle)).toMatchObject({ oldestReadyAt: since, nextDueAt: dueAt });
  await bundle.complete(await bundle.lease("orders", { batchSize: 2 }));
  expect(gaugesOf(bundle)).toMatchObject({ oldestReadyAt: null, nextDueAt: dueAt });
  await bundle.clock.advance(hour);
  expect(gaugesOf(bundle)).toMatchObject({ oldestReadyAt: dueAt, nextDueAt: null });
});

test("oldest ready: a leased item is no longer the oldest, and a requeued one is the newest", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: 10 * minute });
  const instants: number[] = [];
  for (const text of letters) {
    instants.push(bundle.clock.now());
    await bundle.produce("orders", text);
    await bundle.clock.advance(minute);
  }
  const { oldestReadyAt } = gaugesOf(bundle);
  expect(oldestReadyAt).toBe(instants[0] as number);
  const lease = await bundle.lease("orders", { batchSize: 3 });
  expect(gaugesOf(bundle).oldestReadyAt).toBe(instants[3] as number);
  await bundle.retry(lease);
  expect(gaugesOf(bundle).oldestReadyAt).toBe(instants[3] as number);
  await bundle.lease("orders", { batchSize: 5 });
  expect(gaugesOf(bundle).oldestReadyAt).toBe(bundle.clock.now());
});

test("oldest ready: without leases, an expired item is no longer the oldest", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", expireTimeoutMs: hour });
  await bundle.produce("orders", "a");
  await bundle.clock.advance(30 * minute);
  const since = bundle.clock.now();
  await bundle.produce("orders", "b");
  await bundle.clock.advance(31 * minute);
  expect(gaugesOf(bundle)).toMatchObject({ queued: 1, oldestReadyAt: since });
});
