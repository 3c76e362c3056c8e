// Calls with a key: a repeated call is done once, with the same reply each time, whatever happens
// in between.

import { expect, test } from "bun:test";
import type { LeaseRequest, Produced, QueueSettings } from "./model/api.ts";
import { limits } from "./model/limits.ts";
import { shardOf } from "./model/placement.ts";
import {
  type Bundle,
  completeOf,
  doneFirst,
  type Ending,
  hour,
  idsOf,
  minute,
  nameIn,
  produceOf,
  type SetupOptions,
  second,
  setup,
  textsOf,
  writtenFirst,
} from "./simulation/bundle.ts";

const requestKey = "order-1042";
const again = { ok: true, value: { replayed: true } } as const;
const writtenAgain: Ending<Produced> = { ok: true, value: { replayed: true, duplicates: [] } };

/** `orders` is in the second shard if there is one. */
async function setupQueue(options: SetupOptions & Partial<QueueSettings> = {}) {
  const bundle = await setup({ shardCount: 2, ...options });
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: hour, ...options });
  return bundle;
}

function produce(bundle: Bundle, text = "a", key = requestKey, queue = "orders") {
  return bundle.ending(() =>
    bundle.engine.produce({ ...produceOf(queue, [text]), requestKey: key }),
  );
}

/** The leased and the ready items of all partitions. */
async function stored(bundle: Bundle): Promise<string[]> {
  const { partitions } = await bundle.run(() => bundle.engine.stats("orders"));
  const texts: string[] = [];
  for (const { partition } of partitions) texts.push(...(await bundle.listed("orders", partition)));
  return texts.sort();
}

function lease(bundle: Bundle, change: Partial<LeaseRequest> = {}) {
  const request = { ...bundle.leaseOf("orders", { batchSize: 3 }), requestKey, ...change };
  return bundle.begin(() => bundle.engine.lease(request));
}

async function heldLease(bundle: Bundle, ...texts: string[]) {
  await bundle.produce("orders", ...texts);
  const { ending } = await lease(bundle);
  if (ending?.ok !== true) throw new Error("nothing was leased");
  return ending.value;
}

const between: [string, (bundle: Bundle) => Promise<unknown>][] = [
  ["at once", async () => undefined],
  ["after a restart", (bundle) => bundle.restart()],
  ["at the end of the window", (bundle) => bundle.clock.advance(limits.receiptsWindowMs - 1)],
  [
    "after a clear",
    (bundle) =>
      bundle.run(() =>
        bundle.engine.clear({
          queue: "orders",
          ready: true,
          scheduled: true,
          retried: true,
          destructive: false,
        }),
      ),
  ],
];

test.each(between)(
  "produce: repeated with the same key it is done once; %s",
  async (when, happens) => {
    const bundle = await setupQueue();
    expect(await produce(bundle)).toEqual(writtenFirst);
    await happens(bundle);
    expect(await produce(bundle)).toEqual(writtenAgain);
    expect(await stored(bundle)).toEqual(when === "after a clear" ? [] : ["a"]);
  },
);

test("produce: after the window the key can be used again", async () => {
  const bundle = await setupQueue();
  await produce(bundle);
  await bundle.clock.advance(limits.receiptsWindowMs);
  expect(await produce(bundle, "b")).toEqual(writtenFirst);
  expect(await stored(bundle)).toEqual(["a", "b"]);
});

test("produce: the same key with other items is refused, and nothing is written", async () => {
  const bundle = await setupQueue();
  await produce(bundle);
  const message = `idempotency key is taken; '${requestKey}' was used with another request`;
  expect(await produce(bundle, "b")).toMatchObject({ code: "invalid", message });
  expect(await produce(bundle, "a", "another")).toEqual(writtenFirst);
  expect(await stored(bundle)).toEqual(["a", "a"]);
});

test("produce: equal text and bytes are the same request, whatever the timeout", async () => {
  const bundle = await setupQueue();
  await produce(bundle, "é");
  const items = [{ payload: new TextEncoder().encode("é") }];
  const request = { queue: "orders", requestTimeoutMs: second, items, requestKey };
  expect(await bundle.ending(() => bundle.engine.produce(request))).toEqual(writtenAgain);
});

