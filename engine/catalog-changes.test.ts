// Changes of queues while shards are down, slow or closing do not affect other queues.

import { expect, test } from "bun:test";
import { limits } from "./model/limits.ts";
import {
  type Bundle,
  hour,
  idsOf,
  nameIn,
  produceOf,
  queueDefaults,
  second,
  setup,
  writtenFirst,
} from "./simulation/bundle.ts";

/** `first`, `third` and `fourth` are in the second of two shards, the others in the first. */
async function setupTwo(): Promise<Bundle> {
  const bundle = await setup({ shardCount: 2 });
  for (const name of ["first", "second"]) await bundle.createQueue({ name });
  return bundle;
}

/** The shard fails at a produce, and cannot be opened until its store is healed. */
async function breakShard(bundle: Bundle, shard: number, queue: string, applied = false) {
  bundle.store(shard).openFault = "failed";
  bundle.store(shard).fail({ fault: "failed", applied });
  return bundle.begin(() => bundle.engine.produce(produceOf(queue, ["lost or not"])));
}

async function healShard(bundle: Bundle, shard: number): Promise<void> {
  bundle.store(shard).heal();
  await bundle.clock.advance(2 * limits.restartMsMax);
}

/** The names of the queues that a shard has stored. */
function namesIn(bundle: Bundle, shard: number): string[] {
  return [...bundle.image(shard).queues.values()].map(({ definition }) => definition.name);
}

function remove(bundle: Bundle, name: string, force = true) {
  return bundle.engine.deleteQueue({ name, force });
}

function beginDelete(bundle: Bundle, name: string, force = true) {
  return bundle.begin(() => remove(bundle, name, force));
}

function beginCreate(bundle: Bundle, name: string) {
  return bundle.begin(() => bundle.engine.createQueue({ ...queueDefaults, name }));
}

type Change = (bundle: Bundle) => Promise<unknown>;

const done = { ok: true, value: undefined } as const;
const late = {
  ok: false,
  code: "empty",
  message: "request timeout; the queue was not changed, try again",
  details: undefined,
} as const;

test("changes: while a shard is down, changes in other shards continue, and its own are refused in time", async () => {
  const bundle = await setupTwo();
  await bundle.createQueue({ name: "third" });
  await breakShard(bundle, 1, "first");
  const update = (name: string) =>
    bundle.begin(() => bundle.engine.updateQueue({ name, maxAttempts: 3 }));
  const own = [
    await beginDelete(bundle, "first"),
    await update("third"),
    await beginCreate(bundle, "fourth"),
  ];
  const others = [
    await update("second"),
    await beginDelete(bundle, "second"),
    await beginCreate(bundle, "sixth"),
  ];
  expect(others.map(({ ending }) => ending)).toMatchObject([{ ok: true }, { ok: true }, done]);
  await bundle.clock.advance(limits.requestTimeoutMsDefault - 1);
  expect(own.map(({ ending }) => ending)).toEqual([null, null, null]);
  await bundle.clock.advance(1);
  expect(own.map(({ ending }) => ending)).toEqual([late, late, late]);
  await healShard(bundle, 1);
  expect(bundle.engine.listQueues({ pivot: "", limit: 10 })).toMatchObject([
    { name: "first" },
    { name: "sixth" },
    { name: "third", maxAttempts: 0 },
  ]);
  expect(namesIn(bundle, 0)).toEqual(["sixth"]);
  expect(namesIn(bundle, 1)).toEqual(["first", "third"]);
  await bundle.createQueue({ name: "fourth" });
});

test("changes: while a shard stalls, changes in other shards continue", async () => {
  const bundle = await setupTwo();
  bundle.store(1).hold();
  const stalled = await beginCreate(bundle, "third");
  const others = [
    await bundle.begin(() => bundle.engine.updateQueue({ name: "second", maxAttempts: 3 })),
    await beginCreate(bundle, "sixth"),
    await beginDelete(bundle, "sixth"),
  ];
  expect(stalled.ending).toBe(null);
  expect(others.map(({ ending }) => ending)).toMatchObject([{ ok: true }, done, { ok: true }]);
  bundle.store(1).release();
  await bundle.clock.settle();
  expect(stalled.ending).toEqual(done);
});

