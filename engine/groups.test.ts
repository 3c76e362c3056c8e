// Groups of items: turns, limits, orders, and what closes a group.

import { expect, test } from "bun:test";
import type {
  GroupChange,
  GroupListRequest,
  LeasedItem,
  LeaseRequest,
  ProduceItem,
  QueueSettings,
  RetryItem,
} from "./model/api.ts";
import { never } from "./model/duration.ts";
import {
  type Bundle,
  day,
  deadPlacements,
  hour,
  idsOf,
  minute,
  type SetupOptions,
  second,
  setup,
  start,
  textsOf,
} from "./simulation/bundle.ts";

async function setupQueue(options: SetupOptions & Partial<QueueSettings> = {}) {
  const bundle = await setup(options);
  const settings = { leaseTimeoutMs: hour, expireTimeoutMs: day, grouped: true, ...options };
  await bundle.createQueue({ name: "orders", ...settings });
  return bundle;
}

/** `group` followed by a number, such as `a1`, or `a1=5` with a priority. */
function itemOf(text: string): ProduceItem {
  const [payload = "", priority] = text.split("=");
  const group = payload.replace(/\d+$/, "");
  return { payload, group, ...(priority !== undefined && { priority: Number(priority) }) };
}

function produce(bundle: Bundle, ...texts: string[]) {
  return bundle.run(() =>
    bundle.engine.produce({
      queue: "orders",
      requestTimeoutMs: minute,
      items: texts.map(itemOf),
    }),
  );
}

/** The items of one lease; none if nothing can be leased. */
async function lease(
  bundle: Bundle,
  batchSize = 1,
  more: Partial<LeaseRequest> = {},
): Promise<readonly LeasedItem[]> {
  const started = await bundle.beginLease("orders", { batchSize, requestTimeoutMs: 10, ...more });
  if (started.ending === null) await bundle.clock.advance(10);
  return started.ending?.ok === true ? started.ending.value.items : [];
}

const leased = async (bundle: Bundle, batchSize = 1): Promise<string> =>
  textsOf(await lease(bundle, batchSize)).join(" ");

/** What leases of one item get, one after the other, until nothing is left. */
async function leaseAll(bundle: Bundle): Promise<string> {
  const all: string[] = [];
  for (let text = await leased(bundle); text !== ""; text = await leased(bundle)) all.push(text);
  return all.join(" ");
}

const orders = { queue: "orders", partition: 0, requestTimeoutMs: minute };

function complete(bundle: Bundle, items: readonly LeasedItem[]) {
  return bundle.run(() => bundle.engine.complete({ ...orders, ids: idsOf(items) }));
}

function retry(bundle: Bundle, items: readonly LeasedItem[], how: Partial<RetryItem> = {}) {
  const named = items.map(({ id }) => ({ id, retryAt: null, dead: false, ...how }));
  return bundle.run(() => bundle.engine.retry({ ...orders, items: named }));
}

function setGroup(bundle: Bundle, group: string, change: Omit<GroupChange, "queue" | "group">) {
  return bundle.run(() => bundle.engine.setGroup({ queue: "orders", group, ...change }));
}

async function groupsOf(bundle: Bundle, more: Partial<GroupListRequest> = {}) {
  const request = { queue: "orders", pivot: "", limit: 10, ...more };
  return (await bundle.run(() => bundle.engine.listGroups(request))).groups;
}

/** Its counts, and what blocks it. */
async function groupOf(bundle: Bundle, name: string): Promise<string> {
  const found = (await groupsOf(bundle)).find(({ group }) => group === name);
  if (found === undefined) return "gone";
  const { waiting, leased, scheduled, retried, blockedBy } = found;
  return `${waiting} ${leased} ${scheduled} ${retried} ${blockedBy}`.trim();
}

test("groups take turns, whatever the backlog of one", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a1", "a2", "a3", "a4");
  await produce(bundle, "b1", "c1", "b2");
  expect(await leaseAll(bundle)).toBe("a1 b1 c1 a2 b2 a3 a4");
});

