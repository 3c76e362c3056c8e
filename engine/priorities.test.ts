// Priorities of items: what is leased first, aging, reserved leases, and that an item keeps its
// priority wherever it goes.

import { expect, test } from "bun:test";
import type { LeasedItem, ProduceItem, QueueSettings } from "./model/api.ts";
import { never } from "./model/duration.ts";
import {
  type Bundle,
  deadPlacements,
  hour,
  minute,
  type SetupOptions,
  second,
  setup,
  start,
  textsOf,
} from "./simulation/bundle.ts";

async function setupQueue(options: SetupOptions & Partial<QueueSettings> = {}) {
  const bundle = await setup(options);
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: minute, ...options });
  return bundle;
}

/** `text` or `text=priority`. */
function itemOf(text: string): ProduceItem {
  const [payload = "", priority] = text.split("=");
  return { payload, ...(priority !== undefined && { priority: Number(priority) }) };
}

const requestOf = (texts: readonly string[], queue = "orders") => ({
  queue,
  requestTimeoutMs: minute,
  items: texts.map(itemOf),
});

function produce(bundle: Bundle, ...texts: string[]) {
  return bundle.run(() => bundle.engine.produce(requestOf(texts)));
}

const shownAs = (items: readonly LeasedItem[]): string[] =>
  items.map((item) => `${textsOf([item])[0]}=${item.priority}`);

/** What leases of `batchSize` get, one after the other, until nothing is left. */
async function leaseAll(bundle: Bundle, batchSize = 1, queue = "orders"): Promise<string[]> {
  const all: string[] = [];
  for (;;) {
    const started = await bundle.beginLease(queue, { batchSize, requestTimeoutMs: second });
    if (started.ending === null) await bundle.clock.advance(second);
    if (started.ending?.ok !== true) return all;
    all.push(shownAs(started.ending.value.items).join(" "));
  }
}

test("lease: items of a higher priority come first, and of one priority in order", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a", "b=5", "c=9", "d=5", "e");
  await produce(bundle, "f=9", "g=0");
  const all = ["c=9", "f=9", "b=5", "d=5", "a=0", "e=0", "g=0"];
  expect(await leaseAll(bundle)).toEqual(all);
});

test("lease: a batch has items of one priority", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a", "b=5", "c=9", "d=5", "e");
  expect(await leaseAll(bundle, 10)).toEqual(["c=9", "b=5 d=5", "a=0 e=0"]);
});

test("lease: several leases of a turn share the priorities in order", async () => {
  const bundle = await setupQueue();
  const waiting = await Promise.all(
    Array.from({ length: 4 }, () => bundle.beginLease("orders", { batchSize: 2 })),
  );
  await produce(bundle, "a", "b=5", "c=9", "d=5", "e");
  const got = waiting.map(({ ending }) => (ending?.ok ? shownAs(ending.value.items) : []));
  expect(got).toEqual([["c=9"], ["b=5"], ["d=5"], ["a=0", "e=0"]]);
});

test("lease: an item gains a priority for each priority_aging that it waits", async () => {
  const bundle = await setupQueue({ priorityAgingMs: 10 * second });
  await produce(bundle, "old");
  await bundle.clock.advance(49_999);
  await produce(bundle, "a=5");
  expect(await leaseAll(bundle)).toEqual(["a=5", "old=0"]);
  await produce(bundle, "old");
  await bundle.clock.advance(50_000);
  await produce(bundle, "a=5");
  expect(await leaseAll(bundle)).toEqual(["old=0", "a=5"]);
});

test("lease: of a batch, only the items that have waited long enough come first", async () => {
  const bundle = await setupQueue({ priorityAgingMs: 10 * second });
  await produce(bundle, "a", "b");
  await bundle.clock.advance(50_000);
  await produce(bundle, "c", "d=5");
  expect(await leaseAll(bundle, 10)).toEqual(["a=0 b=0", "d=5", "c=0"]);
});

