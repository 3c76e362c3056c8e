// The repair `prioritize`: waiting items get another priority and keep everything else.

import { expect, test } from "bun:test";
import type { ProduceItem, QueueSettings, RepairRequest } from "./model/api.ts";
import { limits } from "./model/limits.ts";
import {
  type Bundle,
  day,
  hour,
  minute,
  type SetupOptions,
  setup,
  start,
  textsOf,
} from "./simulation/bundle.ts";

async function setupQueue(options: SetupOptions & Partial<QueueSettings> = {}) {
  const turnLimits = { ...limits, historyBytes: 1_000_000 };
  const bundle = await setup({ turnLimits, ...options });
  const settings = { leaseTimeoutMs: hour, expireTimeoutMs: day, ...options };
  await bundle.createQueue({ name: "orders", ...settings });
  return bundle;
}

function produce(bundle: Bundle, ...items: ProduceItem[]) {
  return bundle.run(() =>
    bundle.engine.produce({ queue: "orders", requestTimeoutMs: minute, items, returnIds: true }),
  );
}

async function prioritize(
  bundle: Bundle,
  priority: number,
  which: Partial<RepairRequest> = { filter: {} },
) {
  const request = { queue: "orders", action: "prioritize", priority, ...which } as const;
  const { taskId } = await bundle.run(() => bundle.engine.repair(request));
  return bundle.ended(taskId);
}

async function found(bundle: Bundle) {
  const request = { queue: "orders", pivot: "", limit: 1_000, filter: {}, payloadHead: 99 };
  return (await bundle.run(() => bundle.engine.findItems(request))).found;
}

async function leaseAll(bundle: Bundle): Promise<string> {
  const all: string[] = [];
  for (;;) {
    const { ending } = await bundle.beginLease("orders", { requestTimeoutMs: minute });
    if (ending?.ok !== true) return all.join(" ");
    all.push(...textsOf(ending.value.items));
  }
}

test("prioritize: ready items are leased by their new priority, behind those that had it", async () => {
  const bundle = await setupQueue();
  await produce(bundle, { payload: "a" }, { payload: "b" }, { payload: "c", priority: 5 });
  const [first, second] = await found(bundle).then((all) => all.toSorted(byText));
  const ids = [String(second?.id)];
  expect(await prioritize(bundle, 5, { ids })).toMatchObject({
    ...{ action: "prioritize", priority: 5, state: "done", matched: 1, moved: 1, skipped: 0 },
  });
  const moved = (await found(bundle)).toSorted(byText)[1];
  const { id: _, past: __, updatedAt: ___, ...same } = second ?? {};
  expect(moved).toMatchObject({ ...same, priority: 5, past: { origin: ids[0] } });
  expect(moved?.id).not.toBe(first?.id);
  expect(await leaseAll(bundle)).toBe("c b a");
});

function byText(one: { payload: Uint8Array }, other: { payload: Uint8Array }): number {
  return Buffer.compare(one.payload, other.payload);
}

test("prioritize: items that have the priority are skipped, and 0 is the lowest", async () => {
  const bundle = await setupQueue();
  await produce(bundle, { payload: "a", priority: 9 }, { payload: "b" }, { payload: "c" });
  const before = (await found(bundle)).filter(({ priority }) => priority === 0);
  expect(await prioritize(bundle, 0)).toMatchObject({ matched: 3, moved: 1, skipped: 2 });
  const after = await found(bundle);
  expect(after.map(({ priority }) => priority)).toEqual([0, 0, 0]);
  for (const item of before) expect(after).toContainEqual(item);
  expect(await leaseAll(bundle)).toBe("b c a");
});

