import { expect, test } from "bun:test";
import type { QueueSettings } from "./model/api.ts";
import { limits } from "./model/limits.ts";
import {
  type Bundle,
  day,
  doneFirst,
  hour,
  minute,
  nameIn,
  produceOf,
  second,
  setup,
  start,
  textsOf,
} from "./simulation/bundle.ts";

async function setupQueues(settings: Partial<QueueSettings> = {}, shardCount = 1) {
  const bundle = await setup({ shardCount });
  await bundle.createQueue({ name: "dead", expireTimeoutMs: 7 * day });
  await bundle.createQueue({ name: "orders", deadQueue: "dead", ...settings });
  return bundle;
}

/** With two shards, "orders" is in the second and "dead" in the first, by their names. */
const [far, near] = [2, 1];
const [source, target] = [1, 0];

function stored(bundle: Bundle, queue: string) {
  const request = { queue, partition: 0, pivot: "", limit: 10 };
  return bundle.run(() => bundle.engine.listItems(request));
}

test.each([
  { shards: near, where: "the same shard" },
  { shards: far, where: "another shard" },
])("dead queue: an item arrives in $where with all its fields", async ({ shards }) => {
  const bundle = await setupQueues({ maxAttempts: 1 }, shards);
  const item = { payload: "a", kind: "k", encoding: "e", reference: "r", headers: { h: "1" } };
  await bundle.run(() => bundle.engine.produce({ ...produceOf("orders", []), items: [item] }));
  const [before] = await stored(bundle, "orders");
  expect(before).toMatchObject({ deadDeadline: start + day, maxAttempts: 1 });
  await bundle.clock.advance(second);
  const lease = await bundle.lease("orders");
  await bundle.retry(lease);
  const now = start + second;
  expect(await bundle.listed("orders")).toEqual([]);
  expect(await stored(bundle, "dead")).toEqual([
    {
      id: expect.any(String),
      sourceId: lease.items[0]?.id ?? "",
      isLeased: false,
      leaseDeadline: null,
      expireDeadline: now + 7 * day,
      deadDeadline: null,
      createdAt: now,
      updatedAt: now,
      enqueueAt: null,
      priority: 0,
      attempts: 0,
      maxAttempts: 0,
      reference: "r",
      encoding: "e",
      kind: "k",
      payload: new TextEncoder().encode("a"),
      headers: { h: "1" },
      past: {
        origin: lease.items[0]?.id ?? "",
        ...{ death: "failed", queue: "orders", attempts: 1, createdAt: start },
      },
    },
  ]);
  expect(await bundle.run(() => bundle.engine.inspect("orders"))).toMatchObject({ deadLetter: 1 });
});

test.each(["dead: true", "retry", "lapse", "expire", "expire scheduled"] as const)(
  "dead queue: %s moves an item there, and wakes a waiting lease",
  async (by) => {
    for (const shards of [near, far]) {
      const bundle = await setupQueues({ maxAttempts: 1, expireTimeoutMs: hour }, shards);
      const waits = await bundle.beginLease("dead", { requestTimeoutMs: 15 * minute });
      if (by === "expire scheduled") {
        await bundle.createQueue({
          name: "patient",
          deadQueue: "dead",
          expireTimeoutMs: 5 * minute,
        });
        await bundle.produce("patient", "a");
        const lease = await bundle.lease("patient");
        await bundle.retry(lease, { retryAt: start + hour });
        await bundle.clock.advance(5 * minute);
      } else if (by === "expire") {
        await bundle.clock.advance(14 * minute);
        await bundle.run(() =>
          bundle.engine.updateQueue({ name: "orders", expireTimeoutMs: minute }),
        );
        await bundle.produce("orders", "a");
        await bundle.clock.advance(minute - 1);
        expect(waits.ending).toBe(null);
        await bundle.clock.advance(1);
      } else {
        await bundle.produce("orders", "a");
        const lease = await bundle.lease("orders");
        if (by === "lapse") await bundle.clock.advance(minute);
        else await bundle.retry(lease, { dead: by === "dead: true", retryAt: start + hour });
      }
      if (by === "expire") {
        // The deadline of the request passed at the same moment.
        expect(await bundle.listed("dead")).toEqual(["a"]);
      } else {
        expect(waits.ending).toMatchObject({ ok: true, value: { items: [{ attempts: 1 }] } });
      }
      expect(await bundle.listed("orders")).toEqual([]);
    }
  },
);