test.each([{ kind: "k" }, { encoding: "k" }, { reference: "k" }, { enqueueAt: 1 }])(
  "produce: %j makes another request",
  async (change) => {
    const bundle = await setupQueue();
    await produce(bundle);
    const items = [{ payload: "a", ...change }];
    const request = { queue: "orders", requestTimeoutMs: second, items, requestKey };
    expect(await bundle.ending(() => bundle.engine.produce(request))).toMatchObject({ ok: false });
  },
);

test("produce: two copies in one turn write one item; another request between them is refused", async () => {
  const bundle = await setupQueue();
  const call = (text: string) =>
    bundle.outcome(() => bundle.engine.produce({ ...produceOf("orders", [text]), requestKey }));
  const endings = await bundle.run(() => Promise.all([call("a"), call("b"), call("a")]));
  expect(endings).toEqual([
    writtenFirst,
    expect.objectContaining({ code: "invalid" }),
    writtenAgain,
  ]);
  expect(await stored(bundle)).toEqual(["a"]);
});

test("produce: a refused call is not remembered, and its copy in the same turn is decided", async () => {
  const bundle = await setupQueue({ shardCount: 1 });
  bundle.store().fail({ fault: "full" });
  expect(await produce(bundle)).toMatchObject({ code: "store" });
  bundle.store().heal();
  await bundle.clock.advance(2 * second);
  expect(await produce(bundle, "b")).toEqual(writtenFirst);
  expect(await stored(bundle)).toEqual(["b"]);
});

test.each([true, false])(
  "produce: a produce whose store fails is answered once the store is open again; committed %p",
  async (applied) => {
    const bundle = await setupQueue({ shardCount: 1 });
    bundle.store().fail({ fault: "failed", applied });
    const started = await bundle.begin(() =>
      bundle.engine.produce({ ...produceOf("orders", ["a"]), requestKey }),
    );
    await bundle.clock.advance(second);
    expect(started.ending).toEqual(writtenFirst);
    expect(await stored(bundle)).toEqual(["a"]);
  },
);

test("produce: with a key it also goes to the partition with the fewest items, and is recognized later", async () => {
  const bundle = await setupQueue({ requestedPartitions: 5 });
  const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
  for (const key of keys) await produce(bundle, "a", key);
  const { partitions } = await bundle.run(() => bundle.engine.stats("orders"));
  expect(partitions.map(({ total }) => total)).toEqual([4, 4, 4, 4, 4]);
  for (const key of keys) {
    await bundle.produce("orders", "without a key");
    expect(await produce(bundle, "a", key)).toEqual(writtenAgain);
  }
});

test.each([
  [1, 7],
  [7, 1],
  [3, 4],
])("produce: is recognized after %p partitions have become %p", async (before, after) => {
  const bundle = await setupQueue({ requestedPartitions: before });
  const keys = Array.from({ length: 40 }, (_, index) => `key-${index}`);
  for (const key of keys) await produce(bundle, key, key);
  const update = (requestedPartitions: number) =>
    bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions }));
  await update(after);
  for (const key of keys) expect(await produce(bundle, key, key)).toEqual(writtenAgain);
  await bundle.restart();
  for (const key of keys) expect(await produce(bundle, key, key)).toEqual(writtenAgain);
  await update(before);
  await update(after + 1);
  for (const key of keys) expect(await produce(bundle, key, key)).toEqual(writtenAgain);
  expect(await stored(bundle)).toHaveLength(keys.length);
});

test("pause: while a queue is paused, a repeated call gets its first answer", async () => {
  const bundle = await setupQueue();
  const held = await heldLease(bundle, "held");
  await produce(bundle, "a", "k");
  await bundle.run(() => bundle.engine.pause({ queue: "orders", lease: true, produce: true }));
  expect(await produce(bundle, "a", "k")).toEqual(writtenAgain);
  expect(await produce(bundle, "b", "another")).toMatchObject({ code: "refused" });
  expect((await lease(bundle)).ending).toEqual({ ok: true, value: { ...held, replayed: true } });
});

test("delete: a queue that is created again does not recognize the keys of the former one", async () => {
  const bundle = await setupQueue();
  await produce(bundle);
  await bundle.run(() => bundle.engine.deleteQueue({ name: "orders", force: true }));
  // The number of the queue is reused.
  await bundle.restart();
  await bundle.clock.advance(1);
  await bundle.createQueue({ name: "orders" });
  expect(await produce(bundle, "b")).toEqual(writtenFirst);
});

