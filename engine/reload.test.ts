import { expect, test } from "bun:test";
import type { Tally } from "../stores/item.ts";
import { type Bundle, hour, minute, produceOf, setup, start } from "./simulation/bundle.ts";

/** In partition 0: two ready items, and one each leased, scheduled and retried. */
async function setupStates(): Promise<Bundle> {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: hour });
  await bundle.produce("orders", "leased", "retried", "one", "two");
  await bundle.lease("orders");
  await bundle.retry(await bundle.lease("orders"), { retryAt: start + minute });
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["later"], start + minute)));
  return bundle;
}

const right = { queued: 2, leased: 1, scheduled: 1, retried: 1 };

function counts(bundle: Bundle) {
  return bundle.engine.status().queues[0];
}

/** Falsifies the stored counts, as only damage would, in a way that a start does not detect. */
function miscountAs(bundle: Bundle, change: Partial<Tally>): void {
  const { tallies } = bundle.image();
  const tally = tallies.get(0);
  if (tally === undefined) throw new Error("the partition has no counts");
  tallies.set(0, { ...tally, ...change });
  bundle.store().isLarge = true;
}

function miscount(bundle: Bundle): void {
  miscountAs(bundle, { itemCount: 17, scheduledCount: 5, retriedCount: 0, createdAtSum: 1n });
}

test("reload: correct counts stay as they are", async () => {
  const bundle = await setupStates();
  await bundle.run(() => bundle.engine.reload("orders"));
  expect(counts(bundle)).toMatchObject(right);
});

test("reload: wrong counts are corrected permanently", async () => {
  const bundle = await setupStates();
  miscount(bundle);
  await bundle.restart();
  expect(counts(bundle)).toMatchObject({ queued: 16, leased: 1, scheduled: 5, retried: 0 });
  await bundle.run(() => bundle.engine.reload("orders"));
  expect(counts(bundle)).toMatchObject(right);
  const stats = await bundle.run(() => bundle.engine.stats("orders"));
  expect(stats.partitions).toMatchObject([{ total: 3, scheduled: 2, averageAgeMs: 0 }]);
  await bundle.restart();
  expect(counts(bundle)).toMatchObject(right);
});

test("reload: a reload received by a shard that stalls is answered 504 in time, and continues", async () => {
  const bundle = await setupStates();
  miscount(bundle);
  await bundle.restart();
  bundle.store().hold();
  const begun = await bundle.begin(() => bundle.engine.reload("orders"));
  await bundle.clock.advance(5 * minute - 1);
  expect(begun.ending).toBe(null);
  await bundle.clock.advance(1);
  expect(begun.ending).toMatchObject({ ok: false, code: "unknown" });
  bundle.store().release();
  await bundle.clock.settle();
  // The scheduled items are due by then.
  expect(counts(bundle)).toMatchObject({ queued: 4, leased: 1, scheduled: 0, retried: 0 });
});

test("start: counts that differ from the store are corrected and reported once", async () => {
  const bundle = await setupStates();
  miscount(bundle);
  bundle.store().isLarge = false;
  await bundle.restart();
  expect(counts(bundle)).toMatchObject({ queued: 2, leased: 1 });
  await bundle.clock.advance(minute - 1);
  expect(counts(bundle)).toMatchObject(right);
  const stats = await bundle.run(() => bundle.engine.stats("orders"));
  expect(stats.partitions).toMatchObject([{ total: 3, scheduled: 2 }]);
  // 17 - 3 items and 5 - 2 scheduled ones.
  const told = [{ kind: "items_miscounted", shard: 0, count: 17 }];
  expect(bundle.notices).toMatchObject(told);
  expect(bundle.engine.status().shards).toMatchObject([{ miscounted: 17 }]);
  await bundle.restart();
  expect(bundle.notices).toMatchObject(told);
});

test("start: uncounted items are found, and expire", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", expireTimeoutMs: hour });
  await bundle.produce("orders", "one", "two");
  miscountAs(bundle, { itemCount: 0, createdAtSum: 0n });
  bundle.store().isLarge = false;
  await bundle.restart();
  expect(counts(bundle)).toMatchObject({ queued: 2 });
  await bundle.clock.advance(2 * hour);
  expect(counts(bundle)).toMatchObject({ queued: 0, counters: { expired: 2 } });
});

