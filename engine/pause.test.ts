// Pause and resume: after the 200 of a pause nothing is leased, whatever was under way.

import { expect, test } from "bun:test";
import type { QueueSettings } from "./api.ts";
import type { ErrorCode } from "./errors.ts";
import { limits } from "./limits.ts";
import {
  type Bundle,
  day,
  got,
  idsOf,
  minute,
  produceOf,
  type SetupOptions,
  second,
  setup,
  start,
  writtenFirst,
} from "./simulation/bundle.ts";

const done = { ok: true, value: undefined } as const;

async function setupQueue(
  settings: Partial<QueueSettings> = {},
  options: SetupOptions = {},
): Promise<Bundle> {
  const bundle = await setup(options);
  await bundle.createQueue({ name: "orders", ...settings });
  return bundle;
}

const pause = (bundle: Bundle, how: { produce?: boolean; lease?: boolean; reason?: string } = {}) =>
  bundle.run(() => bundle.engine.pause({ queue: "orders", ...how }));

const resume = (bundle: Bundle) => bundle.run(() => bundle.engine.resume("orders"));

const beginProduce = (bundle: Bundle, text: string) =>
  bundle.begin(() => bundle.engine.produce(produceOf("orders", [text])));

const counted = (bundle: Bundle) => bundle.run(() => bundle.engine.inspect("orders"));

/** `orders` is in the second shard, so the catalog's takes a pause while that one is busy or down. */
const apart = { shardCount: 2 };

/** Its shard is busy until `release`. */
async function setupBusy(...stored: string[]): Promise<Bundle> {
  const bundle = await setupQueue({}, apart);
  if (stored.length > 0) await bundle.produce("orders", ...stored);
  bundle.store(1).hold();
  for (const text of ["a", "b"]) await beginProduce(bundle, text);
  return bundle;
}

async function release(bundle: Bundle): Promise<void> {
  bundle.store(1).release();
  await bundle.clock.settle();
}

function failed(code: ErrorCode, message: string) {
  return { ok: false, code, message, details: undefined } as const;
}

test.each([
  [{}, { lease: true, produce: false, reason: "" }],
  [{ produce: true }, { lease: false, produce: true, reason: "" }],
  [
    { lease: true, produce: true },
    { lease: true, produce: true, reason: "" },
  ],
  [
    { lease: true, reason: "moving" },
    { lease: true, produce: false, reason: "moving" },
  ],
])("pause: %j pauses %j, and nothing is paused after a resume", async (how, expected) => {
  const bundle = await setupQueue();
  await pause(bundle, how);
  expect(bundle.engine.queueInfo("orders")).toMatchObject({
    pause: expected,
    updatedAt: start + 1,
  });
  await resume(bundle);
  expect(bundle.engine.queueInfo("orders")).not.toHaveProperty("pause");
  await bundle.produce("orders", "a");
  expect((await bundle.lease("orders")).items).toHaveLength(1);
});

test.each([
  [{ lease: false }, "pause is invalid; expected lease or produce to be true"],
  [{ reason: "r".repeat(501) }, "reason is invalid; cannot be greater than '500' characters"],
  [{ queue: "none" }, "queue does not exist; no such queue named 'none'"],
])("pause: %j is refused", async (how, message) => {
  const bundle = await setupQueue();
  const ending = await bundle.ending(() => bundle.engine.pause({ queue: "orders", ...how }));
  expect(ending).toEqual(failed("invalid", message));
  expect(bundle.engine.queueInfo("orders")).not.toHaveProperty("pause");
});

test("pause: one takes the place of the one before", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  await pause(bundle, { reason: "moving" });
  const waits = await bundle.beginLease("orders");
  expect(waits.ending).toBe(null);
  await pause(bundle, { produce: true });
  expect(got(waits)).toEqual(["a"]);
  expect((await beginProduce(bundle, "b")).ending).toMatchObject({ code: "refused" });
});