test("complete, retry, release, extend: done once, and each repetition returns the first result", async () => {
  const bundle = await setupQueue();
  const { partition, items } = await heldLease(bundle, "a", "b", "c");
  const [a = "", b = "", c = ""] = idsOf(items);
  const same = { queue: "orders", partition, requestKey };
  const calls = [
    () => bundle.engine.extend({ ...same, ids: [a, b], leaseTimeoutMs: 2 * hour }),
    () => bundle.engine.complete({ ...same, ids: [a], requestTimeoutMs: minute }),
    () => bundle.engine.retry({ ...same, items: [{ id: b, retryAt: null, dead: false }] }),
    () => bundle.engine.release({ ...same, ids: [c] }),
  ];
  const first = [];
  for (const call of calls) first.push(await bundle.run(call));
  for (const { replayed } of first) expect(replayed).toBe(false);
  const now = expect.any(Number);
  const repeated = first.map((value) => ({
    ...value,
    ...("now" in value && { now }),
    replayed: true,
  }));
  const repeat = async () => {
    const endings = [];
    for (const call of calls) endings.push(await bundle.run(call));
    return endings;
  };
  expect(await repeat()).toEqual(repeated);
  await bundle.restart();
  await bundle.clock.advance(minute);
  expect(await repeat()).toEqual(repeated);
  expect(await stored(bundle)).toEqual(["b", "c"]);
});

test.each([false, true])(
  "complete, retry, release, extend: recognized after their partition was removed; restarted %p",
  async (isRestarted) => {
    const bundle = await setupQueue({ requestedPartitions: 4 });
    const items = ["a", "b", "c"].map((payload) => ({
      payload,
      isLeased: true,
      leaseDeadline: bundle.clock.now() + hour,
    }));
    const imported = { queue: "orders", partition: 3, items };
    const ids = idsOf((await bundle.run(() => bundle.engine.importItems(imported))).items);
    const [a = "", b = "", c = ""] = ids;
    const same = { queue: "orders", partition: 3, requestKey };
    const calls = [
      () => bundle.engine.extend({ ...same, ids }),
      () => bundle.engine.retry({ ...same, items: [{ id: a, retryAt: null, dead: false }] }),
      () => bundle.engine.release({ ...same, ids: [b] }),
      () => bundle.engine.complete({ ...same, ids: [c], requestTimeoutMs: minute }),
    ];
    const first = [];
    for (const call of calls) first.push(await bundle.run(call));
    await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 1 }));
    await bundle.complete(await bundle.lease("orders", { batchSize: 2 }));
    const drained = { queue: "orders", partition: 3, requestTimeoutMs: minute, ids };
    expect(await bundle.ending(() => bundle.engine.complete(drained))).toMatchObject({
      code: "invalid",
    });
    if (isRestarted) await bundle.restart();
    for (const [index, call] of calls.entries()) {
      expect(await bundle.run(call)).toEqual({ ...first[index], replayed: true } as never);
    }
    const other = { ...drained, requestKey: "another" };
    const message = "partition is invalid; '3' is not a valid partition";
    expect(await bundle.ending(() => bundle.engine.complete(other))).toMatchObject({ message });
  },
);

test("complete: a committed complete is not refused because there is no room for anything by then", async () => {
  const bundle = await setupQueue({ shardCount: 1 });
  const { partition, items } = await heldLease(bundle, "a", "b");
  bundle.store().fail({ fault: "failed", applied: true });
  bundle.store().fail({ fault: "full", sticky: true });
  const [a, b] = idsOf(items).map((id) => {
    const request = { queue: "orders", partition, requestTimeoutMs: minute, ids: [id] };
    return (key: { requestKey?: string }) =>
      bundle.begin(() => bundle.engine.complete({ ...request, ...key }));
  });
  const done = await a?.({ requestKey });
  const refused = await b?.({});
  await bundle.clock.advance(second);
  expect([done?.ending, refused?.ending]).toEqual([
    doneFirst,
    expect.objectContaining({ code: "store" }),
  ]);
});

