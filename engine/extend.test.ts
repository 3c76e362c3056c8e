// Extending and releasing leases.

import { expect, test } from "bun:test";
import { type Bundle, hour, idsOf, minute, second, setup, textsOf } from "./simulation/bundle.ts";

async function setupQueue(texts: readonly string[] = ["a", "b", "c", "d", "e"]): Promise<Bundle> {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", leaseTimeoutMs: minute, maxAttempts: 3 });
  await bundle.produce("orders", ...texts);
  return bundle;
}

function extend(bundle: Bundle, ids: readonly string[], leaseTimeoutMs: number | null = null) {
  const request = { queue: "orders", partition: 0, ids, leaseTimeoutMs };
  return bundle.ending(() => bundle.engine.extend(request));
}

function release(bundle: Bundle, ids: readonly string[]) {
  return bundle.ending(() => bundle.engine.release({ queue: "orders", partition: 0, ids }));
}

/** The texts of the items that can be leased now. */
async function offered(bundle: Bundle): Promise<string[]> {
  const started = await bundle.beginLease("orders", { batchSize: 100, requestTimeoutMs: second });
  await bundle.clock.advance(second);
  return started.ending?.ok === true ? textsOf(started.ending.value.items).sort() : [];
}

test("lease: the reply contains the queue's max_attempts", async () => {
  const bundle = await setupQueue();
  expect(await bundle.lease("orders")).toMatchObject({ maxAttempts: 3 });
});

test("lease: a lease's own timeout and the queue's timeout can share a turn", async () => {
  const bundle = await setupQueue();
  const own = bundle.leaseOf("orders", { batchSize: 2, leaseTimeoutMs: hour });
  const plain = bundle.leaseOf("orders", { batchSize: 2 });
  const [long, short] = await bundle.run(() =>
    Promise.all([bundle.engine.lease(own), bundle.engine.lease(plain)]),
  );
  const deadlines = [long, short].map(({ items }) => items.map((item) => item.leaseDeadline));
  const now = bundle.clock.now();
  expect(deadlines).toEqual([
    [now + hour, now + hour],
    [now + minute, now + minute],
  ]);
  await bundle.clock.advance(minute);
  expect(await offered(bundle)).toEqual(["c", "d", "e"]);
});

test("lease: an invalid timeout of its own is refused", async () => {
  const bundle = await setupQueue();
  const ending = (leaseTimeoutMs: number) =>
    bundle.ending(() => bundle.engine.lease(bundle.leaseOf("orders", { leaseTimeoutMs })));
  expect(await ending(0)).toMatchObject({ message: "lease timeout is invalid; cannot be empty" });
  expect(await ending(-1)).toMatchObject({ code: "invalid" });
  expect(await ending(0.5)).toMatchObject({ code: "invalid" });
});

test("extend: the lease is renewed from now on for the queue's timeout or the caller's", async () => {
  const bundle = await setupQueue();
  const { items } = await bundle.lease("orders", { batchSize: 5 });
  await bundle.clock.advance(50 * second);
  const until = bundle.clock.now() + minute;
  expect(await extend(bundle, idsOf(items))).toEqual({
    ok: true,
    value: { leaseDeadline: until, now: until - minute, replayed: false },
  });
  await bundle.clock.advance(50 * second);
  expect(await offered(bundle)).toEqual([]);
  expect(await extend(bundle, idsOf(items), hour)).toMatchObject({ ok: true });
  await bundle.clock.advance(hour - second);
  expect(await offered(bundle)).toEqual([]);
  await bundle.clock.advance(second);
  expect(await offered(bundle)).toEqual(["a", "b", "c", "d", "e"]);
});

test("extend: no lease becomes shorter", async () => {
  const bundle = await setupQueue(["a"]);
  const { items } = await bundle.lease("orders");
  const [item] = items;
  const now = bundle.clock.now();
  expect(await extend(bundle, idsOf(items), second)).toEqual({
    ok: true,
    value: { leaseDeadline: item?.leaseDeadline ?? 0, now, replayed: false },
  });
  await bundle.clock.advance(50 * second);
  expect(await offered(bundle)).toEqual([]);
});

test.each([[[0]], [[4]], [[2]], [[0, 2, 4]], [[1, 2]], [[0, 1, 2, 3, 4]]])(
  "extend: of one lease the items %j stay, the others lapse, also after restarts",
  async (chosen) => {
    const bundle = await setupQueue();
    const { items } = await bundle.lease("orders", { batchSize: 5 });
    const ids = idsOf(items);
    const some = chosen.map((index) => ids[index] as string);
    await bundle.clock.advance(30 * second);
    expect(await extend(bundle, some, hour)).toMatchObject({ ok: true });
    await bundle.restart();
    await bundle.clock.advance(30 * second);
    const texts = ["a", "b", "c", "d", "e"];
    const others = texts.filter((_, index) => !chosen.includes(index));
    expect(await offered(bundle)).toEqual(others);
    await bundle.restart();
    const done = await bundle.ending(() =>
      bundle.engine.complete({
        queue: "orders",
        partition: 0,
        requestTimeoutMs: minute,
        ids: some,
      }),
    );
    expect(done).toMatchObject({ ok: true });
  },
);

