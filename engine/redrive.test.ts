// Redrive: dead items go back, each once, whatever happens to the process.

import { expect, test } from "bun:test";
import type { QueueSettings, RedriveRequest } from "./model/api.ts";
import { limits } from "./model/limits.ts";
import {
  type Bundle,
  day,
  deadPlacements,
  hour,
  minute,
  nameIn,
  produceOf,
  second,
  setup,
  start,
} from "./simulation/bundle.ts";
import { seededRandom } from "./simulation/seeded-random.ts";

async function setupQueues(shardCount = 1, settings: Partial<QueueSettings> = {}) {
  const bundle = await setup({ shardCount });
  await bundle.createQueue({ name: "dead", expireTimeoutMs: 7 * day });
  for (const name of ["orders", "mails"]) {
    await bundle.createQueue({ name, deadQueue: "dead", leaseTimeoutMs: second, ...settings });
  }
  return bundle;
}

/** Rejects items of a queue, with a reason each. */
async function die(bundle: Bundle, queue: string, texts: readonly string[], reason = "why") {
  const items = texts.map((payload) => ({ payload, kind: queue }));
  await bundle.run(() => bundle.engine.produce({ ...produceOf(queue, []), items }));
  for (let left = texts.length; left > 0; ) {
    const lease = await bundle.lease(queue, { batchSize: Math.min(1_000, left) });
    left -= lease.items.length;
    const dead = lease.items.map(({ id }) => ({ id, retryAt: null, dead: true, reason }));
    const request = { queue, partition: lease.partition, items: dead };
    await bundle.run(() => bundle.engine.retry(request));
  }
}

const redrive = (bundle: Bundle, change: Partial<RedriveRequest> = {}) =>
  bundle.run(() => bundle.engine.redrive({ queue: "dead", ...change }));

const ended = (bundle: Bundle, taskId: string) => bundle.ended(taskId);
const all = (bundle: Bundle, queue: string) => bundle.allListed(queue);

test.each(deadPlacements)(
  "redrive: each item returns to its original queue; the dead queue %s",
  async (_, shards) => {
    const bundle = await setupQueues(shards);
    await die(bundle, "orders", ["a", "b"]);
    await die(bundle, "mails", ["c"]);
    const { taskId, matched, replayed } = await redrive(bundle);
    expect({ matched, replayed }).toEqual({ matched: 3, replayed: false });
    const { state, moved, skipped, endedAt } = await ended(bundle, taskId);
    expect({ state, moved, skipped }).toEqual({ state: "done", moved: 3, skipped: 0 });
    expect(endedAt).not.toBeNull();
    expect(await all(bundle, "orders")).toEqual(["a", "b"]);
    expect(await all(bundle, "mails")).toEqual(["c"]);
    expect(await all(bundle, "dead")).toEqual([]);
  },
);

test("redrive: the item is new, except for its provenance", async () => {
  const bundle = await setupQueues(1, { maxAttempts: 5 });
  await die(bundle, "orders", ["a"], "no card");
  await bundle.clock.advance(hour);
  await ended(bundle, (await redrive(bundle)).taskId);
  const { found } = await bundle.run(() =>
    bundle.engine.findItems({ queue: "orders", pivot: "", limit: 1, filter: {} }),
  );
  const { id, attempts, createdAt, past, sourceId } = found[0] as (typeof found)[0];
  expect({ attempts, sourceId }).toEqual({ attempts: 0, sourceId: "" });
  expect(createdAt).toBeGreaterThanOrEqual(start + hour);
  const { origin } = past ?? {};
  expect(past).toEqual({
    origin: String(origin),
    reason: "no card",
    createdAt: start,
    redriven: 1,
  });
  expect(origin).not.toBe(id);
  const lease = await bundle.lease("orders");
  await bundle.retry(lease, { dead: true });
  await ended(bundle, (await redrive(bundle, { filter: { redrivenMax: 0 } })).taskId);
  expect(await all(bundle, "dead")).toEqual(["a"]);
  await ended(bundle, (await redrive(bundle, { filter: { redrivenMax: 1 } })).taskId);
  const again = await bundle.lease("orders");
  expect(again.items[0]?.past).toEqual({
    origin: String(origin),
    reason: "no card",
    createdAt: start,
    redriven: 2,
  });
});

