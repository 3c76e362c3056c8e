// Unique keys of a queue with `pending`: no second item with a key is written while the first one
// is unfinished, and one is as soon as that has ended.

import { expect, test } from "bun:test";
import { pending } from "./embed.ts";
import type { QueueSettings } from "./model/api.ts";
import { type Bundle, hour, idsOf, minute, setup, start } from "./simulation/bundle.ts";

async function setupQueue(settings: Partial<QueueSettings> = {}): Promise<Bundle> {
  const bundle = await setup();
  await bundle.createQueue({ name: "dead" });
  const rules = { uniqueForMs: pending, leaseTimeoutMs: minute, expireTimeoutMs: hour };
  const partitions = { deadQueue: "dead", requestedPartitions: 3 };
  await bundle.createQueue({ name: "orders", ...rules, ...partitions, ...settings });
  return bundle;
}

/** Whether an item with the only key of this file was written. */
async function isWritten(bundle: Bundle, item: object = {}): Promise<boolean> {
  const items = [{ payload: "a", uniqueKey: "1", ...item }];
  const request = { queue: "orders", requestTimeoutMs: minute, items };
  const { duplicates } = await bundle.run(() => bundle.engine.produce(request));
  return duplicates.length === 0;
}

async function prioritize(bundle: Bundle, priority: number): Promise<void> {
  const request = { queue: "orders", action: "prioritize", priority, filter: {} } as const;
  const { taskId } = await bundle.run(() => bundle.engine.repair(request));
  await bundle.ended(taskId);
}

const requeues: [string, (bundle: Bundle) => Promise<unknown>][] = [
  ["it waits", async () => undefined],
  ["it is leased", (bundle) => bundle.lease("orders")],
  ["it was retried", async (bundle) => bundle.retry(await bundle.lease("orders"))],
  [
    "it waits for a retry",
    async (bundle) => bundle.retry(await bundle.lease("orders"), { retryAt: start + 2 * minute }),
  ],
  [
    "its lease lapsed",
    async (bundle) => {
      await bundle.lease("orders");
      await bundle.clock.advance(2 * minute);
    },
  ],
  [
    "it was released",
    async (bundle) => {
      const { partition, items } = await bundle.lease("orders");
      const request = { queue: "orders", partition, ids: idsOf(items) };
      await bundle.run(() => bundle.engine.release(request));
    },
  ],
  [
    "it has another priority",
    async (bundle) => {
      await prioritize(bundle, 6);
      await prioritize(bundle, 2);
    },
  ],
  ["the process restarted", (bundle) => bundle.restart()],
];

const ends: [string, (bundle: Bundle) => Promise<unknown>][] = [
  ["it is completed", async (bundle) => bundle.complete(await bundle.lease("orders"))],
  ["it is given up", async (b) => b.retry(await b.lease("orders"), { dead: true })],
  ["it expires", (bundle) => bundle.clock.advance(2 * hour)],
  [
    "it expires without a dead queue",
    async (bundle) => {
      await bundle.run(() => bundle.engine.updateQueue({ name: "orders", deadQueue: "" }));
      await bundle.clock.advance(2 * hour);
    },
  ],
  [
    "it is deleted",
    async (bundle) => {
      const [item] = await waiting(bundle);
      const request = { queue: "orders", partition: 0, ids: [item?.id ?? ""] };
      await bundle.run(() => bundle.engine.deleteItems(request));
    },
  ],
  [
    "a task deletes it",
    async (bundle) => {
      const repair = { queue: "orders", action: "delete", filter: { kind: "" } } as const;
      const { taskId } = await bundle.run(() => bundle.engine.repair(repair));
      await bundle.ended(taskId);
    },
  ],
  [
    "it is cleared",
    (bundle) => {
      const states = { ready: true, scheduled: true, retried: true, destructive: true };
      return bundle.run(() => bundle.engine.clear({ queue: "orders", ...states }));
    },
  ],
];

async function waiting(bundle: Bundle) {
  const request = { queue: "orders", partition: 0, pivot: "", limit: 10 };
  const ready = await bundle.run(() => bundle.engine.listItems(request));
  return [...ready, ...(await bundle.run(() => bundle.engine.listScheduled(request)))];
}

test.each(requeues)(
  "pending: a key is taken while its item is unfinished; %s",
  async (_, moves) => {
    const bundle = await setupQueue();
    expect(await isWritten(bundle)).toBe(true);
    await moves(bundle);
    expect(await isWritten(bundle)).toBe(false);
  },
);