test("lease: an item of the lowest priority is leased in time, whatever arrives", async () => {
  const bundle = await setupQueue({ priorityAgingMs: second });
  await produce(bundle, "old");
  for (let passed = 0; passed < 9; passed += 1) {
    await produce(bundle, "new=9", "new=9");
    await bundle.clock.advance(second);
    if (passed < 8) expect(shownAs((await bundle.lease("orders")).items)).toEqual(["new=9"]);
  }
  expect(shownAs((await bundle.lease("orders", { batchSize: 1 })).items)).toEqual(["old=0"]);
});

test("lease: with priority_aging never, no item gains a priority", async () => {
  const bundle = await setupQueue({ priorityAgingMs: never });
  await produce(bundle, "old");
  await bundle.clock.advance(23 * hour);
  await produce(bundle, "a=1");
  expect(await leaseAll(bundle)).toEqual(["a=1", "old=0"]);
});

test("lease: a change of priority_aging applies to items that wait", async () => {
  const bundle = await setupQueue();
  expect(bundle.engine.queueInfo("orders").priorityAgingText).toBeUndefined();
  await produce(bundle, "old");
  await bundle.clock.advance(10 * second);
  await produce(bundle, "a=5");
  const change = { name: "orders", priorityAgingMs: second, priorityAgingText: "1000ms" };
  await bundle.run(() => bundle.engine.updateQueue(change));
  expect(await leaseAll(bundle)).toEqual(["old=0", "a=5"]);
  expect(bundle.engine.queueInfo("orders").priorityAgingText).toBe("1000ms");
});

test("lease: priority_min takes nothing of a lower priority, and leaves it to others", async () => {
  const bundle = await setupQueue({ priorityAgingMs: second });
  const reserved = await bundle.beginLease("orders", { priorityMin: 5, batchSize: 10 });
  const usual = await bundle.beginLease("orders");
  await produce(bundle, "a", "b=4");
  expect(reserved.ending).toBeNull();
  expect(usual.ending?.ok && shownAs(usual.ending.value.items)).toEqual(["b=4"]);
  await bundle.clock.advance(20 * second);
  // Another one that arrives behind it is served.
  expect(shownAs((await bundle.lease("orders")).items)).toEqual(["a=0"]);
  await produce(bundle, "c=5", "d=9", "e=5");
  expect(reserved.ending?.ok && shownAs(reserved.ending.value.items)).toEqual(["d=9"]);
});

test("lease: a lease for urgent items gets them although older items come first", async () => {
  const bundle = await setupQueue({ priorityAgingMs: second });
  await produce(bundle, "old", "older");
  await bundle.clock.advance(20 * second);
  await produce(bundle, "a=5");
  expect(shownAs((await bundle.lease("orders", { priorityMin: 5 })).items)).toEqual(["a=5"]);
});

test("lease: the highest priority of all partitions comes first", async () => {
  const bundle = await setupQueue({ requestedPartitions: 3, priorityAgingMs: never });
  for (const text of ["a", "b=1", "c=2", "d", "e=1", "f=2", "g=9"]) await produce(bundle, text);
  const priorities = (await leaseAll(bundle)).map((text) => text.split("=")[1]);
  expect(priorities).toEqual(["9", "2", "2", "1", "1", "0", "0"]);
});

test("lease: leased_max counts the items of all priorities", async () => {
  const bundle = await setupQueue({ leasedMax: 2 });
  await produce(bundle, "a", "b=5", "c=9");
  expect(shownAs((await bundle.lease("orders", { batchSize: 5 })).items)).toEqual(["c=9"]);
  expect(shownAs((await bundle.lease("orders", { batchSize: 5 })).items)).toEqual(["b=5"]);
  const third = await bundle.beginLease("orders", { requestTimeoutMs: second });
  await bundle.clock.advance(second);
  expect(third.ending).toMatchObject({ ok: false, code: "empty" });
});

test("a queue's counts, complete and clear cover all priorities", async () => {
  const bundle = await setupQueue({ maxAttempts: 2 });
  await produce(bundle, "a", "b=5", "c=9", "d=5");
  const [first, second] = [await bundle.lease("orders"), await bundle.lease("orders")];
  const ids = [...first.items, ...second.items].map(({ id }) => id);
  const request = { queue: "orders", partition: 0, requestTimeoutMs: minute, ids };
  expect(await bundle.run(() => bundle.engine.complete(request))).toEqual({ replayed: false });
  const third = await bundle.lease("orders");
  expect(shownAs(third.items)).toEqual(["d=5"]);
  const [partition] = (await bundle.run(() => bundle.engine.stats("orders"))).partitions;
  expect(partition).toMatchObject({ total: 2, totalLeased: 1 });
  const clear = { queue: "orders", ready: true, scheduled: true, retried: true, destructive: true };
  const counts = await bundle.run(() => bundle.engine.clear(clear));
  expect(counts).toMatchObject({ ready: 1, leased: 1 });
  expect(await bundle.listed("orders")).toEqual([]);
});

