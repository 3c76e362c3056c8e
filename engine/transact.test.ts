// Transact: all of its parts take effect, or none.

import { expect, test } from "bun:test";
import type { ProduceItem, QueueSettings, Transacted, TransactRequest } from "./model/api.ts";
import { limits } from "./model/limits.ts";
import {
  type Bundle,
  day,
  type Ending,
  hour,
  idsOf,
  type Leased,
  minute,
  second,
  setup,
  start,
} from "./simulation/bundle.ts";

/** With two shards, "orders" and `mails` are in the second and "invoices" in the first. */
const mails = "{orders}-mails";
const [far, near] = [2, 1];
const [target, source] = [0, 1];

async function setupQueues(shardCount = near, settings: Partial<QueueSettings> = {}) {
  const bundle = await setup({ shardCount });
  await bundle.createQueue({ name: "orders", ...settings });
  await bundle.createQueue({ name: "invoices", ...settings });
  await bundle.createQueue({ name: mails, ...settings });
  return bundle;
}

async function heldOf(bundle: Bundle, queue: string, ...texts: string[]): Promise<Leased> {
  await bundle.produce(queue, ...texts);
  return bundle.lease(queue, { batchSize: texts.length });
}

type Asked = Omit<TransactRequest, "requestTimeoutMs">;

function transact(bundle: Bundle, asked: Asked): Promise<Ending<Transacted>> {
  return bundle.ending(() => bundle.engine.transact({ requestTimeoutMs: minute, ...asked }));
}

const part = ({ queue, partition, items }: Leased) => ({ queue, partition, ids: idsOf(items) });
const back = (
  { queue, partition, items }: Leased,
  dead = false,
  retryAt: number | null = null,
) => ({
  queue,
  partition,
  items: idsOf(items).map((id) => ({ id, retryAt, dead })),
});
const out = (queue: string, ...items: (string | ProduceItem)[]) => ({
  queue,
  items: items.map((item) => (typeof item === "string" ? { payload: item } : item)),
});

const wrote = (...produced: Partial<Transacted["produced"][number]>[]): Ending<Transacted> => ({
  ok: true,
  value: {
    replayed: false,
    produced: produced.map(({ delivered = true, ...one }) => {
      const partition = delivered ? 0 : null;
      return { queue: "invoices", partition, delivered, duplicates: [], ...one };
    }),
  },
});

/** Leased items are still leased, and the other queues are empty. */
async function expectUntouched(bundle: Bundle, ...leases: readonly Leased[]): Promise<void> {
  await bundle.clock.advance(second);
  for (const lease of leases) expect(await bundle.complete(lease)).toMatchObject({ ok: true });
  expect(await bundle.listed("invoices")).toEqual([]);
  expect(await bundle.listed(mails)).toEqual([]);
}

test.each([near, far])(
  "transact: the input is removed and the output stored; %d shards",
  async (shards) => {
    const bundle = await setupQueues(shards);
    const lease = await heldOf(bundle, "orders", "a", "b");
    const ending = await transact(bundle, {
      complete: [part(lease)],
      produce: [out("invoices", "for a", "for b"), out(mails, "thanks")],
    });
    const delivered = shards === near;
    expect(ending).toEqual(wrote({ delivered }, { queue: mails }));
    expect(await bundle.listed("orders")).toEqual([]);
    expect(await bundle.listed("invoices")).toEqual(["for a", "for b"]);
    expect(await bundle.listed(mails)).toEqual(["thanks"]);
  },
);

test("transact: an output for another shard keeps all its fields", async () => {
  const bundle = await setupQueues(far);
  const lease = await heldOf(bundle, "orders", "a");
  const item = { payload: new Uint8Array([0, 255]), kind: "k", encoding: "e", reference: "r" };
  await transact(bundle, { complete: [part(lease)], produce: [out("invoices", item)] });
  const request = { queue: "invoices", partition: 0, pivot: "", limit: 10 };
  const [stored] = await bundle.run(() => bundle.engine.listItems(request));
  expect(stored).toMatchObject({
    ...item,
    sourceId: "",
    attempts: 0,
    createdAt: start,
    expireDeadline: start + day,
  });
});

