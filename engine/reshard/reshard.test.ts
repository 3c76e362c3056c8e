// Moving queues to another number of shards, with all that belongs to them.

import { expect, spyOn, test } from "bun:test";
import { MemoryImage, MemoryStore, openMemoryStore } from "../../stores/memory/store.ts";
import type { TaskBegun } from "../model/api.ts";
import { ownerOf } from "../model/idempotency-key.ts";
import { limits } from "../model/limits.ts";
import { priorities, slotFor } from "../model/priority.ts";
import {
  type Bundle,
  completeOf,
  doneFirst,
  hour,
  idsOf,
  minute,
  nameIn,
  produceOf,
  second,
  setup,
} from "../simulation/bundle.ts";
import { seededRandom } from "../simulation/seeded-random.ts";
import { reshard } from "./reshard.ts";

/** Sequences of shard counts. */
const ways = [
  [1, 3],
  [3, 1],
  [2, 5, 2],
  [4, 3, 7, 1, 2],
] as const;
const names = ["orders", "dead", "{shop}.a", "{shop}.b", "one", "two", "three", "four"];
const again = { ok: true, value: { replayed: true } } as const;

async function setupQueues(shardCount: number): Promise<Bundle> {
  const bundle = await setup({ shardCount });
  await bundle.createQueue({ name: "dead" });
  const orders = { name: "orders", maxAttempts: 2, deadQueue: "dead", uniqueForMs: hour };
  await bundle.createQueue({ ...orders, requestedPartitions: 3, leaseTimeoutMs: hour });
  for (const name of names.slice(2)) await bundle.createQueue({ name, leaseTimeoutMs: hour });
  return bundle;
}

/** The items of all queues as callers see them. */
async function seen(bundle: Bundle): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const queue of names) {
    const { partitions } = await bundle.run(() => bundle.engine.stats(queue));
    for (const { partition } of partitions) {
      const page = { queue, partition, pivot: "", limit: 10_000 };
      all.push({
        ...{ queue, partition },
        items: await bundle.run(() => bundle.engine.listItems(page)),
        scheduled: await bundle.run(() => bundle.engine.listScheduled(page)),
      });
    }
    all.push(bundle.engine.queueInfo(queue));
  }
  return all;
}

/** Ready, leased, scheduled, retried, requeued and dead items, with gaps between them. */
async function fill(bundle: Bundle): Promise<void> {
  // Its numbers are far ahead of the others.
  await bundle.produceMany("three", 3_000);
  for (const queue of names) {
    await bundle.produce(queue, ...Array.from({ length: 300 }, (_, index) => `${queue} ${index}`));
    const gap = await bundle.lease(queue, { batchSize: 20 });
    const ids = idsOf(gap.items).filter((_, index) => index % 3 > 0);
    await bundle.ending(() => bundle.engine.complete(completeOf(queue, gap.partition, ids)));
    await bundle.run(() =>
      bundle.engine.produce(produceOf(queue, ["later", "much later"], bundle.now + hour)),
    );
    const retried = await bundle.lease(queue, { batchSize: 3 });
    await bundle.retry(retried, { retryAt: bundle.now + minute });
    await bundle.retry(await bundle.lease(queue, { batchSize: 2 }));
  }
  await bundle.retry(await bundle.lease("orders", { batchSize: 4 }), { dead: true });
  await bundle.clock.advance(10 * second);
}

test.each(ways)(
  "reshard: callers see the same items under the same ids; %i, %i …",
  async (...way) => {
    const [first, ...others] = way as readonly number[];
    const bundle = await setupQueues(first ?? 1);
    await fill(bundle);
    for (const count of others) {
      // Gives a shard several epochs.
      await bundle.restart();
      const before = await seen(bundle);
      const moved = await bundle.reshard(count);
      expect(moved).toMatchObject({ queues: names.length, damaged: 0 });
      expect(bundle.images).toHaveLength(count);
      expect(await seen(bundle)).toEqual(before);
      for (const queue of names) await bundle.produce(queue, "another");
    }
  },
);

