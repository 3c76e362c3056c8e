// All queues at a glance: scanned once per second for all callers, with the changes since.

import { expect, test } from "bun:test";
import { type Bundle, minute, produceOf, second, setup, start } from "../simulation/bundle.ts";

async function setupQueues(...names: string[]): Promise<Bundle> {
  const bundle = await setup();
  for (const name of names) await bundle.createQueue({ name });
  return bundle;
}

const look = (bundle: Bundle, since = "") => bundle.engine.overview(since).overview;
const namesIn = ({ rows }: { rows: readonly { queue: string }[] }): string[] =>
  rows.map(({ queue }) => queue).sort();

test("overview: each queue has a row with its counts and counters", async () => {
  const bundle = await setupQueues("orders", "other");
  await bundle.produce("orders", "a", "b", "c");
  await bundle.complete(await bundle.lease("orders"));
  await bundle.lease("orders");
  await bundle.beginLease("other");
  const { asOf, isWhole, totals, rows, removed } = look(bundle);
  expect({ asOf, isWhole, removed }).toEqual({ asOf: start, isWhole: true, removed: [] });
  expect(rows.find(({ queue }) => queue === "orders")).toMatchObject({
    ...{
      health: "flows",
      healthSince: 0,
      healthCount: 0,
      nextAt: 0,
      ready: 1,
      held: 1,
      scheduled: 0,
      waiting: 0,
    },
    ...{ produced: 3, leased: 2, completed: 1, dead: 0, oldestReadyAt: start, nextDueAt: 0 },
  });
  expect(rows.find(({ queue }) => queue === "other")).toMatchObject({ health: "idle", waiting: 1 });
  expect(totals).toMatchObject({ queues: 2, ready: 1, held: 1, waiting: 1, produced: 3 });
});

test("overview: the load of the shard is that of the last minute for every caller", async () => {
  const bundle = await setupQueues("orders");
  const load = () => look(bundle).shard.itemsPerSecond;
  await bundle.produce("orders", ...Array.from({ length: 200 }, () => "a"));
  await bundle.clock.advance(30 * second);
  expect(load()).toBe(Math.ceil(200 / 60));
  await bundle.complete(await bundle.lease("orders", { batchSize: 100 }));
  await bundle.clock.advance(29 * second);
  expect(load()).toBe(Math.ceil(400 / 60));
  await bundle.clock.advance(second);
  expect(load()).toBe(Math.ceil(200 / 60));
  await bundle.clock.advance(minute);
  expect(load()).toBe(0);
});

test("overview: totals equal the sums of the rows after any change", async () => {
  const bundle = await setupQueues("orders", "other", "third");
  const sums = () => bundle.engine.overview("", () => true).overview.totals;
  await bundle.produce("orders", "a", "b", "c");
  await bundle.produce("third", "a");
  expect(look(bundle).totals).toEqual(sums());
  await bundle.clock.advance(second);
  await bundle.complete(await bundle.lease("orders"));
  await bundle.run(() => bundle.engine.deleteQueue({ name: "third", force: true }));
  await bundle.createQueue({ name: "fourth" });
  await bundle.produce("fourth", "a", "b");
  await bundle.clock.advance(second);
  const { totals } = look(bundle);
  expect(totals).toMatchObject({ queues: 3, ready: 4, produced: 5, completed: 1 });
  expect(totals).toEqual(sums());
});

test("overview: within a second all callers with the same token get the same reply", async () => {
  const bundle = await setupQueues("orders");
  const first = look(bundle);
  await bundle.produce("orders", "a");
  await bundle.clock.advance(second - 1);
  expect(look(bundle)).toBe(first);
  expect(bundle.engine.overview("").now).toBe(start + second - 1);
  await bundle.clock.advance(1);
  const second_ = look(bundle);
  expect(second_.totals.ready).toBe(1);
  expect(look(bundle, first.since)).toBe(look(bundle, first.since));
});