test("items without a group are one group", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "1", "2", "a1", "3");
  await bundle.produce("orders", "text");
  await produce(bundle, "a2");
  expect(await leaseAll(bundle)).toBe("1 a1 2 a2 3 text");
});

test("one lease gets items of several groups in turn, and each item is leased once", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a1", "a2", "a3", "b1", "b2", "1");
  expect(await leased(bundle, 4)).toBe("a1 b1 1 a2");
  expect(await leased(bundle, 4)).toBe("b2 a3");
});

test("waiting leases share what arrives, in order of arrival", async () => {
  const bundle = await setupQueue();
  const waiting = [];
  for (let index = 0; index < 3; index += 1) {
    waiting.push(await bundle.beginLease("orders", { batchSize: 2 }));
  }
  await produce(bundle, "a1", "a2", "b1", "b2");
  const got = waiting.map(({ ending }) => (ending?.ok ? textsOf(ending.value.items) : []));
  expect(got).toEqual([["a1", "b1"], ["a2"], ["b2"]]);
});

test("a group with a weight gets as many items per turn", async () => {
  const bundle = await setupQueue();
  await setGroup(bundle, "a", { weight: 3 });
  await produce(bundle, "a1", "a2", "a3", "a4", "a5", "b1", "b2", "b3");
  expect(await leaseAll(bundle)).toBe("a1 a2 a3 b1 a4 a5 b2 b3");
});

test("group_leased_max is never exceeded, and an end of a lease opens the group", async () => {
  const bundle = await setupQueue({ groupLeasedMax: 2 });
  await produce(bundle, "a1", "a2", "a3", "a4", "b1");
  const items = await lease(bundle, 10);
  expect(textsOf(items)).toEqual(["a1", "b1", "a2"]);
  expect(await groupOf(bundle, "a")).toBe("2 2 0 0 leased_max");
  expect(await leased(bundle)).toBe("");
  await complete(bundle, items.slice(0, 1));
  expect(await leased(bundle, 10)).toBe("a3");
  await setGroup(bundle, "a", { leasedMax: 3 });
  expect(await leased(bundle, 10)).toBe("a4");
});

test("a waiting lease is served once its group opens", async () => {
  const bundle = await setupQueue({ groupLeasedMax: 1 });
  await produce(bundle, "a1", "a2");
  const [first] = await lease(bundle);
  const waiting = await bundle.beginLease("orders");
  expect(waiting.ending).toBeNull();
  await complete(bundle, [first as LeasedItem]);
  expect(waiting.ending).toMatchObject({ ok: true });
});

test("a serial group gives a lease one item, unless it asks for runs", async () => {
  const bundle = await setupQueue({ groupLeasedMax: 1 });
  await produce(bundle, "a1", "a2", "b1");
  expect(await leased(bundle, 3)).toBe("a1 b1");
});

test("a serial group gives its run to one lease, if no other group is open", async () => {
  const bundle = await setupQueue({ groupLeasedMax: 1 });
  await produce(bundle, "a1", "a2", "a3", "b1");
  const items = await lease(bundle, 3, { groupRuns: true });
  expect(textsOf(items)).toEqual(["a1", "b1", "a2"]);
  expect(await leased(bundle)).toBe("");
  await complete(bundle, items.slice(0, 2));
  // It opens only when the whole run is finished.
  expect(await leased(bundle)).toBe("");
  await complete(bundle, items.slice(2));
  expect(await leased(bundle)).toBe("a3");
});

test("group_rate is never exceeded, and opens the group without any call", async () => {
  const bundle = await setupQueue({ groupRate: "2/1m" });
  await produce(bundle, "a1", "a2", "a3", "b1");
  expect(await leased(bundle, 10)).toBe("a1 b1 a2");
  const [{ blockedBy, nextAt } = {}] = await groupsOf(bundle);
  expect({ blockedBy, nextAt }).toEqual({ blockedBy: "rate", nextAt: start + minute + 40 });
  const waiting = await bundle.beginLease("orders", { requestTimeoutMs: hour / 5 });
  await bundle.clock.advance(minute - second);
  expect(waiting.ending).toBeNull();
  await bundle.clock.advance(2 * second);
  expect(waiting.ending).toMatchObject({ ok: true });
});

