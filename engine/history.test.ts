// The history of an item: complete, by any of its ids, and only of committed changes.

import { expect, test } from "bun:test";
import type { ItemExplained, QueueSettings } from "./model/api.ts";
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

const kept = { ...limits, historyBytes: 1_000_000 };

async function setupQueues(settings: Partial<QueueSettings> = {}, shardCount = 1) {
  const bundle = await setup({ shardCount, turnLimits: kept });
  await bundle.createQueue({ name: "dead", expireTimeoutMs: 7 * day });
  await bundle.createQueue({
    ...{ name: "orders", deadQueue: "dead", leaseTimeoutMs: minute, expireTimeoutMs: day },
    ...settings,
  });
  return bundle;
}

const explained = (bundle: Bundle, id: string | undefined): Promise<ItemExplained> =>
  bundle.run(() => bundle.engine.explainItem(String(id)));

async function produced(bundle: Bundle, count = 1): Promise<readonly string[]> {
  const items = Array.from({ length: count }, (_, index) => ({ payload: String(index) }));
  const request = { queue: "orders", requestTimeoutMs: minute, items, returnIds: true };
  const { ids } = await bundle.run(() => bundle.engine.produce(request));
  return ids ?? [];
}

const lease = (bundle: Bundle, clientId: string, batchSize = 1) =>
  bundle.lease("orders", { clientId, batchSize });

async function retry(
  bundle: Bundle,
  clientId: string,
  change: { retryAt?: number; dead?: true } = {},
) {
  const { partition, items } = await lease(bundle, clientId);
  const given = items.map(({ id }) => ({ id, retryAt: null, dead: false, ...change }));
  await bundle.run(() => bundle.engine.retry({ queue: "orders", partition, items: given }));
}

/** One `kind queue holder` per event. */
const told = ({ history }: ItemExplained): string[] =>
  history.map(({ kind, queue, holder }) => [kind, queue, holder].join(" ").trim());

test.each(deadPlacements)(
  "history: each id of an item leads to its whole history; the dead queue %s",
  async (_, shardCount) => {
    const bundle = await setupQueues({ maxAttempts: 3 }, shardCount);
    const [first] = await produced(bundle);
    await retry(bundle, "anna", { retryAt: start + minute });
    await bundle.clock.advance(minute);
    await lease(bundle, "ben");
    await bundle.clock.advance(minute);
    await retry(bundle, "cleo");
    const { taskId } = await bundle.run(() => bundle.engine.redrive({ queue: "dead" }));
    await bundle.clock.advance(second);
    expect(bundle.engine.taskInfo(taskId).moved).toBe(1);
    const last = await lease(bundle, "dan");
    await bundle.complete(last);
    await bundle.clock.advance(90 * second);

    const life = [
      ...["produced orders", "leased orders anna", "retried orders anna", "due orders"],
      ...["leased orders ben", "lapsed orders ben", "leased orders cleo", "retried orders cleo"],
      ...["dead dead", "redriven dead", "returned orders", "leased orders dan"],
      "completed orders dan",
    ];
    const whole = await explained(bundle, first);
    expect(told(whole)).toEqual(life);
    expect(whole.item).toBeNull();
    expect(whole.why).toEqual(["It was completed by dan, 1m30s ago."]);
    expect(whole.historySince).toBe(start);
    const instants = whole.history.map(({ at }) => at);
    expect(instants).toEqual(instants.toSorted((a, b) => a - b));
    const ids = new Set(whole.history.map(({ id }) => id));
    expect([ids.size, ids.has(String(last.items[0]?.id))]).toEqual([6, true]);
    for (const id of ids) expect((await explained(bundle, id)).history).toEqual(whole.history);
  },
);

test("history: neighbours that moved together have separate histories", async () => {
  const bundle = await setupQueues();
  const ids = await produced(bundle, 6);
  const leased = await lease(bundle, "anna", 3);
  await lease(bundle, "ben", 2);
  const [one, two, three] = leased.items.map(({ id }) => id);
  const { partition } = leased;
  const request = { queue: "orders", partition, requestTimeoutMs: minute };
  await bundle.run(() => bundle.engine.complete({ ...request, ids: [String(one)] }));
  await bundle.run(() => bundle.engine.release({ ...request, ids: [String(two)] }));
  await bundle.run(() => bundle.engine.extend({ ...request, ids: [String(three)] }));
  const lives = await Promise.all(ids.map((id) => explained(bundle, id)));
  expect(lives.map(told)).toEqual([
    ["produced orders", "leased orders anna", "completed orders anna"],
    ["produced orders", "leased orders anna", "released orders anna"],
    ["produced orders", "leased orders anna", "extended orders anna"],
    ["produced orders", "leased orders ben"],
    ["produced orders", "leased orders ben"],
    ["produced orders"],
  ]);
  // The retried item has another id, which its first id leads to.
  expect(lives[1]?.item).toMatchObject({ state: "ready" });
  expect(lives[1]?.item?.id).not.toBe(String(ids[1]));
});

