// Items with a limit of attempts and a lease timeout of their own.

import { expect, test } from "bun:test";
import type { LeaseRequest, ProduceItem, QueueSettings } from "./model/api.ts";
import {
  type Bundle,
  day,
  idsOf,
  type Leased,
  minute,
  nameIn,
  second,
  setup,
  textsOf,
} from "./simulation/bundle.ts";

async function setupQueues(settings: Partial<QueueSettings> = {}): Promise<Bundle> {
  const bundle = await setup();
  await bundle.createQueue({ name: "dead", leaseTimeoutMs: minute, expireTimeoutMs: 7 * day });
  await bundle.createQueue({
    ...{ name: "orders", deadQueue: "dead", leaseTimeoutMs: minute, maxAttempts: 3 },
    ...settings,
  });
  return bundle;
}

function produce(bundle: Bundle, ...items: readonly ProduceItem[]) {
  return bundle.run(() =>
    bundle.engine.produce({ queue: "orders", requestTimeoutMs: minute, items }),
  );
}

/** How long each item of a new lease is leased. */
async function lastingMs(bundle: Bundle, queue: string, how: Partial<LeaseRequest> = {}) {
  const lease = await bundle.lease(queue, how);
  return lease.items.map(({ leaseDeadline }) => leaseDeadline - lease.now);
}

function extend(bundle: Bundle, { queue, partition, items }: Leased, ms: number | null = null) {
  const request = { queue, partition, ids: idsOf(items), leaseTimeoutMs: ms };
  return bundle.run(() => bundle.engine.extend(request));
}

/** The deadlines of the leased items, by text, from now. */
async function leftMs(bundle: Bundle): Promise<Record<string, number>> {
  const list = { queue: "orders", partition: 0, pivot: "", limit: 100 };
  const items = await bundle.run(() => bundle.engine.listItems(list));
  return Object.fromEntries(
    items.map((item) => [textsOf([item])[0], (item.leaseDeadline ?? 0) - bundle.clock.now()]),
  );
}

const fragile = { payload: "fragile", maxAttempts: 1 };
const long = { payload: "long", leaseTimeoutMs: 10 * minute };
const short = { payload: "short", leaseTimeoutMs: 5 * second };

test("produce: an item's own limit and timeout have the bounds of the queue's", async () => {
  const bundle = await setupQueues();
  const cases: [Partial<ProduceItem>, string][] = [
    [{ maxAttempts: 65_537 }, "max attempts is invalid; cannot be greater than 65536"],
    [{ maxAttempts: -1 }, "max attempts is invalid; cannot be negative number"],
    [{ maxAttempts: 1.5 }, "max attempts is invalid; expected a whole number, got 1.5"],
    [{ leaseTimeoutMs: -1 }, "lease timeout is invalid; cannot be negative"],
    [{ leaseTimeoutMs: 0.5 }, "lease timeout is invalid; expected a whole number, got 0.5"],
    [{ leaseTimeoutMs: 1e15 }, "lease timeout is invalid; cannot be greater than '8784h0m0s'"],
  ];
  const queue = "orders";
  for (const [own, message] of cases) {
    const items = [{ payload: "a", ...own }];
    const failed = { ok: false, code: "invalid", message } as const;
    const request = { queue, requestTimeoutMs: minute, items };
    expect(await bundle.ending(() => bundle.engine.produce(request))).toMatchObject(failed);
    const past = own as object;
    const imported = { queue, partition: 0, items: [{ payload: "a", past }] };
    expect(await bundle.ending(() => bundle.engine.importItems(imported))).toMatchObject(failed);
  }
  expect(await bundle.listed("orders")).toEqual([]);
});

test("lease: the call's timeout comes before the item's, and the item's before the queue's", async () => {
  const bundle = await setupQueues();
  await produce(bundle, { payload: "plain" }, long, short, { ...long, leaseTimeoutMs: 0 });
  const own = [minute, 10 * minute, 5 * second, minute];
  expect(await lastingMs(bundle, "orders", { batchSize: 9 })).toEqual(own);
  await bundle.clock.advance(11 * minute);
  expect(await lastingMs(bundle, "orders", { batchSize: 9, leaseTimeoutMs: second })).toEqual(
    own.map(() => second),
  );
});

