// The past of an item: its first id for life, the reason of its last retry, and its state before it
// died.

import { expect, test } from "bun:test";
import {
  type Bundle,
  day,
  deadPlacements,
  hour,
  nameIn,
  produceOf,
  second,
  setup,
  start,
} from "../simulation/bundle.ts";
import type { LeasedItem, QueueSettings } from "./api.ts";
import { limits } from "./limits.ts";
import type { Past } from "./provenance.ts";

async function setupQueues(settings: Partial<QueueSettings> = {}, shardCount = 1) {
  const bundle = await setup({ shardCount });
  await bundle.createQueue({ name: "dead", expireTimeoutMs: 7 * day });
  await bundle.createQueue({
    name: "orders",
    deadQueue: "dead",
    leaseTimeoutMs: second,
    ...settings,
  });
  return bundle;
}

async function produced(bundle: Bundle, ...texts: string[]): Promise<readonly string[]> {
  const request = { ...produceOf("orders", texts), returnIds: true };
  const { ids = [] } = await bundle.run(() => bundle.engine.produce(request));
  return ids;
}

async function leased(bundle: Bundle, queue = "orders"): Promise<LeasedItem> {
  const { items } = await bundle.lease(queue);
  return items[0] as LeasedItem;
}

async function retry(
  bundle: Bundle,
  { id }: LeasedItem,
  how: { retryAt?: number; dead?: boolean; reason?: string } = {},
) {
  const items = [{ id, retryAt: null, dead: false, ...how }];
  const request = { queue: "orders", partition: 0, items };
  return bundle.run(() => bundle.engine.retry(request));
}

async function idsIn(bundle: Bundle, queue: string): Promise<string[]> {
  const request = { queue, partition: 0, pivot: "", limit: 10 };
  return (await bundle.run(() => bundle.engine.listItems(request))).map(({ id }) => id);
}

async function pastIn(bundle: Bundle, queue: string): Promise<(Past | undefined)[]> {
  const request = { queue, partition: 0, pivot: "", limit: 10 };
  const waiting = await bundle.run(() => bundle.engine.listItems(request));
  const aside = await bundle.run(() => bundle.engine.listScheduled(request));
  return [...waiting, ...aside].map(({ past }) => past);
}

test("produce: returns the ids that leases and lists return, only on request", async () => {
  const bundle = await setupQueues();
  const ids = await produced(bundle, "a", "b");
  expect(await idsIn(bundle, "orders")).toEqual([...ids]);
  expect((await leased(bundle)).id).toBe(ids[0] ?? "");
  expect(await bundle.produce("orders", "c")).not.toHaveProperty("ids");
});

test.each([0, 1])(
  "produce: a repetition with a key returns the same ids; in shard %i",
  async (shard) => {
    const bundle = await setup({ shardCount: 2 });
    const name = nameIn(shard, 2);
    await bundle.createQueue({ name });
    const request = { ...produceOf(name, ["a", "b"]), returnIds: true, requestKey: "k" };
    const first = await bundle.run(() => bundle.engine.produce(request));
    expect(first.ids).toHaveLength(2);
    await bundle.restart();
    // Without the key it would go to another partition now.
    await bundle.run(() => bundle.engine.updateQueue({ name, requestedPartitions: 4 }));
    expect(await bundle.run(() => bundle.engine.produce(request))).toEqual({
      ...first,
      replayed: true,
    });
    const other = { ...request, returnIds: false };
    expect(await bundle.ending(() => bundle.engine.produce(other))).toMatchObject({
      code: "invalid",
    });
  },
);