test.each([near, far])(
  "transact: a scheduled output waits for its instant; %d shards",
  async (shards) => {
    const bundle = await setupQueues(shards);
    const lease = await heldOf(bundle, "orders", "a");
    const item = { payload: "later", enqueueAt: start + hour };
    const ending = await transact(bundle, {
      complete: [part(lease)],
      produce: [out("invoices", item, { payload: "past", enqueueAt: start - hour })],
    });
    expect(ending).toEqual(wrote({ delivered: shards === near }));
    expect(await bundle.listed("invoices")).toEqual(["past"]);
    expect(await bundle.scheduled("invoices")).toEqual(["later"]);
    const request = { queue: "invoices", partition: 0, pivot: "", limit: 10 };
    const [stored] = await bundle.run(() => bundle.engine.listScheduled(request));
    expect(stored).toMatchObject({ enqueueAt: start + hour, expireDeadline: start + hour + day });
    await bundle.clock.advance(hour - 1);
    expect(await bundle.listed("invoices")).toEqual(["past"]);
    await bundle.clock.advance(1);
    expect(await bundle.listed("invoices")).toEqual(["past", "later"]);
  },
);

test("transact: a scheduled output for a shard that is down is due at its instant", async () => {
  const bundle = await setupQueues(far);
  const lease = await heldOf(bundle, "orders", "a");
  bundle.store(target).hold();
  const item = { payload: "later", enqueueAt: start + minute };
  expect(
    await transact(bundle, { complete: [part(lease)], produce: [out("invoices", item)] }),
  ).toEqual(wrote({ delivered: false }));
  await bundle.clock.advance(hour);
  bundle.store(target).release();
  await bundle.clock.advance(second);
  expect(await bundle.listed("invoices")).toEqual(["later"]);
});

test("transact: complete, retry and produce of several queues and partitions in one commit", async () => {
  const bundle = await setupQueues(near, { requestedPartitions: 2 });
  for (const text of ["a", "b"]) await bundle.produce("orders", text);
  const [a, b] = [await bundle.lease("orders"), await bundle.lease("orders")];
  expect(a.partition).not.toBe(b.partition);
  const m = await heldOf(bundle, mails, "m", "n");
  const commits = bundle.store(0).commits;
  const ending = await transact(bundle, {
    complete: [part(a), { ...part(m), ids: idsOf(m.items).slice(0, 1) }],
    retry: [back(b), { ...back(m), items: back(m, false, start + hour).items.slice(1) }],
    produce: [out("invoices", "x")],
  });
  expect(ending).toEqual(wrote({}));
  expect(bundle.store(0).commits).toBe(commits + 1);
  expect(await bundle.listed("orders", a.partition)).toEqual([]);
  expect(await bundle.lease("orders")).toMatchObject({ items: [{ attempts: 2 }] });
  expect(await bundle.scheduled(mails, m.partition)).toEqual(["n"]);
});

test.each(["near", "far"])(
  "transact: a waiting lease is served by an output that is %s",
  async (where) => {
    const bundle = await setupQueues(where === "far" ? far : near);
    const lease = await heldOf(bundle, "orders", "a");
    const waits = await bundle.beginLease("invoices");
    const commits = bundle.store(0).commits;
    await transact(bundle, { complete: [part(lease)], produce: [out("invoices", "x")] });
    expect(waits.ending).toMatchObject({ ok: true, value: { items: [{ attempts: 1 }] } });
    if (where === "near") expect(bundle.store(0).commits).toBe(commits + 1);
  },
);

