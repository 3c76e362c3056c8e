// The limits of a queue's leases: items at one time, and items per interval.

import { expect, test } from "bun:test";
import type { QueueSettings } from "./model/api.ts";
import { limits } from "./model/limits.ts";
import {
  type Bundle,
  got,
  hour,
  idsOf,
  type Leased,
  minute,
  type Started,
  second,
  setup,
} from "./simulation/bundle.ts";

async function setupQueue(
  settings: Partial<QueueSettings>,
  options?: Parameters<typeof setup>[0],
): Promise<Bundle> {
  const bundle = await setup(options);
  await bundle.createQueue({ name: "orders", ...settings });
  return bundle;
}

const leasedCount = async (bundle: Bundle) => {
  const { partitions } = await bundle.run(() => bundle.engine.stats("orders"));
  return partitions.reduce((sum, { totalLeased }) => sum + totalLeased, 0);
};

const update = (bundle: Bundle, change: Partial<QueueSettings>) =>
  bundle.run(() => bundle.engine.updateQueue({ name: "orders", ...change }));

async function beginLeases(bundle: Bundle, count: number, batchSize = 1) {
  const leases: Started<Leased>[] = [];
  for (let index = 0; index < count; index += 1) {
    leases.push(await bundle.beginLease("orders", { batchSize, requestTimeoutMs: 15 * minute }));
  }
  return leases;
}

const served = (leases: readonly Started<Leased>[]) =>
  leases.map(({ ending }) => (ending?.ok === true ? ending.value.items.length : 0));

test.each([
  [{ leasedMax: -1 }, "leased max is invalid; cannot be negative number"],
  [{ leasedMax: 1.5 }, "leased max is invalid; expected a whole number, got 1.5"],
  [{ leasedMax: 2 ** 31 }, "leased max is invalid; cannot be greater than 2147483647"],
  [
    { leaseRate: "fast" },
    "lease rate is invalid; expected items per interval, such as '100/1s', got 'fast'",
  ],
])("create, update: %j is refused", async (change, message) => {
  const bundle = await setupQueue({});
  const ending = await bundle.ending(() =>
    bundle.engine.updateQueue({ name: "orders", ...change }),
  );
  expect(ending).toMatchObject({ ok: false, code: "invalid", message });
});

test("create, update: limits are returned as given, and 0 or an empty value removes them", async () => {
  const bundle = await setupQueue({ leasedMax: 5, leaseRate: "100/1000ms" });
  const given = { leasedMax: 5, leaseRate: "100/1000ms" };
  expect(bundle.engine.queueInfo("orders")).toMatchObject(given);
  await update(bundle, { maxAttempts: 3 });
  await bundle.restart();
  expect(bundle.engine.queueInfo("orders")).toMatchObject(given);
  await update(bundle, { leasedMax: 0, leaseRate: "" });
  const info = bundle.engine.queueInfo("orders");
  expect([info.leasedMax, info.leaseRate]).toEqual([undefined, undefined]);
});

test("leased max: applies to all partitions together, and a batch is reduced to the rest", async () => {
  const bundle = await setupQueue({ leasedMax: 5, requestedPartitions: 3 });
  for (const text of ["a", "b", "c"]) await bundle.produce("orders", text, text, text);
  const leases = await beginLeases(bundle, 3, 2);
  expect(served(leases)).toEqual([2, 2, 1]);
  const [waits] = await beginLeases(bundle, 1);
  expect(waits?.ending).toBe(null);
  expect(await leasedCount(bundle)).toBe(5);
});

test("leased max: a grant in progress counts as its full batch", async () => {
  const bundle = await setupQueue({ leasedMax: 4, requestedPartitions: 2 });
  for (const text of ["a", "b"]) await bundle.produce("orders", text, text, text);
  bundle.store().hold();
  const leases = await beginLeases(bundle, 3, 3);
  bundle.store().release();
  await bundle.clock.settle();
  expect(served(leases)).toEqual([3, 1, 0]);
});

test("leased max: a grant smaller than its batch leaves the rest to the next lease", async () => {
  const bundle = await setupQueue({ leasedMax: 10 });
  await bundle.produce("orders", "a", "b");
  const leases = await beginLeases(bundle, 2, 10);
  expect(served(leases)).toEqual([2, 0]);
  await bundle.produce("orders", "c", "d");
  expect(served(leases)).toEqual([2, 2]);
});