test.each(ways)("reshard: a holder finishes items by their ids; %i, %i …", async (...way) => {
  const [first, ...others] = way as readonly number[];
  const bundle = await setupQueues(first ?? 1);
  await bundle.produce("orders", "a", "b", "c", "d", "e");
  const leased = await bundle.lease("orders", { batchSize: 4 });
  const { queue, partition } = leased;
  for (const [index, count] of others.entries()) {
    await bundle.reshard(count);
    const [id = ""] = idsOf(leased.items).slice(index);
    const found = await bundle.run(() => bundle.engine.explainItem(id));
    expect(found.item).toMatchObject({ state: "leased", id, queue, partition });
    expect(
      await bundle.ending(() => bundle.engine.complete(completeOf(queue, partition, [id]))),
    ).toEqual(doneFirst);
    expect(
      await bundle.ending(() => bundle.engine.complete(completeOf(queue, partition, [id]))),
    ).toMatchObject({ ok: false, code: "refused" });
  }
  // The other items lapse, and are requeued at the tail.
  const before = await bundle.allListed("orders");
  await bundle.clock.advance(hour);
  expect(await bundle.allListed("orders")).toEqual(before);
  const ids = idsOf((await bundle.lease("orders", { batchSize: 10 })).items);
  expect(ids.toSorted()).toEqual(ids);
});

test.each(ways)(
  "reshard: listings continue at an id of any old shard; %i, %i …",
  async (...way) => {
    const [first, ...others] = way as readonly number[];
    const bundle = await setupQueues(first ?? 1);
    const list = (pivot: string, limit = 100) =>
      bundle.run(() => bundle.engine.listItems({ queue: "one", partition: 0, pivot, limit }));
    for (const count of others) {
      await bundle.produce("one", "a", "b", "c");
      await bundle.reshard(count);
      await bundle.produce("one", "d", "e");
      const ids = idsOf(await list(""));
      expect(ids.toSorted()).toEqual(ids);
      for (const [index, id] of ids.entries()) {
        expect(idsOf(await list(id))).toEqual(ids.slice(index));
      }
    }
  },
);

test.each(ways)(
  "reshard: a call with a key that was done is not done again; %i, %i …",
  async (...way) => {
    const [first, ...others] = way as readonly number[];
    const bundle = await setupQueues(first ?? 1);
    const produce = { ...produceOf("orders", ["a", "b"]), returnIds: true, requestKey: "produce" };
    const plain = { ...produceOf("one", ["a"]), requestKey: "plain" };
    const unique = {
      ...{ queue: "orders", requestTimeoutMs: minute, requestKey: "unique" },
      items: ["x", "y", "x"].map((payload) => ({ payload, uniqueKey: payload })),
    };
    const produced = await bundle.run(() => bundle.engine.produce(produce));
    const doubled = await bundle.run(() => bundle.engine.produce(unique));
    await bundle.run(() => bundle.engine.produce(plain));
    const lease = { ...bundle.leaseOf("orders", { batchSize: 2 }), requestKey: "lease" };
    const leased = await bundle.run(() => bundle.engine.lease(lease));
    const taken = await bundle.lease("one");
    const complete = {
      ...completeOf("one", taken.partition, idsOf(taken.items)),
      requestKey: "complete",
    };
    await bundle.run(() => bundle.engine.complete(complete));
    for (const count of others) {
      await bundle.reshard(count);
      const before = await seen(bundle);
      expect(await bundle.run(() => bundle.engine.produce(produce))).toEqual({
        ...produced,
        replayed: true,
      });
      expect(await bundle.run(() => bundle.engine.produce(unique))).toEqual({
        ...doubled,
        replayed: true,
      });
      expect(await bundle.ending(() => bundle.engine.produce(plain))).toMatchObject(again);
      expect(await bundle.run(() => bundle.engine.lease(lease))).toMatchObject({
        replayed: true,
        items: leased.items,
      });
      expect(await bundle.ending(() => bundle.engine.complete(complete))).toEqual(again);
      expect(await seen(bundle)).toEqual(before);
    }
  },
);