test("a rate holds across a restart of the store", async () => {
  const bundle = await setupQueue({ groupRate: "1/1m" });
  await produce(bundle, "a1", "a2");
  expect(await leased(bundle)).toBe("a1");
  bundle.store().fail({ fault: "failed" });
  await produce(bundle, "b1").catch(() => undefined);
  await bundle.clock.advance(10 * second);
  expect(await groupOf(bundle, "a")).toBe("1 1 0 0 rate");
});

test.each(["loose", "strict"] as const)("order %s: where a retried item goes", async (order) => {
  const bundle = await setupQueue({ groupOrder: order, groupLeasedMax: 1 });
  await produce(bundle, "a1", "a2", "a3");
  await retry(bundle, await lease(bundle));
  const next = textsOf(await lease(bundle, 3, { groupRuns: true }));
  expect(next).toEqual(order === "strict" ? ["a1"] : ["a2", "a3", "a1"]);
});

test("strict: an item that comes back closes its group until it is finished", async () => {
  const bundle = await setupQueue({ groupOrder: "strict" });
  await produce(bundle, "a1", "a2", "a3", "b1");
  const [first, other] = await lease(bundle, 2);
  expect(textsOf([first, other] as LeasedItem[])).toEqual(["a1", "b1"]);
  await retry(bundle, [first as LeasedItem], { retryAfterMs: minute / 2 });
  expect(await groupOf(bundle, "a")).toBe("2 0 0 1 retry");
  expect(await leased(bundle, 5)).toBe("");
  await bundle.clock.advance(minute / 2);
  const again = await lease(bundle, 5);
  expect(textsOf(again)).toEqual(["a1"]);
  expect(await groupOf(bundle, "a")).toBe("2 1 0 0 retry");
  await complete(bundle, again);
  expect(await leased(bundle, 5)).toBe("a2 a3");
});

test("strict: a lapse and a restart change neither the order nor that the group is closed", async () => {
  const bundle = await setupQueue({ groupOrder: "strict", leaseTimeoutMs: minute });
  await produce(bundle, "a1", "a2", "a3");
  expect(await leased(bundle)).toBe("a1");
  await bundle.clock.advance(2 * minute);
  await bundle.restart();
  expect(await leased(bundle, 5)).toBe("a1");
  await bundle.restart();
  expect(await groupOf(bundle, "a")).toBe("2 1 0 0 retry");
  expect(await leased(bundle, 5)).toBe("");
});

test("a released item keeps its place in either order", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a1", "a2", "a3");
  const items = await lease(bundle, 2);
  await bundle.run(() => bundle.engine.release({ ...orders, ids: idsOf(items.slice(0, 1)) }));
  expect(await leaseAll(bundle)).toBe("a1 a3");
});

test("scheduled items take their place when they are due, and block nothing before", async () => {
  const bundle = await setupQueue({ groupOrder: "strict" });
  const items = [{ ...itemOf("a1"), enqueueAt: start + minute }, itemOf("a2")];
  await bundle.run(() =>
    bundle.engine.produce({ queue: "orders", requestTimeoutMs: minute, items }),
  );
  expect(await groupOf(bundle, "a")).toBe("1 0 1 0");
  expect(await leased(bundle)).toBe("a2");
  await produce(bundle, "a3");
  await bundle.clock.advance(minute);
  expect(await leaseAll(bundle)).toBe("a3 a1");
});

test("group_on_dead block: a dead letter closes the group until it is opened by hand", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "dead" });
  await bundle.createQueue({
    name: "orders",
    deadQueue: "dead",
    grouped: true,
    groupOnDead: "block",
  });
  await produce(bundle, "a1", "a2", "b1");
  const [first] = await lease(bundle);
  await retry(bundle, [first as LeasedItem], { dead: true });
  expect(await leaseAll(bundle)).toBe("b1");
  await bundle.restart();
  const [{ blockedBy, blockedId } = {}] = await groupsOf(bundle, { blocked: true });
  expect({ blockedBy, blockedId }).toEqual({ blockedBy: "dead", blockedId: first?.id });
  await setGroup(bundle, "a", { unblock: true });
  expect(await leaseAll(bundle)).toBe("a2");
});