test.each(["failed", "stalled"])(
  "changes: a change that names a dead queue in another shard delays no other change there; its own has %s",
  async (how) => {
    const bundle = await setupTwo();
    await bundle.createQueue({ name: "sixth" });
    bundle.store(1).openFault = "failed";
    if (how === "stalled") bundle.store(1).hold();
    else bundle.store(1).fail({ fault: "failed" });
    await bundle.begin(() =>
      bundle.engine.createQueue({ ...queueDefaults, name: "third", deadQueue: "second" }),
    );
    await bundle.run(() => bundle.engine.updateQueue({ name: "sixth", maxAttempts: 3 }));
    const deleted = await beginDelete(bundle, "second", false);
    expect(deleted.ending).toMatchObject({ ok: false, code: "refused" });
    await bundle.run(() => bundle.engine.updateQueue({ name: "second", maxAttempts: 3 }));
  },
);

test("resume: behind a pause with an unknown outcome, a resume returns nothing once the engine has closed", async () => {
  const bundle = await setupTwo();
  bundle.store(1).openFault = "failed";
  bundle.store(1).fail({ fault: "failed", applied: true });
  await bundle.begin(() => bundle.engine.pause({ queue: "first", lease: true }));
  const resumed = await bundle.begin(() => bundle.engine.resume("first"));
  await bundle.begin(() => bundle.engine.close());
  expect(resumed.ending).toMatchObject({ ok: false, code: "closing" });
});

test("backup: a backup gets its turn among endless changes", async () => {
  const bundle = await setupTwo();
  const change = (name: string) =>
    bundle.begin(() => bundle.engine.updateQueue({ name, maxAttempts: 3 }));
  for (const shard of [0, 1]) bundle.store(shard).hold();
  await change("second");
  await change("first");
  const backup = await bundle.begin(() => bundle.engine.backup("/nowhere"));
  for (const [shard, name] of [
    [0, "second"],
    [1, "first"],
  ] as const) {
    await change(name);
    bundle.store(shard).release();
    await bundle.clock.settle();
  }
  expect(backup.ending).not.toBe(null);
});

test("changes: a backup that waits for a shard that is down lets other changes continue in time", async () => {
  const bundle = await setupTwo();
  bundle.store(1).openFault = "failed";
  bundle.store(1).fail({ fault: "failed" });
  await beginCreate(bundle, "third");
  const backup = await bundle.begin(() => bundle.engine.backup("/nowhere"));
  const changed = await bundle.begin(() =>
    bundle.engine.updateQueue({ name: "second", maxAttempts: 3 }),
  );
  await bundle.clock.advance(limits.holdMsMax);
  expect(backup.ending).toMatchObject({ ok: false });
  expect(changed.ending).toMatchObject({ ok: true });
});

test("update, delete: while a shard reopens, no call reports that its queue does not exist", async () => {
  const bundle = await setupTwo();
  bundle.store(1).fail({ fault: "lost" });
  bundle.store(1).openFault = "failed";
  await bundle.begin(() => bundle.engine.produce(produceOf("first", ["a"])));
  const updated = await bundle.begin(() =>
    bundle.engine.updateQueue({ name: "first", maxAttempts: 3 }),
  );
  const deleted = await beginDelete(bundle, "first");
  for (const { ending } of [updated, deleted]) {
    expect(ending).toMatchObject({ ok: false, code: "closing" });
  }
});

test("delete: the caller is answered in time while a shard stays down, and the delete still ends", async () => {
  const bundle = await setupTwo();
  await bundle.produce("first", "a");
  const store = bundle.store(1);
  store.onCommit = ({ queue }) => {
    if (!queue.some(({ deleting }) => deleting)) return;
    store.openFault = "failed";
    store.fail({ fault: "failed" });
  };
  const deleted = await beginDelete(bundle, "first");
  await bundle.clock.advance(limits.requestTimeoutMsDefault - 1);
  expect(deleted.ending).toBe(null);
  await bundle.clock.advance(1);
  expect(deleted.ending).toEqual({
    ok: false,
    code: "store",
    message: "the queue was deleted, its items not all; the rest goes when every shard is up",
    details: undefined,
  });
  await healShard(bundle, 1);
  expect(bundle.storedItems(1)).toEqual([]);
  expect(namesIn(bundle, 1)).toEqual([]);
});

