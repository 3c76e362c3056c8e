// Cancel: unfinished items are removed by id, in any state and partition, and the reply says what
// each was.

import { expect, test } from "bun:test";
import type { CancelledState, QueueSettings } from "./model/api.ts";
import { limits } from "./model/limits.ts";
import {
  type Bundle,
  hour,
  idsOf,
  minute,
  second,
  setup,
  start,
  textsOf,
} from "./simulation/bundle.ts";

async function setupQueue(settings: Partial<QueueSettings> = {}): Promise<Bundle> {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: minute, ...settings });
  return bundle;
}

/** The ids of new items, one per text. */
async function produced(bundle: Bundle, texts: readonly string[], how: object = {}) {
  const items = texts.map((payload) => ({ payload, ...how }));
  const request = { queue: "orders", requestTimeoutMs: minute, returnIds: true, items };
  return (await bundle.run(() => bundle.engine.produce(request))).ids ?? [];
}

function cancel(bundle: Bundle, ids: readonly string[], more: object = {}) {
  const request = { queue: "orders", ids, ...more };
  return bundle.ending(() => bundle.engine.cancelItems(request));
}

const told = (ids: readonly string[], was: readonly CancelledState[], replayed = false) => ({
  ok: true as const,
  value: { replayed, items: ids.map((id, index) => ({ id, was: was[index] ?? "not_found" })) },
});

const strange = "0".repeat(27);

test("cancel: items in any state and partition are removed, and each is reported", async () => {
  const bundle = await setupQueue({ requestedPartitions: 3 });
  const ready = (await Promise.all(["a", "b", "c"].map((text) => produced(bundle, [text])))).flat();
  const urgent = await produced(bundle, ["d"], { priority: 5 });
  const [scheduled = ""] = await produced(bundle, ["e"], { enqueueAt: start + hour });
  const lease = await bundle.lease("orders", { batchSize: 1 });
  expect(textsOf(lease.items)).toEqual(["d"]);
  const retried = await bundle.lease("orders");
  await bundle.retry(retried, { retryAt: start + hour });
  const list = { queue: "orders", partition: retried.partition, pivot: "", limit: 9 };
  const waiting = await bundle.run(() => bundle.engine.listScheduled(list));
  const again = idsOf(waiting.filter(({ id }) => id !== scheduled));
  const left = ready.filter((id) => id !== retried.items[0]?.id);
  const ids = [...left, ...urgent, scheduled, ...again, strange, left[0] ?? ""];
  const was = ["ready", "ready", "leased", "scheduled", "retried"] as const;
  expect(await cancel(bundle, ids)).toEqual(told(ids, was));
  expect(bundle.engine.status().queues[0]).toMatchObject({ queued: 0, leased: 0, scheduled: 0 });
  expect(await bundle.complete(lease)).toMatchObject({ code: "refused" });
  expect(await cancel(bundle, ids)).toEqual(told(ids, []));
});

test("cancel: the holder's next extend and retry are refused, and other items stay leased", async () => {
  const bundle = await setupQueue();
  await produced(bundle, ["a", "b"]);
  const lease = await bundle.lease("orders", { batchSize: 2 });
  const [a = "", b = ""] = idsOf(lease.items);
  expect(await cancel(bundle, [a])).toEqual(told([a], ["leased"]));
  const held = { queue: "orders", partition: lease.partition };
  const extend = (id: string) => bundle.ending(() => bundle.engine.extend({ ...held, ids: [id] }));
  expect(await extend(a)).toMatchObject({ code: "refused" });
  expect(await extend(b)).toMatchObject({ ok: true });
  expect(await bundle.retry({ ...lease, items: lease.items.slice(0, 1) })).toMatchObject({
    code: "refused",
  });
  await bundle.clock.advance(2 * minute);
  expect(await bundle.listed("orders")).toEqual(["b"]);
});

