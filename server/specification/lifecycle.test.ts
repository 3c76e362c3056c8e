// The life of an item, from produce to its end, as a client sees it.

import { expect } from "bun:test";
import { rowsOf } from "../testing/rows.ts";
import {
  day,
  done,
  hour,
  idsOf,
  instant,
  minute,
  orders,
  plain,
  type RunningApp,
  refused,
  run,
  start,
  textsOf,
  timed,
} from "../testing/running-app.ts";

const { row, complete } = rowsOf("lifecycle", [
  "lifecycle: produced, it may be scheduled through enqueue_at",
  "lifecycle: queued once it is due",
  "lifecycle: leased to exactly one consumer",
  "lifecycle: completed, it is removed, never offered again and not dead-lettered",
  "lifecycle: a lease past its deadline is offered to another consumer, attempts increase",
  "lifecycle: retry returns the item at retry_at and attempts increase",
  "lifecycle: retry returns the item immediately if retry_at is empty",
  "lifecycle: retry with dead true places it in the dead queue",
  "lifecycle: an item past expire_timeout moves to the dead queue",
  "lifecycle: clear can target the retry set, the scheduled set and the waiting queue",
  "lifecycle: destructive clear takes leased items, their holders cannot complete them",
  "lifecycle: a forced delete cancels lease requests in progress",
  "lifecycle: load is balanced across partitions",
]);

/** Runs a test on both stores. */
function onBothStores(test: (app: RunningApp) => Promise<void>): () => Promise<void> {
  return async () => {
    for (const store of ["memory", "sqlite"] as const) {
      await using app = await run({ store, orders: null });
      await app.create("dead");
      await app.create("orders", { dead_queue: "dead" });
      await test(app);
    }
  };
}

row(
  "lifecycle: produced, it may be scheduled through enqueue_at",
  onBothStores(async (app) => {
    const later = instant(start + hour);
    await app.ok("produce", { ...timed, items: [{ utf8: "later", enqueue_at: later }] });
    const lease = await app.begin("lease", app.leaseOf());
    await app.advance(minute);
    expect(plain(lease.answer)).toEqual(
      refused(454, "request timeout; no items are in the queue, try again"),
    );
    expect(await app.stored()).toEqual([]);
    expect(await app.scheduled()).toMatchObject([{ enqueue_at: later }]);
  }),
);

row(
  "lifecycle: queued once it is due",
  onBothStores(async (app) => {
    const items = [{ utf8: "later", enqueue_at: instant(start + minute) }];
    await app.ok("produce", { ...timed, items });
    const lease = await app.begin("lease", app.leaseOf({ request_timeout: "5m" }));
    await app.advance(minute - 1);
    expect(lease.answer).toBeNull();
    await app.advance(1);
    expect(textsOf(lease.answer?.body.items)).toEqual(["later"]);
    expect(await app.stored()).toMatchObject([{ created_at: instant(start), enqueue_at: null }]);
  }),
);

row(
  "lifecycle: leased to exactly one consumer",
  onBothStores(async (app) => {
    await app.produce("a", "b", "c");
    const first = await app.lease({ batch_size: 2 });
    expect(textsOf(first.items)).toEqual(["a", "b"]);
    expect(textsOf((await app.lease()).items)).toEqual(["c"]);
    const third = await app.begin("lease", app.leaseOf({ request_timeout: "15m" }));
    await app.advance(15 * minute);
    expect(third.answer?.code).toBe(454);
    expect((await app.complete(first)).code).toBe(200);
  }),
);

row(
  "lifecycle: completed, it is removed, never offered again and not dead-lettered",
  onBothStores(async (app) => {
    await app.produce("a");
    expect(plain(await app.complete(await app.lease()))).toEqual({ code: 200, body: done });
    const lease = await app.begin("lease", app.leaseOf({ request_timeout: "10ms" }));
    await app.advance(2 * day);
    expect(lease.answer?.code).toBe(454);
    await app.restart();
    const none = { queued: 0, retried: 0, scheduled: 0, dead_letter: 0 };
    expect(await app.ok("inspect", orders)).toMatchObject(none);
    expect([...(await app.stored()), ...(await app.stored("dead"))]).toEqual([]);
  }),
);

row(
  "lifecycle: a lease past its deadline is offered to another consumer, attempts increase",
  onBothStores(async (app) => {
    await app.produce("a");
    const first = await app.lease();
    await app.advance(hour - minute + 1);
    const second = await app.begin("lease", app.leaseOf());
    expect(second.answer).toBeNull();
    await app.advance(minute);
    const [item] = second.answer?.body.items ?? [];
    expect(item).toMatchObject({ attempts: 2, bytes: btoa("a") });
    expect(idsOf(first.items)).not.toContain(item.id);
    expect((await app.complete(first)).code).toBe(453);
    expect((await app.complete(second.answer?.body)).code).toBe(200);
  }),
);

row(
  "lifecycle: retry returns the item at retry_at and attempts increase",
  onBothStores(async (app) => {
    await app.produce("a");
    await app.retry(await app.lease(), { retry_at: instant(start + minute) });
    expect(await app.ok("inspect", orders)).toMatchObject({ retried: 1, scheduled: 0, queued: 0 });
    const again = await app.begin("lease", app.leaseOf({ request_timeout: "5m" }));
    await app.advance(minute - 1);
    expect(again.answer).toBeNull();
    await app.advance(1);
    expect(again.answer?.body.items).toMatchObject([{ attempts: 2, bytes: btoa("a") }]);
  }),
);