test("produce: returns no id for duplicates, and the ids of the others", async () => {
  const bundle = await setup({ shardCount: 1 });
  await bundle.createQueue({ name: "orders", uniqueForMs: hour });
  const items = ["x", "y", "x", "z"].map((uniqueKey) => ({ payload: uniqueKey, uniqueKey }));
  const request = { ...produceOf("orders", []), items, returnIds: true };
  const { ids = [], duplicates } = await bundle.run(() => bundle.engine.produce(request));
  expect(duplicates).toEqual([2]);
  expect(ids[2]).toBe("");
  expect(await idsIn(bundle, "orders")).toEqual(ids.filter((id) => id !== ""));
});

test("produce: returns ids even if the store fails", async () => {
  const bundle = await setupQueues();
  bundle.store().fail({ fault: "failed", applied: true });
  const request = { ...produceOf("orders", ["a"]), returnIds: true };
  const started = await bundle.begin(() => bundle.engine.produce(request));
  await bundle.clock.advance(second);
  const ids = await idsIn(bundle, "orders");
  expect(started.ending).toMatchObject({ ok: true, value: { ids } });
});

test("headers: returned by leases and lists, even from a dead queue and after a restart", async () => {
  const bundle = await setupQueues({ maxAttempts: 1 });
  const headers = { traceparent: "00-1", "x-ü": '"' };
  const items = [{ payload: "a", headers }, { payload: "b", headers: {} }, { payload: "c" }];
  await bundle.run(() => bundle.engine.produce({ ...produceOf("orders", []), items }));
  await bundle.restart();
  const lease = await bundle.lease("orders", { batchSize: 3 });
  expect(lease.items.map((item) => item.headers)).toEqual([headers, undefined, undefined]);
  expect(lease.items[1]).not.toHaveProperty("headers");
  await bundle.retry(lease);
  expect((await leased(bundle, "dead")).headers).toEqual(headers);
});

test.each([limits.headersBytesMax, limits.headersBytesMax + 1])(
  "headers: %p bytes of JSON",
  async (bytes) => {
    const bundle = await setupQueues();
    const items = [{ payload: "a", headers: { h: "x".repeat(bytes - 8) } }];
    const request = { ...produceOf("orders", []), items };
    const ending = await bundle.ending(() => bundle.engine.produce(request));
    if (bytes <= limits.headersBytesMax)
      expect(ending).toMatchObject({ value: { duplicates: [] } });
    else {
      const message = "headers is invalid; expected at most 2048 bytes as JSON, got 2049";
      expect(ending).toMatchObject({ code: "invalid", message });
    }
  },
);

test("past: an item that was never requeued has none", async () => {
  const bundle = await setupQueues();
  await bundle.produce("orders", "a");
  expect(await leased(bundle)).not.toHaveProperty("past");
});

const ways: [string, (bundle: Bundle, item: LeasedItem) => Promise<unknown>, Past][] = [
  ["retry", (bundle, item) => retry(bundle, item), {}],
  [
    "retry with a reason",
    (bundle, item) => retry(bundle, item, { reason: "ö\u0000" }),
    { reason: "ö\u0000" },
  ],
  [
    "retry later",
    (bundle, item) => retry(bundle, item, { retryAt: bundle.clock.now() + hour }),
    {},
  ],
  ["lapse", (bundle) => bundle.clock.advance(second), {}],
  [
    "release",
    (bundle, { id }) =>
      bundle.run(() => bundle.engine.release({ queue: "orders", partition: 0, ids: [id] })),
    {},
  ],
];

test.each(ways)("origin: %s keeps the first id", async (_, leave, said) => {
  const bundle = await setupQueues();
  const [origin = ""] = await produced(bundle, "a");
  await leave(bundle, await leased(bundle));
  expect(await pastIn(bundle, "orders")).toEqual([{ origin, ...said }]);
  await bundle.restart();
  await bundle.clock.advance(hour);
  const again = await leased(bundle);
  expect(again.past).toEqual({ origin, ...said });
  expect(again.id).not.toBe(origin);
  await retry(bundle, again);
  expect(await pastIn(bundle, "orders")).toEqual([{ origin, ...said }]);
});

