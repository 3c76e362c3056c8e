// Effects of a queue on queues of other shards, compared with one engine that has all queues.

import { expect, test } from "bun:test";
import { nameIn } from "../../engine/simulation/bundle.ts";
import type { FoundItem, ItemExplained, LeaseItem, LeaseReply } from "../../openapi/schemas.ts";
import type { KeyIdentity } from "../auth/key-rights.ts";
import type { ShardRoutes } from "./routes.ts";
import { minute, refusalOf, second, shardCount, Twins } from "./testing/twins.ts";

const [orders, dead, invoices] = [
  nameIn(0, shardCount, "orders"),
  nameIn(1, shardCount, "dead"),
  nameIn(2, shardCount, "invoices"),
] as const;
const timed = { request_timeout: "1m" };
const id = "1".repeat(27);

function keyFor(role: "read" | "admin", ...queues: string[]): KeyIdentity {
  return { name: "k", rights: [{ roles: [role], queues }] };
}

/** `dead` is the dead queue of `orders` and `invoices`. */
async function withDeadQueue(): Promise<Twins> {
  const twins = await Twins.open();
  await twins.create(dead);
  await twins.create(orders, { dead_queue: dead });
  await twins.create(invoices, { dead_queue: dead });
  return twins;
}

async function leaseOf(
  twins: Twins,
  routes: ShardRoutes,
  queue_name: string,
): Promise<LeaseReply & { readonly first: LeaseItem }> {
  const body = { ...timed, queue_name, client_id: "c", batch_size: 10 };
  const lease = await twins.ask(routes, "lease", body);
  const [first] = lease.items;
  if (first === undefined) throw new Error("nothing was leased");
  return { ...lease, first };
}

/** Produces items to both servers, and dead-letters them. */
async function die(twins: Twins, queue_name: string, ...texts: string[]): Promise<void> {
  await twins.produce(queue_name, ...texts);
  await twins.alike(async (routes) => {
    const { partition, items } = await leaseOf(twins, routes, queue_name);
    const given = items.map((item) => ({ id: item.id, dead: true, reason: "declined" }));
    await twins.ask(routes, "retry", { ...timed, queue_name, partition, items: given });
    return items.length;
  });
}

async function itemsIn(twins: Twins, routes: ShardRoutes, queue_name: string) {
  return (await twins.ask(routes, "findItems", { queue_name, payload_head: 99 })).items;
}

/** Returns the payloads in a queue, after checking that they are equal in both servers. */
async function textsIn(twins: Twins, queue_name: string): Promise<string[]> {
  return twins.alike(async (routes) => {
    const items = await itemsIn(twins, routes, queue_name);
    return items.map(({ payload }) => atob(payload)).sort();
  });
}

/** Removes the ids, which differ between two servers. */
function withoutIds({ item, history, why, ...rest }: ItemExplained, first: string) {
  const named = (text: string) => (text === first ? "first" : "another");
  return {
    ...rest,
    id: named(rest.id),
    item: item && plainItem(item),
    why: why.map((text) => text.replace(first, "first")),
    history: history.map((event) => ({ ...event, id: named(event.id) })),
  };
}

function plainItem({ id: _, source_id: __, origin_id: ___, ...item }: FoundItem) {
  return item;
}

test("dead queue in another shard: it has to exist, and to have none of its own", async () => {
  await using twins = await Twins.open();
  const body = { queue_name: orders, lease_timeout: "1m", expire_timeout: "1h", dead_queue: dead };
  const missing = `dead_queue does not exist; '${dead}' was not found, create it first`;
  expect(await twins.refused("createQueue", body)).toBe(missing);
  await twins.create(dead);
  await twins.create(orders);
  expect(await twins.refused("createQueue", body)).toContain("already exists");
  await twins.same("updateQueue", { queue_name: orders, dead_queue: dead });
  expect((await twins.same("queueInfo", { name: orders })).dead_queue).toBe(dead);

  // `orders` has a dead queue by now, and `dead` is one.
  const chain = `dead_queue is invalid; '${orders}' already has its own dead_queue configured`;
  const other = { ...body, queue_name: invoices, dead_queue: orders };
  expect(await twins.refused("createQueue", other)).toBe(chain);
  expect(await twins.refused("queueInfo", { name: invoices })).toContain("no such queue");
  await twins.create(invoices);
  expect(await twins.refused("updateQueue", { queue_name: invoices, dead_queue: orders })).toBe(
    chain,
  );
  const of = (name: string) =>
    `dead_queue is invalid; '${dead}' is itself the dead_queue of ${name}`;
  const update = { queue_name: dead, dead_queue: invoices };
  expect(await twins.refused("updateQueue", update)).toBe(of(`'${orders}'`));
  expect(await twins.refused("updateQueue", update, keyFor("admin", dead, invoices))).toBe(
    of("another queue"),
  );

  await twins.same("updateQueue", { queue_name: orders, dead_queue: "" });
  await twins.same("updateQueue", update);
  expect((await twins.same("queueInfo", { name: dead })).dead_queue).toBe(invoices);
});