test("transact: one invalid id refuses the whole call, and each invalid id is listed with its reason", async () => {
  const bundle = await setupQueues(far);
  const held = await heldOf(bundle, "orders", "a", "b");
  const other = await heldOf(bundle, mails, "m");
  const [a = "", b = ""] = idsOf(held.items);
  const [m = ""] = idsOf(other.items);
  const produce = [out("invoices", "x"), out(mails, "y")];
  const refused = (details: Record<string, string>) => ({
    code: "refused",
    message: Object.values(details)[0] ?? "",
    details,
  });
  const twice = (id: string) => `item(s) cannot be finished; '${id}' is named more than once`;
  expect(
    await transact(bundle, {
      complete: [part(held)],
      retry: [{ ...back(held), items: [{ id: b, retryAt: null, dead: false }] }],
      produce,
    }),
  ).toMatchObject(refused({ [b]: twice(b) }));
  expect(
    await transact(bundle, {
      complete: [
        { ...part(held), ids: [a, "none"] },
        { ...part(other), ids: [b] },
      ],
      retry: [back(other)],
      produce,
    }),
  ).toMatchObject(
    refused({
      none: "invalid storage id; 'none': Valid encoded KSUIDs are 27 characters",
      [b]: `invalid storage id; '${b}' does not exist`,
    }),
  );
  expect(
    await transact(bundle, { complete: [part(held)], retry: [back(other, true)], produce }),
  ).toMatchObject(
    refused({
      [m]: `item(s) cannot be retried; '${m}' is given up, and the queue has no dead queue`,
    }),
  );
  await expectUntouched(bundle, held, other);
});

test("transact: an id whose lease has lapsed refuses the whole call", async () => {
  const bundle = await setupQueues();
  const lease = await heldOf(bundle, "orders", "a");
  await bundle.clock.advance(minute);
  expect(
    await transact(bundle, { complete: [part(lease)], produce: [out("invoices", "x")] }),
  ).toMatchObject({
    code: "refused",
    details: { [idsOf(lease.items)[0] ?? ""]: expect.any(String) },
  });
  await expectUntouched(bundle);
});

test("transact: items of several shards cannot be completed together", async () => {
  const bundle = await setupQueues(far);
  const held = await heldOf(bundle, "orders", "a");
  const other = await heldOf(bundle, "invoices", "i");
  expect(await transact(bundle, { complete: [part(held)], retry: [back(other)] })).toMatchObject({
    code: "refused",
    message:
      "items cannot be finished together; their queues are in different shards, which one {tag} in both names prevents",
  });
  expect(await bundle.complete(held)).toMatchObject({ ok: true });
  expect(await bundle.complete(other)).toMatchObject({ ok: true });
});

const malformed: [Asked, string][] = [
  [{}, "transact is invalid; expected complete, retry or produce to name something"],
  [{ complete: [] }, "transact is invalid; expected complete, retry or produce to name something"],
  [
    { complete: [{ queue: "orders", partition: 0, ids: [] }] },
    "ids is invalid; list of ids cannot be empty",
  ],
  [
    { retry: [{ queue: "orders", partition: 0, items: [] }] },
    "items is invalid; list of items cannot be empty",
  ],
  [{ produce: [out(mails)] }, "items cannot be empty; at least one item is required"],
  [
    {
      produce: [
        out(mails, ...Array<string>(600).fill("x")),
        out(mails, ...Array<string>(401).fill("x")),
      ],
    },
    "entries is invalid; max_transact_batch_size is 1000 but received 1001",
  ],
  [{ produce: [out("none", "x")] }, "queue does not exist; no such queue named 'none'"],
  [
    { produce: [out(mails, "x"), out("none", "x")] },
    "queue does not exist; no such queue named 'none'",
  ],
  [
    { complete: [{ queue: "orders", partition: 7, ids: ["x"] }] },
    "partition is invalid; '7' is not a valid partition",
  ],
  [
    { produce: [out(mails, { payload: "x", uniqueKey: "1" })] },
    "unique key is invalid; the queue has no unique_for, so its items cannot have one",
  ],
];

test.each(malformed)("transact: %j is refused", async (asked, message) => {
  const bundle = await setupQueues();
  expect(await transact(bundle, asked)).toMatchObject({ code: "invalid", message });
  await expectUntouched(bundle);
});

test("transact: outputs of several queues are all written or none", async () => {
  const bundle = await setupQueues(far);
  expect(await transact(bundle, { produce: [out(mails, "m"), out("invoices", "i")] })).toEqual(
    wrote({ queue: mails }, { delivered: false }),
  );
  expect(await bundle.listed(mails)).toEqual(["m"]);
  expect(await bundle.listed("invoices")).toEqual(["i"]);
});

