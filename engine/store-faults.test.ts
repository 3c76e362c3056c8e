import { expect, test } from "bun:test";
import { MemoryImage, openMemoryStore } from "../stores/memory/store.ts";
import { StoreError } from "../stores/store.ts";
import { EngineWorker } from "./library/work.ts";
import { systemRandom } from "./model/random.ts";
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
  start,
  textsOf,
  writtenFirst,
} from "./simulation/bundle.ts";

async function setupQueue(shardCount = 1) {
  const bundle = await setup({ shardCount });
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: hour });
  return bundle;
}

const outcomes = [
  { applied: false, when: "before" },
  { applied: true, when: "after" },
];

test.each(outcomes)(
  "produce: a store that fails $when the commit loses no item and duplicates none",
  async ({ applied }) => {
    const bundle = await setupQueue();
    bundle.store().fail({ fault: "failed", applied });
    const started = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["a"])));
    expect(started.ending).toBe(null);
    await bundle.clock.advance(second);
    expect(started.ending).toEqual(writtenFirst);
    expect(await bundle.listed("orders")).toEqual(["a"]);
    expect(bundle.notices.map(({ kind }) => kind)).toEqual(["shard_down", "shard_up"]);
    expect(bundle.engine.status().queues[0]?.counters.produced).toBe(1);
  },
);

test.each(outcomes)(
  "complete: a store that fails $when the commit is answered by the stored state",
  async ({ applied }) => {
    const bundle = await setupQueue();
    await bundle.produce("orders", "a", "b");
    const lease = await bundle.lease("orders");
    bundle.store().fail({ fault: "failed", applied });
    const right = await bundle.begin(() =>
      bundle.engine.complete(completeOf("orders", 0, idsOf(lease.items))),
    );
    await bundle.clock.advance(second);
    expect(right.ending).toEqual(doneFirst);
    expect(await bundle.listed("orders")).toEqual(["b"]);
  },
);

test.each(outcomes)(
  "complete, retry: refused in a turn whose store fails $when the commit, they stay refused",
  async ({ applied }) => {
    const bundle = await setupQueue();
    await bundle.produce("orders", "a");
    const lease = await bundle.lease("orders");
    bundle.store().fail({ fault: "failed", applied });
    const [id = ""] = idsOf(lease.items);
    const retry = {
      queue: "orders",
      partition: 0,
      items: [{ id: "x", retryAt: null, dead: false }],
    };
    const all = await bundle.begin(() =>
      Promise.allSettled([
        bundle.engine.produce(produceOf("orders", ["b"])),
        bundle.engine.complete(completeOf("orders", 0, [id, "x"])),
        bundle.engine.retry(retry),
      ]),
    );
    await bundle.clock.advance(second);
    const { ending } = all;
    if (ending?.ok !== true) throw new Error("not answered");
    const [produced, completed, retried] = ending.value;
    expect(produced.status).toBe("fulfilled");
    const details = { x: "invalid storage id; 'x': Valid encoded KSUIDs are 27 characters" };
    expect(completed).toMatchObject({ status: "rejected", reason: { code: "refused", details } });
    expect(retried).toMatchObject({ status: "rejected", reason: { code: "refused", details } });
    expect(await bundle.listed("orders")).toEqual(["a", "b"]);
  },
);

test.each(outcomes)(
  "retry: a store that fails $when the commit retries once",
  async ({ applied }) => {
    const bundle = await setupQueue();
    await bundle.produce("orders", "a", "b");
    const lease = await bundle.lease("orders");
    bundle.store().fail({ fault: "failed", applied });
    const items = lease.items.map(({ id }) => ({ id, retryAt: null, dead: false }));
    const started = await bundle.begin(() =>
      bundle.engine.retry({ queue: "orders", partition: 0, items }),
    );
    await bundle.clock.advance(second);
    expect(started.ending).toEqual(doneFirst);
    expect(await bundle.listed("orders")).toEqual(["b", "a"]);
  },
);