test("overview: a caller with a token gets the changed and the removed queues", async () => {
  const bundle = await setupQueues("orders", "other", "third");
  const { since } = look(bundle);
  await bundle.clock.advance(second);
  const quiet = look(bundle, since);
  expect(quiet).toMatchObject({ isWhole: false, rows: [], removed: [] });
  expect(quiet.totals.queues).toBe(3);
  await bundle.produce("other", "a");
  await bundle.run(() => bundle.engine.deleteQueue({ name: "third", force: false }));
  await bundle.clock.advance(second);
  const changed = look(bundle, quiet.since);
  expect(namesIn(changed)).toEqual(["other"]);
  expect(changed.removed).toEqual(["third"]);
  // Also for a caller that missed versions.
  expect(look(bundle, since)).toMatchObject({ rows: changed.rows, removed: ["third"] });
  await bundle.createQueue({ name: "third" });
  await bundle.clock.advance(second);
  expect(look(bundle, quiet.since)).toMatchObject({ removed: [] });
  expect(namesIn(look(bundle, quiet.since))).toEqual(["other", "third"]);
});

test.each(["nonsense", "x.1", "1.5.x", "x".repeat(65)])(
  "overview: with %s, an unknown token, all queues are returned",
  async (since) => {
    const bundle = await setupQueues("orders");
    expect(look(bundle, since)).toMatchObject({ isWhole: true });
  },
);

test("overview: a token of another engine is not accepted as its own", async () => {
  const bundle = await setupQueues("orders");
  const { since } = look(bundle);
  await bundle.clock.advance(minute);
  await bundle.restart();
  look(bundle);
  expect(look(bundle, since)).toMatchObject({ isWhole: true });
  expect(namesIn(look(bundle, since))).toEqual(["orders"]);
});

test("overview: a filter leaves only these queues and their alarms", async () => {
  const others = Array.from({ length: 60 }, (_, index) => `other-${index}`);
  const bundle = await setupQueues(...others, "orders");
  for (const name of others) await bundle.produce(name, "a", "b");
  await bundle.produce("orders", "a");
  await bundle.clock.advance(10 * minute);
  const whole = look(bundle);
  expect(whole.alarms).toHaveLength(50);
  expect(whole.alarms.map(({ queue }) => queue)).not.toContain("orders");
  const isShown = (queue: string): boolean => queue === "orders";
  const some = bundle.engine.overview("", isShown).overview;
  expect(some.alarms).toMatchObject([{ kind: "no_consumers", queue: "orders", count: 1 }]);
  expect(namesIn(some)).toEqual(["orders"]);
  expect(some.totals).toMatchObject({ queues: 1, ready: 1, produced: 1 });
  await bundle.run(() => bundle.engine.deleteQueue({ name: "other-0", force: true }));
  await bundle.clock.advance(second);
  const { removed, rows } = bundle.engine.overview(some.since, isShown).overview;
  expect({ removed, rows }).toEqual({ removed: [], rows: [] });
});

test("overview: alarms of shards and queues are sorted by severity", async () => {
  const bundle = await setupQueues("orders", "other");
  await bundle.createQueue({ name: "doomed", maxAttempts: 1 });
  await bundle.produce("doomed", "a");
  await bundle.retry(await bundle.lease("doomed"));
  await bundle.produce("orders", "a", "b");
  await bundle.produce("other", "a", "b", "c");
  await bundle.clock.advance(minute);
  const { alarms } = look(bundle);
  expect(alarms.map(({ kind, queue, count }) => [kind, queue, count])).toEqual([
    ["no_consumers", "other", 3],
    ["no_consumers", "orders", 2],
    ["dead_items", "doomed", 1],
  ]);
});