test("pause: leases wait until their own time is up, and are told of it", async () => {
  const bundle = await setupQueue();
  const before = await bundle.beginLease("orders", { requestTimeoutMs: minute });
  await pause(bundle, { reason: "moving house" });
  await bundle.produce("orders", "a");
  const after = await bundle.beginLease("orders", { requestTimeoutMs: 2 * minute });
  expect([before.ending, after.ending]).toEqual([null, null]);
  await bundle.clock.advance(minute);
  expect(before.ending).toEqual(failed("empty", "queue is paused; moving house"));
  expect(after.ending).toBe(null);
  await pause(bundle);
  await bundle.clock.advance(minute);
  expect(after.ending).toEqual(
    failed("empty", "queue is paused; nothing is leased until it is resumed"),
  );
  expect(await counted(bundle)).toMatchObject({ queued: 1, leased: 0 });
});

test("resume: the line is served at once, in the order in which it came", async () => {
  const bundle = await setupQueue({ requestedPartitions: 2 });
  const first = await bundle.beginLease("orders");
  await pause(bundle);
  const second = await bundle.beginLease("orders");
  for (const text of ["a", "b"]) await bundle.produce("orders", text);
  const third = await bundle.beginLease("orders");
  await resume(bundle);
  expect([...got(first), ...got(second)].sort()).toEqual(["a", "b"]);
  expect(third.ending).toBe(null);
});

test("pause: a grant on its way to a shard grants nothing once the pause is answered", async () => {
  const turnLimits = { ...limits, turnRequestsMax: 1 };
  const bundle = await setupQueue({ requestedPartitions: 2 }, { ...apart, turnLimits });
  for (const text of ["a", "b"]) await bundle.produce("orders", text);
  bundle.store(1).hold();
  const ahead = [await beginProduce(bundle, "c"), await beginProduce(bundle, "d")];
  const leases: Awaited<ReturnType<Bundle["beginLease"]>>[] = [];
  for (let index = 0; index < 8; index += 1) leases.push(await bundle.beginLease("orders"));
  const paused = await bundle.begin(() => bundle.engine.pause({ queue: "orders" }));
  expect(paused.ending).toBe(null);
  const granted = () => leases.filter(({ ending }) => ending !== null).length;
  await release(bundle);
  expect([...ahead, paused].map(({ ending }) => ending)).toEqual([
    writtenFirst,
    writtenFirst,
    done,
  ]);
  // What was granted before the pause was answered has been told by then.
  const before = granted();
  await bundle.clock.advance(30 * second);
  expect(granted()).toBe(before);
  expect(await counted(bundle)).toMatchObject({ queued: 4 - before, leased: before });
  await resume(bundle);
  expect(leases.map(({ ending }) => ending !== null)).toEqual(leases.map((_, index) => index < 4));
});

test("pause: a lease that comes to its shard with the pause goes back to its place", async () => {
  const bundle = await setupBusy("ready");
  const lease = await bundle.beginLease("orders");
  const paused = await bundle.begin(() => bundle.engine.pause({ queue: "orders" }));
  await release(bundle);
  expect([lease.ending, paused.ending]).toEqual([null, done]);
  const later = await bundle.beginLease("orders", { batchSize: 2 });
  await resume(bundle);
  expect([got(lease), got(later)]).toEqual([["ready"], ["a", "b"]]);
});

test("pause: items that a store granted as it failed go back, untried, when it is open again", async () => {
  const bundle = await setupQueue({}, apart);
  await bundle.produce("orders", "a");
  bundle.store(1).fail({ fault: "failed", applied: true });
  const lease = await bundle.beginLease("orders");
  expect(await bundle.begin(() => bundle.engine.pause({ queue: "orders" }))).toEqual({
    ending: done,
  });
  await bundle.clock.advance(second);
  expect(lease.ending).toBe(null);
  expect(await counted(bundle)).toMatchObject({ queued: 1, leased: 0 });
  await resume(bundle);
  expect(got(lease)).toEqual(["a"]);
  const items = lease.ending?.ok === true ? lease.ending.value.items : [];
  expect(items.map(({ attempts }) => attempts)).toEqual([1]);
});

