import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import type { QueueSettings } from "./model/api.ts";
import { limits } from "./model/limits.ts";
import {
  day,
  got,
  hour,
  idsOf,
  minute,
  produceOf,
  second,
  setup,
  start,
  textsOf,
} from "./simulation/bundle.ts";

const wholeList = { queue: "orders", partition: 0, pivot: "", limit: 100 };
const unknown = {
  ok: false,
  code: "unknown",
  message: "request timeout; it may be done or not",
  details: undefined,
} as const;

async function setupQueue(settings: Partial<QueueSettings> = {}) {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", ...settings });
  return bundle;
}

test.each([
  [{ queue: "none" }, "queue does not exist; no such queue named 'none'"],
  [{ clientId: " " }, "invalid client id; cannot be empty"],
  [{ batchSize: 0 }, "invalid batch size; must be greater than zero"],
  [
    { batchSize: 1_001 },
    "invalid batch size; max_lease_batch_size is 1000, but 1001 was requested",
  ],
  [{ batchSize: 1.5 }, "batch size is invalid; expected a whole number, got 1.5"],
  [{ requestTimeoutMs: 0 }, "request timeout is required; '1m' is recommended, 15m is the maximum"],
  [
    { requestTimeoutMs: 15 * minute + 1 },
    "request timeout is invalid; maximum timeout is '15m' but '15m0.001s' was requested",
  ],
] as const)("lease: %j is refused", async (change, message) => {
  const bundle = await setupQueue();
  const request = { ...bundle.leaseOf("orders"), ...change };
  const ending = await bundle.ending(() => bundle.engine.lease(request));
  expect(ending).toEqual({ ok: false, code: "invalid", message, details: undefined });
});

test("lease: a waiting client cannot lease again, an answered one can", async () => {
  const bundle = await setupQueue();
  const first = await bundle.beginLease("orders", { clientId: "me" });
  const later = await bundle.beginLease("orders", { clientId: "me" });
  expect(later.ending).toMatchObject({
    code: "invalid",
    message: "duplicate client id; a client cannot make multiple leased requests to the same queue",
  });
  await bundle.createQueue({ name: "other" });
  expect((await bundle.beginLease("other", { clientId: "me" })).ending).toBe(null);
  await bundle.produce("orders", "a", "b");
  expect(got(first)).toEqual(["a"]);
  expect(textsOf((await bundle.lease("orders", { clientId: "me" })).items)).toEqual(["b"]);
});

test("lease: in queue order, each item to one holder, until the lease deadline", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b", "c");
  const first = await bundle.lease("orders", { batchSize: 2 });
  expect(textsOf(first.items)).toEqual(["a", "b"]);
  expect(textsOf((await bundle.lease("orders", { batchSize: 2 })).items)).toEqual(["c"]);
  const waits = await bundle.beginLease("orders", { requestTimeoutMs: 5 * minute });
  await bundle.clock.advance(minute - 1);
  expect(waits.ending).toBe(null);
  await bundle.clock.advance(1);
  expect(got(waits)).toEqual(["a"]);
  expect(waits.ending).toMatchObject({ value: { items: [{ attempts: 2 }] } });
});

test("lease: without items it is answered at the request's deadline, not earlier", async () => {
  const bundle = await setupQueue();
  const started = await bundle.beginLease("orders", { requestTimeoutMs: second });
  await bundle.clock.advance(second - 1);
  expect(started.ending).toBe(null);
  await bundle.clock.advance(1);
  expect(started.ending).toEqual({
    ok: false,
    code: "empty",
    message: "request timeout; no items are in the queue, try again",
    details: undefined,
  });
  await bundle.produce("orders", "a");
  expect(await bundle.run(() => bundle.engine.inspect("orders"))).toMatchObject({ queued: 1 });
});

test("lease: a grant at its deadline is answered, and the order is kept", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b");
  const before = await bundle.run(() => bundle.engine.listItems(wholeList));
  bundle.store().hold();
  const first = await bundle.beginLease("orders", { requestTimeoutMs: second });
  await bundle.clock.advance(2 * second);
  expect(first.ending).toBe(null);
  bundle.store().release();
  await bundle.clock.settle();
  expect(got(first)).toEqual(["a"]);
  expect(got(await bundle.beginLease("orders"))).toEqual(["b"]);
  const after = await bundle.run(() => bundle.engine.listItems(wholeList));
  expect(idsOf(after)).toEqual(idsOf(before));
});