test.each(deadPlacements)(
  "a dead letter keeps its group, and a redrive brings it back: the dead queue is %s",
  async (_, shardCount) => {
    const bundle = await setup({ shardCount });
    await bundle.createQueue({ name: "dead" });
    await bundle.createQueue({ name: "orders", deadQueue: "dead", grouped: true, maxAttempts: 1 });
    await produce(bundle, "a1", "b1");
    for (let count = 0; count < 2; count += 1) await bundle.retry(await bundle.lease("orders"));
    await bundle.clock.advance(second);
    const dead = await bundle.lease("dead", { batchSize: 2 });
    expect(dead.items.map(({ group }) => group).sort()).toEqual(["a", "b"]);
    await bundle.run(() =>
      bundle.engine.release({ queue: "dead", partition: 0, ids: idsOf(dead.items) }),
    );
    await produce(bundle, "a2", "a3");
    const { taskId } = await bundle.run(() => bundle.engine.redrive({ queue: "dead" }));
    await bundle.ended(taskId);
    await bundle.clock.advance(second);
    expect(await groupOf(bundle, "a")).toBe("3 0 0 0");
    expect(await groupOf(bundle, "b")).toBe("1 0 0 0");
    expect(await leased(bundle, 9)).toBe("a2 b1 a3 a1");
  },
);

test("a level comes before a turn, and order in a group before a level", async () => {
  const bundle = await setupQueue({ priorityAgingMs: never });
  await produce(bundle, "a1", "b1=5", "a2=9", "c1=5", "b2", "d1=7");
  expect(await leaseAll(bundle)).toBe("d1 b1 c1 a1 a2 b2");
});

test("a group that has waited for its turn reaches the next level", async () => {
  const bundle = await setupQueue({ priorityAgingMs: minute });
  await produce(bundle, "a1", "a2", "b1=1", "b2=1", "b3=1");
  expect(await leased(bundle)).toBe("b1");
  await bundle.clock.advance(minute);
  await produce(bundle, "c1=1");
  // It is at the same level as the others now, and joined it last.
  expect(await leaseAll(bundle)).toBe("b2 c1 a1 b3 a2");
});

test("a reserved lease takes no group whose first item is less urgent", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a1", "a2=9", "b1=5");
  expect(textsOf(await lease(bundle, 5, { priorityMin: 5 }))).toEqual(["b1"]);
  expect(textsOf(await lease(bundle, 5, { priorityMin: 5 }))).toEqual([]);
  expect(await leased(bundle)).toBe("a1");
  expect(textsOf(await lease(bundle, 5, { priorityMin: 5 }))).toEqual(["a2"]);
});

test("a reserved lease that waits for an item behind others does not hold back other leases", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a1", "a2=9");
  const reserved = await bundle.beginLease("orders", { priorityMin: 5 });
  expect(reserved.ending).toBeNull();
  expect(await leased(bundle)).toBe("a1");
  expect(reserved.ending).toMatchObject({ ok: true });
});

test("a paused group waits until it is resumed", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a1", "b1");
  await setGroup(bundle, "a", { paused: true });
  expect(await leaseAll(bundle)).toBe("b1");
  const waiting = await bundle.beginLease("orders");
  expect(await groupOf(bundle, "a")).toBe("1 0 0 0 paused");
  const found = () => bundle.engine.explain("orders").findings.map(({ text }) => text);
  expect(found()).toEqual([
    "1 group with ready items is paused or closed by a dead letter, until someone opens it.",
  ]);
  await setGroup(bundle, "a", { paused: false });
  expect(waiting.ending).toMatchObject({ ok: true });
  expect(found()).toEqual([]);
});