test("complete: a refused call leaves its key free", async () => {
  const bundle = await setupQueue();
  const { partition, items } = await heldLease(bundle, "a");
  const complete = (ids: string[]) =>
    bundle.ending(() =>
      bundle.engine.complete({
        queue: "orders",
        partition,
        requestTimeoutMs: minute,
        ids,
        requestKey,
      }),
    );
  expect(await complete(["1h0LdFaStQ2vX000000000000Ke"])).toMatchObject({ code: "refused" });
  expect(await complete(idsOf(items))).toEqual(doneFirst);
  expect(await complete(idsOf(items))).toEqual(again);
});

test("extend: an extend whose store fails is answered once the store is open again", async () => {
  const bundle = await setupQueue({ shardCount: 1 });
  const { partition, items } = await heldLease(bundle, "a");
  bundle.store().fail({ fault: "failed", applied: true });
  const until = bundle.clock.now() + 3 * hour;
  const request = { queue: "orders", partition, ids: idsOf(items), leaseTimeoutMs: 3 * hour };
  const started = await bundle.begin(() => bundle.engine.extend({ ...request, requestKey }));
  await bundle.clock.advance(second);
  const value = { leaseDeadline: until, now: expect.any(Number), replayed: false };
  expect(started.ending).toEqual({ ok: true, value });
});

test("import: a repetition returns the same items, even if they have left since", async () => {
  const bundle = await setupQueue();
  const items = [
    { payload: "a", sourceId: "1" },
    { payload: "b", sourceId: "2", isLeased: true, leaseDeadline: bundle.clock.now() + hour },
    { payload: "a again", sourceId: "1" },
    { payload: "c", enqueueAt: bundle.clock.now() + hour },
  ];
  const take = () =>
    bundle.run(() =>
      bundle.engine.importItems({ queue: "orders", partition: 0, items, requestKey }),
    );
  const first = await take();
  expect(textsOf(first.items)).toEqual(["a", "b", "c"]);
  await bundle.clock.advance(second);
  await bundle.complete(await bundle.lease("orders"));
  await bundle.restart();
  expect(await take()).toEqual({ ...first, replayed: true });
  expect(await stored(bundle)).toEqual(["b"]);
});

test.each([false, true])(
  "import: a repetition is answered even if its partition was removed; restarted %p",
  async (isRestarted) => {
    const bundle = await setupQueue({ requestedPartitions: 4 });
    const take = (key: string, partition = 3) =>
      bundle.ending(() =>
        bundle.engine.importItems({
          ...{ queue: "orders", partition, requestKey: key },
          items: [{ payload: "a" }, { payload: "b" }],
        }),
      );
    const first = await take("k");
    if (!first.ok) throw new Error("nothing was imported");
    await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 1 }));
    await bundle.complete(await bundle.lease("orders", { batchSize: 2 }));
    const { partitions } = await bundle.run(() => bundle.engine.stats("orders"));
    expect(partitions.map(({ partition }) => partition)).toEqual([0]);
    if (isRestarted) await bundle.restart();
    expect(await take("k")).toEqual({ ...first, value: { ...first.value, replayed: true } });
    const message = "partition is invalid; '3' is not a valid partition";
    expect(await take("another")).toMatchObject({ code: "invalid", message });
    expect(await take("k", 2)).toMatchObject({ code: "invalid" });
  },
);

test("import: a repetition is answered even if its partition is draining", async () => {
  const bundle = await setupQueue({ requestedPartitions: 2 });
  const items = [{ payload: "a" }];
  const take = (key: string) =>
    bundle.ending(() =>
      bundle.engine.importItems({ queue: "orders", partition: 1, items, requestKey: key }),
    );
  const first = await take("k");
  await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 1 }));
  expect(first).toMatchObject({ ok: true, value: { replayed: false } });
  expect(await take("k")).toMatchObject({ ok: true, value: { replayed: true } });
  const message = "partition takes no new items; '1' is draining";
  expect(await take("another")).toMatchObject({ code: "refused", message });
  expect(await stored(bundle)).toEqual(["a"]);
});

