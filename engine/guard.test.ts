// Guards of destructive calls: a dry run changes nothing, and no call removes more than expected.

import { expect, test } from "bun:test";
import type { ClearRequest, ItemCounts } from "./model/api.ts";
import {
  type Bundle,
  hour,
  idsOf,
  produceOf,
  second,
  setup,
  start,
  textsOf,
} from "./simulation/bundle.ts";

const everything = { ready: true, scheduled: true, retried: true, destructive: true };

/** Two ready items, a leased, a scheduled and a retried one. */
async function setupQueue(partitions = 1): Promise<Bundle> {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", requestedPartitions: partitions });
  await bundle.produce("orders", "retried");
  await bundle.retry(await bundle.lease("orders"), { retryAt: start + hour });
  await bundle.produce("orders", "leased");
  await bundle.lease("orders");
  await bundle.produce("orders", "a", "b");
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["later"], start + hour)));
  return bundle;
}

const all: ItemCounts = { ready: 2, leased: 1, scheduled: 1, retried: 1 };
const none: ItemCounts = { ready: 0, leased: 0, scheduled: 0, retried: 0 };

const clear = (bundle: Bundle, how: Partial<ClearRequest>) =>
  bundle.ending(() => bundle.engine.clear({ queue: "orders", ...everything, ...how }));

async function countsOf(bundle: Bundle): Promise<ItemCounts> {
  const { queued: ready, ...counts } = await bundle.run(() => bundle.engine.inspect("orders"));
  const { leased, scheduled, retried } = counts;
  return { ready, leased, scheduled, retried };
}

const changed = (count: number, expected: number) =>
  ({
    ok: false,
    code: "refused",
    message: `count has changed; ${count} items would be removed, expected at most ${expected}`,
    details: { count: String(count) },
  }) as const;

test.each([1, 4])(
  "clear in %d partitions: a dry run counts the items and removes none",
  async (partitions) => {
    const bundle = await setupQueue(partitions);
    expect(await clear(bundle, { dryRun: true })).toEqual({ ok: true, value: all });
    const ready = { ready: true, scheduled: false, retried: false, destructive: false };
    expect(await clear(bundle, { ...ready, dryRun: true })).toEqual({
      ok: true,
      value: { ...none, ready: 2 },
    });
    expect(await countsOf(bundle)).toEqual(all);
  },
);

test.each([1, 4])(
  "clear in %d partitions: a clear removes as many items as its dry run counted",
  async (partitions) => {
    const bundle = await setupQueue(partitions);
    expect(await clear(bundle, {})).toEqual({ ok: true, value: all });
    expect(await countsOf(bundle)).toEqual(none);
    expect(await clear(bundle, {})).toEqual({ ok: true, value: none });
  },
);

test.each([1, 4])(
  "clear in %d partitions: more items than expected refuse the clear",
  async (partitions) => {
    const bundle = await setupQueue(partitions);
    expect(await clear(bundle, { expect: 4 })).toEqual(changed(5, 4));
    expect(await clear(bundle, { expect: 4, dryRun: true })).toEqual(changed(5, 4));
    expect(await countsOf(bundle)).toEqual(all);
    expect(await clear(bundle, { expect: 5 })).toEqual({ ok: true, value: all });
    expect(await countsOf(bundle)).toEqual(none);
  },
);

test("clear: items produced in the same turn are counted", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a");
  bundle.store().hold();
  const first = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["b"])));
  const produced = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["c"])));
  const cleared = await bundle.begin(() =>
    bundle.engine.clear({ queue: "orders", ...everything, expect: 1 }),
  );
  bundle.store().release();
  await bundle.clock.settle();
  expect([first.ending, produced.ending]).toMatchObject([{ ok: true }, { ok: true }]);
  expect(cleared.ending).toMatchObject({ ok: false, code: "refused" });
  expect((await countsOf(bundle)).ready).toBe(3);
});