test.each([near, far])(
  "transact: a paused output queue refuses the whole call; %d shards",
  async (shards) => {
    const bundle = await setupQueues(shards);
    const held = await heldOf(bundle, "orders", "a");
    await bundle.run(() =>
      bundle.engine.pause({ queue: "invoices", produce: true, reason: "moving" }),
    );
    const asked = { complete: [part(held)], produce: [out(mails, "y"), out("invoices", "x")] };
    const refused = { code: "refused", message: "queue is paused; moving" };
    expect(await transact(bundle, asked)).toMatchObject(refused);
    expect(await transact(bundle, { ...asked, requestKey: "k" })).toMatchObject(refused);
    await bundle.restart();
    expect(await transact(bundle, { ...asked, requestKey: "k" })).toMatchObject(refused);
    await bundle.run(() => bundle.engine.resume("invoices"));
    expect(await transact(bundle, { ...asked, requestKey: "k" })).toMatchObject({ ok: true });
  },
);

test("transact: a call still waiting for its shard when its output's queue is paused is refused", async () => {
  const bundle = await setupQueues(far);
  const held = await heldOf(bundle, "orders", "a");
  bundle.store(source).fail({ fault: "failed", applied: false });
  await bundle.begin(() =>
    bundle.engine.produce({
      queue: mails,
      requestTimeoutMs: minute,
      items: [{ payload: "breaks" }],
    }),
  );
  const waits = await bundle.begin(() =>
    bundle.engine.transact({
      requestTimeoutMs: minute,
      complete: [part(held)],
      produce: [out("invoices", "x")],
    }),
  );
  expect(waits.ending).toBe(null);
  await bundle.run(() => bundle.engine.pause({ queue: "invoices", produce: true }));
  await bundle.clock.advance(second);
  expect(waits.ending).toMatchObject({
    code: "refused",
    message: expect.stringContaining("queue is paused"),
  });
  expect(await bundle.listed("invoices")).toEqual([]);
});

test("transact: an output for a queue that is deleted meanwhile is discarded with it", async () => {
  const bundle = await setupQueues(far);
  const held = await heldOf(bundle, "invoices", "a");
  // From now on the store refuses new items and accepts a delete.
  bundle.store(source).fail({ fault: "full" });
  expect(await transact(bundle, { complete: [part(held)], produce: [out(mails, "x")] })).toEqual(
    wrote({ queue: mails, delivered: false }),
  );
  const deleted = await bundle.begin(() => bundle.engine.deleteQueue({ name: mails, force: true }));
  bundle.store(source).heal();
  await bundle.clock.advance(10 * second);
  expect(deleted.ending).toMatchObject({ ok: true });
  await bundle.createQueue({ name: mails });
  await bundle.clock.advance(10 * second);
  expect(await bundle.listed(mails)).toEqual([]);
  expect(bundle.image(target).outbound.values().length).toBe(0);
});

test("transact: a queue with outputs in transit to it is deleted only with force", async () => {
  const bundle = await setupQueues(far);
  const held = await heldOf(bundle, "orders", "a");
  bundle.store(target).hold();
  await transact(bundle, { complete: [part(held)], produce: [out("invoices", "x")] });
  expect(
    await bundle.ending(() => bundle.engine.deleteQueue({ name: "invoices", force: false })),
  ).toMatchObject({
    code: "refused",
    message: "queue is not empty; items are on their way to 'invoices'",
  });
});

test("transact: a full target delays its outputs, and each arrives once", async () => {
  const bundle = await setupQueues(far);
  const held = await heldOf(bundle, "orders", "a");
  bundle.store(target).fail({ fault: "full", sticky: true });
  await transact(bundle, { complete: [part(held)], produce: [out("invoices", "x", "y")] });
  await bundle.clock.advance(5 * second);
  expect(await bundle.listed("invoices")).toEqual([]);
  bundle.store(target).heal();
  await bundle.clock.advance(2 * second);
  expect(await bundle.listed("invoices")).toEqual(["x", "y"]);
});