test("redrive: moves all items to one queue, wherever they came from", async () => {
  const bundle = await setupQueues();
  await bundle.createQueue({ name: "other", requestedPartitions: 2 });
  await die(bundle, "orders", ["a"]);
  await die(bundle, "mails", ["b"]);
  await ended(bundle, (await redrive(bundle, { to: "other" })).taskId);
  expect(await all(bundle, "other")).toEqual(["a", "b"]);
});

test("redrive: reports the destinations, largest first, and how many items stay", async () => {
  const bundle = await setupQueues();
  await bundle.createQueue({ name: "former", deadQueue: "dead" });
  await die(bundle, "orders", ["a"]);
  await die(bundle, "mails", ["b", "c"]);
  await die(bundle, "former", ["d", "e", "f"]);
  await bundle.run(() => bundle.engine.deleteQueue({ name: "former", force: true }));
  const told = async (change: Partial<RedriveRequest>) => {
    const { destinations } = await redrive(bundle, { dryRun: true, ...change });
    return destinations.map(({ queue, count }) => [queue, count] as const);
  };
  expect(await told({})).toEqual([
    ["mails", 2],
    ["orders", 1],
    ["", 3],
  ]);
  expect(await told({ limit: 1, filter: { originQueue: "mails" } })).toEqual([["mails", 2]]);
  expect(await told({ to: "orders" })).toEqual([["orders", 6]]);
  expect(await told({ filter: { kind: "none" }, to: "orders" })).toEqual([["orders", 0]]);
  const { found } = await bundle.run(() =>
    bundle.engine.findItems({ queue: "dead", pivot: "", limit: 9, filter: {} }),
  );
  const [one] = found.filter(({ past }) => past?.queue === "mails");
  expect(await told({ ids: [String(one?.id)] })).toEqual([["mails", 1]]);
});

test("redrive: items whose queue was deleted stay and are counted", async () => {
  const bundle = await setupQueues();
  await die(bundle, "orders", ["a", "b"]);
  await die(bundle, "mails", ["c"]);
  await bundle.run(() => bundle.engine.deleteQueue({ name: "orders", force: true }));
  const { matched, taskId } = await redrive(bundle);
  const { moved, skipped } = await ended(bundle, taskId);
  expect({ matched, moved, skipped }).toEqual({ matched: 3, moved: 1, skipped: 2 });
  expect(await all(bundle, "dead")).toEqual(["a", "b"]);
  await bundle.createQueue({ name: "orders" });
  await ended(bundle, (await redrive(bundle)).taskId);
  expect(await all(bundle, "orders")).toEqual(["a", "b"]);
});

test("redrive: moves the items that match the filter or the ids, up to the limit", async () => {
  const bundle = await setupQueues();
  await die(bundle, "orders", ["a", "b", "c"], "no card 1");
  await die(bundle, "orders", ["d"], "timeout");
  await ended(bundle, (await redrive(bundle, { filter: { reason: "timeout" } })).taskId);
  expect(await all(bundle, "orders")).toEqual(["d"]);
  const { found } = await bundle.run(() =>
    bundle.engine.findItems({ queue: "dead", pivot: "", limit: 9, filter: {} }),
  );
  const ids = [found[1]?.id ?? "", found[1]?.id ?? "", `1${"z".repeat(26)}`];
  const named = await redrive(bundle, { ids });
  expect(named.matched).toBe(1);
  await ended(bundle, named.taskId);
  expect(await all(bundle, "orders")).toEqual(["b", "d"]);
  const limited = await redrive(bundle, { limit: 1 });
  expect(limited.matched).toBe(1);
  expect((await ended(bundle, limited.taskId)).moved).toBe(1);
  expect(await all(bundle, "dead")).toEqual(["c"]);
});