test.each(ways)(
  "reshard: unique keys stay taken for as long as they were; %i, %i …",
  async (...way) => {
    const [first, ...others] = way as readonly number[];
    const bundle = await setupQueues(first ?? 1);
    const items = [{ payload: "x", uniqueKey: "x" }];
    const produce = () =>
      bundle.run(() => bundle.engine.produce({ queue: "orders", requestTimeoutMs: minute, items }));
    expect((await produce()).duplicates).toEqual([]);
    for (const count of others) {
      await bundle.reshard(count);
      expect((await produce()).duplicates).toEqual([0]);
    }
    await bundle.clock.advance(hour);
    expect((await produce()).duplicates).toEqual([]);
  },
);

test("reshard: a transact over queues now in different shards is recognized by its key, and refused without it", async () => {
  const bundle = await setup();
  const queues = [nameIn(0, 3, "orders"), nameIn(1, 3, "orders")];
  const complete: { queue: string; partition: number; ids: string[] }[] = [];
  for (const name of queues) {
    await bundle.createQueue({ name });
    await bundle.produce(name, "a");
    const { partition, items } = await bundle.lease(name);
    complete.push({ queue: name, partition, ids: idsOf(items) });
  }
  const request = { complete, requestTimeoutMs: second };
  const transact = (key: object) =>
    bundle.ending(() => bundle.engine.transact({ ...request, ...key }));
  const keyed = { requestKey: "key" };
  expect(await transact(keyed)).toMatchObject({ ok: true, value: { replayed: false } });
  await bundle.reshard(3);
  expect(await transact(keyed)).toMatchObject(again);
  expect(await transact({})).toMatchObject({
    ok: false,
    message: expect.stringContaining("their queues are in different shards"),
  });
});

test("reshard: a task continues where it was, and a task with a key is recognized", async () => {
  const bundle = await setupQueues(2);
  await bundle.produceMany("orders", 500);
  for (let leases = 0; leases < 10; leases += 1) {
    await bundle.retry(await bundle.lease("orders", { batchSize: 50 }), { dead: true });
  }
  await bundle.clock.advance(second);
  const request = { queue: "dead", to: "", perSecond: 50, requestKey: "redrive" } as const;
  const begun: TaskBegun = await bundle.run(() => bundle.engine.redrive(request));
  await bundle.clock.advance(3 * second);
  await bundle.reshard(5);
  expect(bundle.engine.taskInfo(begun.taskId)).toMatchObject({ state: "running", matched: 500 });
  expect(await bundle.run(() => bundle.engine.redrive(request))).toEqual({
    ...begun,
    replayed: true,
  });
  expect(await bundle.ended(begun.taskId)).toMatchObject({ state: "done", moved: 500 });
  await bundle.clock.advance(minute);
  expect(await bundle.listed("dead")).toEqual([]);
  expect(await bundle.allListed("orders")).toHaveLength(500);
});

test.each([1, 2, 3])("reshard: items in transit arrive once, in %i shards", async (count) => {
  const [near, far] = [nameIn(0, 2), nameIn(1, 2)];
  const bundle = await setup({ shardCount: 2 });
  await bundle.createQueue({ name: far });
  await bundle.createQueue({ name: near, maxAttempts: 1, deadQueue: far });
  await bundle.produce(near, "received");
  const leased = await bundle.lease(near);
  // The receiver has the item, but the sender does not know it.
  bundle.store(0).failAfter(1, { fault: "failed", applied: false });
  await bundle.retry(leased);
  expect(bundle.image(1).inbound.get(0)).toBe(1);
  const { outbound } = bundle.image(0);
  const [sent] = outbound.values();
  if (sent === undefined) throw new Error("the outbox is empty");
  for (const [index, text] of ["a", "b"].entries()) {
    outbound.put({ ...sent, outboundSeq: 2 + index, payload: new TextEncoder().encode(text) });
  }
  expect(await bundle.reshard(count)).toMatchObject({ items: 1, delivered: 2 });
  await bundle.clock.advance(minute);
  expect(await bundle.listed(far)).toEqual(["received", "a", "b"]);
  expect(bundle.images.flatMap(({ outbound }) => outbound.values())).toEqual([]);
});