test("transact: outputs in transit survive a restart", async () => {
  const bundle = await setupQueues(far);
  const held = await heldOf(bundle, "orders", "a");
  bundle.store(target).hold();
  await transact(bundle, { complete: [part(held)], produce: [out("invoices", "x")] });
  bundle.store(target).release();
  await bundle.restart();
  expect(await bundle.listed("invoices")).toEqual(["x"]);
  expect(await bundle.listed("orders")).toEqual([]);
});

test("transact: a full store refuses calls with outputs, and accepts those that only complete", async () => {
  const bundle = await setupQueues();
  const held = await heldOf(bundle, "orders", "a");
  const other = await heldOf(bundle, "orders", "b");
  bundle.store(0).fail({ fault: "full" });
  const calls = [
    { complete: [part(held)], produce: [out("invoices", "x")] },
    { complete: [part(other)] },
  ].map((asked) =>
    bundle.begin(() => bundle.engine.transact({ requestTimeoutMs: minute, ...asked })),
  );
  const [refused, done] = await Promise.all(calls);
  expect(refused?.ending).toMatchObject({ code: "store" });
  expect(done?.ending).toEqual(wrote());
  bundle.store(0).heal();
  await expectUntouched(bundle, held);
});

test("transact: past its deadline it has no effect", async () => {
  const bundle = await setupQueues();
  const held = await heldOf(bundle, "orders", "a");
  bundle.store(0).hold();
  const busy = await bundle.begin(() =>
    bundle.engine.produce({ queue: mails, requestTimeoutMs: minute, items: [{ payload: "m" }] }),
  );
  await bundle.begin(() =>
    bundle.engine.produce({ queue: mails, requestTimeoutMs: minute, items: [{ payload: "n" }] }),
  );
  const waits = await bundle.begin(() =>
    bundle.engine.transact({
      requestTimeoutMs: 10,
      complete: [part(held)],
      produce: [out("invoices", "x")],
    }),
  );
  await bundle.clock.advance(10);
  expect(waits.ending).toMatchObject({
    code: "empty",
    message: "request timeout; nothing was changed, try again",
  });
  bundle.store(0).release();
  await bundle.clock.settle();
  expect(busy.ending).toMatchObject({ ok: true });
  expect(await bundle.listed("invoices")).toEqual([]);
  expect(await bundle.complete(held)).toMatchObject({ ok: true });
});

test.each([true, false])(
  "transact: a call whose store fails is answered with its outcome; applied: %p",
  async (applied) => {
    for (const requestKey of [undefined, "k"]) {
      const bundle = await setupQueues(far);
      const held = await heldOf(bundle, "orders", "a");
      bundle.store(source).fail({ fault: "failed", applied });
      const asked = { complete: [part(held)], produce: [out("invoices", "x"), out(mails, "y")] };
      const waits = await bundle.begin(() =>
        bundle.engine.transact({
          requestTimeoutMs: minute,
          ...asked,
          ...(requestKey && { requestKey }),
        }),
      );
      await bundle.clock.advance(second);
      const produced = [
        { queue: "invoices", partition: null, delivered: false, duplicates: [] },
        { queue: mails, partition: 0, delivered: true, duplicates: [] },
      ];
      expect(waits.ending).toEqual({ ok: true, value: { replayed: false, produced } });
      expect(await bundle.listed("invoices")).toEqual(["x"]);
      expect(await bundle.listed(mails)).toEqual(["y"]);
      expect(await bundle.listed("orders")).toEqual([]);
    }
  },
);

const between: [string, (bundle: Bundle) => Promise<unknown>][] = [
  ["at once", async () => undefined],
  ["after a restart", (bundle) => bundle.restart()],
  ["at the end of the window", (bundle) => bundle.clock.advance(limits.receiptsWindowMs - 1)],
  [
    "after partitions were added and taken away",
    async (bundle) => {
      for (const requestedPartitions of [5, 1]) {
        await bundle.run(() => bundle.engine.updateQueue({ name: mails, requestedPartitions }));
        await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions }));
      }
    },
  ],
  [
    "after an output's queue was deleted",
    (bundle) => bundle.run(() => bundle.engine.deleteQueue({ name: "invoices", force: true })),
  ],
];