test("pause: a lease that comes back from its shard keeps its deadline", async () => {
  const bundle = await setupBusy("ready");
  const lease = await bundle.beginLease("orders", { requestTimeoutMs: 2 * second });
  await bundle.begin(() => bundle.engine.pause({ queue: "orders" }));
  await bundle.clock.advance(second);
  await release(bundle);
  await bundle.clock.advance(second - 1);
  expect(lease.ending).toBe(null);
  await bundle.clock.advance(1);
  const message = "queue is paused; nothing is leased until it is resumed";
  expect(lease.ending).toEqual(failed("empty", message));
});

test("pause: a lease that would go along with a produce waits", async () => {
  const bundle = await setupQueue();
  const waits = await bundle.beginLease("orders");
  await pause(bundle);
  await bundle.produce("orders", "a");
  expect(waits.ending).toBe(null);
  expect(await counted(bundle)).toMatchObject({ queued: 1, leased: 0 });
});

test.each([
  ["with the catalog", {}],
  ["in another than the catalog", apart],
])("pause: it outlives a killed process, its queue in a shard %s", async (_, options) => {
  const bundle = await setupQueue({ requestedPartitions: 2 }, options);
  for (const text of ["a", "b"]) await bundle.produce("orders", text);
  await pause(bundle, { lease: true, produce: true, reason: "moving" });
  await bundle.restart();
  const waits = await bundle.beginLease("orders");
  const produced = await beginProduce(bundle, "c");
  expect(waits.ending).toBe(null);
  expect(produced.ending).toEqual(failed("refused", "queue is paused; moving"));
  await resume(bundle);
  expect(got(waits)).toHaveLength(1);
  await bundle.restart();
  await bundle.produce("orders", "c");
});

test("pause: a shard that was down grants nothing when it is up, though it was told otherwise before", async () => {
  const turnLimits = { ...limits, turnRequestsMax: 1 };
  const bundle = await setupQueue({}, { ...apart, turnLimits });
  await bundle.produce("orders", "a", "b", "c");
  const store = bundle.store(1);
  store.openFault = "failed";
  store.fail({ fault: "failed" });
  store.hold();
  await beginProduce(bundle, "d");
  // The shard takes these settings and goes down without an answer; the leases wait behind them.
  const change = { name: "orders", maxAttempts: 3 };
  const updated = await bundle.begin(() => bundle.engine.updateQueue(change));
  const leases: Awaited<ReturnType<Bundle["beginLease"]>>[] = [];
  for (let index = 0; index < 3; index += 1) leases.push(await bundle.beginLease("orders"));
  await release(bundle);
  expect(updated.ending).toMatchObject({ ok: true });
  await pause(bundle);
  store.heal();
  await bundle.clock.advance(2 * limits.restartMsMax);
  expect(await counted(bundle)).toMatchObject({ queued: 4, leased: 0 });
  expect(leases.map(({ ending }) => ending)).toEqual([null, null, null]);
  await resume(bundle);
  expect(leases.map(got)).toEqual([["a"], ["b"], ["c"]]);
});

test("pause: one that the store refuses leaves the queue as it was", async () => {
  const bundle = await setupQueue();
  bundle.store().fail({ fault: "full" });
  const ending = await bundle.ending(() => bundle.engine.pause({ queue: "orders" }));
  expect(ending).toMatchObject({ ok: false, code: "store" });
  expect(bundle.engine.queueInfo("orders")).not.toHaveProperty("pause");
  await bundle.produce("orders", "a");
  expect((await bundle.lease("orders")).items).toHaveLength(1);
});