test("reshard: items set aside are kept", async () => {
  const bundle = await setupQueues(2);
  await bundle.produce("orders", "a");
  const [source] = bundle.images.filter(({ slots }) => slots.size > 0);
  for (const slot of source?.slots.keys() ?? []) source?.quarantine(slot, 0);
  const count = source?.quarantined.length ?? 0;
  await bundle.reshard(3);
  expect(bundle.images.flatMap(({ quarantined }) => quarantined)).toHaveLength(count);
  await bundle.reshard(1);
  expect(bundle.images.flatMap(({ quarantined }) => quarantined)).toHaveLength(count);
});

test("reshard: queues of one tag stay in one shard", async () => {
  const bundle = await setupQueues(1);
  await bundle.reshard(5);
  const shards = bundle.images.map(({ queues }) =>
    [...queues.values()].filter(({ definition }) => definition.name.startsWith("{shop}")),
  );
  expect(shards.filter((queues) => queues.length > 0)).toHaveLength(1);
});

test("reshard: queues with the same number in different shards keep their identity", async () => {
  const bundle = await setup({ shardCount: 1 });
  for (let index = 0; index < 12; index += 1) await bundle.createQueue({ name: `old-${index}` });
  await bundle.createQueue({ name: "dead" });
  await bundle.reshard(3);
  // From here on each of these shards issues its own numbers.
  for (let index = 0; index < 12; index += 1) {
    await bundle.createQueue({ name: `q-${index}`, deadQueue: "dead", uniqueForMs: hour });
    await bundle.clock.advance(second);
  }
  const produce = (index: number) =>
    bundle.run(() =>
      bundle.engine.produce({
        ...{ queue: `q-${index}`, requestTimeoutMs: minute, requestKey: "key" },
        items: [{ payload: "x", uniqueKey: "x" }],
      }),
    );
  for (let index = 0; index < 12; index += 1) await produce(index);
  const owners = () =>
    bundle.images
      .flatMap(({ queues }) => [...queues.values()])
      .map(({ queueId, createdAs = queueId, definition: { createdAt } }) =>
        ownerOf({ queueId: createdAs, createdAt }),
      )
      .sort();
  const before = owners();
  const ids = bundle.images.flatMap(({ queues }) => [...queues.keys()]);
  expect(new Set(ids).size).toBeLessThan(ids.length);
  await bundle.reshard(1);
  expect(owners()).toEqual(before);
  expect(bundle.images[0]?.queues.size).toBe(25);
  for (let index = 0; index < 12; index += 1) {
    expect(await produce(index)).toMatchObject({ replayed: true });
    expect(bundle.engine.queueInfo(`q-${index}`).deadQueue).toBe("dead");
  }
});

/** The rows of groups, each with its queue and priority instead of slots. */
function groupRows(images: readonly MemoryImage[]) {
  const rows = images.flatMap(({ grouped, queues }) => {
    const places = [...queues.values()].flatMap(({ definition, places }) =>
      places.map(({ slot }, partition) => ({ queue: definition.name, partition, slot })),
    );
    return grouped.values().map((row) => {
      const place = places.find(({ slot }) => slot === row.partition);
      const priority = priorities.find((one) => slotFor(place?.slot ?? -1, one) === row.slot);
      const { queue, partition } = place ?? {};
      return { ...row, queue, partition, priority, slot: null };
    });
  });
  return rows.sort((a, b) =>
    `${a.queue} ${a.partition}`.localeCompare(`${b.queue} ${b.partition}`),
  );
}

test.each(ways)("reshard: rows of groups follow their partitions; %i, %i …", async (...way) => {
  const [first, ...others] = way as readonly number[];
  const bundle = await setupQueues(first ?? 1);
  for (const { grouped, queues } of bundle.images) {
    for (const { places } of queues.values()) {
      for (const { slot: partition } of places) {
        for (const [index, group] of ["", "a", "a\u0000"].entries()) {
          const slot = slotFor(partition, index === 0 ? 0 : 9);
          // Shards have the same ranks.
          grouped.put({ partition, group, place: "queued", rank: 2 * index, slot, seq: index });
          grouped.put({ partition, group, place: "retried", rank: 7, slot, seq: 90 + index });
        }
      }
    }
    const unused = { partition: limits.slotsMax - 1, slot: limits.slotsMax - 1 };
    grouped.put({ ...unused, group: "", place: "queued", rank: 1, seq: 1 });
  }
  const before = groupRows(bundle.images).filter(({ queue }) => queue !== undefined);
  expect(before).toHaveLength(6 * (names.length + 2));
  for (const count of others) {
    bundle.kill();
    await bundle.moveStored(count);
    expect(groupRows(bundle.images)).toEqual(before);
  }
});

