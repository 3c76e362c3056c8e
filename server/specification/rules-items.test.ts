// Questions about items that the specification leaves open, and their answers: each rule that is
// visible over HTTP.

import { expect } from "bun:test";
import type { ImportItem } from "../../openapi/schemas.ts";
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
  refused,
  run,
  start,
  textsOf,
  timed,
} from "../testing/running-app.ts";

const { row, complete } = rowsOf("rules of items", [
  "rule: complete, retry - all or nothing, details names every offending id and why",
  "rule: late complete - accepted until the lease lapsed, then the id is dead",
  "rule: item id - 27 characters in queue order, never reused, new at every requeue",
  "rule: attempts - leases granted; at max_attempts to the dead queue",
  "rule: dead queue - an item arrives exactly once, with its source_id and attempts 0",
  "rule: dead queue - without one the item is removed, counted and logged",
  "rule: max expiry - max(now, enqueue_at) + expire_timeout, not while leased",
  "rule: dead_deadline - expire_deadline where a dead queue exists, else null",
  "rule: retry - empty or past: tail; later: scheduled; dead: dead queue",
  "rule: clear - each flag takes its own, destructive with queue the leased, none is 400",
  "rule: request_timeout - required; 10ms to 15m",
  "rule: request_timeout - enforced, what is late has no effect",
  "rule: storage list - limit at most 20,000, a page ends early at 32 MB",
  "rule: storage import - new ids, all else kept, a source_id once",
  "rule: scheduled items - in scheduled.list only, with enqueue_at",
  "rule: inspect counts - queued, retried, scheduled, dead_letter",
  "rule: no instant - null",
  "rule: ages - since created, since leased",
]);

row(
  "rule: complete, retry - all or nothing, details names every offending id and why",
  async () => {
    await using app = await run({ store: "sqlite" });
    await app.produce("a", "b");
    const lease = await app.lease({ batch_size: 1 });
    const [held = ""] = idsOf(lease.items);
    const [ready = ""] = idsOf((await app.stored()).slice(1));
    const unknown = `${held.slice(0, -1)}z`;
    for (const [verb, send] of [
      ["completed", (ids: string[]) => app.complete(lease, { ids })],
      [
        "retried",
        (ids: string[]) =>
          app.call("retry", { ...orders, partition: 0, items: ids.map((id) => ({ id })) }),
      ],
    ] as const) {
      const details = {
        bad: "invalid storage id; 'bad': Valid encoded KSUIDs are 27 characters",
        [ready]: `item(s) cannot be ${verb}; '${ready}' is not marked as leased`,
        [unknown]: `invalid storage id; '${unknown}' does not exist`,
        [held]: `item(s) cannot be ${verb}; '${held}' is named more than once`,
      };
      expect(plain(await send([held, "bad", ready, unknown, held]))).toEqual(
        refused(453, details.bad, details),
      );
      expect((await app.stored()).map(({ is_leased }) => is_leased)).toEqual([true, false]);
    }
  },
);

row("rule: late complete - accepted until the lease lapsed, then the id is dead", async () => {
  for (const store of ["memory", "sqlite"] as const) {
    await using app = await run({ store });
    await app.produce("a", "b");
    const [first, second] = [await app.lease({ batch_size: 1 }), await app.lease()];
    await app.advance(hour - 1);
    expect((await app.complete(first)).code).toBe(200);
    await app.advance(1);
    const [id = ""] = idsOf(second.items);
    const text = `invalid storage id; '${id}' does not exist`;
    expect(plain(await app.complete(second))).toEqual(refused(453, text, { [id]: text }));
    const third = await app.lease();
    expect((await app.complete(second)).code).toBe(453);
    expect((await app.complete(third)).code).toBe(200);
  }
});