test.each(outcomes)(
  "lease: a store that fails $when the commit leases no item twice",
  async ({ applied }) => {
    const bundle = await setupQueue();
    await bundle.produce("orders", "a", "b");
    bundle.store().fail({ fault: "failed", applied });
    const started = await bundle.beginLease("orders", { requestTimeoutMs: 5 * minute });
    await bundle.clock.advance(second);
    const ending = started.ending;
    if (ending?.ok !== true) throw new Error("not answered");
    expect(textsOf(ending.value.items)).toEqual(["a"]);
    expect(textsOf((await bundle.lease("orders")).items)).toEqual(["b"]);
    await bundle.clock.advance(hour);
    const { items } = await bundle.lease("orders", { batchSize: 5 });
    expect(items.map(({ attempts }) => attempts)).toEqual([2, 2]);
  },
);

test("store: a store that fails repeatedly is reopened repeatedly, and then continues", async () => {
  const bundle = await setupQueue();
  bundle.store().fail({ fault: "failed", sticky: true });
  const started = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["a"])));
  await bundle.clock.advance(minute);
  expect(started.ending).toBe(null);
  expect(bundle.engine.status().shards[0]?.restarts).toBeGreaterThan(5);
  expect(bundle.engine.status().shards[0]?.restarts).toBeLessThan(30);
  bundle.store().heal();
  await bundle.clock.advance(10 * second);
  expect(started.ending).toEqual(writtenFirst);
  expect(await bundle.listed("orders")).toEqual(["a"]);
});

test.each([0, 1])(
  "store: while the store of shard %i is down, the other shard serves",
  async (shard) => {
    const bundle = await setup({ shardCount: 2 });
    const [down, up] = [nameIn(shard, 2), nameIn(1 - shard, 2)];
    for (const name of [down, up]) await bundle.createQueue({ name });
    bundle.store(shard).openFault = "failed";
    bundle.store(shard).fail({ fault: "failed" });
    const waiting = await bundle.begin(() => bundle.engine.produce(produceOf(down, ["a"])));
    expect(bundle.engine.status().shards[shard]?.up).toBe(false);
    await bundle.produce(up, "b");
    expect(await bundle.complete(await bundle.lease(up))).toEqual(doneFirst);
    expect(waiting.ending).toBe(null);
    bundle.store(shard).heal();
    await bundle.clock.advance(10 * second);
    expect(waiting.ending).toEqual(writtenFirst);
    expect(await bundle.listed(down)).toEqual(["a"]);
  },
);

test("store: while it is down, calls that were not sent are answered in time, in the order of their deadlines", async () => {
  const bundle = await setupQueue();
  bundle.store().openFault = "failed";
  bundle.store().fail({ fault: "failed" });
  await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["lost or not"])));
  await bundle.clock.advance(second);
  const call = (requestTimeoutMs: number) =>
    bundle.begin(() => bundle.engine.produce({ ...produceOf("orders", ["x"]), requestTimeoutMs }));
  const long = await call(5 * minute);
  const short = await call(second);
  await bundle.clock.advance(second);
  expect(short.ending).toMatchObject({ ok: false, code: "empty" });
  expect(long.ending).toBe(null);
  await bundle.clock.advance(5 * minute);
  expect(long.ending).toMatchObject({ ok: false, code: "empty" });
});

test("lapse: a lapse without room in a full store prevents no complete", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: minute });
  await bundle.produce("orders", "a", "b", "c");
  await bundle.lease("orders");
  await bundle.clock.advance(minute / 2);
  const held = await bundle.lease("orders");
  bundle.store().fail({ fault: "full", sticky: true, ofMoves: true });
  await bundle.clock.advance(minute / 2);
  expect(await bundle.listed("orders")).toEqual(["a", "b", "c"]);
  expect(await bundle.complete(held)).toMatchObject({ ok: true });
  expect(textsOf((await bundle.lease("orders")).items)).toEqual(["c"]);
  bundle.store().heal();
  await bundle.clock.advance(second);
  expect(textsOf((await bundle.lease("orders")).items)).toEqual(["a"]);
});

test("lease: in a turn without room, the leased items of others do not block it", async () => {
  const bundle = await setupQueue();
  await bundle.produceMany("orders", 200);
  const [, between] = [
    await bundle.lease("orders", { batchSize: 50 }),
    await bundle.lease("orders", { batchSize: 10 }),
    await bundle.lease("orders", { batchSize: 50 }),
  ];
  await bundle.complete(between);
  bundle.store().fail({ fault: "full" });
  const [produced, leased] = await Promise.all([
    bundle.begin(() => bundle.engine.produce(produceOf("orders", ["more"]))),
    bundle.beginLease("orders"),
  ]);
  expect(produced.ending).toMatchObject({ ok: false, code: "store" });
  expect(leased.ending).toMatchObject({ ok: true });
});