test("lease: a lease answered 454 has moved nothing, whichever turn decides it", async () => {
  const bundle = await setupQueue({ leaseRate: "2/1m" });
  await bundle.produce("orders", "a", "b");
  const before = await bundle.run(() => bundle.engine.listItems(wholeList));
  bundle.store().hold();
  const produced = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["c"])));
  const late = await bundle.beginLease("orders", { batchSize: 300, requestTimeoutMs: second });
  await bundle.clock.advance(2 * second);
  bundle.store().release();
  await bundle.clock.settle();
  expect(produced.ending).toMatchObject({ ok: true });
  expect(late.ending).toMatchObject({ ok: false, code: "empty" });
  const after = await bundle.run(() => bundle.engine.listItems(wholeList));
  expect(idsOf(after.slice(0, 2))).toEqual(idsOf(before));
  expect(got(await bundle.beginLease("orders", { batchSize: 2 }))).toEqual(["a", "b"]);
});

test("lease: if the store stalls past the deadline the outcome is unknown, and a grant is released", async () => {
  const bundle = await setupQueue({ leaseRate: "1/1h" });
  await bundle.produce("orders", "a");
  bundle.store().hold();
  const started = await bundle.beginLease("orders", { requestTimeoutMs: second });
  await bundle.clock.advance(second + limits.leaseStallMsMax - 1);
  expect(started.ending).toBe(null);
  await bundle.clock.advance(1);
  expect(started.ending).toEqual(unknown);
  bundle.store().release();
  await bundle.clock.settle();
  expect(await bundle.lease("orders")).toMatchObject({ items: [{ attempts: 1 }] });
});

test("lease: a lease granted by a failing store gets its items when the store is open again", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  bundle.store().fail({ fault: "failed", applied: true });
  const started = await bundle.beginLease("orders", { requestTimeoutMs: 30 * second });
  expect(started.ending).toBe(null);
  await bundle.clock.advance(second);
  expect(got(started)).toEqual(["a"]);
});

test.each([
  { batches: [20, 6, 1], items: 23, expected: [16, 6, 1] },
  { batches: [2, 2, 2, 2, 2], items: 10, expected: [2, 2, 2, 2, 2] },
  { batches: [10, 10, 10], items: 4, expected: [2, 1, 1] },
])("lease: waiting clients get $items items for batches $batches", async (row) => {
  const bundle = await setupQueue();
  const waiting = [];
  for (const batchSize of row.batches)
    waiting.push(await bundle.beginLease("orders", { batchSize }));
  await bundle.produceMany("orders", row.items);
  expect(waiting.map((started) => got(started).length)).toEqual([...row.expected]);
  expect(got(waiting[0] as (typeof waiting)[0])[0]).toBe("0");
});

test("lease: a waiting lease is served by the commit that writes the items, in order of arrival", async () => {
  const bundle = await setupQueue();
  const waiting = [await bundle.beginLease("orders"), await bundle.beginLease("orders")];
  const before = bundle.store().commits;
  await bundle.produceMany("orders", 3);
  expect(bundle.store().commits).toBe(before + 1);
  expect(waiting.flatMap((started) => got(started))).toEqual(["0", "1"]);
  await bundle.restart();
  expect(await bundle.lease("orders", { batchSize: 10 })).toMatchObject({ items: [{}] });
});

test("lease: a waiting lease is not served with items that are not due", async () => {
  const bundle = await setupQueue();
  const waiting = await bundle.beginLease("orders");
  const item = { payload: "later", enqueueAt: bundle.clock.now() + 10 * second };
  await bundle.run(() =>
    bundle.engine.produce({ queue: "orders", requestTimeoutMs: minute, items: [item] }),
  );
  expect(waiting.ending).toBe(null);
  await bundle.clock.advance(10 * second);
  expect(got(waiting)).toEqual(["later"]);
});

test("lease: a lease in the turn of a refused produce keeps its place", async () => {
  const bundle = await setupQueue();
  const first = await bundle.beginLease("orders");
  bundle.store().fail({ fault: "full" });
  await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["refused"])));
  const second = await bundle.beginLease("orders");
  expect([first.ending, second.ending]).toEqual([null, null]);
  bundle.store().heal();
  await bundle.clock.advance(5_000);
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["written"])));
  expect(got(first)).toEqual(["written"]);
  expect(second.ending).toBe(null);
});