test("group_waiting_max: a full group refuses items, all or nothing, and others do not", async () => {
  const bundle = await setupQueue({ groupWaitingMax: 2 });
  await produce(bundle, "a1", "b1");
  await expect(produce(bundle, "b2", "a2", "a3")).rejects.toMatchObject({
    reason: "group_full",
    message: "group is full; 1 items wait in 'a' and 2 would be added, expected at most 2",
  });
  await produce(bundle, "b2", "a2");
  expect(await groupOf(bundle, "b")).toBe("2 0 0 0");
  expect(await leased(bundle)).toBe("a1");
  await produce(bundle, "a3");
});

test("a restart knows every group, its first item and its counts", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a1", "a2=3", "b1", "1");
  const [first] = await lease(bundle, 1, { priorityMin: 0 });
  await retry(bundle, [first as LeasedItem], { retryAfterMs: minute });
  await setGroup(bundle, "c", { weight: 2 });
  await bundle.restart();
  expect(await groupOf(bundle, "a")).toBe("1 0 0 1");
  expect(await groupOf(bundle, "c")).toBe("0 0 0 0");
  expect(await leaseAll(bundle)).toBe("a2 b1 1");
});

test("items that expire, are cancelled or deleted leave their group", async () => {
  const bundle = await setupQueue({ leaseTimeoutMs: minute, expireTimeoutMs: 2 * minute });
  const { ids = [] } = await bundle.run(() =>
    bundle.engine.produce({
      queue: "orders",
      requestTimeoutMs: minute,
      returnIds: true,
      items: ["a1", "a2", "a3", "b1"].map(itemOf),
    }),
  );
  await bundle.run(() => bundle.engine.cancelItems({ queue: "orders", ids: ids.slice(0, 1) }));
  expect(await groupOf(bundle, "a")).toBe("2 0 0 0");
  await bundle.run(() =>
    bundle.engine.deleteItems({ queue: "orders", partition: 0, ids: ids.slice(1, 2) }),
  );
  expect(await leased(bundle, 1)).toBe("a3");
  expect(await groupOf(bundle, "a")).toBe("0 1 0 0");
  await bundle.clock.advance(3 * minute);
  expect(await groupOf(bundle, "b")).toBe("gone");
});

test("a clear empties the groups, and later items are leased", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "a1", "a2", "b1");
  await lease(bundle);
  const what = { ready: true, scheduled: false, retried: false, destructive: true };
  await bundle.run(() => bundle.engine.clear({ queue: "orders", ...what }));
  expect(await groupsOf(bundle)).toEqual([]);
  await produce(bundle, "a3");
  expect(await leaseAll(bundle)).toBe("a3");
});

test("an import keeps groups, and the lease of a leased item counts", async () => {
  const bundle = await setupQueue({ groupLeasedMax: 1 });
  const leaseDeadline = start + minute;
  await bundle.run(() =>
    bundle.engine.importItems({
      queue: "orders",
      partition: 0,
      items: [{ ...itemOf("a1"), isLeased: true, leaseDeadline }, itemOf("a2"), itemOf("b1")],
    }),
  );
  expect(await leaseAll(bundle)).toBe("b1");
  expect(await groupOf(bundle, "a")).toBe("1 1 0 0 leased_max");
});

test("groups.list has pages in the order of names, and the oldest of each", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "c1", "a1", "b1", "d1");
  const list = (pivot: string) =>
    bundle.run(() => bundle.engine.listGroups({ queue: "orders", pivot, limit: 2 }));
  const first = await list("");
  expect(first.groups.map(({ group }) => group)).toEqual(["a", "b"]);
  const next = await list(first.nextPivot);
  expect(next.groups.map(({ group, oldestAt }) => [group, oldestAt])).toEqual([
    ["c", start],
    ["d", start],
  ]);
  expect(next.nextPivot).toBe("");
});

