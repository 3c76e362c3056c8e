import { expect, test } from "bun:test";
import type { ProduceRequest } from "./model/api.ts";
import { limits } from "./model/limits.ts";
import {
  day,
  hour,
  minute,
  produceOf,
  second,
  setup,
  start,
  textsOf,
  writtenFirst,
} from "./simulation/bundle.ts";

async function setupQueue(settings: { requestedPartitions?: number } = {}) {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", ...settings });
  return bundle;
}

const one: ProduceRequest = {
  queue: "orders",
  requestTimeoutMs: minute,
  items: [{ payload: "a" }],
};

test.each([
  [{ queue: "" }, "queue name is invalid; queue name cannot be empty"],
  [{ queue: "a~b" }, "queue name is invalid; 'a~b' cannot contain '~' character"],
  [{ queue: "none" }, "queue does not exist; no such queue named 'none'"],
  [{ requestTimeoutMs: 0 }, "request timeout is required; '5m' is recommended, 15m is the maximum"],
  [
    { requestTimeoutMs: 16 * minute },
    "request timeout is invalid; maximum timeout is '15m' but '16m0s' was requested",
  ],
  [
    { requestTimeoutMs: 9 },
    "request timeout is invalid; minimum timeout is '10ms' but '9ms' was requested",
  ],
  [{ items: [] }, "items cannot be empty; at least one item is required"],
  [
    { items: Array.from({ length: 1_001 }, () => ({ payload: "" })) },
    "items is invalid; max_produce_batch_size is 1000 but received 1001",
  ],
] as const)("produce: %j is refused", async (change, message) => {
  const bundle = await setupQueue();
  const ending = await bundle.ending(() => bundle.engine.produce({ ...one, ...change }));
  expect(ending).toEqual({ ok: false, code: "invalid", message, details: undefined });
  expect(await bundle.listed("orders")).toEqual([]);
});

test.each([
  { requestTimeoutMs: 10 },
  { requestTimeoutMs: 15 * minute },
  { items: Array.from({ length: 1_000 }, () => ({ payload: "" })) },
  { items: [{ payload: "" }] },
])("produce: the bounds themselves are accepted; %#", async (change) => {
  const bundle = await setupQueue();
  await bundle.run(() => bundle.engine.produce({ ...one, ...change }));
  expect(await bundle.listed("orders")).toHaveLength(change.items?.length ?? 1);
});

test("produce: an item is leased as it was produced", async () => {
  const bundle = await setupQueue();
  const payload = Uint8Array.from([0, 255, 10, 128]);
  const item = { payload, kind: "k", encoding: "e", reference: "r" };
  await bundle.run(() => bundle.engine.produce({ ...one, items: [item] }));
  payload.fill(7);
  const lease = await bundle.lease("orders");
  expect(lease).toEqual({
    queue: "orders",
    partition: 0,
    maxAttempts: 0,
    now: start,
    replayed: false,
    items: [
      {
        id: expect.stringMatching(/^[0-9A-Za-z]{27}$/),
        kind: "k",
        encoding: "e",
        reference: "r",
        priority: 0,
        attempts: 1,
        leaseDeadline: start + minute,
        payload: Uint8Array.from([0, 255, 10, 128]),
      },
    ],
  });
});

test("produce: a stored item has its creation time and its deadlines", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "a");
  const list = () =>
    bundle.engine.listItems({ queue: "orders", partition: 0, pivot: "", limit: 1 });
  expect(await bundle.run(list)).toEqual([
    {
      id: expect.any(String),
      sourceId: "",
      isLeased: false,
      leaseDeadline: null,
      expireDeadline: start + day,
      deadDeadline: null,
      createdAt: start,
      updatedAt: start,
      enqueueAt: null,
      priority: 0,
      attempts: 0,
      maxAttempts: 0,
      reference: "",
      encoding: "",
      kind: "",
      payload: new TextEncoder().encode("a"),
    },
  ]);
});

test("produce: all items of a request go to the partition with the fewest ready items", async () => {
  const bundle = await setupQueue({ requestedPartitions: 2 });
  await bundle.produceMany("orders", 10);
  await bundle.produceMany("orders", 11);
  expect(await bundle.listed("orders", 0)).toHaveLength(10);
  expect(await bundle.listed("orders", 1)).toHaveLength(11);
});

test.each([
  { partitions: 2, requests: 5, size: 10, expected: [30, 20] },
  { partitions: 10, requests: 10, size: 5, expected: Array.from({ length: 10 }, () => 5) },
])("produce: $requests at once of $size over $partitions partitions", async (row) => {
  const bundle = await setupQueue({ requestedPartitions: row.partitions });
  const texts = Array.from({ length: row.size }, (_, index) => String(index));
  await bundle.run(() =>
    Promise.all(
      Array.from({ length: row.requests }, () => bundle.engine.produce(produceOf("orders", texts))),
    ),
  );
  const { partitions } = await bundle.run(() => bundle.engine.stats("orders"));
  expect(partitions.map(({ total }) => total)).toEqual([...row.expected]);
});