test("pause: settings that a shard receives when it is up are not queued for it", async () => {
  const bundle = await setup({ shardCount: 2 });
  const [queue, other] = [nameIn(1, 2), nameIn(0, 2, "other")];
  for (const name of [queue, other]) await bundle.createQueue({ name });
  bundle.store(0).openFault = "failed";
  bundle.store(0).fail({ fault: "failed" });
  await bundle.begin(() => bundle.engine.produce(produceOf(other, ["a"])));
  const waiting = async () => {
    await bundle.clock.advance(minute);
    return bundle.engine.overview("").overview.shard.waiting;
  };
  const before = await waiting();
  for (let round = 0; round < 10; round += 1) {
    await bundle.run(() => bundle.engine.pause({ queue, produce: true }));
    await bundle.run(() => bundle.engine.resume(queue));
  }
  expect([before, await waiting()]).toEqual([1, 1]);
});

test("lease: while the shard of its queue is down, a lease is answered at its deadline", async () => {
  const bundle = await setup({ shardCount: 2 });
  const queue = nameIn(1, 2);
  await bundle.createQueue({ name: queue });
  const lease = () => bundle.beginLease(queue, { requestTimeoutMs: second });
  bundle.store(1).openFault = "failed";
  bundle.store(1).fail({ fault: "failed", sticky: true });
  await bundle.begin(() => bundle.engine.produce(produceOf(queue, ["a"])));
  const waiting = [await lease(), await lease()];
  await bundle.clock.advance(second);
  for (const { ending } of waiting) expect(ending).toMatchObject({ ok: false, code: "closing" });
  bundle.store(1).heal();
  await bundle.clock.advance(10 * second);
  await bundle.produce(queue, "b");
  expect((await lease()).ending).toMatchObject({ ok: true });
});

test("work: a worker waits while the shard of its queue is down, and then continues", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  const troubles: string[] = [];
  const handled: string[] = [];
  const worker = new EngineWorker({
    ...{ engine: bundle.engine, clock: bundle.clock, random: systemRandom, queue: "orders" },
    handler: (leased) => void handled.push(...textsOf([leased])),
    options: {
      notice: (notice) => void (notice.kind === "trouble" && troubles.push(notice.error.reason)),
    },
  });
  // The worker runs between the advances.
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 1) {
      await bundle.clock.advance(second);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  let hasStopped = false;
  void worker.stopped.then(() => (hasStopped = true));
  bundle.store().openFault = "failed";
  bundle.store().fail({ fault: "failed", sticky: true });
  await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["a"])));
  await pass(180);
  expect(troubles).toContain("not_ready");
  expect(hasStopped).toBe(false);
  bundle.store().heal();
  await pass(60);
  await bundle.produce("orders", "b");
  await pass(1);
  expect(handled).toContain("b");
  const stopping = worker.stop();
  await pass(1);
  await stopping;
});

test.each(["locked", "damaged", "unusable", "failed"] as const)(
  "open: a store that is %s at the start is reported to the operator",
  async (fault) => {
    const bundle = await setupQueue(2);
    for (const shard of [0, 1]) {
      bundle.store(shard).openFault = fault;
      bundle.kill();
      const opened = bundle.open();
      await expect(opened).rejects.toMatchObject({ name: "StoreError", fault });
      bundle.store(shard).heal();
    }
    await bundle.restart();
    expect(bundle.engine.queueInfo("orders").name).toBe("orders");
  },
);

test.each([0, 1])(
  "open: store %i, which fails in the first turn of a start, is reported to the operator",
  async (shard) => {
    const bundle = await setup({ shardCount: 2 });
    const queue = nameIn(shard, 2);
    await bundle.createQueue({ name: queue });
    await bundle.produce(queue, "a");
    await bundle.lease(queue);
    bundle.kill();
    bundle.store(shard).fail({ fault: "failed", sticky: true });
    let refusal: unknown = null;
    bundle.opening({ now: bundle.clock.now() + hour }).catch((cause) => {
      refusal = cause;
    });
    await bundle.clock.advance(minute);
    expect(refusal).toMatchObject({ name: "StoreError", fault: "failed" });
    bundle.store(shard).heal();
    await bundle.restart();
    expect(textsOf((await bundle.lease(queue)).items)).toEqual(["a"]);
  },
);