test("delete: the name is free at once, and no item returns under it", async () => {
  const bundle = await setupTwo();
  await bundle.produceMany("first", 10_000);
  bundle.store(1).holdAfter(1);
  const ended: string[] = [];
  const note = (name: string) => () => ended.push(name);
  const deleted = await bundle.begin(() =>
    bundle.engine.deleteQueue({ name: "first", force: true }).finally(note("deleted")),
  );
  const created = await bundle.begin(() =>
    bundle.engine.createQueue({ ...queueDefaults, name: "first" }).finally(note("created")),
  );
  const again = await beginCreate(bundle, "first");
  bundle.store(1).release();
  await bundle.clock.settle();
  expect(created.ending).toEqual(done);
  expect(again.ending).toMatchObject({
    code: "invalid",
    message: expect.stringMatching("already exists"),
  });
  expect(deleted.ending).toMatchObject({ ok: true });
  expect(ended).toEqual(["created", "deleted"]);
  expect(await bundle.listed("first")).toEqual([]);
  await bundle.restart();
  expect(await bundle.listed("first")).toEqual([]);
  expect(bundle.storedItems(1)).toEqual([]);
});

test("delete: without force, a queue with items in transit to it is refused at once", async () => {
  const bundle = await setupTwo();
  const produced = await breakShard(bundle, 1, "first");
  const deleted = await beginDelete(bundle, "first", false);
  expect(deleted.ending).toMatchObject({
    ok: false,
    code: "refused",
    message: "queue is not empty; items are on their way to 'first'",
  });
  await healShard(bundle, 1);
  expect(produced.ending).toEqual(writtenFirst);
  expect(await bundle.listed("first")).toEqual(["lost or not"]);
});

test("delete: a delete that the store refuses leaves the queue as it was", async () => {
  const bundle = await setupTwo();
  bundle.store(1).fail({ fault: "full", sticky: true });
  bundle.store(1).hold();
  const deleted = await beginDelete(bundle, "first");
  const hidden = await bundle.ending(() => bundle.engine.queueInfo("first"));
  expect(hidden).toMatchObject({ code: "invalid" });
  expect(bundle.engine.listQueues({ pivot: "", limit: 10 })).toHaveLength(1);
  bundle.store(1).release();
  await bundle.clock.settle();
  expect(deleted.ending).toMatchObject({ ok: false, code: "store" });
  bundle.store(1).heal();
  await bundle.clock.advance(2 * second);
  await bundle.produce("first", "a");
  expect((await bundle.lease("first")).items).toHaveLength(1);
});

test("delete: a shard that restarts before the delete is certain keeps the queue's items", async () => {
  const bundle = await setupTwo();
  await bundle.produce("first", "a");
  bundle.store(1).fail({ fault: "failed" });
  bundle.store(1).fail({ fault: "full", sticky: true });
  const deleted = await beginDelete(bundle, "first");
  await bundle.clock.advance(second);
  expect(bundle.engine.status().shards[1]).toMatchObject({ up: true, restarts: 1 });
  expect(deleted.ending).toMatchObject({ ok: false, code: "store" });
  bundle.store(1).heal();
  await bundle.clock.advance(2 * second);
  const [item] = (await bundle.lease("first")).items;
  expect(item?.attempts).toBe(1);
});

test("delete: an engine that closes meanwhile reports the rest, and the next start deletes it", async () => {
  const bundle = await setupTwo();
  await bundle.produce("first", "a");
  bundle.store(1).hold();
  const deleted = await beginDelete(bundle, "first");
  const closed = await bundle.begin(() => bundle.engine.close());
  bundle.store(1).release();
  await bundle.clock.settle();
  expect(deleted.ending).toEqual({
    ok: false,
    code: "closing",
    message: "the queue was deleted, its items not all; the rest goes when every shard is up",
    details: undefined,
  });
  expect(closed.ending).toEqual(done);
  await bundle.restart();
  expect(namesIn(bundle, 1)).toEqual([]);
  expect(bundle.storedItems(1)).toEqual([]);
});

/** The dead queue of `first` is in the other shard; `die` returns the expire deadline. */
async function setupDependent() {
  const bundle = await setupTwo();
  await bundle.run(() => bundle.engine.updateQueue({ name: "first", deadQueue: "second" }));
  return {
    bundle,
    update: (hours: number) =>
      bundle.begin(() =>
        bundle.engine.updateQueue({ name: "second", expireTimeoutMs: hours * hour }),
      ),
    die: async () => {
      await bundle.produce("first", "a");
      const lease = await bundle.lease("first", { batchSize: 10 });
      await bundle.retry(lease, { dead: true });
      const [item] = bundle.storedItems(0);
      return item?.expireDeadline;
    },
  };
}