test.each([
  ["deleted", "removed orders", "was removed"],
  ["cleared", "removed orders", "was removed"],
  ["given up", "discarded orders", "was removed because there is no dead queue"],
])("history: an item that was %s", async (how, last, why) => {
  const bundle = await setupQueues(how === "given up" ? { deadQueue: "", maxAttempts: 1 } : {});
  const [id] = await produced(bundle);
  if (how === "deleted") {
    const request = { queue: "orders", partition: 0, ids: [String(id)] };
    await bundle.run(() => bundle.engine.deleteItems(request));
  } else if (how === "cleared") {
    const other = { scheduled: false, retried: false, destructive: false };
    const clearing = { queue: "orders", ready: true, ...other };
    await bundle.run(() => bundle.engine.clear(clearing));
  } else await retry(bundle, "anna");
  const ended = await explained(bundle, id);
  expect(told(ended).at(-1)).toBe(last);
  expect(ended.why[0]).toStartWith(`It ${why}`);
});

test("history: imported, scheduled and expired items have one", async () => {
  const bundle = await setupQueues({ expireTimeoutMs: hour });
  const [late] = await bundle
    .run(() =>
      bundle.engine.importItems({
        ...{ queue: "orders", partition: 0 },
        items: [{ payload: "late", enqueueAt: start + minute }],
      }),
    )
    .then(({ items }) => items.map(({ id }) => id));
  await bundle.clock.advance(3 * hour);
  const { item, ...ended } = await explained(bundle, late);
  expect(told({ item, ...ended })).toEqual([
    ...["imported orders", "due orders", "expired orders", "dead dead"],
  ]);
  expect(item).toMatchObject({ queue: "dead", state: "ready" });
});

test("history: the oldest events are evicted first, and the reply says since when it is complete", async () => {
  const bundle = await setup({ turnLimits: { ...limits, historyBytes: 100_000 } });
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: minute });
  const [first] = await produced(bundle);
  const { historySince } = await explained(bundle, first);
  expect(historySince).toBe(start);
  await bundle.complete(await lease(bundle, "anna"));
  for (let count = 0; count < 1_000; count += 1) {
    await bundle.clock.advance(1);
    await produced(bundle);
    await bundle.complete(await lease(bundle, "ben"));
  }
  const [last] = await produced(bundle);
  expect((await explained(bundle, first)).history).toEqual([]);
  const { history, historySince: since } = await explained(bundle, last);
  expect(history).toHaveLength(1);
  expect(since).toBeGreaterThan(start + 500);
  expect(since).toBeLessThan(start + 1_000);
});

test("history: contains only committed events", async () => {
  const bundle = await setupQueues();
  const [id] = await produced(bundle);
  bundle.store().fail({ fault: "full", sticky: true });
  await bundle.ending(() => bundle.engine.lease(bundle.leaseOf("orders", { clientId: "anna" })));
  expect(told(await explained(bundle, id))).toEqual(["produced orders"]);
});

test.each([
  [0, true],
  [1_000_000, false],
])(
  "history: with %d bytes for one, explain waits for no shard: %p",
  async (historyBytes, isAnswered) => {
    const bundle = await setup({ turnLimits: { ...limits, historyBytes } });
    for (const name of ["orders", "others"]) await bundle.createQueue({ name });
    const [id] = await produced(bundle);
    await bundle.run(() => bundle.engine.deleteQueue({ name: "orders", force: true }));
    bundle.store().openFault = "failed";
    bundle.store().fail({ fault: "failed" });
    await bundle.begin(() => bundle.engine.produce(produceOf("others", ["a"])));
    const started = await bundle.begin(() => bundle.engine.explainItem(String(id)));
    expect(started.ending?.ok ?? false).toBe(isAnswered);
  },
);

test("history: after a reshard, it is that of the shard that has the queue now", async () => {
  const shardCount = 3;
  const bundle = await setup({ turnLimits: kept });
  const queue = nameIn(2, shardCount);
  // Shard 0 gets a queue of the same former shard, and so knows that shard's ids too.
  for (const name of [queue, nameIn(0, shardCount)]) await bundle.createQueue({ name });
  await bundle.produce(queue, "a");
  await bundle.reshard(shardCount);
  const leased = await bundle.lease(queue, { clientId: "anna" });
  await bundle.complete(leased);
  const [id] = leased.items.map((item) => item.id);
  const before = await explained(bundle, id);
  const life = [`leased ${queue} anna`, `completed ${queue} anna`];
  expect([told(before), before.historySince]).toEqual([life, bundle.now]);

  bundle.store(2).fail({ fault: "failed" });
  await bundle.begin(() => bundle.engine.produce(produceOf(queue, ["b"])));
  await bundle.clock.advance(limits.restartMsMin);
  const after = await explained(bundle, id);
  expect([told(after), after.historySince]).toEqual([[], bundle.now]);
});

test("history: begins with the process, and is empty if it is disabled", async () => {
  const bundle = await setupQueues();
  const [id] = await produced(bundle);
  await bundle.clock.advance(minute);
  await bundle.restart();
  await lease(bundle, "anna");
  const after = await explained(bundle, id);
  expect([told(after), after.historySince]).toEqual([["leased orders anna"], start + minute]);

  const without = await setup({});
  await without.createQueue({ name: "orders" });
  const [other] = await produced(without);
  expect(await explained(without, other)).toMatchObject({ history: [], historySince: null });
});