test("full: produce is refused, lease and complete continue, and new room is found", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b");
  bundle.store().fail({ fault: "full" });
  const produced = await bundle.ending(() => bundle.engine.produce(produceOf("orders", ["c"])));
  expect(produced).toEqual({
    ok: false,
    code: "store",
    message: "there is no space left on the disk; nothing was written",
    details: undefined,
  });
  const lease = await bundle.lease("orders");
  expect(await bundle.complete(lease)).toMatchObject({ ok: true });
  await bundle.retry(await bundle.lease("orders"));
  expect(await bundle.listed("orders")).toEqual(["b"]);
  expect(bundle.notices).toEqual([{ kind: "store_full", shard: 0 }]);
  await bundle.clock.advance(10 * second);
  expect(
    await bundle.ending(() => bundle.engine.produce(produceOf("orders", ["c"]))),
  ).toMatchObject({ code: "store" });
  bundle.store().heal();
  await bundle.clock.advance(2 * second);
  await bundle.produce("orders", "c");
  expect(bundle.engine.status().shards[0]?.restarts).toBe(0);
});

test("full: a start without room for the reserve is reported, and so is new room without a call", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  bundle.store().full = true;
  await bundle.restart();
  const isFull = () => bundle.engine.status().shards.map(({ full }) => full);
  expect(bundle.notices).toEqual([{ kind: "store_full", shard: 0 }]);
  expect(isFull()).toEqual([true]);
  expect(
    await bundle.ending(() => bundle.engine.produce(produceOf("orders", ["a"]))),
  ).toMatchObject({ ok: false, code: "store" });
  bundle.store().full = false;
  await bundle.clock.advance(2 * second);
  expect(isFull()).toEqual([false]);
  await bundle.produce("orders", "a");
});

test("full: new room is found even if calls never pause", async () => {
  const bundle = await setupQueue();
  bundle.store().fail({ fault: "full" });
  const produce = () => bundle.ending(() => bundle.engine.produce(produceOf("orders", ["c"])));
  expect(await produce()).toMatchObject({ code: "store" });
  bundle.store().heal();
  const endings = [];
  for (let call = 0; call < 10; call += 1) {
    await bundle.clock.advance(300);
    endings.push((await produce()).ok);
  }
  expect(endings.at(-1)).toBe(true);
});

test("full: calls of the same turn that need no room are served", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  bundle.store().fail({ fault: "full" });
  const ending = await bundle.ending(() =>
    Promise.allSettled([
      bundle.engine.produce(produceOf("orders", ["b"])),
      bundle.engine.complete(completeOf("orders", 0, idsOf(lease.items))),
    ]),
  );
  expect(ending).toMatchObject({ value: [{ status: "rejected" }, { status: "fulfilled" }] });
  expect(await bundle.listed("orders")).toEqual([]);
});

test("full: without room even for a complete, a complete is refused and changes nothing", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  bundle.store().fail({ fault: "full", sticky: true });
  expect(await bundle.complete(lease)).toMatchObject({ ok: false, code: "store" });
  bundle.store().heal();
  expect(await bundle.complete(lease)).toMatchObject({ ok: true });
});

async function lateCalls(bundle: Bundle) {
  bundle.store().hold();
  const calls = [];
  for (let index = 0; index < 4; index += 1) {
    calls.push(
      await bundle.begin(() =>
        bundle.engine.produce({
          ...produceOf("orders", [String(index)]),
          requestTimeoutMs: second,
        }),
      ),
    );
  }
  return calls;
}

test("store: behind a slow store each call is answered in time, with the outcome known by then", async () => {
  const bundle = await setupQueue();
  const calls = await lateCalls(bundle);
  await bundle.clock.advance(second);
  const codes = calls.map(({ ending }) => ending !== null && !ending.ok && ending.code);
  expect(codes).toEqual(["unknown", "empty", "empty", "empty"]);
  bundle.store().release();
  await bundle.clock.settle();
  expect(await bundle.listed("orders")).toEqual(["0"]);
});