test("redrive: a dry run counts and moves nothing; more than expected moves nothing", async () => {
  const bundle = await setupQueues();
  await die(bundle, "orders", ["a", "b"]);
  expect(await redrive(bundle, { dryRun: true })).toEqual({
    taskId: "",
    matched: 2,
    destinations: [{ queue: "orders", count: 2 }],
    replayed: false,
  });
  const ending = await bundle.ending(() => bundle.engine.redrive({ queue: "dead", expect: 1 }));
  expect(ending).toMatchObject({
    code: "refused",
    message: "count has changed; 2 items would be moved, expected at most 1",
  });
  expect(bundle.engine.listTasks()).toEqual([]);
  expect(await all(bundle, "dead")).toEqual(["a", "b"]);
  const { taskId } = await redrive(bundle, { expect: 2 });
  expect((await ended(bundle, taskId)).moved).toBe(2);
});

test("redrive: leased items stay with their holder, and later items stay", async () => {
  const bundle = await setupQueues();
  await die(bundle, "orders", ["a", "b"]);
  const lease = await bundle.lease("dead");
  const { taskId, matched } = await redrive(bundle, { perSecond: 1 });
  expect(matched).toBe(1);
  await die(bundle, "mails", ["late"]);
  expect((await ended(bundle, taskId)).moved).toBe(1);
  expect(await bundle.complete(lease)).toMatchObject({ ok: true });
  expect(await all(bundle, "dead")).toEqual(["late"]);
});

test("redrive: moves at most the given items per second, until it is cancelled", async () => {
  const bundle = await setupQueues();
  await die(
    bundle,
    "orders",
    Array.from({ length: 30 }, (_, index) => `item ${index}`),
  );
  const { taskId } = await redrive(bundle, { perSecond: 10 });
  await bundle.clock.advance(999);
  expect(bundle.engine.taskInfo(taskId)).toMatchObject({ state: "running", moved: 10 });
  await bundle.clock.advance(1);
  expect(bundle.engine.taskInfo(taskId).moved).toBe(20);
  const cancelled = await bundle.run(() => bundle.engine.cancelTask(taskId));
  expect(cancelled).toMatchObject({ state: "cancelled", moved: 20 });
  await bundle.clock.advance(minute);
  expect(await all(bundle, "dead")).toHaveLength(10);
  await bundle.restart();
  await bundle.clock.advance(minute);
  expect(bundle.engine.taskInfo(taskId)).toMatchObject({ state: "cancelled", moved: 20 });
});

test("redrive: after a restart in the same instant, a redrive is another task", async () => {
  const bundle = await setupQueues();
  await die(bundle, "orders", ["a"]);
  const first = await redrive(bundle);
  await bundle.clock.settle();
  expect(bundle.engine.taskInfo(first.taskId).state).toBe("done");
  bundle.kill();
  await bundle.open({ now: start });
  await die(bundle, "orders", ["b"]);
  const second = await redrive(bundle);
  expect(second.taskId).not.toBe(first.taskId);
  expect((await ended(bundle, second.taskId)).moved).toBe(1);
});

test("redrive: repeated with a key it is one task, even after a restart", async () => {
  const bundle = await setupQueues();
  await die(bundle, "orders", ["a"]);
  const first = await redrive(bundle, { requestKey: "k" });
  await ended(bundle, first.taskId);
  await die(bundle, "orders", ["b"]);
  expect(await redrive(bundle, { requestKey: "k" })).toEqual({ ...first, replayed: true });
  await bundle.restart();
  expect(await redrive(bundle, { requestKey: "k" })).toEqual({ ...first, replayed: true });
  const other = { queue: "dead", limit: 1, requestKey: "k" };
  const ending = await bundle.ending(() => bundle.engine.redrive(other));
  const message = "idempotency key is taken; 'k' was used with another request";
  expect(ending).toMatchObject({ code: "invalid", message });
  expect(await all(bundle, "dead")).toEqual(["a"]);
  expect(await all(bundle, "orders")).toEqual(["b"]);
});