test("overview: alarms of queues are sorted by items and age, whatever the cause", async () => {
  const names = ["a", "b", "c", "d", "e"];
  const bundle = await setupQueues(...names);
  await bundle.createQueue({ name: "doomed", maxAttempts: 1 });
  await bundle.produce("a", "old", "older");
  await bundle.clock.advance(9 * minute);
  for (const name of names.slice(1)) await bundle.produce(name, "one");
  await bundle.produce("doomed", ...Array.from({ length: 40 }, (_, at) => `item ${at}`));
  await bundle.retry(await bundle.lease("doomed", { batchSize: 40 }));
  await bundle.clock.advance(minute);
  const { alarms } = look(bundle);
  expect(alarms.map(({ kind, queue }) => [kind, queue])).toEqual([
    ["dead_items", "doomed"],
    ["no_consumers", "a"],
    ...names.slice(1).map((name) => ["no_consumers", name]),
  ]);
});

test("overview: a paused queue reports the start of the pause even if it has another finding", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "doomed", maxAttempts: 1 });
  await bundle.produce("doomed", "a");
  await bundle.retry(await bundle.lease("doomed"));
  await bundle.clock.advance(second);
  await bundle.run(() => bundle.engine.pause({ queue: "doomed", produce: true }));
  const pausedAt = start + second;
  await bundle.clock.advance(minute);
  const paused = { queue: "doomed", health: "dead_items", pausedSince: pausedAt };
  const { rows, since } = look(bundle);
  expect(rows).toMatchObject([paused]);
  await bundle.run(() => bundle.engine.resume("doomed"));
  await bundle.clock.advance(second);
  expect(look(bundle, since).rows).toMatchObject([{ ...paused, pausedSince: 0 }]);
});

test("overview: contains the state of the shard and its commit times", async () => {
  const bundle = await setupQueues("orders");
  expect(look(bundle).shard).toMatchObject({ shard: 0, state: "up", since: null });
  await bundle.produce("orders", "a");
  bundle.store().fail({ fault: "full", sticky: true });
  await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["b"])));
  await bundle.clock.advance(second);
  const { shard, alarms } = look(bundle);
  expect(shard).toMatchObject({ state: "full", since: start });
  expect(shard.commitP99Us).toBeGreaterThan(0);
  expect(alarms).toMatchObject([{ kind: "store_full", shard: 0, queue: "" }]);
});

/** A queue whose items are removed one per second, and one that must not be shown. */
async function setupTasks() {
  const bundle = await setupQueues("orders", "other");
  const repairs: string[] = [];
  for (const queue of ["orders", "other"]) {
    await bundle.produce(queue, "a", "b", "c");
    const request = { queue, action: "delete", filter: {}, perSecond: 1 } as const;
    repairs.push((await bundle.run(() => bundle.engine.repair(request))).taskId);
    await bundle.clock.advance(1);
  }
  return { bundle, repairs };
}

test("overview: contains running tasks with their progress, newest first, and no ended ones", async () => {
  const { bundle, repairs } = await setupTasks();
  const idsIn = (since = "") => look(bundle, since).tasks.map(({ taskId }) => taskId);
  expect(idsIn()).toEqual(repairs.toReversed());
  expect(look(bundle).tasks).toMatchObject([
    { action: "delete", queue: "other", state: "running", matched: 3 },
    { queue: "orders" },
  ]);
  const first = look(bundle);
  await bundle.run(() => bundle.engine.cancelTask(String(repairs[1])));
  // All callers get the scan of a moment ago.
  expect(look(bundle)).toBe(first);
  await bundle.clock.advance(second);
  expect(idsIn()).toEqual(repairs.slice(0, 1));
  // Running tasks are returned to every caller, whatever its token.
  expect(idsIn(look(bundle).since)).toEqual(repairs.slice(0, 1));
  await bundle.clock.advance(minute);
  expect(idsIn()).toEqual([]);
});

test("overview: a filter leaves only the tasks of these queues", async () => {
  const { bundle, repairs } = await setupTasks();
  const { tasks } = bundle.engine.overview("", (queue) => queue === "orders").overview;
  expect(tasks.map(({ taskId }) => taskId)).toEqual(repairs.slice(0, 1));
});