test("lease: five clients waiting on five partitions share the ten items of one produce", async () => {
  const bundle = await setupQueue({ requestedPartitions: 5 });
  const waiting = [];
  for (let client = 0; client < 5; client += 1) {
    waiting.push(await bundle.beginLease("orders", { batchSize: 10 }));
  }
  await bundle.produceMany("orders", 10);
  expect(waiting.map((started) => got(started).length)).toEqual([2, 2, 2, 2, 2]);
});

test("lease: from the partition with most ready items, one partition per lease", async () => {
  const bundle = await setupQueue({ requestedPartitions: 2 });
  for (let call = 0; call < 5; call += 1) await bundle.produceMany("orders", 10);
  const partitions = [];
  for (const batchSize of [5, 10, 20]) {
    const { partition, items } = await bundle.lease("orders", { batchSize });
    partitions.push([partition, items.length]);
  }
  expect(partitions).toEqual([
    [0, 5],
    [0, 10],
    [1, 20],
  ]);
});

test("lease: waiting leases are served in order of arrival", async () => {
  const bundle = await setupQueue();
  const first = await bundle.beginLease("orders");
  const later = await bundle.beginLease("orders");
  await bundle.produce("orders", "a");
  expect([got(first), later.ending]).toEqual([["a"], null]);
  await bundle.produce("orders", "b");
  expect(got(later)).toEqual(["b"]);
});

test.each([
  "produce",
  "retry",
  "lapse",
  "due",
  "retry that comes due",
  "import",
  "release",
] as const)("lease: a waiting lease is woken by %s", async (by) => {
  const bundle = await setupQueue();
  const wait = () => bundle.beginLease("orders", { requestTimeoutMs: 10 * minute });
  if (by === "produce") {
    const waits = await wait();
    await bundle.produce("orders", "a");
    expect(got(waits)).toEqual(["a"]);
    return;
  }
  if (by === "import") {
    const waits = await wait();
    const items = [{ payload: "a" }];
    await bundle.run(() => bundle.engine.importItems({ queue: "orders", partition: 0, items }));
    expect(got(waits)).toEqual(["a"]);
    return;
  }
  if (by === "due") {
    await bundle.run(() => bundle.engine.produce(produceOf("orders", ["a"], start + hour / 60)));
    const waits = await wait();
    expect(waits.ending).toBe(null);
    await bundle.clock.advance(minute);
    expect(got(waits)).toEqual(["a"]);
    return;
  }
  await bundle.produce("orders", "a");
  if (by === "release") {
    const abort = new AbortController();
    bundle.store().hold();
    await bundle.beginLease("orders", { signal: abort.signal });
    abort.abort();
    const waits = await wait();
    bundle.store().release();
    await bundle.clock.settle();
    expect(got(waits)).toEqual(["a"]);
    return;
  }
  const lease = await bundle.lease("orders");
  const waits = await wait();
  if (by === "retry") await bundle.retry(lease);
  else if (by === "lapse") await bundle.clock.advance(minute);
  else {
    await bundle.retry(lease, { retryAt: start + second });
    expect(waits.ending).toBe(null);
    await bundle.clock.advance(second);
  }
  expect(got(waits)).toEqual(["a"]);
});

test("lease: a client that disconnects leaves the line and gets nothing", async () => {
  const bundle = await setupQueue();
  const abort = new AbortController();
  const gone = await bundle.beginLease("orders", { signal: abort.signal });
  const stays = await bundle.beginLease("orders");
  abort.abort();
  expect((await bundle.run(() => bundle.engine.stats("orders"))).leaseWaiting).toBe(1);
  await bundle.produce("orders", "a");
  expect(gone.ending).toMatchObject({ ok: false, code: "empty" });
  expect(got(stays)).toEqual(["a"]);
});

test("lease: a lease whose client has already disconnected takes nothing", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  const ending = (await bundle.beginLease("orders", { signal: AbortSignal.abort() })).ending;
  expect(ending).toMatchObject({ ok: false, code: "empty" });
  expect(await bundle.lease("orders")).toMatchObject({ items: [{ attempts: 1 }] });
});