test("dead queue: dead takes precedence over remaining attempts and retry_at", async () => {
  const bundle = await setupQueues({ maxAttempts: 5 });
  await bundle.produce("orders", "a");
  await bundle.retry(await bundle.lease("orders"), { dead: true, retryAt: start + hour });
  expect(await bundle.listed("dead")).toEqual(["a"]);
});

test("dead queue: without one, giving up an item is refused, and it stays leased", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a", "b");
  const lease = await bundle.lease("orders", { batchSize: 2 });
  const [first, second] = lease.items.map(({ id, leaseDeadline }) => ({ id, leaseDeadline }));
  const items = [first, second].map((item, index) => ({
    id: item?.id ?? "",
    retryAt: null,
    dead: index === 1,
  }));
  const request = { queue: "orders", partition: 0, items };
  expect(await bundle.ending(() => bundle.engine.retry(request))).toEqual({
    ok: false,
    code: "refused",
    message: `item(s) cannot be retried; '${second?.id}' is given up, and the queue has no dead queue`,
    details: { [second?.id ?? ""]: expect.stringContaining("has no dead queue") },
  });
  expect(bundle.engine.status().queues[0]).toMatchObject({ leased: 2, counters: { discarded: 0 } });
});

test("dead queue: without one, a failed item is removed, counted and reported", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", maxAttempts: 1 });
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  await bundle.retry(lease);
  expect(bundle.engine.status().queues[0]).toMatchObject({
    queued: 0,
    leased: 0,
    counters: { discarded: 1 },
  });
  const ids = [lease.items[0]?.id ?? ""];
  expect(bundle.notices).toEqual([
    { kind: "items_discarded", shard: 0, queue: "orders", count: 1, ids },
  ]);
});

test("dead queue: without one, a removed item is reported by its first id", async () => {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", maxAttempts: 2 });
  const { ids = [] } = await bundle.run(() =>
    bundle.engine.produce({ ...produceOf("orders", ["a"]), returnIds: true }),
  );
  await bundle.retry(await bundle.lease("orders"));
  const last = await bundle.lease("orders");
  expect(last.items[0]?.id).not.toBe(ids[0]);
  await bundle.retry(last);
  expect(bundle.notices).toMatchObject([{ kind: "items_discarded", count: 1, ids }]);
});

test("dead queue: without one, each queue is reported separately, with the ids of its first ten items", async () => {
  const bundle = await setup();
  const notices: unknown[] = [];
  for (const [queue, count] of [
    ["orders", 12],
    ["letters", 1],
  ] as const) {
    await bundle.createQueue({ name: queue, maxAttempts: 1 });
    await bundle.produce(queue, ...Array.from({ length: count }, () => "a"));
    const { items } = await bundle.lease(queue, { batchSize: count });
    const ids = items.map(({ id }) => id).slice(0, 10);
    notices.push({ kind: "items_discarded", shard: 0, queue, count, ids });
  }
  // Both lapse in one turn.
  await bundle.clock.advance(minute);
  expect(bundle.notices).toEqual(notices as typeof bundle.notices);
});

test("dead queue: one that is added or removed later applies to existing items", async () => {
  const bundle = await setupQueues({ deadQueue: "" });
  await bundle.produce("orders", "a", "b");
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", deadQueue: "dead" }));
  await bundle.retry(await bundle.lease("orders"), { dead: true });
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", deadQueue: "" }));
  await bundle.retry(await bundle.lease("orders"), { dead: true });
  expect(await bundle.listed("dead")).toEqual(["a"]);
});