test("reshard: a damaged item is set aside, without its row in its group", async () => {
  const bundle = await setup({ shardCount: 1 });
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a", "b", "c");
  bundle.kill();
  const image = bundle.image(0);
  for (const { slot, seq } of [...image.slots.values()].flatMap(({ items }) => items.values())) {
    image.grouped.put({ partition: slot, group: "a", place: "queued", rank: seq, slot, seq });
  }
  const [damaged, ...others] = image.grouped.values();
  const opened = openMemoryStore({ tag: "", image });
  const spoilt = spyOn(opened.store, "read").mockImplementation(async (plan) => {
    const result = await new MemoryStore(image).read(plan);
    const items = Array.from(result.items, ([name, { found, isAll }]) => {
      const read = found.map((item) => ({ ...item, damaged: item.seq === damaged?.seq }));
      return [name, { found: read, isAll }] as const;
    });
    return { ...result, items: new Map(items) };
  });
  const to = [new MemoryImage("1".repeat(12)), new MemoryImage("2".repeat(12))];
  const moved = await reshard({
    from: [opened],
    to: to.map((image) => openMemoryStore({ tag: "", image })),
    ...{ clock: bundle.clock, random: seededRandom(1) },
  });
  expect(moved).toMatchObject({ items: 2, damaged: 1 });
  const rows = to.flatMap(({ grouped }) => grouped.values());
  expect(rows.map(({ rank }) => rank)).toEqual(others.map(({ rank }) => rank));
  spoilt.mockRestore();
});

test("reshard: a queue that is being deleted does not exist at the next start", async () => {
  const bundle = await setupQueues(2);
  await bundle.produceMany("one", 3_000);
  for (const { queues } of bundle.images) {
    for (const entry of queues.values()) {
      if (entry.definition.name === "one") queues.set(entry.queueId, { ...entry, deleting: true });
    }
  }
  await bundle.reshard(3);
  await bundle.clock.advance(minute);
  expect(() => bundle.engine.queueInfo("one")).toThrow("does not exist");
  expect(bundle.images.flatMap((_, shard) => bundle.storedItems(shard))).toEqual([]);
});

test("reshard: an incomplete set of stores is refused", async () => {
  const bundle = await setupQueues(3);
  const lacking = await setup({ shardCount: 2 });
  for (const shard of [0, 1]) lacking.image(shard).tags = bundle.image(shard).tags;
  expect(lacking.reshard(4)).rejects.toThrow("expected --shards 3, got 2");
});

test("reshard: the room for copied receipts is required", async () => {
  const bundle = await setupQueues(1);
  await bundle.produce("orders", "a", "b", "c");
  const { items, partition } = await bundle.lease("orders", { batchSize: 3 });
  const complete = { ...completeOf("orders", partition, idsOf(items)), requestKey: "key" };
  await bundle.ending(() => bundle.engine.complete(complete));
  const bytes = () =>
    bundle.images
      .flatMap(({ receipts }) => [...receipts.values()])
      .reduce((sum, { entries }) => sum + entries.length, 0);
  const before = bytes();
  const asked: number[] = [];
  await bundle.moveStored(4, { requireRoom: (moreBytes) => asked.push(moreBytes) });
  expect(asked).toEqual([bytes() - before]);
  expect(asked[0]).toBeGreaterThan(0);
});

test("reshard: a new store instead of a lost one is refused", async () => {
  const bundle = await setupQueues(3);
  bundle.image(1).tags = "0".repeat(12);
  const refusal = "the store of shard 1 is new and the others are not";
  await expect(bundle.reshard(4)).rejects.toThrow(refusal);
});

test("reshard: stores that are all new are moved", async () => {
  const bundle = await setup({ shardCount: 2 });
  for (const shard of [0, 1]) bundle.image(shard).tags = "0".repeat(12);
  expect(await bundle.reshard(3)).toMatchObject({ queues: 0, items: 0 });
});