test("lease: a disconnected client may lease again while its first lease is at the store", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b");
  bundle.store().hold();
  const abort = new AbortController();
  const change = { signal: abort.signal, clientId: "one" };
  const gone = await bundle.beginLease("orders", change);
  expect((await bundle.beginLease("orders", { clientId: "one" })).ending).toMatchObject({
    ok: false,
    code: "invalid",
  });
  abort.abort();
  const back = await bundle.beginLease("orders", { clientId: "one" });
  bundle.store().release();
  await bundle.clock.settle();
  expect(gone.ending).toMatchObject({ ok: false, code: "empty" });
  expect(got(back)).toEqual(["b"]);
  expect(await bundle.lease("orders")).toMatchObject({ items: [{ attempts: 1 }] });
});

test("lease: a grant after the disconnection is released, and counts neither as an attempt nor for the rate", async () => {
  const bundle = await setupQueue({ maxAttempts: 1, leaseRate: "2/1h" });
  await bundle.produce("orders", "a", "b");
  bundle.store().hold();
  const abort = new AbortController();
  const gone = await bundle.beginLease("orders", { signal: abort.signal, batchSize: 2 });
  abort.abort();
  bundle.store().release();
  await bundle.clock.settle();
  expect(gone.ending).toMatchObject({ ok: false, code: "empty" });
  const lease = await bundle.lease("orders", { batchSize: 2 });
  expect(textsOf(lease.items)).toEqual(["a", "b"]);
  expect(lease.items.map(({ attempts }) => attempts)).toEqual([1, 1]);
});

test("lease: leases beyond the bound are refused because the line is full", async () => {
  const bundle = await setup({ waitingLeasesMax: 2 });
  await bundle.createQueue({ name: "orders" });
  await bundle.beginLease("orders");
  await bundle.beginLease("orders");
  expect((await bundle.beginLease("orders")).ending).toEqual({
    ok: false,
    code: "full",
    message: "too many leases wait; there cannot be more than 2",
    details: undefined,
  });
});

test("lease: a full line of one queue does not keep leases from ready items of another", async () => {
  const bundle = await setup({ waitingLeasesMax: 1 });
  await bundle.createQueue({ name: "orders" });
  await bundle.createQueue({ name: "letters" });
  await bundle.beginLease("orders");
  await bundle.produce("letters", "a");
  expect(textsOf((await bundle.lease("letters")).items)).toEqual(["a"]);
});

test("lease: a requeued item keeps its creation time and gets a new id", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  const ids: string[] = [];
  for (let round = 1; round <= 4; round += 1) {
    const lease = await bundle.lease("orders");
    expect(lease.items[0]?.attempts).toBe(round);
    ids.push(...idsOf(lease.items));
    if (round % 2 === 0) await bundle.retry(lease);
    else await bundle.clock.advance(minute);
  }
  expect(ids).toEqual([...new Set(ids)].sort());
  const request = { queue: "orders", partition: 0, pivot: "", limit: 1 };
  const [item] = await bundle.run(() => bundle.engine.listItems(request));
  expect(item).toMatchObject({ createdAt: start, expireDeadline: start + day, attempts: 4 });
});

test("lease: a lease survives a restart, and its items are offered to no other client", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  await bundle.restart();
  const waits = await bundle.beginLease("orders", { requestTimeoutMs: 5 * minute });
  await bundle.clock.advance(minute - 1);
  expect(waits.ending).toBe(null);
  expect(await bundle.complete(lease)).toMatchObject({ ok: true });
  await bundle.clock.advance(hour);
  expect(waits.ending).toMatchObject({ ok: false, code: "empty" });
});

test("lease: memory keeps nothing of ended leases while one item stays leased", async () => {
  const bundle = await setupQueue({ leaseTimeoutMs: hour });
  await bundle.produce("orders", "held");
  await bundle.lease("orders");
  const cycle = async (count: number) => {
    for (let round = 0; round < count; round += 1) {
      await bundle.produce("orders", "a");
      await bundle.complete(await bundle.lease("orders", { clientId: "me" }));
    }
    Bun.gc(true);
    return heapStats().objectTypeCounts["Object"] ?? 0;
  };
  const before = await cycle(500);
  expect((await cycle(2_000)) - before).toBeLessThan(1_000);
});