/** The shard and commit at which the process is killed while one item moves between shards. */
const crashes = [
  { at: "the source writes its outbox", shard: source, commitsBefore: 0 },
  { at: "the dead queue takes the item", shard: target, commitsBefore: 0 },
  { at: "the source empties its outbox", shard: source, commitsBefore: 1 },
].flatMap((point) => [
  { ...point, applied: false, when: "before" },
  { ...point, applied: true, when: "after" },
]);

test.each(crashes)("dead queue: exactly once across a crash $when $at", async (crash) => {
  const bundle = await setupQueues({ maxAttempts: 1 }, far);
  await bundle.produce("orders", "a", "b");
  const lease = await bundle.lease("orders", { batchSize: 2 });
  bundle.store(crash.shard).killAt(crash);
  const retried = await bundle.begin(() => bundle.retry(lease).catch(() => null));
  await bundle.clock.advance(10);
  await bundle.restart();
  await bundle.clock.advance(2 * minute);
  expect(await bundle.listed("dead")).toEqual(["a", "b"]);
  expect(await bundle.listed("orders")).toEqual([]);
  expect(bundle.image(source).outbound.values().length).toBe(0);
  expect(retried).toBeDefined();
});

test.each(crashes)("dead queue: exactly once when a store fails $when $at", async (point) => {
  const bundle = await setupQueues({ maxAttempts: 1 }, far);
  await bundle.produce("orders", "a", "b");
  const lease = await bundle.lease("orders", { batchSize: 2 });
  for (let commit = 0; commit <= point.commitsBefore; commit += 1) {
    // Each commit of the shard fails once, in turn, so the intended one is among them.
    bundle.store(point.shard).fail({ fault: "failed", applied: point.applied });
  }
  const items = lease.items.map(({ id }) => ({ id, retryAt: null, dead: false }));
  const started = await bundle.begin(() =>
    bundle.engine.retry({ queue: "orders", partition: 0, items }),
  );
  await bundle.clock.advance(2 * second);
  expect(started.ending).toEqual(doneFirst);
  expect(await bundle.listed("dead")).toEqual(["a", "b"]);
  expect(bundle.image(source).outbound.values().length).toBe(0);
});

test("dead queue: items sent after a restart arrive too, though the outbox was empty", async () => {
  const bundle = await setupQueues({ maxAttempts: 1 }, far);
  for (const text of ["a", "b", "c"]) {
    await bundle.produce("orders", text);
    await bundle.retry(await bundle.lease("orders"));
    await bundle.restart();
  }
  expect(await bundle.listed("dead")).toEqual(["a", "b", "c"]);
});

test("dead queue: a full one takes the item when it has room again", async () => {
  const bundle = await setupQueues({ maxAttempts: 1 }, far);
  await bundle.produce("orders", "a");
  const lease = await bundle.lease("orders");
  bundle.store(target).fail({ fault: "full", sticky: true });
  await bundle.retry(lease);
  expect(bundle.image(source).outbound.values().length).toBe(1);
  bundle.store(target).heal();
  await bundle.clock.advance(2 * second);
  expect(await bundle.listed("dead")).toEqual(["a"]);
  expect(bundle.image(source).outbound.values().length).toBe(0);
});

test.each([near, far])(
  "dead queue: more than a thousand items that die at once arrive in order; %d shards",
  async (shards) => {
    const bundle = await setupQueues({ expireTimeoutMs: hour }, shards);
    await bundle.produceMany("orders", 2_500);
    await bundle.clock.advance(hour);
    const listed = await bundle.listed("dead");
    expect(listed).toHaveLength(2_500);
    expect(listed).toEqual(Array.from({ length: 2_500 }, (_, index) => String(index)));
  },
);