test.each([false, true])(
  "redrive: a key that is reused after its window begins another task; restarted: %p",
  async (isRestarted) => {
    const bundle = await setupQueues();
    const window = limits.receiptsWindowMs;
    const taskIds = new Set<string>();
    for (const [round, text] of ["a", "b", "c"].entries()) {
      await die(bundle, "orders", [text]);
      const change = { requestKey: "nightly", limit: 1 + round };
      const begun = await redrive(bundle, change);
      expect(begun).toMatchObject({ matched: 1, replayed: false });
      taskIds.add(begun.taskId);
      expect(await ended(bundle, begun.taskId)).toMatchObject({ state: "done", moved: 1 });
      const { createdAt } = bundle.engine.taskInfo(begun.taskId);
      await bundle.clock.advance(createdAt + window - 1 - bundle.clock.now());
      if (isRestarted) await bundle.restart();
      expect(await redrive(bundle, change)).toEqual({ ...begun, replayed: true });
      await bundle.clock.advance(1);
    }
    expect(taskIds.size).toBe(3);
    expect(await all(bundle, "orders")).toEqual(["a", "b", "c"]);
  },
);

test.each([
  [{ limit: 0 }, "limit is invalid; cannot be less than 1"],
  [{ perSecond: 0.5 }, "per second is invalid; expected a whole number, got 0.5"],
  [{ expect: -1 }, "expect is invalid; cannot be less than 0"],
  [{ ids: [] }, "ids is invalid; cannot be empty"],
  [
    { ids: [`1${"z".repeat(26)}`], filter: {} },
    "redrive is invalid; expected ids or a filter, got both",
  ],
  [{ to: "nowhere" }, "queue does not exist; no such queue named 'nowhere'"],
  [
    { requestKey: "two words" },
    'idempotency key is invalid; expected 1 to 255 visible ASCII characters, got "two words"',
  ],
  [
    { requestKey: "k".repeat(256) },
    "idempotency key is invalid; expected 1 to 255 visible ASCII characters, got 256 characters",
  ],
])("redrive: %j is refused", async (change, message) => {
  const bundle = await setupQueues();
  const ending = await bundle.ending(() => bundle.engine.redrive({ queue: "dead", ...change }));
  expect(ending).toMatchObject({ code: "invalid", message });
});

test("tasks: an unknown task is refused, the last ones are listed, and the oldest ended one is removed", async () => {
  const bundle = await setupQueues();
  const unknown = (taskId: string) => ({
    code: "refused",
    message: `task does not exist; no such task '${taskId}'`,
  });
  const info = (taskId = "x") => bundle.ending(() => bundle.engine.taskInfo(taskId));
  expect(await info()).toMatchObject(unknown("x"));
  const ids: string[] = [];
  for (let count = 0; count <= limits.tasksKeptMax; count += 1) {
    const { taskId } = await redrive(bundle);
    await ended(bundle, taskId);
    await bundle.clock.advance(1);
    ids.push(taskId);
  }
  const listed = bundle.engine.listTasks("dead").map(({ taskId }) => taskId);
  expect(listed).toEqual(ids.slice(-limits.tasksMax).reverse());
  await bundle.restart();
  expect(bundle.engine.listTasks().map(({ taskId }) => taskId)).toEqual(listed);
  expect(await info(ids[1])).toMatchObject({ ok: true });
  expect(await info(ids[0])).toMatchObject(unknown(String(ids[0])));
});

test("redrive: a redrive that is repeated while its items are counted is the same task", async () => {
  const bundle = await setupQueues();
  await die(bundle, "orders", ["a", "b"]);
  const request = { queue: "dead", requestKey: "again", limit: 1 };
  const begun = await bundle.run(() =>
    Promise.all([bundle.engine.redrive(request), bundle.engine.redrive(request)]),
  );
  expect(begun.map(({ replayed }) => replayed)).toEqual([false, true]);
  expect(new Set(begun.map(({ taskId }) => taskId)).size).toBe(1);
  expect((await ended(bundle, String(begun[0]?.taskId))).moved).toBe(1);
  expect(await all(bundle, "orders")).toHaveLength(1);
});