test.each(
  ends.flatMap(([name, ends]) =>
    [requeues[0], requeues[4], requeues[6]].map((way) => [name, way?.[0], ends, way?.[1]] as const),
  ),
)("pending: a key is free once %s, after %s", async (_, __, ends, moves) => {
  const bundle = await setupQueue();
  await isWritten(bundle);
  await moves?.(bundle);
  await ends(bundle);
  expect(await isWritten(bundle)).toBe(true);
  expect(await isWritten(bundle)).toBe(false);
});

test("pending: the key of a scheduled item is taken, and free once the item is deleted", async () => {
  const bundle = await setupQueue();
  expect(await isWritten(bundle, { enqueueAt: start + hour })).toBe(true);
  expect(await isWritten(bundle)).toBe(false);
  await ends[4]?.[1](bundle);
  expect(await isWritten(bundle)).toBe(true);
});

test("pending: a redriven item does not take its key again, nor does its end free one", async () => {
  const bundle = await setupQueue();
  await isWritten(bundle);
  await bundle.retry(await bundle.lease("orders"), { dead: true });
  const { taskId } = await bundle.run(() => bundle.engine.redrive({ queue: "dead" }));
  await bundle.ended(taskId);
  const redriven = await bundle.lease("orders");
  expect(await isWritten(bundle)).toBe(true);
  await bundle.complete(redriven);
  expect(await isWritten(bundle)).toBe(false);
});

test("pending: the key of a damaged item is free once that is set aside", async () => {
  const bundle = await setupQueue();
  await isWritten(bundle);
  bundle.store().damage(1, 0);
  await bundle.beginLease("orders");
  expect(await isWritten(bundle)).toBe(true);
});

test("pending: a transact completes an item and produces its successor with the same key", async () => {
  const bundle = await setupQueue();
  await isWritten(bundle);
  const { partition, items } = await bundle.lease("orders");
  const complete = [{ queue: "orders", partition, ids: idsOf(items) }];
  const produce = [{ queue: "orders", items: [{ payload: "b", uniqueKey: "1" }] }];
  const request = { requestTimeoutMs: minute, complete, produce };
  const { produced } = await bundle.run(() => bundle.engine.transact(request));
  expect(produced).toMatchObject([{ duplicates: [] }]);
  expect(await bundle.listed("orders")).toEqual(["b"]);
  expect(await isWritten(bundle)).toBe(false);
});

test("pending: after a reshard a key is taken, and free once its requeued item is completed", async () => {
  for (const isMoved of [false, true]) {
    const bundle = await setupQueue();
    await isWritten(bundle);
    if (isMoved) await bundle.retry(await bundle.lease("orders"));
    for (const count of [3, 2]) {
      await bundle.reshard(count);
      expect(await isWritten(bundle)).toBe(false);
    }
    await bundle.complete(await bundle.lease("orders"));
    expect(await isWritten(bundle)).toBe(true);
  }
});

test("pending: no key of an item that has ended stays in the store", async () => {
  const bundle = await setupQueue();
  await isWritten(bundle);
  await bundle.retry(await bundle.lease("orders"));
  await bundle.complete(await bundle.lease("orders"));
  expect(bundle.image().uniques.size).toBe(0);
  await isWritten(bundle);
  await bundle.run(() => bundle.engine.deleteQueue({ name: "orders", force: true }));
  expect(bundle.image().uniques.size).toBe(0);
});

test.each([
  [pending, hour],
  [hour, pending],
  [pending, 0],
])("pending: unique_for cannot change while the queue holds items; %i to %i", async (from, to) => {
  const bundle = await setupQueue({ uniqueForMs: from });
  await isWritten(bundle);
  const change = { name: "orders", uniqueForMs: to };
  const refused = {
    ok: false,
    code: "refused",
    message:
      "queue is not empty; unique_for of 'orders' can change from or to 'pending' only while it holds no items; let them finish, or clear the queue",
  };
  for (const dryRun of [true, false]) {
    const update = () => bundle.engine.updateQueue({ ...change, dryRun });
    expect(await bundle.ending(update)).toMatchObject(refused);
  }
  const leased = await bundle.lease("orders");
  expect(await bundle.ending(() => bundle.engine.updateQueue(change))).toMatchObject(refused);
  const other = { name: "orders", maxAttempts: 3 };
  await bundle.run(() => bundle.engine.updateQueue(other));
  await bundle.complete(leased);
  await bundle.run(() => bundle.engine.updateQueue(change));
  expect(bundle.engine.queueInfo("orders").uniqueForMs ?? 0).toBe(to);
});

test("pending: the text of the setting is the word", async () => {
  const bundle = await setupQueue();
  expect(bundle.engine.queueInfo("orders")).toMatchObject({ uniqueForText: "pending" });
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", maxAttempts: 3 }));
  expect(bundle.engine.queueInfo("orders")).toMatchObject({ uniqueForText: "pending" });
});