test("expire: a waiting item expires at its deadline, not earlier", async () => {
  const bundle = await setupQueues({ expireTimeoutMs: hour });
  await bundle.produce("orders", "a");
  await bundle.clock.advance(hour - 1);
  expect(await bundle.listed("orders")).toEqual(["a"]);
  await bundle.clock.advance(1);
  expect(await bundle.listed("orders")).toEqual([]);
  expect(await bundle.listed("dead")).toEqual(["a"]);
});

test("expire: a leased item does not expire while it is leased; it dies when the lease ends", async () => {
  const bundle = await setupQueues({ expireTimeoutMs: hour, leaseTimeoutMs: hour });
  await bundle.produce("orders", "a", "b", "c");
  await bundle.clock.advance(hour - second);
  const [one, two] = [await bundle.lease("orders"), await bundle.lease("orders")];
  await bundle.clock.advance(10 * minute);
  expect(await bundle.listed("orders")).toEqual(["a", "b"]);
  expect(await bundle.listed("dead")).toEqual(["c"]);
  expect(await bundle.complete(one)).toMatchObject({ ok: true });
  expect(textsOf(two.items)).toEqual(["b"]);
  await bundle.clock.advance(hour);
  expect(await bundle.listed("dead")).toEqual(["c", "b"]);
});

test("expire: the expire timeout of a scheduled item begins when it is due", async () => {
  const bundle = await setupQueues({ expireTimeoutMs: hour });
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["a"], start + 5 * hour)));
  await bundle.clock.advance(6 * hour - 1);
  expect(await bundle.listed("orders")).toEqual(["a"]);
  await bundle.clock.advance(1);
  expect(await bundle.listed("dead")).toEqual(["a"]);
});

test("expire: an item behind items with later deadlines expires on time", async () => {
  const bundle = await setupQueues({ expireTimeoutMs: 10 * hour });
  await bundle.produce("orders", "long");
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", expireTimeoutMs: hour }));
  await bundle.produce("orders", "short 1", "short 2");
  await bundle.restart();
  await bundle.clock.advance(hour - 1);
  expect(await bundle.listed("orders")).toEqual(["long", "short 1", "short 2"]);
  await bundle.clock.advance(1);
  expect(await bundle.listed("orders")).toEqual(["long"]);
  expect(await bundle.listed("dead")).toEqual(["short 1", "short 2"]);
});

test("expire: an early item that is leased at its deadline waits for the end of its lease", async () => {
  const bundle = await setupQueues({ expireTimeoutMs: 10 * hour, leaseTimeoutMs: hour });
  await bundle.produce("orders", "long");
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", expireTimeoutMs: hour }));
  await bundle.produce("orders", "short");
  await bundle.clock.advance(minute);
  const lease = await bundle.lease("orders", { batchSize: 2 });
  expect(textsOf(lease.items)).toEqual(["long", "short"]);
  await bundle.clock.advance(hour - second);
  expect(await bundle.listed("dead")).toEqual([]);
  await bundle.clock.advance(second);
  expect(await bundle.listed("dead")).toEqual(["short"]);
  expect(await bundle.listed("orders")).toEqual(["long"]);
});

test.each([1, 5])(
  "expire: a clock set back by %d hours at a restart expires nothing early",
  async (hours) => {
    const bundle = await setupQueues({ expireTimeoutMs: 2 * hour });
    await bundle.clock.advance(10 * hour);
    await bundle.produce("orders", "a");
    const written = bundle.clock.now();
    await bundle.restart({ now: written - hours * hour });
    await bundle.produce("orders", "b");
    expect(await bundle.listed("orders")).toEqual(["a", "b"]);
    for (const { at } of bundle.image().turns.slice(-1)) expect(at).toBeGreaterThanOrEqual(written);
    expect(await bundle.lease("orders")).toMatchObject({ items: [{ attempts: 1 }] });
  },
);