test("lapse: each item of a batch is requeued at its own deadline", async () => {
  const bundle = await setupQueues();
  await produce(bundle, { payload: "plain" }, long, short);
  await bundle.lease("orders", { batchSize: 3 });
  await bundle.clock.advance(5 * second);
  expect(textsOf((await bundle.lease("orders", { batchSize: 3 })).items)).toEqual(["short"]);
  await bundle.restart();
  await bundle.clock.advance(minute - 5 * second);
  const lapsed = await bundle.lease("orders", { batchSize: 3 });
  expect(textsOf(lapsed.items).sort()).toEqual(["plain", "short"]);
});

test("extend: without a timeout, each item gets its own, and the reply has the earliest", async () => {
  const bundle = await setupQueues();
  await produce(bundle, { payload: "plain" }, long, short);
  const lease = await bundle.lease("orders", { batchSize: 3, leaseTimeoutMs: second });
  const { leaseDeadline, now } = await extend(bundle, lease);
  expect(leaseDeadline - now).toBe(5 * second);
  const own = { plain: minute, long: 10 * minute, short: 5 * second };
  expect(await leftMs(bundle)).toEqual(own);
  await bundle.restart();
  expect(await leftMs(bundle)).toEqual(own);
  await extend(bundle, lease, 2 * minute);
  expect(await leftMs(bundle)).toEqual({ ...own, plain: 2 * minute, short: 2 * minute });
});

test("retry, lapse: an item dies by its own limit, of more or of fewer attempts than the queue's", async () => {
  const bundle = await setupQueues();
  await produce(bundle, fragile, { payload: "tough", maxAttempts: 4 }, { payload: "plain" });
  await bundle.retry(await bundle.lease("orders", { batchSize: 3 }));
  expect(await bundle.listed("dead")).toEqual(["fragile"]);
  for (let attempt = 2; attempt <= 3; attempt += 1) {
    await bundle.lease("orders", { batchSize: 3 });
    await bundle.clock.advance(minute);
  }
  expect(await bundle.listed("dead")).toEqual(["fragile", "plain"]);
  await bundle.retry(await bundle.lease("orders"));
  expect(await bundle.listed("dead")).toEqual(["fragile", "plain", "tough"]);
});

test("repair: a retry by hand in the last of its own attempts sends an item to the dead queue", async () => {
  const bundle = await setupQueues();
  await produce(bundle, fragile);
  const ids = idsOf((await bundle.lease("orders")).items);
  const request = { queue: "orders", action: "retry", ids } as const;
  const { taskId } = await bundle.run(() => bundle.engine.repair(request));
  await bundle.ended(taskId);
  expect(await bundle.listed("dead")).toEqual(["fragile"]);
});

test("dead letter: the dead queue's settings apply; a redrive restores the item's own", async () => {
  const bundle = await setupQueues();
  await produce(bundle, { ...fragile, leaseTimeoutMs: 10 * minute });
  await bundle.retry(await bundle.lease("orders"));
  const own = { maxAttempts: 1, leaseTimeoutMs: 10 * minute };
  const dead = await bundle.lease("dead");
  expect(dead.items).toMatchObject([{ past: { ...own, death: "failed" } }]);
  expect(dead.items.map(({ leaseDeadline }) => leaseDeadline - dead.now)).toEqual([minute]);
  await bundle.retry(dead);
  const list = { queue: "dead", partition: 0, pivot: "", limit: 9 };
  expect(await bundle.run(() => bundle.engine.listItems(list))).toMatchObject([{ maxAttempts: 0 }]);
  const { taskId } = await bundle.run(() => bundle.engine.redrive({ queue: "dead" }));
  await bundle.ended(taskId);
  const again = await bundle.lease("orders");
  expect(again.items).toMatchObject([{ attempts: 1, past: { ...own, redriven: 1 } }]);
  expect(again.items.map(({ leaseDeadline }) => leaseDeadline - again.now)).toEqual([10 * minute]);
  await bundle.retry(again);
  expect(await bundle.listed("dead")).toEqual(["fragile"]);
});