test("extend, retry, release and delete take ids of several priorities", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a", "b=5", "c=9");
  const leases = [];
  for (let count = 0; count < 3; count += 1) leases.push(await bundle.lease("orders"));
  const ids = leases.flatMap(({ items }) => items.map(({ id }) => id));
  const where = { queue: "orders", partition: 0 };
  await bundle.run(() => bundle.engine.extend({ ...where, ids, leaseTimeoutMs: hour }));
  const [c = "", b = "", a = ""] = ids;
  await bundle.run(() => bundle.engine.release({ ...where, ids: [c, a] }));
  await bundle.run(() =>
    bundle.engine.retry({ ...where, items: [{ id: b, retryAt: start + minute, dead: false }] }),
  );
  expect(await bundle.scheduled("orders")).toEqual(["b"]);
  const list = { ...where, pivot: "", limit: 100 };
  const listed = await bundle.run(() => bundle.engine.listItems(list));
  expect(listed.map(({ priority }) => priority).sort()).toEqual([0, 9]);
  const [scheduled] = await bundle.run(() => bundle.engine.listScheduled(list));
  const all = [...listed, ...(scheduled ? [scheduled] : [])].map(({ id }) => id);
  const deleted = await bundle.run(() => bundle.engine.deleteItems({ ...where, ids: all }));
  expect(deleted).toMatchObject({ ready: 2, retried: 1 });
});

test("a complete with an id that is not leased names it, whatever its priority", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a", "b=5");
  const { items } = await bundle.lease("orders");
  const listed = await bundle.run(() =>
    bundle.engine.listItems({ queue: "orders", partition: 0, pivot: "", limit: 9 }),
  );
  const ready = listed.find(({ isLeased }) => !isLeased)?.id ?? "";
  const ids = [...items.map(({ id }) => id), ready];
  const request = { queue: "orders", partition: 0, requestTimeoutMs: minute, ids };
  const ending = await bundle.ending(() => bundle.engine.complete(request));
  expect(ending).toMatchObject({ ok: false, code: "refused" });
  expect(!ending.ok && Object.keys(ending.details ?? {})).toEqual([ready]);
});

test("list: pages in the order of ids show every item of all priorities once", async () => {
  const bundle = await setupQueue();
  await produce(bundle, ...Array.from({ length: 20 }, (_, index) => `${index}=${index % 4}`));
  const shown: string[] = [];
  for (let pivot = ""; ; ) {
    const request = { queue: "orders", partition: 0, pivot, limit: 7 };
    const page = await bundle.run(() => bundle.engine.listItems(request));
    const fresh = page.filter(({ id }) => id !== pivot);
    shown.push(...fresh.map(({ id }) => id));
    if (fresh.length === 0) break;
    pivot = fresh.at(-1)?.id ?? "";
  }
  expect(shown).toHaveLength(20);
  expect(shown).toEqual([...new Set(shown)].sort());
});

test("list: a page that is cut short because of its size leaves nothing out", async () => {
  const bundle = await setupQueue();
  const payload = "x".repeat(9_000_000);
  for (const priority of [0, 0, 0, 0, 0, 1]) {
    const request = { queue: "orders", requestTimeoutMs: minute, items: [{ payload, priority }] };
    await bundle.run(() => bundle.engine.produce(request));
  }
  const shown: number[] = [];
  for (let pivot = ""; ; ) {
    const request = { queue: "orders", partition: 0, pivot, limit: 100 };
    const page = await bundle.run(() => bundle.engine.listItems(request));
    const fresh = page.filter(({ id }) => id !== pivot);
    if (fresh.length === 0) break;
    shown.push(...fresh.map(({ priority }) => priority));
    pivot = fresh.at(-1)?.id ?? "";
  }
  expect(shown).toEqual([0, 0, 0, 0, 0, 1]);
});