row(
  "rule: item id - 27 characters in queue order, never reused, new at every requeue",
  async () => {
    await using app = await run({ store: "sqlite", orders: { lease_timeout: "1m" } });
    const seen: string[] = [];
    const add = (ids: string[]) => {
      for (const id of ids) expect(id).toMatch(/^[0-9A-Za-z]{27}$/);
      // Ids sort in the order in which they were issued, even across restarts.
      expect([...seen, ...ids]).toEqual([...new Set([...seen, ...ids])].sort());
      seen.push(...ids);
    };
    await app.produce(...Array.from({ length: 100 }, (_, index) => `${index}`));
    add(idsOf(await app.stored()));
    expect(textsOf(await app.stored()).slice(0, 3)).toEqual(["0", "1", "2"]);
    await app.ok("clear", {
      ...orders,
      queue: true,
      retry: false,
      scheduled: false,
      destructive: false,
    });
    await app.restart();
    await app.produce("a");
    add(idsOf(await app.stored()));
    await app.lease();
    await app.advance(minute);
    add(idsOf(await app.stored()));
    await app.retry(await app.lease());
    add(idsOf(await app.stored()));
    await app.retry(await app.lease(), { retry_at: instant(start + hour) });
    add(idsOf(await app.scheduled()));
    await app.restart();
    await app.advance(hour);
    add(idsOf(await app.stored()));
    expect(seen).toHaveLength(105);
  },
);

row("rule: attempts - leases granted; at max_attempts to the dead queue", async () => {
  for (const by of ["lapse", "retry"] as const) {
    await using app = await run({ store: "sqlite", orders: null });
    await app.create("dead");
    await app.create("orders", { dead_queue: "dead", max_attempts: 3, lease_timeout: "1m" });
    await app.produce("a");
    for (const attempts of [1, 2, 3]) {
      expect(await app.stored("dead")).toEqual([]);
      const lease = await app.lease();
      expect(lease.items).toMatchObject([{ attempts }]);
      if (by === "retry") await app.retry(lease);
      else await app.advance(minute);
    }
    expect(await app.stored()).toEqual([]);
    expect(textsOf(await app.stored("dead"))).toEqual(["a"]);
  }
});

row(
  "rule: dead queue - an item arrives exactly once, with its source_id and attempts 0",
  async () => {
    for (const shards of [1, 4]) {
      await using app = await run({ store: "sqlite", shards, orders: null });
      await app.create("dead");
      await app.create("orders", { dead_queue: "dead", requested_partitions: 4 });
      const text = { kind: "k", encoding: "e", reference: "r" };
      const ids: string[] = [];
      for (const utf8 of ["a", "b", "c", "d"]) {
        await app.ok("produce", { ...timed, items: [{ ...text, utf8 }] });
        const lease = await app.lease();
        ids.push(...idsOf(lease.items));
        await app.retry(lease, { dead: true });
      }
      await app.restart();
      const stored = await app.stored("dead");
      expect(textsOf(stored).sort()).toEqual(["a", "b", "c", "d"]);
      expect(stored.map(({ source_id }) => source_id).sort()).toEqual(ids.sort());
      for (const item of stored)
        expect(item).toMatchObject({ ...text, attempts: 0, is_leased: false });
    }
  },
);

row("rule: dead queue - without one the item is removed, counted and logged", async () => {
  await using app = await run({ orders: { max_attempts: 1 } });
  await app.produce("a", "b");
  await app.retry(await app.lease({ batch_size: 1 }));
  await app.retry(await app.lease());
  expect([...(await app.stored()), ...(await app.scheduled())]).toEqual([]);
  expect(await app.metrics()).toContain(
    'holdfast_queue_items_total{queue="orders",event="discarded"} 2',
  );
  const counts = app.notices.flatMap(({ kind, count }) =>
    kind === "items_discarded" ? [count] : [],
  );
  expect(counts).toEqual([1, 1]);
});