test("update: an update does not wait for dependents in a shard that is down; they follow once it is up", async () => {
  const { bundle, update, die } = await setupDependent();
  await breakShard(bundle, 1, "first");
  for (const hours of [1, 2]) expect((await update(hours)).ending).toMatchObject({ ok: true });
  await healShard(bundle, 1);
  expect(await die()).toBe(bundle.clock.now() + 2 * hour);
});

test("pause: if another shard goes down before it has decided earlier requests, the pause ends", async () => {
  const { bundle } = await setupDependent();
  bundle.store(1).openFault = "failed";
  bundle.store(1).fail({ fault: "failed" });
  bundle.store(1).hold();
  await bundle.begin(() => bundle.engine.produce(produceOf("first", ["a"])));
  const paused = await bundle.begin(() => bundle.engine.pause({ queue: "second", produce: true }));
  expect(paused.ending).toBe(null);
  bundle.store(1).release();
  await bundle.clock.settle();
  expect(paused.ending).toMatchObject({ ok: true });
});

test.each([true, false])(
  "create: behind a change that its shard received and never answered, a create is refused in time (%p)",
  async (applied) => {
    const bundle = await setupTwo();
    bundle.store(1).openFault = "failed";
    bundle.store(1).fail({ fault: "failed", applied });
    const lost = await beginCreate(bundle, "third");
    const behind = await beginCreate(bundle, "fourth");
    await bundle.clock.advance(limits.requestTimeoutMsDefault);
    expect(lost.ending).toMatchObject({ ok: false, code: "unknown" });
    expect(behind.ending).toEqual(late);
    await healShard(bundle, 1);
    const names = ["first", ...(applied ? ["third"] : [])];
    expect(namesIn(bundle, 1)).toEqual(names);
    const listed = bundle.engine.listQueues({ pivot: "", limit: 10 }).map(({ name }) => name);
    expect(listed.toSorted()).toEqual([...names, "second"].toSorted());
    expect((await beginCreate(bundle, "fourth")).ending).toEqual(done);
  },
);

test.each([true, false])(
  "create: a create whose commit failed continues once when the store is open again (%p)",
  async (applied) => {
    const bundle = await setupTwo();
    bundle.store(1).fail({ fault: "failed", applied });
    const created = await beginCreate(bundle, "third");
    expect(created.ending).toBe(null);
    await bundle.clock.advance(second);
    expect(created.ending).toEqual(done);
    expect(namesIn(bundle, 1)).toEqual(["first", "third"]);
    await bundle.produce("third", "a");
    expect(await bundle.listed("third")).toEqual(["a"]);
  },
);

test("create: a create does not wait for the shard of its dead queue if that is down", async () => {
  const bundle = await setupTwo();
  await breakShard(bundle, 1, "first");
  await bundle.createQueue({ name: "sixth", deadQueue: "first" });
  await healShard(bundle, 1);
  await bundle.restart();
  expect(bundle.engine.queueInfo("sixth").deadQueue).toBe("first");
});

/** Each makes `second`, in the first shard, the dead queue of a queue in the second shard. */
const namings: Record<"create" | "update", Change> = {
  create: ({ engine }) =>
    engine.createQueue({ ...queueDefaults, name: "third", deadQueue: "second" }),
  update: ({ engine }) => engine.updateQueue({ name: "first", deadQueue: "second" }),
};