row(
  "lifecycle: retry returns the item immediately if retry_at is empty",
  onBothStores(async (app) => {
    await app.produce("a", "b");
    const first = await app.lease({ batch_size: 1 });
    await app.retry(first);
    const { items } = await app.lease();
    // A retried item goes to the tail, behind items without attempts.
    expect(textsOf(items)).toEqual(["b", "a"]);
    expect(items.map(({ attempts }) => attempts)).toEqual([1, 2]);
    expect(idsOf(items)).not.toContain(idsOf(first.items)[0]);
  }),
);

row(
  "lifecycle: retry with dead true places it in the dead queue",
  onBothStores(async (app) => {
    await app.ok("produce", {
      ...timed,
      items: [{ utf8: "a", kind: "k", encoding: "e", reference: "r" }],
    });
    const lease = await app.lease();
    await app.retry(lease, { dead: true });
    expect(await app.stored()).toEqual([]);
    expect(await app.stored("dead")).toMatchObject([
      {
        source_id: idsOf(lease.items)[0],
        attempts: 0,
        is_leased: false,
        payload: btoa("a"),
        kind: "k",
        encoding: "e",
        reference: "r",
      },
    ]);
    const dead = await app.lease({ queue_name: "dead" });
    expect(dead.items).toMatchObject([{ attempts: 1, bytes: btoa("a") }]);
    expect((await app.complete(dead)).code).toBe(200);
  }),
);

row(
  "lifecycle: an item past expire_timeout moves to the dead queue",
  onBothStores(async (app) => {
    await app.produce("a");
    await app.advance(day - 1);
    expect(textsOf(await app.stored())).toEqual(["a"]);
    await app.advance(1);
    expect(await app.stored()).toEqual([]);
    expect(await app.stored("dead")).toMatchObject([
      { payload: btoa("a"), attempts: 0, expire_deadline: instant(start + 2 * day) },
    ]);
  }),
);

row(
  "lifecycle: clear can target the retry set, the scheduled set and the waiting queue",
  onBothStores(async (app) => {
    const flags = { retry: false, scheduled: false, queue: false, destructive: false };
    const counts = { retried: 1, scheduled: 1, queued: 1 };
    const later = instant(start + hour);
    for (const [flag, count] of [
      ["retry", "retried"],
      ["scheduled", "scheduled"],
      ["queue", "queued"],
    ] as const) {
      await app.produce("retried");
      await app.retry(await app.lease(), { retry_at: later });
      await app.ok("produce", { ...timed, items: [{ enqueue_at: later }, { utf8: "leased" }] });
      const held = await app.lease();
      await app.produce("ready");
      expect(await app.ok("inspect", orders)).toMatchObject(counts);
      await app.ok("clear", { ...orders, ...flags, [flag]: true });
      expect(await app.ok("inspect", orders)).toMatchObject({ ...counts, [count]: 0 });
      expect((await app.complete(held)).code).toBe(200);
      await app.ok("clear", {
        ...orders,
        retry: true,
        scheduled: true,
        queue: true,
        destructive: false,
      });
      expect(await app.ok("inspect", orders)).toMatchObject({
        retried: 0,
        scheduled: 0,
        queued: 0,
      });
    }
    // Cleared items are not dead-lettered.
    expect(await app.stored("dead")).toEqual([]);
  }),
);

row(
  "lifecycle: destructive clear takes leased items, their holders cannot complete them",
  onBothStores(async (app) => {
    await app.produce("leased", "ready");
    await app.ok("produce", { ...timed, items: [{ enqueue_at: instant(start + hour) }] });
    const held = await app.lease({ batch_size: 1 });
    const what = { retry: false, scheduled: false, queue: true, destructive: true };
    expect(await app.ok("clear", { ...orders, ...what })).toEqual(done);
    expect(await app.stored()).toEqual([]);
    // Scheduled items are only cleared if the request says so.
    expect(await app.scheduled()).toHaveLength(1);
    expect((await app.complete(held)).code).toBe(453);
    expect((await app.retry(held)).code).toBe(453);
  }),
);

row(
  "lifecycle: a forced delete cancels lease requests in progress",
  onBothStores(async (app) => {
    const waiting = [
      await app.begin("lease", app.leaseOf()),
      await app.begin("lease", app.leaseOf()),
    ];
    expect(await app.ok("deleteQueue", { ...orders, force: true })).toEqual(done);
    for (const { answer } of waiting) {
      expect(plain(answer)).toEqual(refused(453, "queue is shutting down; it was deleted"));
    }
  }),
);

row(
  "lifecycle: load is balanced across partitions",
  onBothStores(async (app) => {
    await app.ok("updateQueue", { ...orders, requested_partitions: 4 });
    for (let index = 0; index < 20; index += 1) await app.produce("a", "b");
    const { logical_queues } = await app.ok("stats", orders);
    const totals = logical_queues.flatMap(({ partitions }) => partitions.map(({ total }) => total));
    expect(totals).toEqual([10, 10, 10, 10]);
    const partitions = new Set<number>();
    for (let index = 0; index < 4; index += 1) {
      partitions.add((await app.lease({ batch_size: 10 })).partition);
    }
    expect(partitions.size).toBe(4);
  }),
);

complete();