test("reason: the last one is kept, an absent one changes nothing, and a lapse keeps it", async () => {
  const bundle = await setupQueues({ maxAttempts: 4 });
  const [origin = ""] = await produced(bundle, "a");
  await retry(bundle, await leased(bundle), { reason: "first" });
  await retry(bundle, await leased(bundle), { reason: "second" });
  await retry(bundle, await leased(bundle));
  await leased(bundle);
  await bundle.clock.advance(second);
  const dead = { death: "failed", queue: "orders", attempts: 4, createdAt: start } as const;
  expect(await pastIn(bundle, "dead")).toEqual([{ origin, reason: "second", ...dead }]);
});

test("reason: longer than 1,024 bytes is refused", async () => {
  const bundle = await setupQueues();
  await bundle.produce("orders", "a");
  const { id } = await leased(bundle);
  const items = [{ id, retryAt: null, dead: false, reason: "ö".repeat(513) }];
  const request = { queue: "orders", partition: 0, items };
  expect(await bundle.ending(() => bundle.engine.retry(request))).toMatchObject({
    code: "invalid",
    message: "reason is invalid; cannot be greater than '1024' characters",
  });
});

const deaths: [string, (bundle: Bundle) => Promise<unknown>, Past][] = [
  [
    "attempts that are used up",
    async (bundle) => {
      await retry(bundle, await leased(bundle));
      await retry(bundle, await leased(bundle), { reason: "no" });
    },
    { death: "failed", attempts: 2, reason: "no" },
  ],
  [
    "a consumer that gives it up",
    async (bundle) => retry(bundle, await leased(bundle), { dead: true, reason: "never" }),
    { death: "rejected", attempts: 1, reason: "never" },
  ],
  [
    "time, while it waits",
    (bundle) => bundle.clock.advance(hour),
    { death: "expired", attempts: 0 },
  ],
  [
    "time, while it is scheduled",
    async (bundle) => {
      await retry(bundle, await leased(bundle), { retryAt: start + 2 * hour });
      await bundle.clock.advance(hour);
    },
    { death: "expired", attempts: 1 },
  ],
  [
    "a lapse behind its time",
    async (bundle) => {
      await bundle.clock.advance(hour - 1);
      await leased(bundle);
      await bundle.clock.advance(second);
    },
    { death: "expired", attempts: 1 },
  ],
];

test.each(
  deaths.flatMap(([by, ...rest]) =>
    deadPlacements.map(([where, shards]) => [by, where, shards, ...rest] as const),
  ),
)("death: by %s, the dead queue %s", async (_, __, shards, die, said) => {
  const bundle = await setupQueues({ maxAttempts: 2, expireTimeoutMs: hour }, shards);
  const [origin = ""] = await produced(bundle, "a");
  await die(bundle);
  const past = { origin, queue: "orders", createdAt: start, ...said };
  expect(await pastIn(bundle, "dead")).toEqual([past]);
  await bundle.restart();
  expect((await leased(bundle, "dead")).past).toEqual(past);
});

test("import: a listed item keeps its headers and its past", async () => {
  const bundle = await setupQueues({ maxAttempts: 1 });
  const items = [{ payload: "a", headers: { h: "1" } }];
  await bundle.run(() => bundle.engine.produce({ ...produceOf("orders", []), items }));
  await retry(bundle, await leased(bundle), { reason: "why" });
  const request = { queue: "dead", partition: 0, pivot: "", limit: 10 };
  const listed = await bundle.run(() => bundle.engine.listItems(request));
  const copies = listed.map(({ payload, headers = {}, past = {} }) => ({ payload, headers, past }));
  const imports = { queue: "orders", partition: 0, items: copies };
  const { items: imported } = await bundle.run(() => bundle.engine.importItems(imports));
  expect(imported.map(({ past }) => past)).toEqual(listed.map(({ past }) => past));
  expect((await leased(bundle)).headers).toEqual({ h: "1" });
});