test("prioritize: scheduled and retried items keep their due times, attempts and origin", async () => {
  const bundle = await setupQueue({ leaseTimeoutMs: 2 * hour });
  await produce(bundle, { payload: "retried", priority: 3 });
  const lease = await bundle.lease("orders");
  await bundle.retry(lease, { retryAt: start + 2 * hour });
  await produce(bundle, { payload: "later", enqueueAt: start + hour });
  const before = (await found(bundle)).toSorted(byText);
  expect(await prioritize(bundle, 8, { filter: {}, state: "scheduled" })).toMatchObject({
    ...{ moved: 2, skipped: 0 },
  });
  const id = String((await found(bundle)).toSorted(byText)[1]?.id);
  const { history } = await bundle.run(() => bundle.engine.explainItem(id));
  const kinds = ["produced", "leased", "retried", "prioritized"] as const;
  expect(history.map(({ kind }) => kind)).toEqual([...kinds]);
  await bundle.restart();
  const after = (await found(bundle)).toSorted(byText);
  for (const [at, { id, past, ...item }] of before.entries()) {
    const { updatedAt: _, ...same } = item;
    const origin = past?.origin ?? id;
    expect(after[at]).toMatchObject({ ...same, priority: 8, past: { origin } });
  }
  const gauges = bundle.engine.status().queues.find(({ queue }) => queue === "orders");
  expect(gauges).toMatchObject({ queued: 0, scheduled: 1, retried: 1 });
  await bundle.clock.advance(hour);
  expect(await leaseAll(bundle)).toBe("later");
  await bundle.clock.advance(hour);
  const [item] = (await bundle.lease("orders")).items;
  expect(item).toMatchObject({ priority: 8, attempts: 2 });
  expect(item?.past?.origin).toBe(lease.items[0]?.id);
});

test("prioritize: leased items are left to their holder", async () => {
  const bundle = await setupQueue();
  await produce(bundle, { payload: "a" }, { payload: "b" });
  const lease = await bundle.lease("orders");
  expect(await prioritize(bundle, 9)).toMatchObject({ matched: 1, moved: 1 });
  expect(await bundle.complete(lease)).toMatchObject({ ok: true });
  expect((await bundle.lease("orders", { priorityMin: 9 })).items).toMatchObject([{ priority: 9 }]);
});

test("prioritize: an item still expires when it would have", async () => {
  const bundle = await setupQueue({ expireTimeoutMs: hour });
  await produce(bundle, { payload: "a" });
  await bundle.clock.advance(30 * minute);
  await produce(bundle, { payload: "b", priority: 4 });
  await prioritize(bundle, 4);
  await bundle.clock.advance(30 * minute);
  expect((await found(bundle)).map(({ priority, createdAt }) => [priority, createdAt])).toEqual([
    [4, start + 30 * minute],
  ]);
});

test("prioritize: an item of a group keeps its place, and the group gets the priority of its first", async () => {
  const bundle = await setupQueue({ grouped: true, priorityAgingMs: day });
  const items = ["a1", "a2", "a3", "b1", "b2"];
  await produce(bundle, ...items.map((payload) => ({ payload, group: payload.slice(0, 1) })));
  const ids = async (...texts: string[]) =>
    (await found(bundle))
      .filter(({ payload }) => texts.includes(new TextDecoder().decode(payload)))
      .map(({ id }) => id);
  await prioritize(bundle, 7, { ids: await ids("a2", "b1") });
  expect(await leaseAll(bundle)).toBe("b1 a1 a2 b2 a3");
});

test("prioritize: a group is served by the new priority of an item that became its first", async () => {
  const bundle = await setupQueue({ grouped: true, priorityAgingMs: day });
  const items = ["a1", "c1", "b1", "a2", "b2", "b3"];
  await produce(bundle, ...items.map((payload) => ({ payload, group: payload.slice(0, 1) })));
  // From the first lease on, groups have a place in line.
  expect(textsOf((await bundle.lease("orders")).items)).toEqual(["a1"]);
  const ids = (await found(bundle)).filter(({ group }) => group === "b").map(({ id }) => id);
  const [first = "", second = ""] = ids;
  await bundle.run(() => bundle.engine.cancelItems({ queue: "orders", ids: [first] }));
  await prioritize(bundle, 7, { ids: [second] });
  expect(await leaseAll(bundle)).toBe("b2 c1 a2 b3");
});