test.each<[string, (bundle: Bundle, id: string) => Promise<unknown>]>([
  [
    "import",
    async ({ engine }) => {
      const list = { queue: "orders", partition: 0, pivot: "", limit: 1 };
      return engine.importItems({
        queue: "orders",
        partition: 0,
        items: await engine.listItems(list),
      });
    },
  ],
  ["delete", ({ engine }, id) => engine.deleteItems({ queue: "orders", partition: 0, ids: [id] })],
])("store: behind one that stalls, %s too is answered in time", async (_, call) => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  const [id = ""] = idsOf((await bundle.lease("orders")).items);
  bundle.store().hold();
  const called = await bundle.begin(() => call(bundle, id));
  await bundle.clock.advance(5 * minute);
  expect(called.ending).toMatchObject({ ok: false, code: "unknown" });
  bundle.store().release();
});

test.each(outcomes)(
  "close: a produce whose store fails $when the commit meanwhile is told that it may be done",
  async ({ applied }) => {
    const bundle = await setupQueue();
    bundle.store().fail({ fault: "failed", applied });
    bundle.store().hold();
    const started = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["a"])));
    const closing = bundle.engine.close();
    bundle.store().release();
    await bundle.clock.settle();
    await closing;
    expect(started.ending).toMatchObject({ ok: false, code: "unknown" });
  },
);

test("queues: if the database has lost a change of a queue, the engine uses the stored state", async () => {
  const bundle = await setupQueue();
  const image = bundle.image();
  const entries = structuredClone([...image.queues]);
  const resize = (requestedPartitions: number) =>
    bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions }));
  await resize(3);
  for (const [queueId, entry] of entries) image.queues.set(queueId, entry);
  bundle.store().fail({ fault: "lost" });
  const started = await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["a"])));
  expect(started.ending).toMatchObject({ ok: false, code: "unknown" });
  expect(bundle.engine.queueInfo("orders").requestedPartitions).toBe(1);
  await resize(2);
  await bundle.produce("orders", "b");
  await bundle.restart();
  const lease = await bundle.lease("orders");
  expect(textsOf(lease.items)).toEqual(["b"]);
  expect(bundle.notices.map(({ kind }) => kind)).toEqual(["shard_down", "shard_up"]);
});

test("full: without room even for a complete, reads in the same turn return the stored state", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a", "b");
  const lease = await bundle.lease("orders");
  bundle.store().fail({ fault: "full", sticky: true });
  const ending = await bundle.ending(() =>
    Promise.allSettled([
      bundle.engine.complete(completeOf("orders", 0, idsOf(lease.items))),
      bundle.engine.listItems({ queue: "orders", partition: 0, pivot: "", limit: 10 }),
      bundle.engine.getItem(lease.items[0]?.id ?? ""),
    ]),
  );
  if (!ending.ok) throw new Error(ending.message);
  const [completed, listed, got] = ending.value;
  expect(completed.status).toBe("rejected");
  expect(listed.status === "fulfilled" && textsOf(listed.value)).toEqual(["a", "b"]);
  expect(got).toMatchObject({ status: "fulfilled", value: { id: lease.items[0]?.id } });
});

test("full: items of a disconnected client are released, even by a turn that is decided twice", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  const store = bundle.store();
  store.hold();
  const abort = new AbortController();
  await bundle.beginLease("orders", { signal: abort.signal });
  abort.abort();
  store.onCommit = ({ lease }) => {
    if (lease.length > 0) store.fail({ fault: "full" });
  };
  store.release();
  await bundle.clock.settle();
  expect(await bundle.lease("orders")).toMatchObject({ items: [{ attempts: 1 }] });
});

test("damaged: an item that is set aside when due and deleted in the same turn is counted once", async () => {
  const bundle = await setupQueue();
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["a"], start + minute)));
  const list = { queue: "orders", partition: 0, pivot: "", limit: 1 };
  const [item] = await bundle.run(() => bundle.engine.listScheduled(list));
  bundle.store().damage(0, 0);
  bundle.store().hold();
  await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["b"])));
  await bundle.clock.advance(minute);
  const ids = [item?.id ?? ""];
  const deleted = await bundle.begin(() =>
    bundle.engine.deleteItems({ queue: "orders", partition: 0, ids }),
  );
  bundle.store().release();
  await bundle.clock.settle();
  expect(deleted.ending).toMatchObject({ ok: true });
  const [place] = (await bundle.run(() => bundle.engine.stats("orders"))).partitions;
  expect(place).toMatchObject({ scheduled: 0, total: 1 });
});