test("redrive: items that arrive while it counts do not exceed the expected number", async () => {
  const bundle = await setupQueues();
  await die(bundle, "orders", ["a"]);
  const begun = await bundle.begin(() =>
    Promise.all([
      bundle.engine.redrive({ queue: "dead", to: "mails", expect: 1 }),
      bundle.engine.produce(produceOf("dead", ["late"])),
    ]),
  );
  if (begun.ending?.ok !== true) throw new Error("not begun");
  const { moved } = await ended(bundle, begun.ending.value[0].taskId);
  expect(moved).toBe(1);
  expect(await all(bundle, "dead")).toEqual(["late"]);
});

test.each([0, 1])("tasks: a cancel waits for the current piece in shard %p", async (shard) => {
  const bundle = await setup({ shardCount: 2 });
  const queue = nameIn(shard, 2);
  await bundle.createQueue({ name: queue });
  await bundle.run(() => bundle.engine.produce(produceOf(queue, ["a", "b", "c"])));
  const request = { queue, action: "delete", filter: {}, perSecond: 1 } as const;
  const { taskId } = await bundle.run(() => bundle.engine.repair(request));
  await bundle.clock.settle();
  bundle.store(shard).hold();
  await bundle.clock.advance(second);
  expect(bundle.engine.taskInfo(taskId).moved).toBe(1);
  const cancelled = await bundle.begin(() => bundle.engine.cancelTask(taskId));
  expect(cancelled.ending).toBeNull();
  bundle.store(shard).release();
  await bundle.clock.settle();
  expect(cancelled.ending).toMatchObject({ ok: true, value: { state: "cancelled", moved: 2 } });
  await bundle.clock.advance(minute);
  expect(await all(bundle, queue)).toEqual(["c"]);
});

test("tasks: a task whose cancel finds no room continues", async () => {
  const bundle = await setupQueues();
  await die(bundle, "orders", ["a", "b", "c"]);
  const { taskId } = await redrive(bundle, { perSecond: 1 });
  const store = bundle.store();
  store.hold();
  store.fail({ fault: "full", sticky: true });
  const cancelled = await bundle.begin(() => bundle.engine.cancelTask(taskId));
  await bundle.clock.advance(2 * second);
  store.release();
  await bundle.clock.settle();
  expect(cancelled.ending).toMatchObject({ ok: false });
  store.heal();
  expect(await ended(bundle, taskId)).toMatchObject({ state: "done", moved: 3 });
});

/** The ids of the dead queue, in its order. */
async function deadIds(bundle: Bundle): Promise<string[]> {
  const request = { queue: "dead", pivot: "", limit: 1_000, filter: {} };
  const { found } = await bundle.run(() => bundle.engine.findItems(request));
  return found.map(({ id }) => id);
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `item ${index}`);

test.each([
  ["neighbours", (ids: string[]) => ids, 300, 1],
  ["every other one", (ids: string[]) => ids.filter((_, at) => at % 2 === 0), 150, 10],
])(
  "redrive: ids of %s share commits, and move in their order",
  async (_, chosen, count, pieces) => {
    const bundle = await setupQueues();
    await die(bundle, "orders", numbered(300));
    const ids = chosen(await deadIds(bundle));
    const before = bundle.store().commits;
    const { taskId, matched } = await redrive(bundle, { ids });
    expect(matched).toBe(count);
    expect(await ended(bundle, taskId)).toMatchObject({ state: "done", moved: count, skipped: 0 });
    // It begins with two commits and ends with one.
    expect(bundle.store().commits - before).toBe(2 + pieces + 1);
    expect(await bundle.listed("orders")).toEqual(chosen(numbered(300)));
  },
);