test.each(["full", "failed"] as const)(
  "start: counts are corrected even if a commit fails meanwhile (%s)",
  async (fault) => {
    const bundle = await setup();
    await bundle.createQueue({ name: "orders" });
    await bundle.produceMany("orders", 35_000);
    miscountAs(bundle, { itemCount: 17, createdAtSum: 1n });
    bundle.store().isLarge = false;
    bundle.store().fail({ fault });
    await bundle.restart();
    await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["one"])));
    await bundle.clock.advance(minute);
    expect((counts(bundle)?.queued ?? 0) - 35_000).toBeOneOf([0, 1]);
    const stats = await bundle.run(() => bundle.engine.stats("orders"));
    expect(stats.partitions[0]?.total).toBe(counts(bundle)?.queued ?? 0);
    expect(stats.partitions[0]?.averageAgeMs).toBeWithin(minute - 100, minute + 100);
  },
);

test.each([false, true])(
  "start: a lease without items is ended, and the start continues (store too large to count: %p)",
  async (isLarge) => {
    const bundle = await setupStates();
    const held = bundle.image().leases.values();
    expect(held).toHaveLength(1);
    for (const { slot, first } of held)
      bundle.image().slots.get(slot)?.items.delete({ seq: first });
    bundle.store().isLarge = isLarge;
    await bundle.restart();
    expect(bundle.notices).toMatchObject([{ kind: "items_miscounted", shard: 0, count: 1 }]);
    await bundle.clock.advance(1);
    expect(counts(bundle)).toMatchObject({ ...right, leased: 0 });
    expect((await bundle.lease("orders", { batchSize: 10 })).items).toHaveLength(2);
    expect(bundle.image().leases.values()).toHaveLength(1);
    await bundle.restart();
    expect(bundle.notices).toHaveLength(1);
  },
);

test("reload: items that were not counted can expire again", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", expireTimeoutMs: hour });
  await bundle.produce("orders", "one", "two");
  miscountAs(bundle, { itemCount: 0, createdAtSum: 0n });
  await bundle.restart();
  await bundle.run(() => bundle.engine.reload("orders"));
  expect(counts(bundle)).toMatchObject({ queued: 2 });
  await bundle.clock.advance(2 * hour);
  expect(counts(bundle)).toMatchObject({ queued: 0, counters: { expired: 2 } });
});

test("reload: a queue is served meanwhile, and concurrent changes are counted once", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: hour, maxAttempts: 0 });
  await bundle.produceMany("orders", 35_000);
  await bundle.run(async () => {
    let isOver = false;
    const reloaded = bundle.engine.reload("orders").then(() => {
      isOver = true;
    });
    let busy = 0;
    for (let round = 0; round < 20; round += 1) {
      const request = bundle.leaseOf("orders", { batchSize: 500 });
      const { partition, items } = await bundle.engine.lease(request);
      const ids = items.map(({ id }) => id);
      if (!isOver) busy += 1;
      const requestTimeoutMs = minute;
      if (round % 2 === 0) {
        await bundle.engine.complete({ queue: "orders", partition, requestTimeoutMs, ids });
      } else {
        const retryAt = round % 4 === 1 ? null : start + hour;
        const retries = ids.map((id) => ({ id, retryAt, dead: false }));
        await bundle.engine.retry({ queue: "orders", partition, items: retries });
      }
      await bundle.engine.produce(produceOf("orders", ["new"]));
    }
    await reloaded;
    expect(busy).toBeGreaterThan(0);
  });
  const before = counts(bundle);
  expect(before).toMatchObject({ queued: 35_000 - 5_000 - 2_500 + 20, retried: 2_500, leased: 0 });
  expect(bundle.image().slots.get(0)?.items.values()).toHaveLength(before?.queued ?? 0);
});

test.each(["failed", "full"] as const)(
  "reload: returns correct counts even if a commit fails meanwhile (%s)",
  async (fault) => {
    const bundle = await setup();
    await bundle.createQueue({ name: "orders" });
    await bundle.produceMany("orders", 35_000);
    bundle.store().fail({ fault });
    const reloaded = await bundle.begin(() => bundle.engine.reload("orders"));
    await bundle.clock.advance(minute);
    expect(reloaded.ending).toMatchObject({ ok: true });
    expect(counts(bundle)).toMatchObject({ queued: 35_000 });
  },
);

test("reload: covers every partition", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", requestedPartitions: 4 });
  for (let call = 0; call < 8; call += 1) await bundle.produce("orders", "a", "b");
  await bundle.run(() => bundle.engine.reload("orders"));
  expect(counts(bundle)).toMatchObject({ queued: 16 });
});

test("reload: a queue that does not exist is refused", async () => {
  const bundle = await setup();
  const ending = await bundle.ending(() => bundle.engine.reload("none"));
  expect(ending).toMatchObject({
    code: "invalid",
    message: "queue does not exist; no such queue named 'none'",
  });
});