row("rule: max expiry - max(now, enqueue_at) + expire_timeout, not while leased", async () => {
  await using app = await run({ orders: { expire_timeout: "1h", lease_timeout: "1h" } });
  const far = instant(start + day);
  await app.ok("produce", { ...timed, items: [{ utf8: "far", enqueue_at: far }, { utf8: "now" }] });
  expect(await app.scheduled()).toMatchObject([{ expire_deadline: instant(start + day + hour) }]);
  expect(await app.stored()).toMatchObject([{ expire_deadline: instant(start + hour) }]);
  await app.advance(hour - 1);
  const held = await app.lease();
  await app.advance(hour - 1);
  expect((await app.complete(held)).code).toBe(200);
  await app.advance(day - 2 * hour + 2);
  expect(textsOf(await app.stored())).toEqual(["far"]);
  await app.advance(hour);
  expect(await app.stored()).toEqual([]);
});

row("rule: dead_deadline - expire_deadline where a dead queue exists, else null", async () => {
  await using app = await run();
  await app.create("dead");
  await app.produce("a");
  expect(await app.stored()).toMatchObject([{ dead_deadline: null }]);
  await app.ok("updateQueue", { ...orders, dead_queue: "dead" });
  expect(await app.stored()).toMatchObject([
    { dead_deadline: instant(start + day), expire_deadline: instant(start + day) },
  ]);
});

row("rule: retry - empty or past: tail; later: scheduled; dead: dead queue", async () => {
  await using app = await run({ store: "sqlite", orders: null });
  await app.create("dead");
  await app.create("orders", { dead_queue: "dead" });
  await app.produce("past", "empty", "later", "dead", "tail");
  const { partition, items } = await app.lease({ batch_size: 4 });
  const [past = "", empty = "", later = "", dead = ""] = idsOf(items);
  const at = instant(start + 1);
  await app.ok("retry", {
    ...orders,
    partition,
    items: [
      { id: past, retry_at: instant(start - day) },
      { id: empty, retry_at: "" },
      { id: later, retry_at: at },
      { id: dead, retry_at: at, dead: true },
    ],
  });
  expect(textsOf(await app.stored())).toEqual(["tail", "past", "empty"]);
  expect(await app.scheduled()).toMatchObject([{ payload: btoa("later"), enqueue_at: at }]);
  expect(textsOf(await app.stored("dead"))).toEqual(["dead"]);
  expect(await app.ok("inspect", orders)).toMatchObject({ retried: 1, scheduled: 0 });
});

row(
  "rule: clear - each flag takes its own, destructive with queue the leased, none is 400",
  async () => {
    await using app = await run({ store: "sqlite" });
    const flags = { retry: false, scheduled: false, queue: false, destructive: false };
    for (const change of [{}, { destructive: true }]) {
      expect(plain(await app.call("clear", { ...orders, ...flags, ...change }))).toEqual(
        refused(400, "invalid clear request; one of 'queue', 'scheduled', 'retry' must be true"),
      );
    }
    await app.produce("leased", "ready");
    await app.lease({ batch_size: 1 });
    // Alone or combined, `destructive` only affects leased items of the queue.
    for (const [change, left] of [
      [{ scheduled: true, destructive: true }, ["leased", "ready"]],
      [{ retry: true, destructive: true }, ["leased", "ready"]],
      [{ queue: true }, ["leased"]],
      [{ queue: true, destructive: true }, []],
    ] as const) {
      await app.ok("clear", { ...orders, ...flags, ...change });
      expect(textsOf(await app.stored())).toEqual([...left]);
    }
    await app.restart();
    expect(await app.stored()).toEqual([]);
  },
);

row("rule: request_timeout - required; 10ms to 15m", async () => {
  await using app = await run();
  await app.produce("a", "b", "c");
  const [first, second] = [await app.lease({ batch_size: 1 }), await app.lease({ batch_size: 1 })];
  const calls = (request_timeout: string) => [
    () => app.call("produce", { ...orders, request_timeout, items: [{}] }),
    () => app.call("lease", app.leaseOf({ request_timeout })),
    () => app.complete(request_timeout === "10ms" ? first : second, { request_timeout }),
  ];
  for (const [text, message] of [
    ["9ms", "minimum timeout is '10ms' but '9ms' was requested"],
    ["15m1ms", "maximum timeout is '15m' but '15m0.001s' was requested"],
    ["10", 'time: missing unit in duration "10" - expected format: 900ms, 5m or 15m'],
    ["-1s", 'time: negative duration "-1s" - expected format: 900ms, 5m or 15m'],
  ] as const) {
    for (const call of calls(text)) {
      expect(plain(await call())).toEqual(refused(400, `request timeout is invalid; ${message}`));
    }
  }
  for (const call of [...calls("10ms"), ...calls("15m")]) expect((await call()).code).toBe(200);
});