test("redrive: with ids it moves at most the limit, at the given rate, and the others stay", async () => {
  const bundle = await setupQueues();
  await die(bundle, "orders", numbered(40));
  const ids = (await deadIds(bundle)).filter((_, at) => at % 2 === 1).reverse();
  const { taskId } = await redrive(bundle, { ids, limit: 15, perSecond: 10 });
  await bundle.clock.advance(999);
  expect(bundle.engine.taskInfo(taskId)).toMatchObject({ state: "running", moved: 10 });
  expect(await ended(bundle, taskId)).toMatchObject({ state: "done", moved: 15, skipped: 0 });
  const meant = numbered(40).filter((_, at) => at % 2 === 1);
  expect(await all(bundle, "orders")).toEqual(meant.reverse().slice(0, 15).sort());
  expect(await all(bundle, "dead")).toHaveLength(25);
});

test("redrive: with ids of large items, a commit moves no more than a turn may", async () => {
  const bundle = await setupQueues();
  const large = limits.turnBytesMax / 4;
  await die(
    bundle,
    "orders",
    numbered(12).map((text) => text.padEnd(large, "x")),
  );
  const ids = (await deadIds(bundle)).reverse();
  bundle.store().hold();
  const begun = await bundle.begin(() => bundle.engine.redrive({ queue: "dead", ids }));
  const moved = new Set<number>();
  for (let round = 0; round < 20; round += 1) {
    bundle.store().release();
    bundle.store().hold();
    await bundle.clock.settle();
    for (const task of bundle.engine.listTasks()) moved.add(task.moved);
  }
  expect(begun.ending).toMatchObject({ ok: true });
  expect([...moved]).toEqual([0, 4, 8, 12]);
  bundle.store().release();
});

test.each(Array.from({ length: 30 }, (_, seed) => seed))(
  "redrive: killed and failed at any moment, each item is in one place; seed %p",
  async (seed) => {
    const random = seededRandom(seed);
    const [, shards = 1] = deadPlacements[seed % 3] ?? [];
    const bundle = await setupQueues(shards, { requestedPartitions: 2 });
    const texts = Array.from({ length: 40 }, (_, index) => String(index).padStart(4, "0"));
    for (const queue of ["orders", "mails"]) {
      await die(
        bundle,
        queue,
        texts.map((text) => `${queue} ${text}`),
      );
    }
    await bundle.clock.advance(minute);
    const limit = seed % 2 === 0 ? 1_000 : 50;
    const shuffled = (await deadIds(bundle)).map((id) => ({ id, at: random.below(1_000) }));
    const named = shuffled.sort((a, b) => a.at - b.at).map(({ id }) => id);
    const request = {
      ...{ requestKey: "k", perSecond: 7, limit },
      ...(seed % 4 > 1 && { ids: named }),
    };
    const started = await bundle.begin(() => bundle.engine.redrive({ queue: "dead", ...request }));
    for (let round = 0; round < 8; round += 1) {
      await bundle.clock.advance(random.below(3_000));
      const shard = random.below(shards);
      if (random.below(2) === 0) {
        const applied = random.below(2) === 0;
        bundle.store(shard).fail({ fault: "failed", applied });
      } else await bundle.restart();
      await bundle.clock.advance(random.below(5_000));
      bundle.store(shard).heal();
    }
    expect(started).toBeDefined();
    const again = await redrive(bundle, request);
    const info = await ended(bundle, again.taskId);
    await bundle.clock.advance(minute);
    const [orders, mails, dead] = [
      await all(bundle, "orders"),
      await all(bundle, "mails"),
      await all(bundle, "dead"),
    ];
    expect([...orders, ...mails, ...dead].sort()).toEqual(
      ["mails", "orders"].flatMap((queue) => texts.map((text) => `${queue} ${text}`)),
    );
    expect(orders.every((text) => text.startsWith("orders"))).toBe(true);
    expect({ moved: info.moved, dead: dead.length }).toEqual({
      moved: Math.min(80, limit),
      dead: 80 - Math.min(80, limit),
    });
  },
);