test.each(between)(
  "transact: repeated with the same key it is done once; %s",
  async (_, happens) => {
    for (const finishes of [true, false]) {
      const bundle = await setupQueues(3, { uniqueForMs: hour });
      await bundle.run(() => bundle.engine.updateQueue({ name: "orders", requestedPartitions: 4 }));
      await bundle.run(() => bundle.engine.updateQueue({ name: mails, requestedPartitions: 4 }));
      const held = await heldOf(bundle, "orders", "a");
      const asked = {
        requestKey: "k",
        complete: finishes ? [part(held)] : [],
        produce: [out(mails, "y"), out("invoices", "x")],
      };
      const before = await transact(bundle, asked);
      if (!before.ok) throw new Error(before.message);
      await happens(bundle);
      expect(await transact(bundle, asked)).toEqual({
        ...before,
        value: { ...before.value, replayed: true },
      });
      const other = { ...asked, produce: [out(mails, "z"), out("invoices", "x")] };
      expect(await transact(bundle, other)).toMatchObject({
        code: "invalid",
        message: "idempotency key is taken; 'k' was used with another request",
      });
    }
  },
);

test("transact: the key of a refused call is free", async () => {
  const bundle = await setupQueues();
  const held = await heldOf(bundle, "orders", "a");
  const bad = { ...part(held), ids: ["none"] };
  expect(await transact(bundle, { requestKey: "k", complete: [bad] })).toMatchObject({
    code: "refused",
  });
  expect(await transact(bundle, { requestKey: "k", complete: [part(held)] })).toEqual(wrote());
});

test("transact: outputs with unique keys are written once, and duplicates are reported by output", async () => {
  const bundle = await setupQueues(near, { uniqueForMs: hour });
  const items = (...keys: string[]) => keys.map((uniqueKey) => ({ payload: uniqueKey, uniqueKey }));
  await transact(bundle, { produce: [out("invoices", ...items("1"))] });
  const held = await heldOf(bundle, "orders", "a");
  const asked = {
    requestKey: "k",
    complete: [part(held)],
    produce: [
      out(mails, "m"),
      out("invoices", ...items("2", "1", "2")),
      out(mails, ...items("1", "1")),
    ],
  };
  const produced = [
    { queue: mails, duplicates: [] },
    { duplicates: [1, 2] },
    { queue: mails, duplicates: [1] },
  ];
  const told = wrote(...produced);
  expect(await transact(bundle, asked)).toEqual(told);
  await bundle.restart();
  if (!told.ok) throw new Error("it was refused");
  expect(await transact(bundle, asked)).toEqual({
    ok: true,
    value: { ...told.value, replayed: true },
  });
  expect(await bundle.listed("invoices")).toEqual(["1", "2"]);
  expect(await bundle.listed(mails)).toEqual(["m", "1"]);
});

test("transact: unique keys for a queue of another shard are refused", async () => {
  const bundle = await setupQueues(far, { uniqueForMs: hour });
  const held = await heldOf(bundle, "orders", "a");
  const unique = { payload: "x", uniqueKey: "1" };
  expect(
    await transact(bundle, { complete: [part(held)], produce: [out("invoices", unique)] }),
  ).toMatchObject({
    code: "invalid",
    message:
      "unique key is invalid; 'invoices' is in another shard than the queue that decides this call, which one {tag} in both names prevents",
  });
  expect(await transact(bundle, { complete: [part(held)], produce: [out(mails, unique)] })).toEqual(
    wrote({ queue: mails }),
  );
  expect(await transact(bundle, { produce: [out("invoices", unique), out(mails, "y")] })).toEqual(
    wrote({}, { queue: mails, delivered: false }),
  );
});

test("transact: duplicates of unique keys are reported even if its store fails", async () => {
  const bundle = await setupQueues(near, { uniqueForMs: hour });
  bundle.store(0).fail({ fault: "failed", applied: true });
  const waits = await bundle.begin(() =>
    bundle.engine.transact({
      requestTimeoutMs: minute,
      produce: [out(mails, { payload: "x", uniqueKey: "1" })],
    }),
  );
  await bundle.clock.advance(second);
  expect(waits.ending).toEqual(wrote({ queue: mails }));
});