test("dead queue in another shard: items die into it, and both queues count them", async () => {
  await using twins = await withDeadQueue();
  await die(twins, orders, "a", "b");
  await die(twins, invoices, "c");
  expect(await textsIn(twins, orders)).toEqual([]);
  expect(await textsIn(twins, dead)).toEqual(["a", "b", "c"]);
  for (const queue_name of [orders, invoices, dead]) {
    const { queued, dead_letter } = await twins.same("inspect", { queue_name });
    expect([queued, dead_letter]).toEqual(queue_name === dead ? [3, 0] : [0, 3]);
    await twins.same("stats", { queue_name });
    await twins.same("explain", { queue_name });
  }
  await twins.advance(10 * minute);
  // A dead queue needs no consumers.
  expect((await twins.same("explain", { queue_name: dead })).findings).toEqual([]);
  const [ofOne, ofAll] = await twins.both("overview", {});
  expect(ofAll.alarms).toEqual(ofOne.alarms);
  expect(ofAll.alarms).toMatchObject([
    { kind: "dead_items", queue_name: orders, count: 2, text: expect.stringContaining(dead) },
    { kind: "dead_items", queue_name: invoices, count: 1, text: expect.stringContaining(dead) },
  ]);
  const shown = await twins.same("inspect", { queue_name: orders }, keyFor("read", orders));
  expect(shown.dead_letter).toBe(0);
  const { summaries } = await twins.all("summarizeItems", { queue_name: dead, by: "origin_queue" });
  const counts = summaries.map(({ value, count }) => [value, count]);
  expect(counts).toEqual([
    [orders, 2],
    [invoices, 1],
  ]);
  await twins.restart();
  expect((await twins.all("inspect", { queue_name: orders })).dead_letter).toBe(3);
});

test("item in another shard: its first id leads to its place and to all that happened to it", async () => {
  await using twins = await withDeadQueue();
  await twins.produce(orders, "a");
  const seen = await twins.alike(async (routes) => {
    const { first, partition } = await leaseOf(twins, routes, orders);
    const explain = async (at: string, identity?: KeyIdentity) =>
      withoutIds(await twins.ask(routes, "explainItem", { id: at }, identity), first.id);
    const given = { id: first.id, dead: true, reason: "declined" };
    const retried = { ...timed, queue_name: orders, partition, items: [given] };
    await twins.ask(routes, "retry", retried);
    const byFirst = await explain(first.id);
    const [item] = await itemsIn(twins, routes, dead);
    const byPresent = await explain(item?.id ?? "");
    // Only the present id of an item finds it.
    const get = refusalOf(twins.ask(routes, "getItem", { id: first.id }));
    expect(await get).toContain("no item has the id");
    const found = await twins.ask(routes, "getItem", { id: item?.id ?? "" });
    const hidden = await explain(first.id, keyFor("read", orders));

    const { first: again, partition: place } = await leaseOf(twins, routes, dead);
    const completed = { ...timed, queue_name: dead, partition: place, ids: [again.id] };
    await twins.ask(routes, "complete", completed);
    return {
      ...{ byFirst, byPresent, hidden, found: plainItem(found) },
      ...{ endByFirst: await explain(first.id), endByPresent: await explain(again.id) },
    };
  });
  const at = expect.any(String);
  const inOrders = { at, id: "first", queue_name: orders, partition: 0 };
  const history = [
    { ...inOrders, kind: "produced", holder: "" },
    { ...inOrders, kind: "leased", holder: "c" },
    { ...inOrders, kind: "retried", holder: "c" },
    { at, id: "another", queue_name: dead, partition: 0, kind: "dead", holder: "" },
  ];
  expect(seen.byFirst).toMatchObject({
    ...{ id: "first", ahead: 0, ahead_is_exact: true, history },
    item: { queue_name: dead, state: "ready", payload_bytes: 1 },
    why: [
      "It is ready, with 0 ahead of it in partition 0.",
      `It died in '${orders}': it was rejected.`,
      "The last reason given was: declined",
      "It now has another id; it was produced as first.",
    ],
  });
  expect(seen.byPresent).toEqual({
    ...seen.byFirst,
    ...{ id: "another", why: seen.byFirst.why.slice(0, -1) },
  });
  expect(seen.found).toEqual({ ...seen.byFirst.item, payload: btoa("a") } as never);
  expect(seen.hidden).toMatchObject({ item: undefined, history: history.slice(0, 3) });
  expect(seen.endByFirst.history.map(({ kind }) => kind)).toEqual([
    ...history.map(({ kind }) => kind),
    ...["leased", "completed"],
  ]);
  expect(seen.endByFirst).toMatchObject({
    item: undefined,
    why: ["It was completed by c, 0s ago."],
  });
  expect(seen.endByPresent).toEqual({ ...seen.endByFirst, id: "another" });
});