test("produce: many requests at once share one commit", async () => {
  const bundle = await setupQueue();
  const before = bundle.store().commits;
  await bundle.run(() =>
    Promise.all(
      Array.from({ length: 200 }, () => bundle.engine.produce(produceOf("orders", ["a"]))),
    ),
  );
  expect(bundle.store().commits).toBe(before + 1);
});

test("produce: nothing is answered before the commit", async () => {
  const bundle = await setupQueue();
  bundle.store().hold();
  const started = await bundle.begin(() => bundle.engine.produce(one));
  expect(started.ending).toBe(null);
  expect(bundle.engine.status().queues[0]?.queued).toBe(0);
  bundle.store().release();
  await bundle.clock.settle();
  expect(started.ending).toEqual(writtenFirst);
});

test.each([
  { enqueueAt: null, isScheduled: false },
  { enqueueAt: start - hour, isScheduled: false },
  { enqueueAt: start, isScheduled: false },
  { enqueueAt: start + 1, isScheduled: true },
])("produce: enqueue_at $enqueueAt is scheduled: $isScheduled", async (row) => {
  const bundle = await setupQueue();
  bundle.store().hold();
  const started = await bundle.begin(() =>
    bundle.engine.produce(produceOf("orders", ["a"], row.enqueueAt)),
  );
  bundle.store().release();
  await bundle.clock.settle();
  expect(started.ending?.ok).toBe(true);
  expect(await bundle.listed("orders")).toEqual(row.isScheduled ? [] : ["a"]);
  expect(await bundle.scheduled("orders")).toEqual(row.isScheduled ? ["a"] : []);
});

test("produce: a scheduled item becomes due at its instant, under a new id, in order of production", async () => {
  const bundle = await setupQueue();
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["b", "c"], start + minute)));
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["a"], start + second)));
  await bundle.run(() => bundle.engine.produce(produceOf("orders", ["d"], start + minute)));
  const request = { queue: "orders", partition: 0, pivot: "", limit: 10 };
  const [first] = await bundle.run(() => bundle.engine.listScheduled(request));
  expect(first).toMatchObject({ enqueueAt: start + minute, expireDeadline: start + minute + day });
  await bundle.clock.advance(second - 1);
  expect(await bundle.listed("orders")).toEqual([]);
  await bundle.clock.advance(1);
  expect(await bundle.listed("orders")).toEqual(["a"]);
  await bundle.clock.advance(minute);
  const items = await bundle.run(() => bundle.engine.listItems(request));
  expect(textsOf(items)).toEqual(["a", "b", "c", "d"]);
  expect(items.map(({ id }) => id)).not.toContain(first?.id ?? "");
  expect(items[1]).toMatchObject({ createdAt: start, updatedAt: start + minute, enqueueAt: null });
});

test("produce: a produce that waits behind a slow store is answered in time and has no effect", async () => {
  const bundle = await setupQueue();
  bundle.store().hold();
  const call = (text: string, requestTimeoutMs: number) =>
    bundle.begin(() =>
      bundle.engine.produce({ ...one, requestTimeoutMs, items: [{ payload: text }] }),
    );
  const inTurn = await call("in the turn", 15 * minute);
  const next = await call("in the next turn", 15 * minute);
  const long = await call("waits long", 15 * minute);
  const short = await call("waits in vain", second);
  await bundle.clock.advance(second);
  expect(short.ending).toMatchObject({
    ok: false,
    code: "empty",
    message: "request timeout; the items were not written, try again",
  });
  bundle.store().release();
  await bundle.clock.settle();
  for (const started of [inTurn, next, long]) expect(started.ending?.ok).toBe(true);
  expect(await bundle.listed("orders")).toEqual(["in the turn", "in the next turn", "waits long"]);
});

test("produce: a produce whose deadline has passed when its turn comes has no effect", async () => {
  const bundle = await setupQueue();
  bundle.store().hold();
  const first = await bundle.begin(() => bundle.engine.produce(one));
  // Enough weight to be decided during a sync.
  const items = Array(limits.secondTurnWeightMin).fill({ payload: "late" });
  const later = await bundle.begin(() =>
    bundle.engine.produce({ ...one, requestTimeoutMs: 10, items }),
  );
  await bundle.clock.advance(10);
  bundle.store().release();
  await bundle.clock.settle();
  expect(first.ending?.ok).toBe(true);
  expect(later.ending).toMatchObject({ ok: false, code: "empty" });
  expect(await bundle.listed("orders")).toEqual(["a"]);
});