test.each(
  (["create", "update"] as const).flatMap((naming) =>
    [0, 1].flatMap((shard) => [false, true].map((force) => ({ naming, shard, force }))),
  ),
)(
  "$naming: during a delete of its dead queue, no queue names a deleted one; shard $shard is first, force $force",
  async ({ naming, shard, force }) => {
    for (const isNamedFirst of [true, false]) {
      const bundle = await setupTwo();
      for (const each of [0, 1]) bundle.store(each).hold();
      const name = () => bundle.begin(() => namings[naming](bundle));
      const early = isNamedFirst ? await name() : null;
      const deleted = await beginDelete(bundle, "second", force);
      const named = early ?? (await name());
      for (const each of [shard, 1 - shard]) {
        bundle.store(each).release();
        await bundle.clock.settle();
      }
      expect(named.ending).toMatchObject(
        isNamedFirst
          ? { ok: true }
          : { message: "dead_queue does not exist; 'second' was not found, create it first" },
      );
      expect(deleted.ending).toMatchObject(
        isNamedFirst && !force ? { ok: false, code: "refused" } : { ok: true },
      );
      const dependent = isNamedFirst && naming === "create" ? "third" : "first";
      const deadQueue = () => bundle.engine.queueInfo(dependent).deadQueue;
      expect(deadQueue()).toBe(isNamedFirst && !force ? "second" : "");
      if (isNamedFirst && !force) await bundle.run(() => remove(bundle, "second"));
      expect(deadQueue()).toBe("");
      await bundle.restart();
      expect(deadQueue()).toBe("");
    }
  },
);

const otherChanges: readonly { name: string; change: Change; expected: object }[] = [
  {
    name: "update",
    change: ({ engine }) => engine.updateQueue({ name: "first", maxAttempts: 3 }),
    expected: { maxAttempts: 3 },
  },
  {
    name: "pause",
    change: ({ engine }) => engine.pause({ queue: "first", lease: true }),
    expected: { pause: expect.objectContaining({ lease: true }) },
  },
];

test.each(otherChanges)(
  "$name: a dead queue that is deleted meanwhile does not return with it",
  async ({ change, expected }) => {
    const { bundle } = await setupDependent();
    bundle.store(1).hold();
    const changed = await bundle.begin(() => change(bundle));
    await bundle.run(() => remove(bundle, "second"));
    await bundle.createQueue({ name: "second" });
    bundle.store(1).release();
    await bundle.clock.settle();
    expect(changed.ending).toMatchObject({ ok: true });
    const info = () => bundle.engine.queueInfo("first");
    expect(info()).toMatchObject({ deadQueue: "", ...expected });
    await bundle.restart();
    expect(info()).toMatchObject({ deadQueue: "", ...expected });
  },
);

test("delete: a dependent that gets another dead queue meanwhile keeps that one", async () => {
  const { bundle } = await setupDependent();
  await bundle.createQueue({ name: "third" });
  bundle.store(0).hold();
  const deleted = await beginDelete(bundle, "second");
  await bundle.run(() => bundle.engine.updateQueue({ name: "first", deadQueue: "third" }));
  bundle.store(0).release();
  await bundle.clock.settle();
  expect(deleted.ending).toMatchObject({ ok: true });
  expect(bundle.engine.queueInfo("first").deadQueue).toBe("third");
});

/**
 * The second partition of `orders`, in the second shard, sends its dead letters to `dead`, in the
 * first. One of its items is leased.
 */
async function setupLetter(shardCount = 3) {
  const bundle = await setup({ shardCount });
  const [dead, orders] = [nameIn(0, shardCount, "dead"), nameIn(1, shardCount)];
  await bundle.createQueue({ name: dead, requestedPartitions: 2 });
  await bundle.createQueue({ name: orders, deadQueue: dead, requestedPartitions: 2 });
  for (const text of ["first", "letter"]) await bundle.produce(orders, text);
  await bundle.lease(orders);
  const { partition, items } = await bundle.lease(orders);
  expect(partition).toBe(1);
  const [id = ""] = idsOf(items);
  const retry = { queue: orders, partition, items: [{ id, retryAt: null, dead: true }] };
  return {
    bundle,
    dead,
    /** Sends the item as its shard fails, unknown to the rest. */
    send: async () => {
      bundle.store(1).openFault = "failed";
      bundle.store(1).fail({ fault: "failed", applied: true });
      await bundle.begin(() => bundle.engine.retry(retry));
      const sent = [...bundle.image(1).outbound.values()];
      expect(sent).toMatchObject([{ targetShard: 0 }]);
    },
    resizeDead: (requestedPartitions: number) =>
      bundle.run(() => bundle.engine.updateQueue({ name: dead, requestedPartitions })),
    countDead: async () => (await bundle.run(() => bundle.engine.inspect(dead))).partitions,
  };
}