test.each([[[1, 3]], [[0, 2]], [[2]], [[0, 4]]])(
  "extend: after one of %j the others lapse in the order of the queue, and so does what was extended",
  async (indexes) => {
    const texts = Array.from({ length: 12 }, (_, index) => String(index).padStart(2, "0"));
    const bundle = await setupQueue(texts);
    const { items } = await bundle.lease("orders", { batchSize: 12 });
    const places = indexes.flatMap((index) => [index, index + 6]).sort((a, b) => a - b);
    await bundle.clock.advance(second);
    await extend(
      bundle,
      places.map((place) => items[place]?.id ?? ""),
    );
    const extended = new Set(places.map((place) => texts[place]));
    await bundle.clock.advance(minute - second);
    const lapsed = await bundle.lease("orders", { batchSize: 12 });
    expect(textsOf(lapsed.items)).toEqual(texts.filter((text) => !extended.has(text)));
    await bundle.clock.advance(second);
    const later = await bundle.lease("orders", { batchSize: 12 });
    expect(textsOf(later.items)).toEqual(texts.filter((text) => extended.has(text)));
  },
);

test("extend: items completed in between are left out", async () => {
  const bundle = await setupQueue();
  const lease = await bundle.lease("orders", { batchSize: 5 });
  const ids = idsOf(lease.items);
  await bundle.complete({ ...lease, items: lease.items.slice(1, 3) });
  expect(
    await extend(
      bundle,
      [0, 3].map((index) => ids[index] as string),
      hour,
    ),
  ).toMatchObject({
    ok: true,
  });
  await bundle.restart();
  await bundle.clock.advance(minute);
  expect(await offered(bundle)).toEqual(["e"]);
});

test("extend: an extend and a complete of the same item in one turn leave no lease", async () => {
  const bundle = await setupQueue(["a"]);
  const { items } = await bundle.lease("orders");
  const ids = idsOf(items);
  const where = { queue: "orders", partition: 0 };
  const endings = await bundle.run(() =>
    Promise.all([
      bundle.outcome(() => bundle.engine.extend({ ...where, ids })),
      bundle.outcome(() => bundle.engine.extend({ ...where, ids, leaseTimeoutMs: hour })),
      bundle.outcome(() => bundle.engine.complete({ ...where, requestTimeoutMs: minute, ids })),
    ]),
  );
  expect(endings.map(({ ok }) => ok)).toContain(true);
  await bundle.restart();
  expect(bundle.image().leases.values()).toEqual([]);
});

test("extend: two extends in one turn can cover parts of one lease", async () => {
  const bundle = await setupQueue();
  const { items } = await bundle.lease("orders", { batchSize: 5 });
  const ids = idsOf(items);
  const where = { queue: "orders", partition: 0 };
  await bundle.run(() =>
    Promise.all([
      bundle.engine.extend({ ...where, ids: ids.slice(2, 4), leaseTimeoutMs: 2 * minute }),
      bundle.engine.extend({ ...where, ids: ids.slice(3), leaseTimeoutMs: hour }),
    ]),
  );
  await bundle.restart();
  await bundle.clock.advance(minute);
  expect(await offered(bundle)).toEqual(["a", "b"]);
  await bundle.clock.advance(minute);
  expect(await offered(bundle)).toContain("c");
});

test.each([
  ["not leased any more", (ids: string[]) => ids],
  ["malformed", (ids: string[]) => [...ids.slice(1), "x"]],
])("extend and release: a batch with an id that is %s is refused whole", async (_, change) => {
  const bundle = await setupQueue();
  const { items } = await bundle.lease("orders", { batchSize: 2 });
  const ids = change(idsOf(items));
  await bundle.complete({
    queue: "orders",
    partition: 0,
    maxAttempts: 3,
    now: bundle.clock.now(),
    replayed: false,
    items: items.slice(0, 1),
  });
  const refused = await extend(bundle, ids, hour);
  expect(refused).toMatchObject({ ok: false, code: "refused" });
  expect(await release(bundle, ids)).toMatchObject({ ok: false, code: "refused" });
  await bundle.clock.advance(minute);
  expect(await offered(bundle)).toContain("b");
});

test("release: the item is requeued at once under a new id, and the attempt is not counted", async () => {
  const bundle = await setupQueue(["a"]);
  for (let round = 0; round < 5; round += 1) {
    const { items } = await bundle.lease("orders");
    expect(items).toMatchObject([{ attempts: 1 }]);
    const ids = idsOf(items);
    expect(await release(bundle, ids)).toMatchObject({ ok: true });
    expect(await extend(bundle, ids)).toMatchObject({
      code: "refused",
      message: expect.stringContaining("does not exist"),
    });
  }
  await bundle.restart();
  expect((await bundle.lease("orders")).items).toMatchObject([{ attempts: 1 }]);
});

test("extend and release: no ids, or too many, are refused", async () => {
  const bundle = await setupQueue();
  for (const ids of [[], new Array(1_001).fill("x")]) {
    expect(await extend(bundle, ids)).toMatchObject({ code: "invalid" });
    expect(await release(bundle, ids)).toMatchObject({ code: "invalid" });
  }
});