test("find: from the highest priority to the lowest, page by page, and the newest first", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a", "b=5", "c=9", "d=5");
  const search = async (order?: "newest") => {
    const texts: string[] = [];
    for (let pivot = ""; ; ) {
      const request = { queue: "orders", pivot, limit: 1, payloadHead: 9, filter: {} };
      const page = await bundle.run(() =>
        bundle.engine.findItems({ ...request, ...(order && { order }) }),
      );
      texts.push(...textsOf(page.found));
      pivot = page.nextPivot;
      if (pivot === "") return texts;
    }
  };
  expect(await search()).toEqual(["c", "b", "d", "a"]);
  expect((await search("newest")).sort()).toEqual(["a", "b", "c", "d"]);
});

test("explain: an item of any priority is found by its id, with what is ahead of it", async () => {
  const bundle = await setupQueue({ priorityAgingMs: never });
  await produce(bundle, "a", "b=5", "c=9", "d=5");
  const find = { queue: "orders", pivot: "", limit: 10, filter: {} };
  const { found } = await bundle.run(() => bundle.engine.findItems(find));
  const ahead: number[] = [];
  for (const { id } of found) {
    const explained = await bundle.run(() => bundle.engine.explainItem(id));
    expect(explained.item?.id).toBe(id);
    expect(explained.isAheadExact).toBe(true);
    ahead.push(explained.ahead);
  }
  expect(ahead).toEqual([0, 1, 2, 3]);
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", priorityAgingMs: minute }));
  const last = await bundle.run(() => bundle.engine.explainItem(found[3]?.id ?? ""));
  expect([last.ahead, last.isAheadExact]).toEqual([0, false]);
  expect(last.why[0]).toBe("It is ready, the next of its priority in partition 0.");
});

test("produce and import: a repetition with a key gets the same ids for all priorities", async () => {
  const bundle = await setupQueue();
  const request = { ...requestOf(["a", "b=5", "c", "d=5"]), requestKey: "k", returnIds: true };
  const first = await bundle.run(() => bundle.engine.produce(request));
  const again = await bundle.run(() => bundle.engine.produce(request));
  expect(again).toEqual({ ...first, replayed: true });
  expect(new Set(first.ids).size).toBe(4);
  const other = { ...requestOf(["a", "b=4", "c", "d=5"]), requestKey: "k", returnIds: true };
  expect((await bundle.ending(() => bundle.engine.produce(other))).ok).toBe(false);
  const items = ["e", "f=5", "g"].map((text) => ({ ...itemOf(text), sourceId: text }));
  const imported = { queue: "orders", partition: 0, items, requestKey: "i" };
  const one = await bundle.run(() => bundle.engine.importItems(imported));
  const two = await bundle.run(() => bundle.engine.importItems(imported));
  expect(two).toEqual({ ...one, replayed: true });
  // Items that are there are not stored again, whatever their priority.
  const { requestKey: _, ...unkeyed } = imported;
  expect((await bundle.run(() => bundle.engine.importItems(unkeyed))).items).toEqual([]);
});

test.each(deadPlacements)(
  "a dead letter keeps its priority, and so does its redrive: the dead queue is %s",
  async (_, shardCount) => {
    const bundle = await setup({ shardCount });
    await bundle.createQueue({ name: "dead" });
    await bundle.createQueue({ name: "orders", deadQueue: "dead", maxAttempts: 1 });
    await produce(bundle, "a", "b=5", "c=9");
    for (let count = 0; count < 3; count += 1) await bundle.retry(await bundle.lease("orders"));
    await bundle.clock.advance(second);
    const find = { queue: "dead", pivot: "", limit: 10, filter: {} };
    const { found } = await bundle.run(() => bundle.engine.findItems(find));
    expect(found.map(({ priority }) => priority)).toEqual([9, 5, 0]);
    const { taskId } = await bundle.run(() => bundle.engine.redrive({ queue: "dead" }));
    await bundle.ended(taskId);
    await bundle.clock.advance(second);
    expect(await leaseAll(bundle)).toEqual(["c=9", "b=5", "a=0"]);
  },
);