test.each([
  [{ weight: 0 }, "weight is invalid; expected from 1 to 100, got 0"],
  [{ rate: "many" }, "rate is invalid; expected items per interval, such as '100/1s', got 'many'"],
  [{ leasedMax: -1 }, "leased max is invalid; cannot be negative number"],
])("a change of a group is refused: %j", async (change, message) => {
  const bundle = await setupQueue();
  await expect(setGroup(bundle, "a", change)).rejects.toThrow(message);
  expect(await groupsOf(bundle)).toEqual([]);
});

test("bad settings and items are refused, and change nothing", async () => {
  const bundle = await setup();
  const create = (settings: Partial<QueueSettings>) =>
    bundle.createQueue({ name: "orders", ...settings });
  const partitions = "partitions is invalid; the queue is grouped";
  await expect(create({ grouped: true, requestedPartitions: 2 })).rejects.toThrow(partitions);
  await expect(create({ groupLeasedMax: 1 })).rejects.toThrow("group settings are invalid");
  await expect(create({ grouped: true, groupRate: "x" })).rejects.toThrow("group rate is invalid");
  await create({});
  await expect(produce(bundle, "a1")).rejects.toThrow("group is invalid; the queue is not grouped");
  const change = bundle.run(() => bundle.engine.updateQueue({ name: "orders", grouped: true }));
  const fixed = "grouped is invalid; 'orders' was created without groups, which cannot change";
  await expect(change).rejects.toThrow(fixed);
  await bundle.produce("orders", "text");
  expect(await leased(bundle)).toBe("text");
});

test("a changed limit of the queue applies to its groups at once", async () => {
  const bundle = await setupQueue({ groupLeasedMax: 1 });
  await produce(bundle, "a1", "a2", "a3");
  await lease(bundle);
  const waiting = await bundle.beginLease("orders");
  const change = { name: "orders", groupLeasedMax: 2 };
  await bundle.run(() => bundle.engine.updateQueue(change));
  expect(waiting.ending).toMatchObject({ ok: true });
  expect(await leased(bundle)).toBe("");
});

test("the settings of groups end with their queue", async () => {
  const bundle = await setupQueue();
  await setGroup(bundle, "a", { paused: true });
  await bundle.run(() => bundle.engine.deleteQueue({ name: "orders", force: true }));
  await bundle.createQueue({ name: "orders", grouped: true });
  await bundle.restart();
  await produce(bundle, "a1");
  expect(await leased(bundle)).toBe("a1");
});

test("explain says what an item of a closed group waits for", async () => {
  const bundle = await setupQueue({ groupLeasedMax: 1 });
  const { ids = [] } = await bundle.run(() =>
    bundle.engine.produce({
      queue: "orders",
      requestTimeoutMs: minute,
      returnIds: true,
      items: ["a1", "a2", "a3", "1"].map(itemOf),
    }),
  );
  const [first] = await lease(bundle, 1, { clientId: "worker-3" });
  const whyOf = async (id = "") => {
    const { why } = await bundle.run(() => bundle.engine.explainItem(id));
    return why.slice(0, 2);
  };
  const held = `item ${first?.id} is leased by 'worker-3', and the lease ends in 1h0m0s`;
  expect(await whyOf(ids[1])).toEqual([
    "It is ready, the next of group 'a'.",
    `Its group has as many leased items as it may: ${held}.`,
  ]);
  const [behind] = await whyOf(ids[2]);
  expect(behind).toBe("It is ready, behind other items of group 'a', of which 2 wait.");
  const [open] = await whyOf(ids[3]);
  expect(open).toBe("It is ready, the next of the group without a name.");
});

test("a reshard moves groups, their order and their settings", async () => {
  const bundle = await setupQueue({ groupOrder: "strict" });
  await produce(bundle, "a1", "a2=5", "b1", "c1");
  await setGroup(bundle, "b", { paused: true });
  await retry(bundle, await lease(bundle));
  await bundle.reshard(3);
  expect(await groupOf(bundle, "b")).toBe("1 0 0 0 paused");
  expect(await leased(bundle, 2)).toBe("a1 c1");
  expect(await groupOf(bundle, "a")).toBe("1 1 0 0 retry");
});