test("pause: a produce that comes to its shard with the pause writes nothing", async () => {
  const bundle = await setupBusy();
  const produced = await beginProduce(bundle, "c");
  const how = { queue: "orders", produce: true, reason: "moving" };
  const paused = await bundle.begin(() => bundle.engine.pause(how));
  expect([produced.ending, paused.ending]).toEqual([null, null]);
  await release(bundle);
  expect(produced.ending).toEqual(failed("refused", "queue is paused; moving"));
  expect(paused.ending).toEqual(done);
  expect(await bundle.listed("orders")).toEqual(["a"]);
});

test("pause: a produce is refused, also by a shard that does not answer", async () => {
  const bundle = await setupQueue();
  await pause(bundle, { produce: true });
  bundle.store().hold();
  await bundle.begin(() => bundle.engine.clear({ ...nothing, scheduled: true }));
  expect((await beginProduce(bundle, "a")).ending).toEqual(
    failed("refused", "queue is paused; it takes no items until it is resumed"),
  );
});

const nothing = {
  queue: "orders",
  ready: false,
  scheduled: false,
  retried: false,
  destructive: false,
};

test("pause: time goes on; items fall due, lapse, expire and go to the dead queue", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "dead" });
  await bundle.createQueue({ name: "orders", deadQueue: "dead", expireTimeoutMs: 10 * minute });
  await bundle.produce("orders", "leased");
  await bundle.lease("orders");
  const later = produceOf("orders", ["later"], start + minute);
  await bundle.run(() => bundle.engine.produce(later));
  await pause(bundle, { lease: true, produce: true });
  expect(await counted(bundle)).toMatchObject({ leased: 1, scheduled: 1, queued: 0 });
  await bundle.clock.advance(minute);
  expect(await counted(bundle)).toMatchObject({ leased: 0, scheduled: 0, queued: 2 });
  await bundle.clock.advance(11 * minute);
  expect(await bundle.listed("dead")).toEqual(["leased", "later"]);
});

test("pause: who holds items may complete, retry, extend and release them, and items are imported", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b", "c", "d");
  const leases = [];
  for (let index = 0; index < 4; index += 1) leases.push(await bundle.lease("orders"));
  await pause(bundle, { lease: true, produce: true });
  const [a, b, c, d] = leases.map(({ items }) => idsOf(items));
  const held = (ids: string[] | undefined) => ({
    queue: "orders",
    partition: 0,
    ids: ids as string[],
  });
  await bundle.run(() => bundle.engine.complete({ ...held(a), requestTimeoutMs: minute }));
  const items = [{ id: b?.[0] as string, retryAt: null, dead: false }];
  await bundle.run(() => bundle.engine.retry({ queue: "orders", partition: 0, items }));
  await bundle.run(() => bundle.engine.extend({ ...held(c), leaseTimeoutMs: day }));
  await bundle.run(() => bundle.engine.release(held(d)));
  const imported = { queue: "orders", partition: 0, items: [{ payload: "e" }] };
  await bundle.run(() => bundle.engine.importItems(imported));
  expect(await bundle.listed("orders")).toEqual(["c", "b", "d", "e"]);
  expect(await counted(bundle)).toMatchObject({ queued: 3, leased: 1 });
});

test("update: what is paused stays paused", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  await pause(bundle, { reason: "moving" });
  await bundle.run(() =>
    bundle.engine.updateQueue({ name: "orders", maxAttempts: 3, requestedPartitions: 2 }),
  );
  const { pause: paused } = bundle.engine.queueInfo("orders");
  expect(paused).toEqual({ lease: true, produce: false, reason: "moving" });
  expect((await bundle.beginLease("orders")).ending).toBe(null);
});

test("delete: who waits on a paused queue is told that it is gone", async () => {
  const bundle = await setupQueue();
  await pause(bundle);
  const waits = await bundle.beginLease("orders");
  await bundle.run(() => bundle.engine.deleteQueue({ name: "orders", force: true }));
  expect(waits.ending).toMatchObject({ code: "refused" });
  await bundle.createQueue({ name: "orders" });
  expect(bundle.engine.queueInfo("orders")).not.toHaveProperty("pause");
});