test("leased max: the line continues in order as leases end, in any way and partition", async () => {
  const settings = { leasedMax: 1, requestedPartitions: 2, deadQueue: "", leaseTimeoutMs: minute };
  const bundle = await setupQueue(settings);
  for (const text of ["a", "b", "c"]) await bundle.produce("orders", text, text);
  const leases = await beginLeases(bundle, 6);
  const lease = (index: number): Leased => {
    const ending = leases[index]?.ending;
    if (ending?.ok !== true) throw new Error(`lease ${index} was not served`);
    return ending.value;
  };
  const isServedUpTo = async (count: number) => {
    await bundle.clock.settle();
    expect(served(leases)).toEqual(leases.map((_, index) => (index < count ? 1 : 0)));
    expect(await leasedCount(bundle)).toBe(1);
  };
  await isServedUpTo(1);
  await bundle.complete(lease(0));
  await isServedUpTo(2);
  await bundle.retry(lease(1), { retryAt: bundle.clock.now() + hour });
  await isServedUpTo(3);
  const { partition, items } = lease(2);
  const ids = idsOf(items);
  await bundle.run(() => bundle.engine.release({ queue: "orders", partition, ids }));
  await isServedUpTo(4);
  await bundle.clock.advance(minute);
  await isServedUpTo(5);
  const clear = { queue: "orders", ready: true, scheduled: false, retried: false };
  await bundle.produce("orders", "kept");
  await bundle.run(() => bundle.engine.clear({ ...clear, destructive: true }));
  await bundle.produce("orders", "last");
  await isServedUpTo(6);
});

test("leased max: a lease that ends in an empty partition makes room for another partition", async () => {
  const bundle = await setupQueue({ leasedMax: 1, requestedPartitions: 2 });
  for (const text of ["a", "b"]) await bundle.produce("orders", text);
  const lease = await bundle.lease("orders");
  const leases = await beginLeases(bundle, 1);
  await bundle.complete(lease);
  expect(served(leases)).toEqual([1]);
});

test("leased max: applies after a restart to leases that continue", async () => {
  const bundle = await setupQueue({ leasedMax: 2, leaseTimeoutMs: hour });
  await bundle.produce("orders", "a", "b", "c");
  await bundle.lease("orders", { batchSize: 10 });
  await bundle.restart();
  const [waits] = await beginLeases(bundle, 1);
  expect(waits?.ending).toBe(null);
  await bundle.clock.advance(10 * minute);
  expect(waits?.ending).toBe(null);
  expect(await leasedCount(bundle)).toBe(2);
});

test.each([true, false])(
  "leased max: a grant of a store that fails counts once (committed: %p)",
  async (applied) => {
    const bundle = await setupQueue({ leasedMax: 2, leaseTimeoutMs: minute });
    await bundle.produce("orders", "a", "b", "c", "d");
    bundle.store().fail({ fault: "failed", applied });
    const leases = await beginLeases(bundle, 2, 2);
    await bundle.clock.advance(limits.restartMsMax);
    expect(await leasedCount(bundle)).toBe(2);
    expect(served(leases)).toEqual([2, 0]);
    await bundle.clock.advance(minute);
    expect(await leasedCount(bundle)).toBe(2);
    expect(served(leases)).toEqual([2, 2]);
  },
);

test("leased max: a higher limit takes effect at once, a lower one as leases end", async () => {
  const bundle = await setupQueue({ leasedMax: 1, leaseTimeoutMs: hour });
  await bundle.produceMany("orders", 10);
  const leases = await beginLeases(bundle, 5);
  await update(bundle, { leasedMax: 3 });
  expect(served(leases)).toEqual([1, 1, 1, 0, 0]);
  await update(bundle, { leasedMax: 2 });
  const ending = leases[0]?.ending;
  if (ending?.ok === true) await bundle.complete(ending.value);
  expect(served(leases)).toEqual([1, 1, 1, 0, 0]);
  await update(bundle, { leasedMax: 0 });
  expect(served(leases)).toEqual([1, 1, 1, 1, 1]);
});

test("leased max: a lease that would share a turn with a produce waits", async () => {
  const bundle = await setupQueue({ leasedMax: 1 });
  const leases = await beginLeases(bundle, 3, 5);
  await bundle.produce("orders", "a", "b", "c");
  expect(served(leases)).toEqual([1, 0, 0]);
});