row("rule: request_timeout - enforced, what is late has no effect", async () => {
  await using app = await run({ store: "sqlite" });
  await app.produce("a", "b");
  const lease = await app.lease({ batch_size: 1 });
  app.store.hold();
  const patient = { ...timed, request_timeout: "15m" };
  for (const utf8 of ["one", "two"]) await app.begin("produce", { ...patient, items: [{ utf8 }] });
  const { partition } = lease;
  const late = [
    await app.begin("produce", { ...timed, request_timeout: "10ms", items: [{ utf8: "late" }] }),
    await app.begin("lease", app.leaseOf({ request_timeout: "10ms" })),
    await app.begin("complete", {
      ...timed,
      partition,
      request_timeout: "10ms",
      ids: idsOf(lease.items),
    }),
  ];
  await app.advance(9);
  expect(late.map(({ answer }) => answer)).toEqual([null, null, null]);
  await app.advance(1);
  expect(late.map(({ answer }) => answer?.body.message)).toEqual([
    "request timeout; the items were not written, try again",
    "request timeout; no items are in the queue, try again",
    "request timeout; the items were not completed, try again",
  ]);
  app.store.release();
  await app.arrive();
  const stored = await app.stored();
  expect(textsOf(stored)).toEqual(["a", "b", "one", "two"]);
  expect(stored.map(({ is_leased }) => is_leased)).toEqual([true, false, false, false]);
});

row("rule: storage list - limit at most 20,000, a page ends early at 32 MB", async () => {
  await using app = await run({ store: "sqlite" });
  const page = { ...orders, partition: 0, pivot: "" };
  for (const [limit, text] of [
    [20_001, "cannot be greater than 20000"],
    [0, "must be greater than zero"],
    [-1, "limit cannot be negative"],
  ] as const) {
    for (const id of ["listItems", "listScheduled"] as const) {
      expect(plain(await app.call(id, { ...page, limit }))).toEqual(
        refused(400, `limit is invalid; ${text}`),
      );
    }
  }
  const utf8 = "x".repeat(4_000_000);
  for (let index = 0; index < 10; index += 1) await app.produce(utf8);
  const { items } = await app.ok("listItems", { ...page, limit: 20_000 });
  expect(items.length).toBeLessThan(10);
  expect(items.length).toBeGreaterThanOrEqual(8);
  const pivot = items.at(-1)?.id ?? "";
  const rest = await app.ok("listItems", { ...page, pivot, limit: 20_000 });
  expect(rest.items[0]?.id).toBe(pivot);
  expect(items.length + rest.items.length - 1).toBe(10);
});