test("partitions: items that a shard sent to a removed partition before it went down arrive in another one", async () => {
  const { bundle, dead, send, resizeDead, countDead } = await setupLetter();
  await send();
  await resizeDead(1);
  await bundle.clock.settle();
  expect(await countDead()).toBe(1);
  const next = nameIn(0, 3, "next");
  await bundle.createQueue({ name: next, requestedPartitions: 3 });
  await healShard(bundle, 1);
  expect(await bundle.listed(dead)).toEqual(["letter"]);
  expect(await bundle.listed(next)).toEqual([]);
});

test("partitions: a draining partition takes no items from other shards", async () => {
  const { bundle, dead, send, resizeDead, countDead } = await setupLetter();
  for (const text of ["a", "b"]) await bundle.produce(dead, text);
  await send();
  await resizeDead(1);
  await healShard(bundle, 1);
  expect(await countDead()).toBe(2);
  expect(await bundle.listed(dead)).toEqual(["a", "letter"]);
});

test("partitions: a partition keeps the items of a turn that was decided before it began to drain", async () => {
  const turnLimits = { ...limits, secondTurnWeightMin: 1 };
  const bundle = await setup({ shardCount: 1, turnLimits });
  await bundle.createQueue({ name: "orders", requestedPartitions: 2 });
  const { clock } = bundle;
  bundle.store().syncsLater = {
    nextTick: (run) => clock.nextTick(run),
    copy: () => () => undefined,
  };
  bundle.store().holdSync();
  const resized = await bundle.begin(() =>
    bundle.engine.updateQueue({ name: "orders", requestedPartitions: 1 }),
  );
  const produced = await Promise.all(
    ["a", "b"].map((text) =>
      bundle.begin(() => bundle.engine.produce(produceOf("orders", [text]))),
    ),
  );
  bundle.store().release();
  await clock.settle();
  expect([resized, ...produced].map(({ ending }) => ending?.ok)).toEqual([true, true, true]);
  expect([await bundle.listed("orders"), await bundle.listed("orders", 1)]).toEqual([["a"], ["b"]]);
});

test("partitions: a draining partition that is wanted again stays, and can be removed later", async () => {
  const bundle = await setup({ shardCount: 1 });
  await bundle.createQueue({ name: "orders", requestedPartitions: 2 });
  const resize = (requestedPartitions: number) =>
    bundle.engine.updateQueue({ name: "orders", requestedPartitions });
  await bundle.run(() => Promise.all([resize(1), resize(2)]));
  const count = async () => (await bundle.run(() => bundle.engine.inspect("orders"))).partitions;
  expect(await count()).toBe(2);
  await bundle.run(() => resize(1));
  expect(await count()).toBe(1);
});

test("delete: a slot is reused at once, and items that a shard sent there before it went down are discarded", async () => {
  const { bundle, dead, send } = await setupLetter();
  await send();
  const deleted = await beginDelete(bundle, dead);
  const names = ["a", "b", "c"].map((prefix) => nameIn(0, 3, prefix));
  for (const name of names) await bundle.createQueue({ name });
  const places = [...bundle.image().queues.values()].flatMap((entry) => entry.places);
  expect(places.map(({ slot }) => slot)).toEqual([0, 1, 2]);
  await healShard(bundle, 1);
  expect(deleted.ending).toMatchObject({ ok: true });
  for (const name of names) expect(await bundle.listed(name)).toEqual([]);
  await bundle.clock.advance(2 * second);
  expect(bundle.image(1).outbound.values().length).toBe(0);
  const counted = bundle.engine.status().queues.map(({ counters }) => counters.discarded);
  expect(counted).toEqual([0, 0, 0, 0]);
});

test("delete: after the delete of a dead queue, failed items go nowhere else", async () => {
  const bundle = await setupTwo();
  const orders = nameIn(1, 2);
  await bundle.createQueue({ name: orders, deadQueue: "first", maxAttempts: 1 });
  const placesOf = (index: number) => [...bundle.image(1).queues.values()].at(index)?.places;
  const former = placesOf(0);
  await bundle.produce(orders, "a");
  expect((await beginDelete(bundle, "first")).ending).toMatchObject({ ok: true });
  // It gets the former slot of the dead queue.
  const next = nameIn(1, 2, "next");
  await bundle.createQueue({ name: next });
  expect(placesOf(-1)).toEqual(former);
  await bundle.retry(await bundle.lease(orders));
  expect(await bundle.listed(next)).toEqual([]);
  const [, counted] = bundle.engine.status().queues;
  expect(counted).toMatchObject({ queue: orders, counters: { discarded: 1, dead: 0 } });
});

