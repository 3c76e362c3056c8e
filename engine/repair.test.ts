// Repairs: waiting items are promoted, rejected, prioritized or deleted; leased items are left
// alone, or requeued by a retry.

import { expect, test } from "bun:test";
import type { Repair, RepairRequest } from "./model/api.ts";
import type { Filter } from "./model/filter.ts";
import { limits } from "./model/limits.ts";
import type { Random } from "./model/random.ts";
import {
  type Bundle,
  day,
  deadPlacements,
  hour,
  minute,
  produceOf,
  second,
  setup,
  start,
} from "./simulation/bundle.ts";
import { seededRandom } from "./simulation/seeded-random.ts";

async function setupQueues(shardCount = 1, requestedPartitions = 1) {
  const bundle = await setup({ shardCount, turnLimits: { ...limits, historyBytes: 1_000_000 } });
  await bundle.createQueue({ name: "dead", expireTimeoutMs: 7 * day });
  await bundle.createQueue({ name: "orders", deadQueue: "dead", requestedPartitions });
  return bundle;
}

const repair = (bundle: Bundle, change: Partial<RepairRequest>) =>
  bundle.run(() => bundle.engine.repair({ queue: "orders", action: "delete", ...change }));

async function found(bundle: Bundle, queue: string, filter: Filter = {}) {
  const request = { queue, pivot: "", limit: 1_000, filter, payloadHead: 99 };
  return (await bundle.run(() => bundle.engine.findItems(request))).found;
}

const texts = (items: Awaited<ReturnType<typeof found>>) =>
  items.map(({ payload }) => new TextDecoder().decode(payload)).sort();

async function later(bundle: Bundle, queue: string, ...payloads: string[]) {
  const request = produceOf(queue, payloads, start + hour);
  await bundle.run(() => bundle.engine.produce(request));
}

const actions = ["promote", "reject", "prioritize", "delete"] as const;

const priorityFor = (action: Repair) => (action === "prioritize" ? { priority: 3 } : {});

/** Advances the clock, while stores fail and the engine restarts. */
async function disturb(
  bundle: Bundle,
  random: Random,
  { shards, rounds }: { readonly shards: number; readonly rounds: number },
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await bundle.clock.advance(random.below(2 * second));
    const shard = random.below(shards);
    if (random.below(2) === 0) {
      bundle.store(shard).fail({ fault: "failed", applied: random.below(2) === 0 });
    } else await bundle.restart();
    await bundle.clock.advance(random.below(3 * second));
    bundle.store(shard).heal();
  }
}

test("repair: promoted items are ready at once, behind the ready ones, and only once", async () => {
  const bundle = await setupQueues();
  await later(bundle, "orders", "b", "c");
  await bundle.produce("orders", "a");
  const { taskId, matched } = await repair(bundle, { action: "promote", filter: {} });
  expect(matched).toBe(2);
  expect(await bundle.ended(taskId)).toMatchObject({ action: "promote", state: "done", moved: 2 });
  expect(await bundle.listed("orders")).toEqual(["a", "b", "c"]);
  const [, promoted] = (await bundle.lease("orders", { batchSize: 3 })).items;
  expect(promoted?.attempts).toBe(1);
  await bundle.clock.advance(2 * hour);
  expect(await bundle.allListed("orders")).toEqual(["a", "b", "c"]);
});

test("repair: an item scheduled by a retry is promoted with its attempts", async () => {
  const bundle = await setupQueues();
  await bundle.produce("orders", "a");
  await bundle.retry(await bundle.lease("orders"), { retryAt: start + hour });
  await bundle.ended((await repair(bundle, { action: "promote", filter: {} })).taskId);
  expect((await bundle.lease("orders")).items[0]?.attempts).toBe(2);
});