test.each(["at once", "after a restart"])(
  "lease: a repetition returns the items that are still leased, with their deadlines; %s",
  async (when) => {
    const bundle = await setupQueue({ requestedPartitions: 3 });
    const first = await heldLease(bundle, "a", "b", "c");
    const { partition } = first;
    const [a = "", b = ""] = idsOf(first.items);
    await bundle.produce("orders", "other");
    if (when === "after a restart") await bundle.restart();
    const repeat = async () => (await lease(bundle)).ending;
    expect(await repeat()).toEqual({ ok: true, value: { ...first, replayed: true } });
    const same = { queue: "orders", partition };
    await bundle.run(() => bundle.engine.complete({ ...same, ids: [a], requestTimeoutMs: minute }));
    const extend = { ...same, ids: [b], leaseTimeoutMs: 2 * hour };
    const { leaseDeadline } = await bundle.run(() => bundle.engine.extend(extend));
    const rest = [{ ...first.items[1], leaseDeadline }, first.items[2]];
    expect(await repeat()).toMatchObject({ ok: true, value: { items: rest, replayed: true } });
    await bundle.complete({ ...first, items: first.items.slice(1) });
    const message = "that lease is over; nothing of it is held any more";
    expect(await repeat()).toMatchObject({ code: "empty", message });
  },
);

test("lease: a lapsed lease is over, and its items go to another client", async () => {
  const bundle = await setupQueue({ leaseTimeoutMs: second });
  await heldLease(bundle, "a");
  await bundle.clock.advance(second);
  expect((await lease(bundle)).ending).toMatchObject({ code: "empty" });
  expect(textsOf((await bundle.lease("orders")).items)).toEqual(["a"]);
});

test("lease: a lapsed lease is over, even if a full store has no room to requeue its items", async () => {
  const bundle = await setupQueue({ leaseTimeoutMs: second });
  await heldLease(bundle, "a");
  bundle.store(1).fail({ fault: "full", sticky: true, ofMoves: true });
  await bundle.clock.advance(second);
  expect((await lease(bundle)).ending).toMatchObject({ code: "empty" });
});

test("lease: in a batch with gaps, a repetition returns only its own items", async () => {
  const bundle = await setupQueue();
  const leaseDeadline = bundle.clock.now() + hour;
  await bundle.produce("orders", "a");
  const items = [{ payload: "elsewhere", isLeased: true, leaseDeadline }];
  await bundle.run(() => bundle.engine.importItems({ queue: "orders", partition: 0, items }));
  const first = await heldLease(bundle, "b");
  expect(textsOf(first.items)).toEqual(["a", "b"]);
  expect((await lease(bundle)).ending).toEqual({ ok: true, value: { ...first, replayed: true } });
});

test("lease: the same key with another batch is refused", async () => {
  const bundle = await setupQueue();
  await heldLease(bundle, "a");
  const message = `idempotency key is taken; '${requestKey}' was used with another request`;
  const other = await lease(bundle, { batchSize: 4 });
  expect(other.ending).toMatchObject({ code: "invalid", message });
  const waits = await lease(bundle, { requestKey: "waits" });
  const different = await lease(bundle, { requestKey: "waits", leaseTimeoutMs: second });
  expect([waits.ending, different.ending]).toEqual([null, expect.objectContaining({ ok: false })]);
});

test("lease: a repetition takes the place of its waiting lease in the line", async () => {
  const bundle = await setupQueue();
  const clientId = "me";
  const first = await lease(bundle, { clientId, batchSize: 1 });
  const second = await bundle.beginLease("orders");
  const repeated = await lease(bundle, { clientId, batchSize: 1 });
  const message = "the lease was asked for again; the repetition is answered";
  expect(first.ending).toMatchObject({ code: "empty", message });
  await bundle.produce("orders", "a");
  expect([repeated.ending, second.ending]).toEqual([expect.objectContaining({ ok: true }), null]);
});

test("lease: a repetition during a grant gets the granted items", async () => {
  const bundle = await setupQueue({ shardCount: 1 });
  await bundle.produce("orders", "a");
  bundle.store().hold();
  const first = await lease(bundle);
  const repeated = await lease(bundle);
  bundle.store().release();
  await bundle.clock.settle();
  expect(first.ending).toMatchObject({ code: "empty" });
  expect(repeated.ending).toMatchObject({ ok: true, value: { items: [{ attempts: 1 }] } });
});