test("delete: a delete that a start has to finish keeps its slots until it is done", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produceMany("orders", 10_000);
  bundle.store().killAt({ commitsBefore: 0, applied: true });
  await beginDelete(bundle, "orders");
  bundle.kill();
  await bundle.run(async () => {
    await bundle.opening();
    await bundle.engine.createQueue({ ...queueDefaults, name: "orders" });
    await bundle.engine.produce(produceOf("orders", ["a"]));
  });
  await bundle.createQueue({ name: "other" });
  expect([await bundle.listed("orders"), await bundle.listed("other")]).toEqual([["a"], []]);
  expect(bundle.storedItems(0)).toHaveLength(1);
});

test("partitions: a partition that could not be removed for lack of room is removed later", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", requestedPartitions: 2 });
  bundle.store().onCommit = ({ queue }) => {
    if (queue.length > 0) bundle.store().fail({ fault: "full", sticky: true });
  };
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 1 }));
  bundle.store().onCommit = null;
  bundle.store().heal();
  await bundle.clock.advance(2 * limits.restartMsMax);
  expect((await bundle.run(() => bundle.engine.inspect("orders"))).partitions).toBe(1);
  await bundle.restart();
  expect((await bundle.run(() => bundle.engine.inspect("orders"))).partitions).toBe(1);
});

test("partitions: a partition is removed even if the last produce to it fails", async () => {
  const bundle = await setup({ shardCount: 2 });
  const [orders, mails] = [nameIn(1, 2), nameIn(1, 2, "mails")];
  await bundle.createQueue({ name: orders, requestedPartitions: 2 });
  await bundle.createQueue({ name: mails });
  await bundle.produce(orders, "a");
  // Two calls without a reply from the shard, then the produce. The update still has time.
  bundle.store(1).fail({ fault: "full" });
  bundle.store(1).hold();
  for (const text of ["b", "c"]) {
    await bundle.begin(() => bundle.engine.produce(produceOf(mails, [text])));
  }
  const produced = await bundle.begin(() => bundle.engine.produce(produceOf(orders, ["d"])));
  const change = { name: orders, requestedPartitions: 1 };
  const updated = await bundle.begin(() => bundle.engine.updateQueue(change));
  bundle.store(1).release();
  await bundle.clock.settle();
  expect([produced.ending, updated.ending]).toMatchObject([
    { ok: false, code: "store" },
    { ok: true },
  ]);
  expect((await bundle.run(() => bundle.engine.inspect(orders))).partitions).toBe(1);
});

const changes: readonly {
  readonly name: string;
  readonly change: Change;
  /** The stored queues at the end. */
  readonly expected: readonly object[];
}[] = [
  {
    name: "create",
    change: ({ engine }) => engine.createQueue({ ...queueDefaults, name: "sixth" }),
    expected: [{ name: "second" }, { name: "sixth" }],
  },
  {
    name: "update",
    change: ({ engine }) => engine.updateQueue({ name: "second", maxAttempts: 3 }),
    expected: [{ name: "second", maxAttempts: 3 }],
  },
  {
    name: "pause",
    change: ({ engine }) => engine.pause({ queue: "second", lease: true, produce: false }),
    expected: [{ name: "second", pause: expect.objectContaining({ lease: true }) }],
  },
  {
    name: "delete",
    change: ({ engine }) => engine.deleteQueue({ name: "second", force: true }),
    expected: [],
  },
];

test.each(changes)(
  "$name: behind a store that stalls, the call is answered in time and continues",
  async ({ change, expected }) => {
    const bundle = await setupTwo();
    bundle.store(0).hold();
    const changed = await bundle.begin(() => change(bundle));
    await bundle.clock.advance(limits.requestTimeoutMsDefault);
    expect(changed.ending).toMatchObject({ ok: false, code: "unknown" });
    bundle.store(0).release();
    await bundle.clock.settle();
    expect([...bundle.image().queues.values()].map(({ definition }) => definition)).toEqual(
      expected.map((definition) => expect.objectContaining(definition)),
    );
    expect((await beginCreate(bundle, nameIn(0, 2, "next"))).ending).toEqual(done);
  },
);

