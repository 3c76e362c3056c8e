// Pause and resume: after the 200 of a pause nothing is leased, even by calls in progress.

import { expect, test } from "bun:test";
import type { QueueSettings } from "./model/api.ts";
import type { ErrorCode } from "./model/errors.ts";
import { limits } from "./model/limits.ts";
import {
  type Bundle,
  day,
  got,
  idsOf,
  minute,
  nameIn,
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

/**
 * The shard is busy until `release`. Then it commits the pause. Calls that began by then reach it
 * together with the pause.
 */
async function setupBusy(how: { produce?: boolean; reason?: string }, ...stored: string[]) {
  const bundle = await setupQueue({}, { turnLimits: { ...limits, turnRequestsMax: 2 } });
  await bundle.createQueue({ name: "other" });
  if (stored.length > 0) await bundle.produce("orders", ...stored);
  bundle.store().hold();
  const keepBusy = () => bundle.begin(() => bundle.engine.produce(produceOf("other", ["x"])));
  await keepBusy();
  const paused = await bundle.begin(() => bundle.engine.pause({ queue: "orders", ...how }));
  for (let count = 0; count < 3; count += 1) await keepBusy();
  return { bundle, paused };
}

async function release(bundle: Bundle): Promise<void> {
  bundle.store().release();
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

test("pause: a pause replaces the previous one", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  await pause(bundle, { reason: "moving" });
  const waits = await bundle.beginLease("orders");
  expect(waits.ending).toBe(null);
  await pause(bundle, { produce: true });
  expect(got(waits)).toEqual(["a"]);
  expect((await beginProduce(bundle, "b")).ending).toMatchObject({ code: "refused" });
});

test("pause: leases wait until their deadline, and report the reason", async () => {
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

test("resume: the line is served at once, in order of arrival", async () => {
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

test("pause: once the pause is answered, no earlier request is granted items", async () => {
  const turnLimits = { ...limits, turnRequestsMax: 1 };
  const bundle = await setupQueue({ requestedPartitions: 2 }, { turnLimits });
  for (const text of ["a", "b"]) await bundle.produce("orders", text);
  bundle.store().hold();
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
  // Everything granted before the reply to the pause has been delivered by then.
  const before = granted();
  await bundle.clock.advance(30 * second);
  expect(granted()).toBe(before);
  expect(await counted(bundle)).toMatchObject({ queued: 4 - before, leased: before });
  await resume(bundle);
  expect(leases.map(({ ending }) => ending !== null)).toEqual(leases.map((_, index) => index < 4));
});

test("pause: a lease that reaches its shard with the pause returns to its place", async () => {
  const { bundle, paused } = await setupBusy({}, "a", "b", "c");
  const lease = await bundle.beginLease("orders");
  await release(bundle);
  expect([lease.ending, paused.ending]).toEqual([null, done]);
  const later = await bundle.beginLease("orders", { batchSize: 2 });
  await resume(bundle);
  expect([got(lease), got(later)]).toEqual([["a"], ["b", "c"]]);
});

test("pause: items that a store granted in the same turn and reported after reopening are released", async () => {
  const turnLimits = { ...limits, turnRequestsMax: 1, secondTurnWeightMin: 1 };
  const bundle = await setupQueue({}, { turnLimits });
  await bundle.produce("orders", "a");
  const store = bundle.store();
  const { clock } = bundle;
  store.syncsLater = { nextTick: (run) => clock.nextTick(run), copy: () => () => undefined };
  store.holdSync();
  const paused = await bundle.begin(() => bundle.engine.pause({ queue: "orders" }));
  const lease = await bundle.beginLease("orders");
  store.fail({ fault: "failed", sync: "kept" });
  store.openFault = "failed";
  store.release();
  await clock.settle();
  expect([paused.ending, lease.ending]).toEqual([done, null]);
  store.heal();
  await clock.advance(second);
  expect(lease.ending).toBe(null);
});

test("pause: a lease that returns from its shard keeps its deadline", async () => {
  const { bundle } = await setupBusy({}, "a");
  const lease = await bundle.beginLease("orders", { requestTimeoutMs: 2 * second });
  await bundle.clock.advance(second);
  await release(bundle);
  await bundle.clock.advance(second - 1);
  expect(lease.ending).toBe(null);
  await bundle.clock.advance(1);
  const message = "queue is paused; nothing is leased until it is resumed";
  expect(lease.ending).toEqual(failed("empty", message));
});

test("pause: a lease that would share a turn with a produce waits", async () => {
  const bundle = await setupQueue();
  const waits = await bundle.beginLease("orders");
  await pause(bundle);
  await bundle.produce("orders", "a");
  expect(waits.ending).toBe(null);
  expect(await counted(bundle)).toMatchObject({ queued: 1, leased: 0 });
});

test("pause: survives a killed process", async () => {
  const bundle = await setupQueue({ requestedPartitions: 2 });
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

test("pause: a shard that was down sends nothing to the queue when it is up", async () => {
  const bundle = await setupQueue({}, { shardCount: 2 });
  const mails = nameIn(0, 2, "mails");
  await bundle.createQueue({ name: mails });
  const how = { queue: mails, produce: true };
  await bundle.run(() => bundle.engine.pause(how));
  await bundle.produce("orders", "a");
  const { queue, partition, items } = await bundle.lease("orders");
  const store = bundle.store(1);
  store.openFault = "failed";
  store.fail({ fault: "failed" });
  store.hold();
  await beginProduce(bundle, "b");
  // The shard receives the resume and goes down without an answer; the call waits in its inbox.
  const resumed = await bundle.begin(() => bundle.engine.resume(mails));
  const transacted = await bundle.begin(() =>
    bundle.engine.transact({
      complete: [{ queue, partition, ids: idsOf(items) }],
      produce: [{ queue: mails, items: [{ payload: "x" }] }],
      requestTimeoutMs: minute,
    }),
  );
  expect([resumed.ending, transacted.ending]).toEqual([null, null]);
  store.release();
  await bundle.clock.settle();
  expect(resumed.ending).toEqual(done);
  await bundle.run(() => bundle.engine.pause(how));
  store.heal();
  await bundle.clock.advance(2 * limits.restartMsMax);
  const message = "queue is paused; it takes no items until it is resumed";
  expect(transacted.ending).toMatchObject(failed("refused", message));
  expect(await counted(bundle)).toMatchObject({ queued: 1, leased: 1 });
  expect(await bundle.listed(mails)).toEqual([]);
});

test("pause: a pause that the store refuses leaves the queue as it was", async () => {
  const bundle = await setupQueue();
  bundle.store().fail({ fault: "full", sticky: true });
  const ending = await bundle.ending(() => bundle.engine.pause({ queue: "orders" }));
  expect(ending).toMatchObject({ ok: false, code: "store" });
  expect(bundle.engine.queueInfo("orders")).not.toHaveProperty("pause");
  bundle.store().heal();
  await bundle.clock.advance(2 * second);
  await bundle.produce("orders", "a");
  expect((await bundle.lease("orders")).items).toHaveLength(1);
});

test("pause: a produce that reaches its shard with the pause writes nothing", async () => {
  const { bundle, paused } = await setupBusy({ produce: true, reason: "moving" });
  const produced = await beginProduce(bundle, "a");
  expect([produced.ending, paused.ending]).toEqual([null, null]);
  await release(bundle);
  expect(produced.ending).toEqual(failed("refused", "queue is paused; moving"));
  expect(paused.ending).toEqual(done);
  expect(await bundle.listed("orders")).toEqual([]);
});

test("pause: a produce is refused, even by a shard that does not answer", async () => {
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

test("pause: items still become due, lapse, expire and go to the dead queue", async () => {
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

test("pause: holders can complete, retry, extend and release, and items can be imported", async () => {
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

test("update: a paused queue stays paused", async () => {
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

test("delete: a lease waiting on a paused queue reports that the queue is deleted", async () => {
  const bundle = await setupQueue();
  await pause(bundle);
  const waits = await bundle.beginLease("orders");
  await bundle.run(() => bundle.engine.deleteQueue({ name: "orders", force: true }));
  expect(waits.ending).toMatchObject({ code: "refused" });
  await bundle.createQueue({ name: "orders" });
  expect(bundle.engine.queueInfo("orders")).not.toHaveProperty("pause");
});