/** The task in both servers, one second later. */
async function taskOf(twins: Twins, ids: readonly string[]) {
  await twins.advance(second);
  const [one, all] = [
    await twins.ask(twins.one, "taskInfo", { task_id: ids[0] ?? "" }),
    await twins.all("taskInfo", { task_id: ids[1] ?? "" }),
  ].map(({ task_id: _, ...task }) => task);
  expect(all).toEqual(one);
  return all;
}

async function redrive(twins: Twins, body: object) {
  const replies = await twins.both("redrive", { queue_name: dead, ...body });
  const [one, all] = replies.map(({ task_id: _, ...reply }) => reply);
  expect(all).toEqual(one);
  return { ...all, ids: replies.map(({ task_id }) => task_id) };
}

test("redrive across shards: each item goes back to the queue that it came from", async () => {
  await using twins = await withDeadQueue();
  await die(twins, orders, "a", "b", "c");
  await die(twins, invoices, "d");
  const destinations = [
    { queue_name: orders, count: 3 },
    { queue_name: invoices, count: 1 },
  ];
  const counted = await redrive(twins, { dry_run: true });
  expect(counted).toMatchObject({ matched: 4, destinations });
  const begun = await redrive(twins, {});
  expect(begun).toMatchObject({ matched: 4, destinations });
  const done = { state: "done", matched: 4, moved: 4, skipped: 0 };
  expect(await taskOf(twins, begun.ids)).toMatchObject(done);
  expect(await textsIn(twins, orders)).toEqual(["a", "b", "c"]);
  expect(await textsIn(twins, invoices)).toEqual(["d"]);
  expect(await textsIn(twins, dead)).toEqual([]);
  for (const queue_name of [orders, dead, invoices]) await twins.same("stats", { queue_name });
});

test("redrive across shards: to one queue, and to a queue that is there alone", async () => {
  await using twins = await withDeadQueue();
  await die(twins, orders, "a", "b");
  expect(await twins.refused("redrive", { queue_name: dead, to_queue: "none" })).toContain(
    "'none'",
  );
  const begun = await redrive(twins, { to_queue: invoices, limit: 1 });
  expect(begun).toMatchObject({ matched: 1, destinations: [{ queue_name: invoices }] });
  const moved = { to_queue: invoices, state: "done", matched: 1, moved: 1 };
  expect(await taskOf(twins, begun.ids)).toMatchObject(moved);
  expect(await textsIn(twins, invoices)).toEqual(["a"]);

  await twins.same("deleteQueue", { queue_name: orders, force: false });
  const stay = await redrive(twins, {});
  expect(stay).toMatchObject({ matched: 1, destinations: [{ queue_name: "", count: 1 }] });
  expect(await taskOf(twins, stay.ids)).toMatchObject({ state: "done", moved: 0, skipped: 1 });
  expect(await textsIn(twins, dead)).toEqual(["b"]);
  await twins.create(orders);
  const go = await redrive(twins, {});
  expect(await taskOf(twins, go.ids)).toMatchObject({ state: "done", moved: 1, skipped: 0 });
  expect([await textsIn(twins, dead), await textsIn(twins, orders)]).toEqual([[], ["b"]]);
});