/** Lets an item of `orders` die; returns the items of `dead`. */
async function die(bundle: Bundle): Promise<string[]> {
  await bundle.produce("orders", "dying");
  await bundle.retry(await bundle.lease("orders"));
  await bundle.clock.advance(second);
  return bundle.listed("dead");
}

const discardedOf = ({ engine }: Bundle) =>
  engine.status().queues.find(({ queue }) => queue === "orders")?.counters.discarded;

test.each([near, far])(
  "dead queue: a reference to one deleted by force stays cut after a start; %d shards",
  async (shards) => {
    const bundle = await setupQueues({ maxAttempts: 1 }, shards);
    await bundle.run(() => bundle.engine.deleteQueue({ name: "dead", force: true }));
    await bundle.restart();
    expect(bundle.engine.queueInfo("orders").deadQueue).toBe("");
    await bundle.createQueue({ name: "dead" });
    expect(await die(bundle)).toEqual([]);
    expect(discardedOf(bundle)).toBe(1);
  },
);

test.each([near, far])(
  "dead queue: a new queue with its name receives no items of former dependents; %d shards",
  async (shards) => {
    const bundle = await setupQueues({ maxAttempts: 1 }, shards);
    await bundle.run(() => bundle.engine.deleteQueue({ name: "dead", force: true }));
    await bundle.createQueue({ name: "dead" });
    for (let starts = 0; starts < 2; starts += 1) {
      await bundle.restart();
      expect(bundle.engine.queueInfo("orders").deadQueue).toBe("");
      expect(await die(bundle)).toEqual([]);
      expect(discardedOf(bundle)).toBe(1);
    }
    await bundle.run(() => bundle.engine.updateQueue({ name: "orders", deadQueue: "dead" }));
    await bundle.restart();
    expect(bundle.engine.queueInfo("orders").deadQueue).toBe("dead");
    expect(await die(bundle)).toEqual(["dying"]);
  },
);

test("dead queue: a reference to one that its shard has lost is cut, and the queue can be created again", async () => {
  const bundle = await setup({ shardCount: far });
  await bundle.createQueue({ name: "orders", maxAttempts: 1 });
  const goBack = bundle.snapshot(target);
  await bundle.createQueue({ name: "dead" });
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", deadQueue: "dead" }));
  bundle.kill();
  goBack();
  await bundle.open({ now: bundle.clock.now() + second });
  expect(bundle.engine.queueInfo("orders").deadQueue).toBe("");
  await bundle.createQueue({ name: "dead" });
  for (let starts = 0; starts < 2; starts += 1) {
    expect(bundle.engine.queueInfo("orders").deadQueue).toBe("");
    expect(await die(bundle)).toEqual([]);
    expect(discardedOf(bundle)).toBe(1);
    await bundle.restart();
  }
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", deadQueue: "dead" }));
  expect(await die(bundle)).toEqual(["dying"]);
});

test("dead queue: a dead letter for a partition that its shard has lost goes to another partition of the queue", async () => {
  const bundle = await setup({ shardCount: 2 });
  const [dead, orders] = [nameIn(0, 2, "dead"), nameIn(1, 2)];
  await bundle.createQueue({ name: dead });
  await bundle.createQueue({ name: orders, deadQueue: dead, requestedPartitions: 2 });
  const goBack = bundle.snapshot(0);
  await bundle.run(() => bundle.engine.updateQueue({ name: dead, requestedPartitions: 2 }));
  for (const text of ["first", "letter"]) await bundle.produce(orders, text);
  await bundle.lease(orders);
  const lease = await bundle.lease(orders);
  bundle.store(0).hold();
  await bundle.retry(lease, { dead: true });
  bundle.kill();
  goBack();
  bundle.store(0).release();
  await bundle.open();
  await bundle.clock.advance(limits.restartMsMax);
  expect(await bundle.listed(dead)).toEqual(["letter"]);
});