test("cancel: ids of another queue, of finished items, and former ids are not found", async () => {
  const bundle = await setupQueue();
  await bundle.createQueue({ name: "other" });
  await bundle.produce("other", "x");
  const other = idsOf((await bundle.lease("other")).items);
  const [a = "", b = ""] = await produced(bundle, ["a", "b"]);
  await bundle.complete(await bundle.lease("orders"));
  await bundle.retry(await bundle.lease("orders"));
  const ids = [...other, a, b];
  expect(await cancel(bundle, ids)).toEqual(told(ids, []));
  expect(await bundle.listed("other")).toEqual(["x"]);
  expect(await bundle.listed("orders")).toEqual(["b"]);
});

test("cancel: a repetition with the same key gets the first answer, also after a restart", async () => {
  const bundle = await setupQueue();
  const ids = [...(await produced(bundle, ["a"])), strange];
  const key = { requestKey: "k" };
  expect(await cancel(bundle, ids, key)).toEqual(told(ids, ["ready"]));
  expect(await cancel(bundle, ids, key)).toEqual(told(ids, ["ready"], true));
  await bundle.restart();
  expect(await cancel(bundle, ids, key)).toEqual(told(ids, ["ready"], true));
  expect(await cancel(bundle, [strange], key)).toMatchObject({ code: "invalid" });
});

test("cancel: a complete of the same turn comes first", async () => {
  const bundle = await setupQueue();
  await produced(bundle, ["a"]);
  const { partition, items } = await bundle.lease("orders");
  const ids = idsOf(items);
  const complete = { queue: "orders", partition, ids, requestTimeoutMs: minute };
  const [cancelled, completed] = await bundle.run(() =>
    Promise.all([
      bundle.engine.cancelItems({ queue: "orders", ids }),
      bundle.engine.complete(complete),
    ]),
  );
  expect(cancelled.items).toMatchObject([{ was: "not_found" }]);
  expect(completed).toEqual({ replayed: false });
});

test("cancel: a waiting lease is served once cancelled items no longer count as leased", async () => {
  const bundle = await setupQueue({ leasedMax: 1 });
  await produced(bundle, ["a", "b"]);
  const ids = idsOf((await bundle.lease("orders")).items);
  const waits = await bundle.beginLease("orders");
  await cancel(bundle, ids);
  await bundle.clock.settle();
  expect(waits.ending).toMatchObject({ ok: true });
});

test("cancel: the history of an item says that it was removed", async () => {
  const bundle = await setup({ turnLimits: { ...limits, historyBytes: 1_000_000 } });
  await bundle.createQueue({ name: "orders" });
  const [id = ""] = await produced(bundle, ["a"]);
  await cancel(bundle, [id]);
  const { history } = await bundle.run(() => bundle.engine.explainItem(id));
  expect(history.map(({ kind }) => kind)).toEqual(["produced", "removed"]);
});

test("cancel: an unknown outcome is looked up", async () => {
  const bundle = await setupQueue();
  const ids = await produced(bundle, ["a"]);
  bundle.store().fail({ fault: "failed", applied: true });
  const started = await bundle.begin(() => bundle.engine.cancelItems({ queue: "orders", ids }));
  await bundle.clock.advance(second);
  expect(started.ending).toEqual(told(ids, ["ready"]));
});

test.each([
  [[], "ids is invalid; list of ids cannot be empty"],
  [["x"], "invalid storage id; 'x': Valid encoded KSUIDs are 27 characters"],
  [
    Array.from({ length: 1_001 }, () => strange),
    "ids is invalid; max_complete_batch_size is 1000 but received 1001",
  ],
])("cancel: bad ids are refused", async (ids, message) => {
  const bundle = await setupQueue();
  expect(await cancel(bundle, ids)).toMatchObject({ code: "invalid", message });
});

test("cancel: a call that is too late has no effect", async () => {
  const bundle = await setupQueue();
  const ids = await produced(bundle, ["a"]);
  bundle.store().hold();
  await bundle.begin(() =>
    bundle.engine.produce({ queue: "orders", items: [{ payload: "b" }], requestTimeoutMs: minute }),
  );
  const late = await bundle.begin(() =>
    bundle.engine.cancelItems({ queue: "orders", ids, requestTimeoutMs: second }),
  );
  await bundle.clock.advance(2 * second);
  expect(late.ending).toMatchObject({ code: "empty" });
  bundle.store().release();
  await bundle.clock.settle();
  expect(await bundle.listed("orders")).toEqual(["a", "b"]);
});
