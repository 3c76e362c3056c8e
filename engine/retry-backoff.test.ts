// The backoff of a queue: items that are retried without a time are set aside.

import { expect, test } from "bun:test";
import type { QueueSettings, RetryItem } from "./model/api.ts";
import { type Bundle, type Leased, minute, second, setup } from "./simulation/bundle.ts";

async function setupQueue(settings: Partial<QueueSettings> = {}): Promise<Bundle> {
  const bundle = await setup();
  await bundle.createQueue({ name: "dead" });
  await bundle.createQueue({
    ...{ name: "orders", deadQueue: "dead", leaseTimeoutMs: minute, retryBackoff: "4s..10s" },
    ...settings,
  });
  await bundle.produce("orders", "a");
  return bundle;
}

function retry(bundle: Bundle, { partition, items }: Leased, how: Partial<RetryItem> = {}) {
  const [{ id } = { id: "" }] = items;
  const item = { id, retryAt: null, dead: false, ...how };
  return bundle.run(() => bundle.engine.retry({ queue: "orders", partition, items: [item] }));
}

/** How long the item waits, to the millisecond. */
async function waitedMs(bundle: Bundle): Promise<number> {
  const began = bundle.clock.now();
  const lease = await bundle.beginLease("orders", { requestTimeoutMs: 10 * minute });
  while (lease.ending === null) await bundle.clock.advance(1);
  return bundle.clock.now() - began;
}

test.each([
  [
    "5m",
    "retry backoff is invalid; expected its first and its longest delay, such as '1s..5m', got '5m'",
  ],
  [
    "9s..1s",
    "retry backoff is invalid; expected its first and its longest delay, such as '1s..5m', got '9s..1s'",
  ],
])("update: a retry_backoff of %s is refused", async (retryBackoff, message) => {
  const bundle = await setupQueue();
  const ending = await bundle.ending(() =>
    bundle.engine.updateQueue({ name: "orders", retryBackoff }),
  );
  expect(ending).toMatchObject({ ok: false, code: "invalid", message });
});

test("retry: without a time, an item waits twice as long after each attempt, up to the longest", async () => {
  const bundle = await setupQueue();
  const waits: number[] = [];
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    await bundle.clock.advance(20 * second);
    await retry(bundle, await bundle.lease("orders"));
    waits.push(await waitedMs(bundle));
    // The item is held by the lease that waited for it.
    await bundle.clock.advance(minute);
  }
  const bounds = [4, 10, 10, 10].map((most) => most * second);
  for (const [index, ms] of waits.entries()) {
    const most = bounds[index] ?? 0;
    expect(ms).toBeGreaterThan(0.9 * most - 2);
    expect(ms).toBeLessThanOrEqual(most + 1);
  }
});

test("retry: a time of its own, even one that is past, comes before the backoff", async () => {
  for (const how of [{ retryAt: 1 }, { retryAfterMs: 0 }]) {
    const bundle = await setupQueue();
    await retry(bundle, await bundle.lease("orders"), how);
    expect((await bundle.lease("orders")).items).toMatchObject([{ attempts: 2 }]);
  }
});

test("retry: the last attempt and a retry that gives up go to the dead queue at once", async () => {
  const bundle = await setupQueue({ maxAttempts: 1 });
  await bundle.produce("orders", "b");
  await retry(bundle, await bundle.lease("orders"));
  await retry(bundle, await bundle.lease("orders"), { dead: true });
  expect(await bundle.listed("dead")).toEqual(["a", "b"]);
});

test("release, lapse: the item is ready at once", async () => {
  const bundle = await setupQueue();
  const { partition, items } = await bundle.lease("orders");
  const ids = items.map(({ id }) => id);
  await bundle.run(() => bundle.engine.release({ queue: "orders", partition, ids }));
  await bundle.lease("orders");
  await bundle.clock.advance(minute);
  expect((await bundle.lease("orders")).items).toMatchObject([{ attempts: 2 }]);
});

test("transact: the backoff applies to what it retries", async () => {
  const bundle = await setupQueue();
  const { partition, items } = await bundle.lease("orders");
  const given = items.map(({ id }) => ({ id, retryAt: null, dead: false }));
  await bundle.run(() =>
    bundle.engine.transact({
      requestTimeoutMs: minute,
      retry: [{ queue: "orders", partition, items: given }],
    }),
  );
  const stats = await bundle.run(() => bundle.engine.stats("orders"));
  expect(stats).toMatchObject({ partitions: [{ total: 0, scheduled: 1 }] });
});

test("lease: its reply has the backoff of the queue, which an empty text removes", async () => {
  const bundle = await setupQueue();
  const lease = await bundle.lease("orders");
  expect(lease.retryBackoff).toBe("4s..10s");
  await bundle.restart();
  expect(bundle.engine.queueInfo("orders").retryBackoff).toBe("4s..10s");
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", retryBackoff: "" }));
  expect(bundle.engine.queueInfo("orders").retryBackoff).toBeUndefined();
  await retry(bundle, lease);
  const again = await bundle.lease("orders");
  expect(again.items).toMatchObject([{ attempts: 2 }]);
  expect("retryBackoff" in again).toBe(false);
});