row("rule: storage import - new ids, all else kept, a source_id once", async () => {
  await using app = await run({ store: "sqlite", orders: { max_attempts: 9 } });
  const text = { reference: "r", encoding: "e", kind: "k", payload: btoa("p") };
  const items: ImportItem[] = [
    {
      ...text,
      id: "0".repeat(27),
      source_id: "leased",
      is_leased: true,
      lease_deadline: instant(start + hour),
      expire_deadline: instant(start + 5 * day),
      created_at: instant(start - day),
      attempts: 2,
    },
    { ...text, source_id: "later", enqueue_at: instant(start + 2 * hour), attempts: 4 },
    { ...text, source_id: "ready", expire_deadline: instant(start + 6 * day) },
  ];
  const request = { ...orders, partition: 0, items };
  const imported = (await app.ok("importItems", request)).items;
  for (const [index, { id: _, ...kept }] of items.entries()) {
    expect(imported[index]).toMatchObject({ ...kept, max_attempts: 9 });
  }
  const ids = idsOf(imported);
  expect(new Set([...ids, "0".repeat(27)]).size).toBe(4);
  expect(await app.stored()).toEqual(imported.filter(({ enqueue_at }) => enqueue_at === null));
  expect(await app.scheduled()).toEqual(imported.filter(({ enqueue_at }) => enqueue_at !== null));
  expect(await app.ok("importItems", request)).toEqual({ items: [] });
  expect(await app.stored()).toHaveLength(2);
  // A client with the new id of an imported lease may complete the item.
  const completed = { ...timed, partition: 0, ids: ids.slice(0, 1) };
  expect(await app.ok("complete", completed)).toEqual(done);
  await app.advance(2 * hour);
  expect((await app.lease()).items).toMatchObject([{ attempts: 1 }, { attempts: 5 }]);
});

row("rule: scheduled items - in scheduled.list only, with enqueue_at", async () => {
  await using app = await run({ store: "sqlite" });
  const [at, then] = [instant(start + hour), instant(start + 2 * hour)];
  await app.ok("produce", { ...timed, items: [{ utf8: "a", enqueue_at: at }, { utf8: "b" }] });
  await app.retry(await app.lease(), { retry_at: then });
  expect(await app.stored()).toEqual([]);
  expect(await app.scheduled()).toMatchObject([
    { payload: btoa("a"), enqueue_at: at },
    { payload: btoa("b"), enqueue_at: then },
  ]);
  const [, second] = await app.scheduled();
  const page = { ...orders, partition: 0, pivot: second?.id ?? "", limit: 1 };
  expect((await app.ok("listScheduled", page)).items).toEqual(second === undefined ? [] : [second]);
});

row("rule: inspect counts - queued, retried, scheduled, dead_letter", async () => {
  await using app = await run({ store: "sqlite", orders: null });
  await app.create("dead");
  await app.create("orders", { dead_queue: "dead", requested_partitions: 2 });
  const at = instant(start + hour);
  await app.ok("produce", { ...timed, items: [{}, {}, { enqueue_at: at }] });
  await app.retry(await app.lease(), { retry_at: at });
  for (const _ of [1, 2, 3]) await app.produce("dead");
  while ((await app.ok("inspect", orders)).queued > 0)
    await app.retry(await app.lease(), { dead: true });
  await app.produce("leased");
  await app.lease();
  await app.produce("ready");
  const counts = { queued: 1, leased: 1, retried: 2, scheduled: 1, dead_letter: 3, partitions: 2 };
  expect(await app.ok("inspect", orders)).toEqual({ ...orders, ...counts });
  await app.restart();
  expect(await app.ok("inspect", orders)).toEqual({ ...orders, ...counts });
});

row("rule: no instant - null", async () => {
  await using app = await run();
  await app.produce("a");
  const none = { lease_deadline: null, dead_deadline: null, enqueue_at: null };
  expect(await app.stored()).toMatchObject([none]);
  await app.lease();
  expect(await app.stored()).toMatchObject([{ ...none, lease_deadline: instant(start + hour) }]);
});

row("rule: ages - since created, since leased", async () => {
  await using app = await run({ orders: { requested_partitions: 2 } });
  const ages = async () => {
    const { logical_queues } = await app.ok("stats", orders);
    return logical_queues.map(({ average_leased_age, partitions }) => [
      average_leased_age,
      ...partitions.map((one) => [one.average_age, one.average_leased_age]),
    ]);
  };
  await app.produce("a", "b");
  await app.advance(minute);
  await app.lease({ batch_size: 1 });
  await app.produce("c");
  await app.advance(minute);
  expect(await ages()).toEqual([["1m0s", ["2m0s", "1m0s"], ["1m0s", "0s"]]]);
});

complete();