/** Three shards whose stores report a loss once each, at an opening. */
async function setupLosses() {
  const images = [0, 1, 2].map((shard) => new MemoryImage(`${shard}`.repeat(12)));
  const losses = new Set<number>();
  const held = Promise.withResolvers<void>();
  let heldShard: number | null = null;
  const bundle = await setup({
    shardCount: 3,
    openStore: async (shard) => {
      const isLost = losses.delete(shard);
      if (shard === heldShard) await held.promise;
      if (isLost) throw new StoreError("lost", `lost by ${shard}`);
      return openMemoryStore({ tag: "", image: images[shard] as MemoryImage });
    },
  });
  const hold = (shard: number) => {
    heldShard = shard;
    return held.resolve;
  };
  const queues = [0, 1, 2].map((shard) => nameIn(shard, 3));
  /** One item per queue, so that each shard commits. */
  const produceToAll = async () => {
    for (const queue of queues) {
      await bundle.begin(() => bundle.engine.produce(produceOf(queue, ["a"])));
    }
  };
  for (const name of queues) await bundle.createQueue({ name });
  const lost = () =>
    bundle.notices
      .filter(({ cause }) => cause instanceof StoreError && cause.fault === "lost")
      .map(({ kind, shard }) => `${kind} ${shard}`)
      .sort();
  return { bundle, hold, losses, lost, produceToAll, queues };
}

test("open: the losses of several shards are each reported", async () => {
  const { bundle, losses, lost, produceToAll, queues } = await setupLosses();
  for (const shard of [0, 1, 2]) {
    losses.add(shard);
    bundle.store(shard).fail({ fault: "failed" });
  }
  await produceToAll();
  await bundle.clock.advance(minute);
  expect(lost()).toEqual(["shard_down 0", "shard_down 1", "shard_down 2"]);
  for (const queue of queues) await bundle.produce(queue, "b");
});

test("open: a loss that a shard finds while the others reopen is reported", async () => {
  const { bundle, hold, losses, lost, queues } = await setupLosses();
  const release = hold(2);
  for (const shard of [1, 2]) losses.add(shard);
  // The shard whose opening is held fails first, so that it reopens first.
  for (const shard of [2, 1]) {
    bundle.store(shard).fail({ fault: "failed" });
    const queue = queues[shard] ?? "";
    await bundle.begin(() => bundle.engine.produce(produceOf(queue, ["a"])));
  }
  await bundle.clock.advance(second);
  release();
  await bundle.clock.advance(minute);
  expect(lost()).toEqual(["shard_down 1", "shard_down 2"]);
  for (const queue of queues) await bundle.produce(queue, "b");
});

test("open: while a store reopens after a loss, calls to it are refused for that reason, and calls to other shards are not", async () => {
  const { bundle, hold, queues } = await setupLosses();
  const [near = "", , far = ""] = queues;
  const idle = nameIn(2, 3, "idle");
  await bundle.createQueue({ name: idle });
  const waiting = await bundle.beginLease(idle);
  const elsewhere = await bundle.beginLease(near);
  const release = hold(2);
  bundle.store(2).fail({ fault: "lost" });
  await bundle.begin(() => bundle.engine.produce(produceOf(far, ["a"])));
  const reopening = {
    ...{ ok: false as const, code: "closing" as const, details: undefined },
    message: "a store is opened again after a loss; nothing was changed, try again",
  };
  expect(waiting.ending).toEqual(reopening);
  expect(await bundle.ending(() => bundle.engine.produce(produceOf(far, ["b"])))).toEqual(
    reopening,
  );
  await bundle.produce(near, "b");
  expect(elsewhere.ending).toMatchObject({ ok: true, value: { items: [{}] } });
  release();
  await bundle.clock.advance(minute);
  for (const queue of queues) await bundle.produce(queue, "c");
});