test("pause: while a shard stalls, its own queue is not paused, and the outcome for another queue is unknown", async () => {
  const bundle = await setupTwo();
  bundle.store(1).hold();
  await bundle.begin(() => bundle.engine.produce(produceOf("first", ["a"])));
  const pause = (queue: string) => () => bundle.engine.pause({ queue, lease: true, produce: true });
  const paused = [await bundle.begin(pause("first")), await bundle.begin(pause("second"))];
  await bundle.clock.advance(limits.requestTimeoutMsDefault);
  expect(paused.map(({ ending }) => ending)).toMatchObject([late, { ok: false, code: "unknown" }]);
  bundle.store(1).release();
  await bundle.clock.settle();
  expect(bundle.engine.queueInfo("first").pause).toBeUndefined();
  for (const queue of ["first", "second"]) expect(await bundle.ending(pause(queue))).toEqual(done);
});

test("resume: behind a pause with an unknown outcome, a resume does not report that there is nothing to resume", async () => {
  const bundle = await setupTwo();
  bundle.store(1).hold();
  await bundle.begin(() => bundle.engine.pause({ queue: "first", lease: true }));
  await bundle.clock.advance(limits.requestTimeoutMsDefault);
  const resumed = await bundle.begin(() => bundle.engine.resume("first"));
  expect(resumed.ending).toBe(null);
  bundle.store(1).release();
  await bundle.clock.settle();
  expect(resumed.ending).toEqual(done);
  expect(bundle.engine.queueInfo("first").pause).toBeUndefined();
});

test("delete: without force, a queue with a dead letter in transit to it is refused", async () => {
  const bundle = await setupTwo();
  await bundle.run(() => bundle.engine.updateQueue({ name: "second", deadQueue: "first" }));
  await bundle.produce("second", "a");
  bundle.store(1).hold();
  await bundle.retry(await bundle.lease("second"), { dead: true });
  await bundle.begin(() => bundle.engine.updateQueue({ name: "second", deadQueue: "" }));
  const deleted = await beginDelete(bundle, "first", false);
  expect(deleted.ending).toMatchObject({
    ok: false,
    code: "refused",
    message: "queue is not empty; items are on their way to 'first'",
  });
  bundle.store(1).release();
  await bundle.clock.settle();
  expect(await bundle.listed("first")).toEqual(["a"]);
});

test("inspect: while its dead queue is being deleted, a queue counts the items that are left there", async () => {
  const bundle = await setupTwo();
  await bundle.createQueue({ name: "orders", deadQueue: "second" });
  await bundle.produce("second", "a");
  bundle.store(0).hold();
  const deleted = await beginDelete(bundle, "second");
  const inspect = () => bundle.run(() => bundle.engine.inspect("orders"));
  expect(await inspect()).toMatchObject({ queue: "orders", deadLetter: 1 });
  bundle.store(0).release();
  await bundle.clock.settle();
  expect(deleted.ending).toMatchObject({ ok: true });
  expect(await inspect()).toMatchObject({ queue: "orders", deadLetter: 0 });
});

test("update: two queues do not become each other's dead queue, however slow their stores are", async () => {
  const bundle = await setupTwo();
  for (const shard of [0, 1]) bundle.store(shard).hold();
  const change = (name: string, deadQueue: string) =>
    bundle.begin(() => bundle.engine.updateQueue({ name, deadQueue }));
  const first = await change("first", "second");
  const second = await change("second", "first");
  expect(second.ending).toMatchObject({ ok: false, code: "invalid" });
  for (const shard of [0, 1]) bundle.store(shard).release();
  await bundle.clock.settle();
  expect(first.ending).toMatchObject({ ok: true });
  expect(bundle.engine.queueInfo("second").deadQueue).toBe("");
});

test("create: a queue that is getting a dead queue is not accepted as one", async () => {
  const bundle = await setupTwo();
  for (const shard of [0, 1]) bundle.store(shard).hold();
  await bundle.begin(() => bundle.engine.updateQueue({ name: "first", deadQueue: "second" }));
  const created = await bundle.begin(() =>
    bundle.engine.createQueue({ ...queueDefaults, name: "sixth", deadQueue: "first" }),
  );
  expect(created.ending).toMatchObject({ ok: false, code: "invalid" });
});