test("repair: rejected items are dead, with the reason, their queue and unchanged attempts", async () => {
  const bundle = await setupQueues();
  await bundle.produce("orders", "a", "b");
  await later(bundle, "orders", "c");
  const request = { action: "reject", filter: {}, reason: "sent by mistake" } as const;
  const { taskId, matched, destinations } = await repair(bundle, request);
  expect(matched).toBe(3);
  expect(destinations).toEqual([{ queue: "dead", count: 3 }]);
  expect(await bundle.ended(taskId)).toMatchObject({ action: "reject", moved: 3, skipped: 0 });
  const dead = await found(bundle, "dead");
  expect(texts(dead)).toEqual(["a", "b", "c"]);
  for (const { past } of dead) {
    expect(past).toMatchObject({
      ...{ death: "rejected", reason: "sent by mistake", queue: "orders", attempts: 0 },
    });
  }
  const history = (await bundle.run(() => bundle.engine.explainItem(String(dead[0]?.id)))).history;
  expect(history.map(({ kind }) => kind)).toEqual(["produced", "rejected", "dead"]);
  const gauges = bundle.engine.status().queues.find(({ queue }) => queue === "orders");
  expect(gauges?.counters).toMatchObject({ produced: 3, dead: 3, removed: 0 });
});

test("repair: deletes items by state, ids or filter", async () => {
  const bundle = await setupQueues(1, 2);
  await bundle.produce("orders", "a");
  await bundle.produce("orders", "b");
  await later(bundle, "orders", "c", "d");
  await bundle.ended((await repair(bundle, { filter: {}, state: "ready" })).taskId);
  expect(texts(await found(bundle, "orders"))).toEqual(["c", "d"]);
  const [one] = await found(bundle, "orders");
  const named = await repair(bundle, { ids: [String(one?.id), String(one?.id)] });
  expect(named).toMatchObject({ matched: 1, destinations: [] });
  await bundle.ended(named.taskId);
  expect(await found(bundle, "orders")).toHaveLength(1);
  await bundle.ended((await repair(bundle, { filter: { kind: "other" } })).taskId);
  expect(await found(bundle, "orders")).toHaveLength(1);
  await bundle.ended((await repair(bundle, { filter: {}, state: "scheduled" })).taskId);
  expect(await found(bundle, "orders")).toEqual([]);
  expect(await found(bundle, "dead")).toEqual([]);
});

test.each(["reject", "prioritize", "delete"] as const)(
  "repair: %p leaves leased items to their holder, and ignores later items",
  async (action) => {
    const bundle = await setupQueues();
    await bundle.produce("orders", "a", "b", "c");
    const lease = await bundle.lease("orders");
    const request = { action, filter: {}, perSecond: 1, ...priorityFor(action) } as const;
    const { taskId, matched } = await repair(bundle, request);
    expect(matched).toBe(2);
    await bundle.produce("orders", "late");
    expect((await bundle.ended(taskId)).moved).toBe(2);
    expect(await bundle.complete(lease)).toMatchObject({ ok: true });
    const left = action === "prioritize" ? ["late", "b", "c"] : ["late"];
    expect(await bundle.listed("orders")).toEqual(left);
  },
);

async function holding(bundle: Bundle, clientId: string, batchSize: number) {
  return await bundle.lease("orders", { clientId, batchSize });
}

test("repair: a retry takes back the items of one client, and counts the attempt", async () => {
  const bundle = await setupQueues();
  await bundle.produce("orders", "a", "b", "c", "d");
  const dead = await holding(bundle, "worker-7", 2);
  const alive = await holding(bundle, "worker-8", 1);
  const taken = { action: "retry", holder: "worker-7", reason: "its machine burnt" } as const;
  expect(await repair(bundle, { ...taken, dryRun: true })).toMatchObject({ matched: 2 });
  const { taskId } = await repair(bundle, { ...taken, state: "leased", expect: 2 });
  expect(await bundle.ended(taskId)).toMatchObject({
    ...{ action: "retry", holder: "worker-7", state: "done", moved: 2, skipped: 0 },
  });
  expect(await bundle.complete(dead)).toMatchObject({ ok: false, code: "refused" });
  expect(await bundle.complete(alive)).toMatchObject({ ok: true });
  const { items } = await holding(bundle, "worker-9", 3);
  expect(items.map(({ attempts, past }) => [attempts, past?.reason])).toEqual([
    [1, undefined],
    [2, "its machine burnt"],
    [2, "its machine burnt"],
  ]);
  const { history } = await bundle.run(() => bundle.engine.explainItem(String(items[1]?.id)));
  expect(history.map(({ kind, holder }) => [kind, holder])).toEqual([
    ["produced", ""],
    ["leased", "worker-7"],
    ["retried", ""],
    ["leased", "worker-9"],
  ]);
  const gauges = bundle.engine.status().queues.find(({ queue }) => queue === "orders");
  expect(gauges?.counters).toMatchObject({ retried: 2, lapsed: 0 });
});