test("leased max: items of a disconnected client count until they are requeued", async () => {
  const bundle = await setupQueue({ leasedMax: 1 });
  await bundle.produce("orders", "a", "b");
  const leaving = new AbortController();
  bundle.store().hold();
  const gone = await bundle.beginLease("orders", { signal: leaving.signal });
  leaving.abort();
  const leases = await beginLeases(bundle, 1);
  bundle.store().release();
  await bundle.clock.settle();
  expect(gone.ending).toMatchObject({ ok: false });
  expect(await leasedCount(bundle)).toBe(1);
  expect(got(leases[0] as Started<Leased>)).toEqual(["b"]);
});

test("leased max: a lease that waits for it until its deadline reports it", async () => {
  const bundle = await setupQueue({ leasedMax: 1 });
  await bundle.produce("orders", "a", "b");
  await bundle.lease("orders");
  const waits = await bundle.beginLease("orders", { requestTimeoutMs: second });
  await bundle.clock.advance(second);
  expect(waits.ending).toMatchObject({
    code: "empty",
    message: "request timeout; the queue's limits allowed no more items, try again",
  });
});

test("lease rate: applies to all partitions together, and the line is served when time allows", async () => {
  const bundle = await setupQueue({ leaseRate: "3/1s", requestedPartitions: 2 });
  for (const text of ["a", "b"]) await bundle.produce("orders", ...text.repeat(5));
  const leases = await beginLeases(bundle, 4, 2);
  expect(served(leases)).toEqual([2, 1, 0, 0]);
  await bundle.clock.advance(second - 1);
  expect(served(leases)).toEqual([2, 1, 0, 0]);
  await bundle.clock.advance(1);
  expect(served(leases)).toEqual([2, 1, 2, 1]);
  const [later] = await beginLeases(bundle, 1);
  await bundle.clock.advance(second);
  expect(served([later as Started<Leased>])).toEqual([1]);
});

test("lease rate: a grant counts before it is answered", async () => {
  const turnLimits = { ...limits, secondTurnWeightMin: 1 };
  const bundle = await setupQueue({ leaseRate: "1/1s" }, { turnLimits });
  await bundle.produce("orders", "a", "b");
  const { clock } = bundle;
  bundle.store().syncsLater = {
    nextTick: (run) => clock.nextTick(run),
    copy: () => () => undefined,
  };
  bundle.store().holdSync();
  const leases = await beginLeases(bundle, 2);
  bundle.store().release();
  await clock.settle();
  expect(served(leases)).toEqual([1, 0]);
});

test("lease rate: completes do not change it, and an unused interval is not saved", async () => {
  const bundle = await setupQueue({ leaseRate: "2/1s" });
  await bundle.produceMany("orders", 10);
  await bundle.clock.advance(hour);
  await bundle.complete(await bundle.lease("orders", { batchSize: 10 }));
  const leases = await beginLeases(bundle, 3);
  expect(served(leases)).toEqual([0, 0, 0]);
  await bundle.clock.advance(second);
  expect(served(leases)).toEqual([1, 1, 0]);
});

test("lease rate: a lease with fewer items than requested leaves the rest to the next", async () => {
  const bundle = await setupQueue({ leaseRate: "5/1m" });
  await bundle.produce("orders", "a", "b");
  const leases = await beginLeases(bundle, 2, 5);
  expect(served(leases)).toEqual([2, 0]);
  await bundle.produceMany("orders", 10);
  expect(served(leases)).toEqual([2, 3]);
});

test("lease rate: a new rate applies from then on", async () => {
  const bundle = await setupQueue({ leaseRate: "1/1h" });
  await bundle.produceMany("orders", 10);
  const leases = await beginLeases(bundle, 4);
  expect(served(leases)).toEqual([1, 0, 0, 0]);
  await update(bundle, { leaseRate: "1/1s" });
  expect(served(leases)).toEqual([1, 1, 0, 0]);
  await bundle.clock.advance(second);
  expect(served(leases)).toEqual([1, 1, 1, 0]);
  await update(bundle, { leaseRate: "" });
  expect(served(leases)).toEqual([1, 1, 1, 1]);
});

test("lease rate: a paused queue is not woken, and continues when it is resumed", async () => {
  const bundle = await setupQueue({ leaseRate: "1/1s" });
  await bundle.produceMany("orders", 3);
  const leases = await beginLeases(bundle, 3);
  await bundle.run(() => bundle.engine.pause({ queue: "orders" }));
  await bundle.clock.advance(minute);
  expect(served(leases)).toEqual([1, 0, 0]);
  await bundle.run(() => bundle.engine.resume("orders"));
  expect(served(leases)).toEqual([1, 1, 0]);
  await bundle.clock.advance(second);
  expect(served(leases)).toEqual([1, 1, 1]);
});