test.each(["has disconnected", "got an empty answer in time"])(
  "lease: a repetition while it is in progress, by a client that %s, keeps the items that the client receives",
  async (how) => {
    const bundle = await setupQueue({ shardCount: 1 });
    const controller = new AbortController();
    const asked = { batchSize: 1, requestTimeoutMs: second };
    const first = await lease(bundle, { ...asked, signal: controller.signal });
    bundle.store().hold();
    const produceOne = (text: string) =>
      bundle.begin(() => bundle.engine.produce(produceOf("orders", [text])));
    await produceOne("a");
    if (how === "has disconnected") controller.abort();
    await bundle.clock.advance(second);
    const again = await lease(bundle, asked);
    await produceOne("b");
    bundle.store().release();
    await bundle.clock.settle();
    expect(first.ending).toMatchObject({ code: "empty" });
    if (again.ending?.ok !== true) throw new Error("nothing was leased");
    const { partition, items } = again.ending.value;
    const request = completeOf("orders", partition, idsOf(items));
    expect((await bundle.begin(() => bundle.engine.complete(request))).ending?.ok).toBe(true);
  },
);

test("lease: a repetition at a shard that stalls past the window keeps the items leased", async () => {
  const bundle = await setupQueue({ shardCount: 1 });
  const { partition, items } = await heldLease(bundle, "a");
  await bundle.produce("orders", "b");
  bundle.store().hold();
  const request = { ...bundle.leaseOf("orders"), requestTimeoutMs: second };
  // One turn, whose commit is held.
  const asked = await bundle.begin(() => {
    const another = bundle.outcome(() => bundle.engine.lease(request));
    const again = { ...request, clientId: "again", batchSize: 3, requestKey };
    return Promise.all([another, bundle.outcome(() => bundle.engine.lease(again))]);
  });
  await bundle.clock.advance(limits.receiptsWindowMs + second);
  await lease(bundle, { requestKey: "another", requestTimeoutMs: second });
  bundle.store().release();
  await bundle.clock.settle();
  const unknown = expect.objectContaining({ code: "unknown" });
  expect(asked.ending).toMatchObject({ ok: true, value: [unknown, unknown] });
  const complete = completeOf("orders", partition, idsOf(items));
  expect((await bundle.begin(() => bundle.engine.complete(complete))).ending?.ok).toBe(true);
});

test("lease: of several repetitions at once the last is answered, and its items stay leased", async () => {
  const bundle = await setupQueue({ requestedPartitions: 2 });
  const first = await heldLease(bundle, "a");
  await bundle.produce("orders", "b", "c");
  const controller = new AbortController();
  const { signal } = controller;
  const call = (change: Partial<LeaseRequest> = {}) => {
    const request = { ...bundle.leaseOf("orders", { batchSize: 3 }), requestKey, ...change };
    return bundle.outcome(() => bundle.engine.lease(request));
  };
  const endings = await bundle.run(() => Promise.all([call(), call(), call()]));
  expect(endings.map(({ ok }) => ok)).toEqual([false, false, true]);
  const replayed = { ok: true, value: { ...first, replayed: true } } as const;
  expect(endings[2]).toEqual(replayed);
  const left = await bundle.run(() => {
    const ending = call({ signal });
    controller.abort();
    return ending;
  });
  expect(left).toMatchObject({ code: "empty" });
  expect((await lease(bundle)).ending).toEqual(replayed);
});

test("lease: items granted to a disconnected client are released, and its key is free", async () => {
  const bundle = await setupQueue({ shardCount: 1 });
  await bundle.produce("orders", "a");
  bundle.store().hold();
  const controller = new AbortController();
  const left = await lease(bundle, { signal: controller.signal });
  controller.abort();
  bundle.store().release();
  await bundle.clock.settle();
  expect(left.ending).toMatchObject({ code: "empty" });
  const back = await lease(bundle);
  expect(back.ending).toMatchObject({
    ok: true,
    value: { replayed: false, items: [{ attempts: 1 }] },
  });
});

test("lease: a lease whose store fails gets its items once the store is open again", async () => {
  const bundle = await setupQueue({ shardCount: 1 });
  await bundle.produce("orders", "a");
  bundle.store().fail({ fault: "failed", applied: true });
  const started = await lease(bundle);
  await bundle.clock.advance(second);
  expect(started.ending).toMatchObject({ ok: true, value: { items: [{ attempts: 1 }] } });
});