test("repair: a retry takes back items by filter or ids, whichever client holds them", async () => {
  const bundle = await setupQueues(1, 2);
  await bundle.produce("orders", "a", "b");
  await bundle.produce("orders", "c", "d");
  await bundle.createQueue({ name: "other" });
  await bundle.produce("other", "x");
  const held = [await holding(bundle, "one", 2), await holding(bundle, "two", 2)];
  const [x] = (await bundle.lease("other")).items;
  const ids = held.map(({ items }) => String(items[0]?.id));
  const named = await repair(bundle, { action: "retry", ids: [...ids, String(x?.id)] });
  expect(named.matched).toBe(2);
  await bundle.ended(named.taskId);
  const left = (await found(bundle, "orders")).filter(({ state }) => state === "leased");
  expect(texts(left)).toEqual(["b", "d"]);
  const none = { action: "retry", filter: { kind: "none" } } as const;
  expect(await repair(bundle, none)).toMatchObject({ matched: 0 });
  // The current lease counts, as in a search.
  const tried = { action: "retry", filter: { attemptsMin: 1 } } as const;
  await bundle.ended((await repair(bundle, tried)).taskId);
  expect((await found(bundle, "orders")).map(({ state }) => state)).toEqual(
    Array.from({ length: 4 }, () => "ready"),
  );
});

test("repair: an item taken back in its last attempt dies, or stays if it would be discarded", async () => {
  const bundle = await setupQueues();
  for (const deadQueue of ["dead", ""]) {
    await bundle.run(() =>
      bundle.engine.updateQueue({ name: "orders", maxAttempts: 1, deadQueue }),
    );
    await bundle.produce("orders", "a");
    const lease = await holding(bundle, "worker-7", 1);
    const taken = { action: "retry", holder: "worker-7", reason: "gone" } as const;
    const info = await bundle.ended((await repair(bundle, taken)).taskId);
    expect(info).toMatchObject(deadQueue === "" ? { moved: 0, skipped: 1 } : { moved: 1 });
    expect((await bundle.complete(lease)).ok).toBe(deadQueue === "");
  }
  const [died, ...more] = await found(bundle, "dead");
  expect(died?.past).toMatchObject({ death: "failed", reason: "gone", attempts: 1 });
  expect(more).toEqual([]);
});

test("repair: for leased items the waiting ones behind them are not read", async () => {
  const bundle = await setupQueues();
  await bundle.produceMany("orders", 3_000);
  await holding(bundle, "worker-7", 5);
  const held = { queue: "orders", pivot: "", limit: 10, filter: {} };
  const request = { ...held, state: "leased", holder: "worker-7" } as const;
  const all = await bundle.run(() => bundle.engine.findItems(request));
  expect([all.found.length, all.scanned, all.nextPivot]).toEqual([5, 5, ""]);
  const newest = { ...request, order: "newest" } as const;
  const back = await bundle.run(() => bundle.engine.findItems(newest));
  expect([back.found.length, back.scanned, back.nextPivot]).toEqual([5, 5, ""]);
});