test.each([
  { to: orders, last: "returned", shard: "its first" },
  { to: invoices, last: "returned", shard: "a third" },
])("redrive across shards: its first id leads to an item in $shard shard", async ({ to, last }) => {
  await using twins = await withDeadQueue();
  await die(twins, orders, "a");
  const { ids } = await redrive(twins, to === orders ? {} : { to_queue: to });
  await taskOf(twins, ids);
  const { item, history } = await twins.alike(async (routes) => {
    const [moved] = await itemsIn(twins, routes, to);
    const first = moved?.origin_id ?? "";
    return withoutIds(await twins.ask(routes, "explainItem", { id: first }), first);
  });
  expect(item).toMatchObject({ queue_name: to, state: "ready", redriven: 1 });
  expect(history.map(({ queue_name, kind }) => [queue_name, kind])).toEqual([
    [orders, "produced"],
    [orders, "leased"],
    [orders, "retried"],
    [dead, "dead"],
    [dead, "redriven"],
    [to, last],
  ]);
});

test("item in another shard: its first id leads to its place without a history", async () => {
  await using twins = await withDeadQueue();
  await die(twins, orders, "a");
  // The history of items is only in memory.
  await twins.restart();
  const [item] = await itemsIn(twins, twins.merged, dead);
  const explained = await twins.all("explainItem", { id: item?.origin_id ?? "" });
  expect(explained).toMatchObject({ item: { id: item?.id, queue_name: dead }, history: [] });
});

test("redrive across shards: it fails once the queue that it goes to is deleted", async () => {
  await using twins = await withDeadQueue();
  await die(twins, orders, "a", "b", "c", "d");
  const { ids } = await redrive(twins, { to_queue: invoices, per_second: 1 });
  expect(await taskOf(twins, ids)).toMatchObject({ state: "running", moved: 2 });
  expect(await textsIn(twins, invoices)).toEqual(["a", "b"]);
  await twins.same("deleteQueue", { queue_name: invoices, force: true });
  expect(await taskOf(twins, ids)).toMatchObject({ state: "failed", moved: 2, skipped: 0 });
  expect(await textsIn(twins, dead)).toEqual(["c", "d"]);
});

test("transact: outputs for other shards arrive, once each", async () => {
  await using twins = await withDeadQueue();
  await twins.produce(orders, "a", "b");
  const produce = [
    { queue_name: invoices, items: [{ utf8: "c" }, { utf8: "d" }] },
    { queue_name: orders, items: [{ utf8: "e" }] },
    { queue_name: dead, items: [{ utf8: "f" }] },
  ];
  for (const routes of [twins.one, twins.merged]) {
    const { partition, items } = await leaseOf(twins, routes, orders);
    const [one, other] = items.map((item) => item.id);
    const finished = { queue_name: orders, partition };
    const { produced } = await twins.ask(routes, "transact", {
      ...timed,
      complete: [{ ...finished, ids: [one ?? ""] }],
      retry: [{ ...finished, items: [{ id: other ?? "", dead: true, reason: "declined" }] }],
      produce,
    });
    const isHere = (queue_name: string) => routes === twins.one || queue_name === orders;
    expect(produced).toEqual(
      [invoices, orders, dead].map((queue_name) => ({
        ...{ queue_name, delivered: isHere(queue_name) },
        ...(isHere(queue_name) && { partition: 0 }),
      })),
    );
  }
  expect(await textsIn(twins, orders)).toEqual(["e"]);
  expect(await textsIn(twins, invoices)).toEqual(["c", "d"]);
  expect(await textsIn(twins, dead)).toEqual(["b", "f"]);
  for (const queue_name of [orders, dead, invoices]) {
    await twins.same("inspect", { queue_name });
  }
  await twins.restart();
  for (const [queue_name, queued] of [
    [invoices, 2],
    [dead, 2],
    [orders, 1],
  ] as const) {
    expect((await twins.all("inspect", { queue_name })).queued).toBe(queued);
  }
});