test("lease: items first returned from a receipt count for the rate of their queue", async () => {
  const bundle = await setupQueue({ shardCount: 1, leaseRate: "1/1h" });
  await bundle.produce("orders", "a", "b");
  bundle.store().fail({ fault: "failed", applied: true });
  const lost = await lease(bundle, { batchSize: 1 });
  await bundle.clock.advance(second);
  expect(lost.ending).toMatchObject({ ok: true, value: { items: [{ attempts: 1 }] } });
  expect((await bundle.beginLease("orders")).ending).toBe(null);
});

test("receipts: a call with a key is refused while the bound is reached, and none is removed", async () => {
  const bundle = await setupQueue({ shardCount: 1, turnLimits: { ...limits, receiptsMax: 2 } });
  await produce(bundle, "a", "1");
  await produce(bundle, "a", "2");
  expect(await produce(bundle, "a", "3")).toMatchObject({
    code: "full",
    message:
      "too many idempotency keys are remembered; there cannot be more than 2, try again later",
  });
  expect(await produce(bundle, "a", "1")).toEqual(writtenAgain);
  await bundle.produce("orders", "without a key");
  await bundle.clock.advance(2 * limits.receiptsWindowMs);
  expect(await produce(bundle, "a", "3")).toEqual(writtenFirst);
});

test("receipts: each shard remembers its share of the keys, and recognizes known ones beyond it", async () => {
  const turnLimits = { ...limits, receiptsMax: 12 };
  const bundle = await setupQueue({ shardCount: 3, turnLimits });
  const queues = [0, 1, 2].map((shard) => nameIn(shard, 3));
  for (const name of queues) await bundle.createQueue({ name });
  const first = await heldLease(bundle, "a");
  const tooMany = {
    code: "full",
    message:
      "too many idempotency keys are remembered; there cannot be more than 4, try again later",
  };
  const produceAll = () =>
    Promise.all(
      queues.flatMap((queue, shard) =>
        ["1", "2", "3", ...(shard === shardOf("orders", 3) ? [] : ["4"])].map((key) =>
          produce(bundle, key, key, queue),
        ),
      ),
    );
  for (const ending of await produceAll()) expect(ending).toEqual(writtenFirst);
  const counts = () => bundle.engine.status().shards.map(({ receipts }) => receipts);
  for (const isRestarted of [false, true]) {
    if (isRestarted) await bundle.restart();
    expect(counts()).toEqual([4, 4, 4]);
    for (const queue of queues) {
      await bundle.produce(queue, "without a key");
      expect(await produce(bundle, "b", "another", queue)).toMatchObject(tooMany);
      const { ending } = await lease(bundle, { queue, requestKey: "another" });
      expect(ending).toMatchObject(tooMany);
    }
    for (const ending of await produceAll()) expect(ending).toEqual(writtenAgain);
    expect((await lease(bundle)).ending).toEqual({ ok: true, value: { ...first, replayed: true } });
  }
  await bundle.clock.advance(2 * limits.receiptsWindowMs);
  expect(counts()).toEqual([0, 0, 0]);
  expect(await produce(bundle, "b", "another")).toEqual(writtenFirst);
});

test("receipts: removed from the store some time after their window, even without calls", async () => {
  const bundle = await setupQueue({ shardCount: 1 });
  for (let key = 0; key < 5; key += 1) await produce(bundle, "a", `key-${key}`);
  expect(bundle.image().receipts).toHaveLength(5);
  await bundle.clock.advance(limits.receiptsWindowMs);
  expect(bundle.image().receipts).toHaveLength(5);
  await bundle.clock.advance(limits.receiptsWindowMs);
  expect(bundle.image().receipts).toEqual([]);
});

test("receipts: a call without a key leaves none", async () => {
  const bundle = await setupQueue({ shardCount: 1 });
  await bundle.produce("orders", "a");
  await bundle.complete(await bundle.lease("orders"));
  expect(bundle.image().receipts).toEqual([]);
});

test.each([
  ["", '""'],
  ["a b", '"a b"'],
  ["ü", '"ü"'],
  ["x".repeat(256), "256 characters"],
])("a key %p is refused", async (key, got) => {
  const bundle = await setupQueue();
  const message = `idempotency key is invalid; expected 1 to 255 visible ASCII characters, got ${got}`;
  expect(await produce(bundle, "a", key)).toMatchObject({ code: "invalid", message });
  expect(await produce(bundle, "a", "x".repeat(255))).toEqual(writtenFirst);
});