test.each(Array.from({ length: 20 }, (_, seed) => seed))(
  "repair: items taken back while shards fail are ready or leased, and in one place; seed %p",
  async (seed) => {
    const random = seededRandom(seed);
    // With two shards, `orders` is not in the first.
    const shards = 1 + (seed % 2);
    const bundle = await setupQueues(shards, 2);
    await bundle.run(() =>
      bundle.engine.updateQueue({ name: "orders", leaseTimeoutMs: 10 * hour }),
    );
    const payloads = Array.from({ length: 40 }, (_, index) => String(index).padStart(4, "0"));
    for (let from = 0; from < 40; from += 10) {
      await bundle.produce("orders", ...payloads.slice(from, from + 10));
      await holding(bundle, "worker-7", 8);
    }
    const request = { queue: "orders", action: "retry", filter: {}, requestKey: "k" } as const;
    await bundle.begin(() => bundle.engine.repair({ ...request, perSecond: 7 }));
    await disturb(bundle, random, { shards, rounds: 4 });
    const again = await bundle.run(() => bundle.engine.repair({ ...request, perSecond: 7 }));
    const info = await bundle.ended(again.taskId);
    await bundle.clock.advance(minute);
    const all = await found(bundle, "orders");
    expect(texts(all)).toEqual(payloads);
    expect(all.filter(({ state }) => state === "leased")).toEqual([]);
    expect(info.moved).toBe(32);
  },
);

test("repair: a reject loses nothing if the dead queue is deleted meanwhile", async () => {
  const bundle = await setupQueues();
  await bundle.produce("orders", "a", "b", "c");
  const { taskId } = await repair(bundle, { action: "reject", filter: {}, perSecond: 1 });
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", deadQueue: "" }));
  expect(await bundle.ended(taskId)).toMatchObject({ state: "done", moved: 1, skipped: 2 });
  expect(await bundle.listed("orders")).toEqual(["b", "c"]);
});

test("repair: a queue without a dead queue rejects nothing", async () => {
  const bundle = await setupQueues();
  const ending = await bundle.ending(() =>
    bundle.engine.repair({ queue: "dead", action: "reject", filter: {} }),
  );
  expect(ending).toMatchObject({
    code: "refused",
    message: "items cannot be rejected; queue 'dead' has no dead queue",
  });
});

test("repair: a dry run counts; more than expected changes nothing", async () => {
  const bundle = await setupQueues();
  await bundle.produce("orders", "a", "b");
  await later(bundle, "orders", "c");
  expect(await repair(bundle, { filter: {}, dryRun: true })).toMatchObject({ matched: 3 });
  expect(await repair(bundle, { action: "promote", filter: {}, dryRun: true })).toMatchObject({
    matched: 1,
  });
  const ending = await bundle.ending(() =>
    bundle.engine.repair({ queue: "orders", action: "delete", filter: {}, expect: 2 }),
  );
  expect(ending).toMatchObject({
    message: "count has changed; 3 items would be removed, expected at most 2",
  });
  expect(await found(bundle, "orders")).toHaveLength(3);
});

test("repair: a key applies to repairs of the queue and for its window, even across restarts", async () => {
  const bundle = await setupQueues();
  await bundle.produce("orders", "a", "b", "c");
  const keyed = { filter: {}, requestKey: "k", limit: 1 };
  const redriven = { queue: "orders", to: "dead", ...keyed };
  const redrive = await bundle.run(() => bundle.engine.redrive(redriven));
  await bundle.ended(redrive.taskId);
  const first = await repair(bundle, keyed);
  expect(first).toMatchObject({ matched: 1, replayed: false });
  await bundle.ended(first.taskId);
  await bundle.restart();
  const other = { queue: "orders", action: "promote", ...keyed } as const;
  const message = "idempotency key is taken; 'k' was used with another request";
  const taken = await bundle.ending(() => bundle.engine.repair(other));
  expect(taken).toMatchObject({ code: "invalid", message });
  expect(await repair(bundle, keyed)).toEqual({ ...first, replayed: true });
  await bundle.clock.advance(limits.receiptsWindowMs);
  const second = await repair(bundle, keyed);
  expect(second).toMatchObject({ matched: 1, replayed: false });
  await bundle.ended(second.taskId);
  const ids = [redrive, first, second].map(({ taskId }) => taskId);
  expect(new Set(ids).size).toBe(3);
  expect(bundle.engine.listTasks()).toHaveLength(3);
  expect(texts(await found(bundle, "orders"))).toEqual([]);
});