test("delete: a dry run reports the items and the dependents", async () => {
  const bundle = await setupQueue();
  await bundle.createQueue({ name: "work", deadQueue: "orders" });
  await bundle.beginLease("orders", { batchSize: 1 });
  await bundle.beginLease("orders");
  await bundle.beginLease("orders");
  const dry = { name: "orders", force: true, dryRun: true };
  const deletion = {
    counts: { ...all, ready: 0, leased: 3 },
    waitingLeases: 1,
    dependents: ["work"],
  };
  expect(await bundle.run(() => bundle.engine.deleteQueue(dry))).toEqual(deletion);
  const unforced = await bundle.ending(() => bundle.engine.deleteQueue({ ...dry, force: false }));
  expect(unforced).toMatchObject({ ok: false, code: "refused" });
  expect(bundle.engine.queueInfo("work").deadQueue).toBe("orders");
  const real = { name: "orders", force: true, expect: 5 };
  expect(await bundle.run(() => bundle.engine.deleteQueue(real))).toEqual(deletion);
});

test("delete: more items than expected refuse the delete, including those in transit", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a");
  const remove = (expected: number) =>
    bundle.ending(() =>
      bundle.engine.deleteQueue({ name: "orders", force: true, expect: expected }),
    );
  expect(await remove(0)).toEqual(changed(1, 0));
  bundle.store().hold();
  const produced = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["b", "c"])));
  expect(await remove(2)).toEqual(changed(3, 2));
  bundle.store().release();
  await bundle.clock.settle();
  expect(produced.ending).toMatchObject({ ok: true });
  expect(await remove(3)).toMatchObject({ ok: true });
});

test("delete items: counted by state, refused as a whole, and unchanged by a dry run", async () => {
  const bundle = await setupQueue();
  const of = { queue: "orders", partition: 0, pivot: "", limit: 10 };
  const listed = await bundle.run(() => bundle.engine.listItems(of));
  const scheduled = await bundle.run(() => bundle.engine.listScheduled(of));
  const ids = [...idsOf(listed), ...idsOf(scheduled)];
  const remove = (guard: { dryRun?: boolean; expect?: number }) =>
    bundle.ending(() =>
      bundle.engine.deleteItems({ queue: "orders", partition: 0, ids: [...ids, ...ids], ...guard }),
    );
  expect(await remove({ dryRun: true })).toEqual({ ok: true, value: all });
  expect(await remove({ expect: 4 })).toEqual(changed(5, 4));
  expect(textsOf(listed)).toEqual(await bundle.listed("orders"));
  expect(await remove({ expect: 5 })).toEqual({ ok: true, value: all });
  expect(await remove({})).toEqual({ ok: true, value: none });
  expect(await bundle.listed("orders")).toEqual([]);
});

test("update: a dry run counts the items of surplus partitions", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", requestedPartitions: 2 });
  for (const text of ["a", "b", "c"]) await bundle.produce("orders", text);
  const update = (guard: { dryRun?: boolean; expect?: number }) =>
    bundle.ending(() =>
      bundle.engine.updateQueue({ name: "orders", requestedPartitions: 1, ...guard }),
    );
  const surplus = { ok: true, value: { ...none, ready: 1 } } as const;
  expect(await update({ dryRun: true })).toEqual(surplus);
  expect(await update({ expect: 0 })).toEqual(changed(1, 0));
  expect(bundle.engine.queueInfo("orders").requestedPartitions).toBe(2);
  expect(await update({ expect: 1 })).toEqual(surplus);
  expect(bundle.engine.queueInfo("orders").requestedPartitions).toBe(1);
  expect(await update({ dryRun: true })).toEqual({ ok: true, value: none });
});

test.each([-1, 1.5, Number.NaN, 2 ** 31])("expect: %d is refused", async (count) => {
  const bundle = await setupQueue();
  expect(await clear(bundle, { expect: count })).toMatchObject({ ok: false, code: "invalid" });
});

test("clear, delete items: a dry run whose shard dies is answered by the next", async () => {
  const bundle = await setupQueue();
  bundle.store().hold();
  const waiting = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["c"])));
  const dry = await bundle.begin(() =>
    bundle.engine.clear({ queue: "orders", ...everything, dryRun: true }),
  );
  bundle.store().fail({ fault: "failed", applied: true });
  bundle.store().release();
  await bundle.clock.advance(10 * second);
  expect(waiting.ending).toMatchObject({ ok: true });
  expect(dry.ending).toEqual({ ok: true, value: { ...all, ready: 3 } });
  expect((await countsOf(bundle)).ready).toBe(3);
});