test("transact: nothing is done where an output of another shard cannot be written", async () => {
  await using twins = await withDeadQueue();
  await twins.same("pause", { queue_name: invoices, produce: true, reason: "counting" });
  const here = { queue_name: orders, items: [{ utf8: "a" }] };
  const body = (queue_name: string) => {
    return { ...timed, produce: [here, { queue_name, items: [{ utf8: "b" }] }] };
  };
  expect(await twins.refused("transact", body(invoices))).toContain("counting");
  expect(await twins.refused("transact", body("none"))).toContain("no such queue named 'none'");
  const unique = { queue_name: dead, items: [{ utf8: "b", unique_key: "u" }] };
  const keyed = { ...timed, produce: [here, unique] };
  expect(await refusalOf(twins.all("transact", keyed))).toContain("is in another shard");
  const complete = [{ queue_name: orders, partition: 0, ids: [id] }];
  const retry = [{ queue_name: invoices, partition: 0, items: [{ id }] }];
  const apart = twins.all("transact", { ...timed, complete, retry });
  expect(await refusalOf(apart)).toContain("their queues are in different shards");
  for (const queue_name of [orders, dead, invoices]) {
    expect((await twins.all("inspect", { queue_name })).queued).toBe(0);
  }
  await twins.same("resume", { queue_name: invoices });
  await twins.both("transact", body(invoices));
  expect([await textsIn(twins, orders), await textsIn(twins, invoices)]).toEqual([["a"], ["b"]]);
});

test("delete: a dead queue that queues of other shards name goes by force alone, and is cut there", async () => {
  await using twins = await withDeadQueue();
  await die(twins, orders, "a");
  const deleted = { queue_name: dead, force: false };
  expect(await twins.refused("deleteQueue", deleted)).toContain(`'${dead}' is the dead_queue of '`);
  const some = keyFor("admin", dead);
  expect(await twins.refused("deleteQueue", deleted, some)).toContain("of another queue");
  expect(await twins.refused("deleteQueue", { ...deleted, force: true }, some)).toContain(
    "it is the dead_queue of queues that the key does not administer",
  );
  for (const name of [orders, invoices]) {
    expect((await twins.same("queueInfo", { name })).dead_queue).toBe(dead);
  }

  await twins.advance(second);
  await twins.same("deleteQueue", { ...deleted, force: true });
  const cut = async () => {
    for (const name of [orders, invoices]) {
      expect((await twins.same("queueInfo", { name })).dead_queue).toBe("");
      expect((await twins.same("inspect", { queue_name: name })).dead_letter).toBe(0);
    }
  };
  await cut();
  const [ofOne, ofAll] = await twins.both("listActions", { limit: 1, queue_name: invoices });
  const plain = ({ items }: typeof ofOne) =>
    items.map(({ id: _, to_queues, ...action }) => ({
      ...action,
      to_queues: to_queues.toSorted(),
    }));
  expect(plain(ofAll)).toEqual(plain(ofOne));
  expect(plain(ofAll)).toMatchObject([
    { operation: "deleteQueue", queue_name: dead, to_queues: [invoices, orders], code: 200 },
  ]);

  // A later queue of the same name is another queue.
  await twins.create(dead);
  await cut();
  await twins.restart();
  await cut();
  await twins.produce(orders, "b");
  const refusal = await twins.alike(async (routes) => {
    const { first, partition } = await leaseOf(twins, routes, orders);
    const items = [{ id: first.id, dead: true }];
    const retry = { ...timed, queue_name: orders, partition, items };
    return (await refusalOf(twins.ask(routes, "retry", retry))).replace(first.id, "first");
  });
  expect(refusal).toContain("the queue has no dead queue");
});

// When a dead queue is deleted, no queue in any shard refers to a later queue of its name.
for (const restarts of [false, true]) {
  const when = restarts ? "; after a restart" : "";

  /** `dead` was deleted by force, and recreated as a queue to which no queue refers. */
  const withAnother = async (): Promise<Twins> => {
    const twins = await withDeadQueue();
    await twins.same("deleteQueue", { queue_name: dead, force: true });
    await twins.create(dead);
    if (restarts) await twins.restart();
    for (const name of [orders, invoices]) {
      expect((await twins.same("queueInfo", { name })).dead_queue).toBe("");
    }
    return twins;
  };

  test(`delete: a queue with the name of a deleted dead queue is not in use${when}`, async () => {
    await using twins = await withAnother();
    await twins.same("deleteQueue", { queue_name: dead, force: false });
  });

  test(`delete: a queue with the name of a deleted dead queue may have its own${when}`, async () => {
    await using twins = await withAnother();
    await twins.create("last");
    await twins.same("updateQueue", { queue_name: dead, dead_queue: "last" });
  });

  test(`delete: a queue that lost its dead queue may become one${when}`, async () => {
    await using twins = await withAnother();
    await twins.same("updateQueue", { queue_name: invoices, dead_queue: orders });
  });
}