test("list, explain: the limit of an item is its own", async () => {
  const bundle = await setupQueues();
  await produce(bundle, { payload: "tough", maxAttempts: 4 }, { payload: "plain" });
  const list = { queue: "orders", partition: 0, pivot: "", limit: 9 };
  const listed = await bundle.run(() => bundle.engine.listItems(list));
  expect(listed.map(({ maxAttempts }) => maxAttempts)).toEqual([4, 3]);
  await bundle.lease("orders", { clientId: "worker-1" });
  const { why } = await bundle.run(() => bundle.engine.explainItem(listed[0]?.id ?? ""));
  expect(why).toEqual(["'worker-1' holds it, for the 1st time of 4; its lease ends in 1m0s."]);
});

test("import: an exported item keeps its own settings", async () => {
  const bundle = await setupQueues();
  await produce(bundle, { payload: "a", maxAttempts: 1, leaseTimeoutMs: second });
  const list = { queue: "orders", partition: 0, pivot: "", limit: 9 };
  const [{ payload, past = {} } = { payload: "" }] = await bundle.run(() =>
    bundle.engine.listItems(list),
  );
  await bundle.createQueue({ name: "other" });
  const request = { queue: "other", partition: 0, items: [{ payload, past }] };
  await bundle.run(() => bundle.engine.importItems(request));
  expect(await lastingMs(bundle, "other")).toEqual([second]);
});

test("transact: an output to another shard keeps its own settings, and counts as produced there", async () => {
  const [near, far] = [nameIn(0, 2), nameIn(1, 2)];
  const bundle = await setup({ shardCount: 2 });
  for (const name of [near, far]) await bundle.createQueue({ name, leaseTimeoutMs: minute });
  await bundle.run(() =>
    bundle.engine.transact({
      requestTimeoutMs: minute,
      produce: [
        { queue: near, items: [{ ...short, maxAttempts: 1 }] },
        { queue: far, items: [{ ...short, maxAttempts: 1 }] },
      ],
    }),
  );
  await bundle.clock.advance(second);
  for (const queue of [near, far]) {
    const { counters } = await bundle.run(() => bundle.engine.stats(queue));
    expect(counters).toMatchObject({ produced: 1, arrived: 0 });
    expect(await lastingMs(bundle, queue)).toEqual([5 * second]);
    await bundle.clock.advance(5 * second);
    const { counters: after } = await bundle.run(() => bundle.engine.stats(queue));
    expect(after).toMatchObject({ lapsed: 1, discarded: 1 });
  }
});

test("produce: a key whose call had other settings of an item is taken", async () => {
  const bundle = await setupQueues();
  const request = { queue: "orders", requestTimeoutMs: minute, requestKey: "k" };
  const first = { ...request, items: [fragile] };
  await bundle.run(() => bundle.engine.produce(first));
  expect(await bundle.run(() => bundle.engine.produce(first))).toMatchObject({ replayed: true });
  const other = { ...request, items: [{ ...fragile, maxAttempts: 2 }] };
  const ending = await bundle.ending(() => bundle.engine.produce(other));
  expect(ending).toMatchObject({ ok: false, code: "invalid" });
});

test("a grouped queue: each item of a group has its own deadline, and the group opens after the last", async () => {
  const bundle = await setupQueues({ grouped: true, groupLeasedMax: 1 });
  const group = "a";
  await produce(bundle, { ...short, group }, { ...long, group }, { payload: "third", group });
  const run = { batchSize: 2, leaseTimeoutMs: second, groupRuns: true };
  const lease = await bundle.lease("orders", run);
  expect(textsOf(lease.items)).toEqual(["short", "long"]);
  await extend(bundle, lease);
  expect(await leftMs(bundle)).toMatchObject({ short: 5 * second, long: 10 * minute });
  await bundle.clock.advance(5 * second);
  const list = { queue: "orders", pivot: "", limit: 9 };
  const { groups } = await bundle.run(() => bundle.engine.listGroups(list));
  expect(groups).toMatchObject([{ group, waiting: 2, leased: 1, blockedBy: "leased_max" }]);
  await bundle.clock.advance(10 * minute);
  const all = await bundle.lease("orders", { batchSize: 9, groupRuns: true });
  expect(textsOf(all.items)).toEqual(["third", "short", "long"]);
});