test.each(deadPlacements)(
  "an output of a transact has its priority: its queue is %s",
  async (_, shardCount) => {
    const bundle = await setup({ shardCount });
    await bundle.createQueue({ name: "dead" });
    await bundle.createQueue({ name: "orders" });
    await produce(bundle, "in");
    const { queue, partition, items } = await bundle.lease("orders");
    const complete = [{ queue, partition, ids: items.map(({ id }) => id) }];
    const outputs = [{ queue: "dead", items: ["a", "b=5"].map(itemOf) }];
    const request = { requestTimeoutMs: minute, complete, produce: outputs };
    await bundle.run(() => bundle.engine.transact(request));
    await bundle.clock.advance(second);
    expect(await leaseAll(bundle, 1, "dead")).toEqual(["b=5", "a=0"]);
  },
);

test("a lapse, a scheduled item and a restart keep priorities, counts and order", async () => {
  const bundle = await setupQueue({ leaseTimeoutMs: minute, priorityAgingMs: never });
  await produce(bundle, "a", "b=5");
  const later = { payload: "c", priority: 7, enqueueAt: start + 2 * minute };
  const request = { queue: "orders", requestTimeoutMs: minute, items: [later] };
  await bundle.run(() => bundle.engine.produce(request));
  expect(shownAs((await bundle.lease("orders")).items)).toEqual(["b=5"]);
  await bundle.clock.advance(3 * minute);
  await bundle.kill();
  await bundle.open();
  expect(await leaseAll(bundle)).toEqual(["c=7", "b=5", "a=0"]);
});

test("a partition that drains is removed once it has no item of any priority", async () => {
  const bundle = await setupQueue({ requestedPartitions: 2 });
  await produce(bundle, "a=5");
  await produce(bundle, "b=5");
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 1 }));
  await bundle.clock.advance(minute);
  expect(bundle.engine.status().queues[0]?.queued).toBe(2);
  const lease = async () => bundle.complete(await bundle.lease("orders"));
  await lease();
  await lease();
  await bundle.clock.advance(minute);
  const { partitions } = await bundle.run(() => bundle.engine.stats("orders"));
  expect(partitions.map(({ partition }) => partition)).toEqual([0]);
});

test("a deleted queue leaves nothing of any priority to the next queue of its slot", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a", "b=5");
  await bundle.run(() => bundle.engine.deleteQueue({ name: "orders", force: true }));
  await bundle.clock.advance(minute);
  await bundle.createQueue({ name: "orders" });
  await produce(bundle, "c=5");
  expect(await leaseAll(bundle)).toEqual(["c=5"]);
});

test.each([
  ["priority of item 1 is invalid; expected a whole number from 0 to 9, got 10", "10"],
  ["priority of item 1 is invalid; expected a whole number from 0 to 9, got -1", "-1"],
  ["priority of item 1 is invalid; expected a whole number from 0 to 9, got 1.5", "1.5"],
])("produce: %s", async (message, priority) => {
  const bundle = await setupQueue();
  const request = requestOf(["a", `b=${priority}`]);
  const ending = await bundle.ending(() => bundle.engine.produce(request));
  expect(ending).toMatchObject({ ok: false, code: "invalid", message });
  const imported = { queue: "orders", partition: 0, items: request.items };
  const other = await bundle.ending(() => bundle.engine.importItems(imported));
  expect(other).toMatchObject({ ok: false, code: "invalid", message });
  expect(await bundle.listed("orders")).toEqual([]);
});

test("lease: a nonsensical priority_min and priority_aging are refused", async () => {
  const bundle = await setupQueue();
  const lease = await bundle.ending(() =>
    bundle.engine.lease(bundle.leaseOf("orders", { priorityMin: 11 })),
  );
  const expected = "priority min is invalid; expected a whole number from 0 to 9, got 11";
  expect(lease).toMatchObject({ ok: false, code: "invalid", message: expected });
  const change = { name: "orders", priorityAgingMs: 0 };
  const ending = await bundle.ending(() => bundle.engine.updateQueue(change));
  const message = "priority aging is invalid; cannot be empty";
  expect(ending).toMatchObject({ ok: false, code: "invalid", message });
});