test.each<[Partial<RepairRequest>, string]>([
  [
    { filter: {}, requestKey: "" },
    'idempotency key is invalid; expected 1 to 255 visible ASCII characters, got ""',
  ],
  [{}, "repair is invalid; expected ids, a filter or a holder, got none of them"],
  [{ holder: "worker-7" }, "holder is invalid; only leased items have one, got it with 'delete'"],
  [
    { action: "retry", state: "ready", filter: {} },
    "state is invalid; expected 'leased' for 'retry', got 'ready'",
  ],
  [
    { ids: [`1${"z".repeat(26)}`], filter: {} },
    "repair is invalid; expected ids or a filter, got both",
  ],
  [
    { action: "promote", state: "ready", filter: {} },
    "state is invalid; expected 'scheduled' for 'promote', got 'ready'",
  ],
  [{ filter: {}, reason: "why" }, "reason is invalid; 'delete' does not take one"],
  [{ filter: {}, priority: 0 }, "priority is invalid; 'delete' does not take one"],
  [
    { action: "prioritize", filter: {} },
    "priority is invalid; expected a whole number from 0 to 9, got none",
  ],
  [
    { action: "prioritize", priority: 10, filter: {} },
    "priority is invalid; expected a whole number from 0 to 9, got 10",
  ],
  [
    { action: "prioritize", priority: 1, state: "leased", filter: {} },
    "state is invalid; expected 'ready' or 'scheduled' for 'prioritize', got 'leased'",
  ],
  [
    { action: "reject", filter: {}, reason: "x".repeat(1_025) },
    "reason is invalid; cannot be greater than '1024' characters",
  ],
])("repair: %j is refused", async (change, message) => {
  const bundle = await setupQueues();
  const request = { queue: "orders", action: "delete", ...change } as const;
  const ending = await bundle.ending(() => bundle.engine.repair(request));
  expect(ending).toMatchObject({ code: "invalid", message });
});

test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  "repair: killed and failed at any moment, each item is in one place; seed %p",
  async (seed) => {
    const random = seededRandom(seed);
    const [, shards = 1] = deadPlacements[Math.floor(seed / 4) % 3] ?? [];
    const bundle = await setupQueues(shards, 2);
    const payloads = Array.from({ length: 60 }, (_, index) => String(index).padStart(4, "0"));
    const [ready, aside] = [payloads.slice(0, 30), payloads.slice(30)];
    for (let from = 0; from < 30; from += 10) {
      await bundle.produce("orders", ...ready.slice(from, from + 10));
      await later(bundle, "orders", ...aside.slice(from, from + 10));
    }
    const action = actions[seed % 4] ?? "delete";
    const paced = { filter: {}, requestKey: "k", perSecond: 7 };
    const request = { queue: "orders", action, ...priorityFor(action), ...paced } as const;
    await bundle.begin(() => bundle.engine.repair(request));
    await disturb(bundle, random, { shards, rounds: 6 });
    const again = await bundle.run(() => bundle.engine.repair(request));
    const info = await bundle.ended(again.taskId);
    await bundle.clock.advance(minute);
    const left = texts(await found(bundle, "orders"));
    const dead = texts(await found(bundle, "dead"));
    const all = await found(bundle, "orders");
    const scheduled = all.filter(({ state }) => state === "scheduled").length;
    const priorities = new Set(all.map(({ priority }) => priority));
    const isKept = action === "promote" || action === "prioritize";
    expect({ moved: info.moved, left, dead, scheduled, priorities: [...priorities] }).toEqual({
      moved: action === "promote" ? 30 : 60,
      left: isKept ? payloads : [],
      dead: action === "reject" ? payloads : [],
      scheduled: action === "prioritize" ? 30 : 0,
      priorities: isKept ? [action === "promote" ? 0 : 3] : [],
    });
  },
);
