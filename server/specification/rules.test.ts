// What the specification leaves open, and how it was settled: each rule that shows at the
// HTTP side.

import { expect } from "bun:test";
import { limits } from "../../engine/limits.ts";
import { operations } from "../../openapi/operations.ts";
import type { ImportItem } from "../../openapi/schemas.ts";
import { readConfig } from "../config.ts";
import { rowsOf } from "./rows.ts";
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
  second,
  start,
  textsOf,
  timed,
} from "./running-app.ts";

const { row, complete } = rowsOf("rules", [
  "rule: reply - code, code_text, message, and details per id; HTTP status = code",
  "rule: codes - each with a Reply body, none with a stack, path or SQL",
  "rule: unknown queue, bad partition - 400",
  "rule: complete, retry - all or nothing, details names every offending id and why",
  "rule: late complete - accepted until the lease lapsed, then the id is dead",
  "rule: item id - 27 characters in queue order, never reused, new at every requeue",
  "rule: attempts - leases granted; at max_attempts to the dead queue",
  "rule: dead queue - must exist, not itself, no chains",
  "rule: dead queue - an item arrives exactly once, with its source_id and attempts 0",
  "rule: dead queue - without one the item is removed, counted and logged",
  "rule: max expiry - max(now, enqueue_at) + expire_timeout, not while leased",
  "rule: dead_deadline - expire_deadline where a dead queue exists, else null",
  "rule: retry - empty or past: tail; later: scheduled; dead: dead queue",
  "rule: clear - each flag takes its own, destructive with queue the leased, none is 400",
  "rule: update - an absent key keeps its value, a present one sets it",
  "rule: update - requested_partitions up adds, down drains the surplus",
  "rule: delete - without force 453 when it holds items or is a dead queue",
  "rule: delete - with force nothing is left, nor comes back with the name",
  "rule: request_timeout - required; 10ms to 15m",
  "rule: request_timeout - enforced, what is late has no effect",
  "rule: durations - 300ms, 1.5s, 60m, 1h30m; echoed as given",
  "rule: date-times - RFC 3339 and the form with a space, milliseconds, no 30 February",
  "rule: queues.info - name; queue_name too",
  "rule: storage list - limit at most 20,000, a page ends early at 32 MB",
  "rule: storage import - new ids, all else kept, a source_id once",
  "rule: scheduled items - in scheduled.list only, with enqueue_at",
  "rule: stats - scheduled, failures and average_leased_age per partition too",
  "rule: inspect - POST /v1/queue.inspect",
  "rule: inspect counts - queued, retried, scheduled, dead_letter",
  "rule: optional keys - batch_size and requested_partitions absent are 1, unknown keys 400",
  "rule: no instant - null",
  "rule: state conflicts - 400 with the reference's texts",
  "rule: ages - since created, since leased",
  "rule: browser guard - foreign Host or Origin 403, not JSON 415",
  "rule: queue names - 1 to 512 bytes, no whitespace, ~ or control characters",
  "rule: limits - partitions 1 to 10,000, queues 10,000, bodies",
  "rule: limits - a full line of leases is 429 with Retry-After",
  "rule: server - defaults, GET /health, GET /metrics, waiting leases answered at a stop",
]);

row("rule: reply - code, code_text, message, and details per id; HTTP status = code", async () => {
  await using app = await run();
  await app.produce("a");
  const lease = await app.lease();
  const answers = [
    await app.complete(lease, { ids: ["x", "y"] }),
    await app.complete(lease),
    await app.call("produce", {}),
    await app.call("deleteQueue", { queue_name: "none", force: true }),
  ];
  expect(answers.map(({ code }) => code)).toEqual([453, 200, 400, 400]);
  for (const { code, body } of answers) {
    expect(body.code).toBe(code);
    const keys = Object.keys(body);
    expect(keys).toEqual(["code", "code_text", "message", ...(code === 453 ? ["details"] : [])]);
  }
  expect(answers[0]?.body.details).toEqual({ x: expect.any(String), y: expect.any(String) });
});

row("rule: codes - each with a Reply body, none with a stack, path or SQL", async () => {
  const options = { store: "sqlite", waitingLeasesMax: 1, config: { bodyMax: 1_000 } } as const;
  await using app = await run(options);
  await app.produce("a");
  const json = { "content-type": "application/json" };
  const body = JSON.stringify(orders);
  const post = (change: RequestInit) => ({ method: "POST", headers: json, body, ...change });
  const stats = operations.stats.path;
  const { deleteQueue, lease, produce } = operations;
  const text = (value: object) => ({ body: JSON.stringify(value) });
  const item = { ...timed, items: [{}] };
  const seen = async (code: number, path: string, init: RequestInit) => {
    const response = await app.through(app.send(path, init));
    expect(response.status).toBe(code);
    const reply = await response.json();
    expect(reply).toMatchObject({ code, code_text: expect.any(String) });
    expect(reply.message).toMatch(code === 200 ? /^$/ : /./);
    expect(JSON.stringify(reply)).not.toMatch(/\n|\bat \S+:\d|\.ts\b|\.db\b|SELECT|INSERT|\/tmp/);
  };
  await seen(200, produce.path, post(text(item)));
  await seen(400, stats, post({ body: "{" }));
  await seen(403, stats, post({ headers: { ...json, origin: "https://evil.example" } }));
  await seen(404, "/v1/queue.none", post({}));
  await seen(405, stats, { method: "GET" });
  await seen(413, stats, post({ body: " ".repeat(2_000) }));
  await seen(415, stats, post({ headers: { "content-type": "text/plain" } }));
  await seen(453, deleteQueue.path, post(text({ ...orders, force: false })));
  await app.lease();
  const waiting = await app.begin("lease", app.leaseOf());
  await seen(429, lease.path, post(text({ ...timed, client_id: "c" })));
  app.store.fail({ fault: "full", applied: false });
  await seen(500, produce.path, post(text(item)));
  app.store.heal();
  await app.advance(minute);
  expect(waiting.answer?.code).toBe(454);
  await app.through(app.engine.close());
  await seen(503, produce.path, post(text(item)));
  await app.open();
});

row("rule: unknown queue, bad partition - 400", async () => {
  await using app = await run();
  const queueKeyed = Object.entries(operations).filter(
    ([id]) => !["listQueues", "createQueue"].includes(id),
  );
  for (const [id, { example, path }] of queueKeyed) {
    const key = "name" in example ? "name" : "queue_name";
    const body = { ...example, [key]: "none" };
    expect([path, plain(await app.call(id as keyof typeof operations, body))]).toEqual([
      path,
      refused(400, "queue does not exist; no such queue named 'none'"),
    ]);
  }
  const placed = queueKeyed.filter(([, { example }]) => "partition" in example);
  expect(placed).toHaveLength(6);
  for (const [id, { example }] of placed) {
    for (const partition of [1, -1, 2 ** 53 - 1]) {
      const answer = await app.call(id as keyof typeof operations, { ...example, partition });
      expect(plain(answer)).toEqual(
        refused(400, `partition is invalid; '${partition}' is not a valid partition`),
      );
    }
  }
});

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
      // Text order is the order in which they were given out, also across restarts.
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

row("rule: dead queue - must exist, not itself, no chains", async () => {
  await using app = await run();
  await app.create("work", { dead_queue: "orders" });
  for (const [body, text] of [
    [
      { queue_name: "new", dead_queue: "none" },
      "dead_queue does not exist; 'none' was not found, create it first",
    ],
    [{ queue_name: "new", dead_queue: "new" }, "dead_queue cannot reference itself"],
    [
      { queue_name: "new", dead_queue: "work" },
      "dead_queue is invalid; 'work' already has its own dead_queue configured",
    ],
  ] as const) {
    const timeouts = { lease_timeout: "1m", expire_timeout: "1h" };
    expect(plain(await app.call("createQueue", { ...body, ...timeouts }))).toEqual(
      refused(400, text),
    );
    expect((await app.call("queueInfo", { name: "new" })).code).toBe(400);
  }
  await app.create("third");
  expect(plain(await app.call("updateQueue", { ...orders, dead_queue: "third" }))).toEqual(
    refused(400, "dead_queue is invalid; 'orders' is itself the dead_queue of 'work'"),
  );
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
  await app.retry(await app.lease({ batch_size: 1 }), { dead: true });
  await app.retry(await app.lease());
  expect([...(await app.stored()), ...(await app.scheduled())]).toEqual([]);
  expect(await app.metrics()).toContain(
    'holdfast_item_ends_total{queue="orders",end="discarded"} 2',
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
    // Alone or with the others, it is for leased items of the queue only.
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

row("rule: update - an absent key keeps its value, a present one sets it", async () => {
  await using app = await run({ store: "sqlite", orders: null });
  await app.create("dead");
  const set = { dead_queue: "dead", reference: "r", max_attempts: 3, requested_partitions: 2 };
  await app.create("orders", set);
  const info = await app.ok("queueInfo", { name: "orders" });
  for (const change of [
    {},
    { max_attempts: 0 },
    { reference: "" },
    { dead_queue: "" },
    { lease_timeout: "90s" },
    { expire_timeout: "48h" },
    { lease_timeout: "72h", expire_timeout: "96h" },
    { requested_partitions: 3 },
  ]) {
    Object.assign(info, change);
    expect(await app.ok("updateQueue", { ...orders, ...change })).toEqual(done);
    const changed = await app.ok("queueInfo", { name: "orders" });
    expect(Date.parse(changed.updated_at)).toBeGreaterThan(Date.parse(info.updated_at));
    info.updated_at = changed.updated_at;
    expect(changed).toEqual(info);
  }
  await app.restart();
  expect(await app.ok("queueInfo", { name: "orders" })).toEqual(info);
});

row("rule: update - requested_partitions up adds, down drains the surplus", async () => {
  await using app = await run({ store: "sqlite" });
  const partitions = async () => (await app.ok("inspect", orders)).partitions;
  await app.ok("updateQueue", { ...orders, requested_partitions: 3 });
  expect(await partitions()).toBe(3);
  for (const text of ["a", "b", "c"]) await app.produce(text);
  await app.ok("updateQueue", { ...orders, requested_partitions: 1 });
  expect(await partitions()).toBe(3);
  const place = { ...orders, partition: 2, items: [{}] };
  expect(plain(await app.call("importItems", place))).toEqual(
    refused(453, "partition takes no new items; '2' is draining"),
  );
  for (const text of ["d", "e", "f"]) await app.produce(text);
  expect(textsOf(await app.stored())).toEqual(["a", "d", "e", "f"]);
  while ((await app.ok("inspect", orders)).queued > 0) await app.complete(await app.lease());
  await app.arrive();
  expect(await partitions()).toBe(1);
  expect((await app.call("listItems", { ...place, items: undefined })).code).toBe(400);
});

row("rule: delete - without force 453 when it holds items or is a dead queue", async () => {
  await using app = await run();
  const gone = () => app.call("deleteQueue", { ...orders, force: false });
  const holds = refused(453, "queue is not empty; 'orders' holds 1 items");
  await app.produce("a");
  expect(plain(await gone())).toEqual(holds);
  const lease = await app.lease();
  expect(plain(await gone())).toEqual(holds);
  await app.retry(lease, { retry_at: instant(start + hour) });
  expect(plain(await gone())).toEqual(holds);
  await app.advance(hour);
  await app.complete(await app.lease());
  await app.create("work", { dead_queue: "orders" });
  expect(plain(await gone())).toEqual(
    refused(453, "queue is in use; 'orders' is the dead_queue of 'work'"),
  );
  await app.ok("updateQueue", { queue_name: "work", dead_queue: "" });
  expect(plain(await gone())).toEqual({ code: 200, body: done });
});

row("rule: delete - with force nothing is left, nor comes back with the name", async () => {
  await using app = await run({ store: "sqlite" });
  await app.create("work", { dead_queue: "orders" });
  await app.ok("produce", {
    ...timed,
    items: [{ utf8: "leased" }, { utf8: "ready" }, { enqueue_at: instant(start + hour) }],
  });
  const lease = await app.lease({ batch_size: 1 });
  expect(await app.ok("deleteQueue", { ...orders, force: true })).toEqual(done);
  expect((await app.call("queueInfo", { name: "orders" })).code).toBe(400);
  expect(await app.ok("queueInfo", { name: "work" })).toMatchObject({ dead_queue: "" });
  for (const restart of [false, true]) {
    if (restart) await app.restart();
    else await app.create("orders");
    await app.advance(2 * hour);
    expect([...(await app.stored()), ...(await app.scheduled())]).toEqual([]);
    expect((await app.complete(lease)).code).toBe(453);
  }
});

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

row("rule: durations - 300ms, 1.5s, 60m, 1h30m; echoed as given", async () => {
  await using app = await run();
  for (const [text, ms] of [
    ["300ms", 300],
    ["1.5s", 1_500],
    ["60m", hour],
    ["1h30m", 90 * minute],
    ["0.5h", hour / 2],
  ] as const) {
    const queue_name = `q-${text}`;
    await app.create(queue_name, { lease_timeout: text, expire_timeout: "100h" });
    const info = await app.ok("queueInfo", { name: queue_name });
    expect([info.lease_timeout, info.expire_timeout]).toEqual([text, "100h"]);
    await app.ok("produce", {
      queue_name,
      request_timeout: text.startsWith("3") ? text : "5m",
      items: [{}],
    });
    const { items } = await app.lease({ queue_name });
    expect(items[0]?.lease_deadline).toBe(instant(app.clock.now() + ms));
  }
  for (const text of ["1d", "1 h", "one hour", "1h-5m", "h", "1.5"]) {
    const body = { queue_name: "bad", lease_timeout: text, expire_timeout: "100h" };
    expect((await app.call("createQueue", body)).body.message).toStartWith(
      "lease timeout is invalid; time: ",
    );
  }
});

row(
  "rule: date-times - RFC 3339 and the form with a space, milliseconds, no 30 February",
  async () => {
    await using app = await run();
    const produce = (enqueue_at: string) =>
      app.call("produce", { ...timed, items: [{ enqueue_at }] });
    const whole = "2026-02-01T12:00:00.000Z";
    for (const [text, expected] of [
      ["2026-02-01T12:00:00Z", whole],
      ["2026-02-01T13:00:00+01:00", whole],
      ["2026-02-01t12:00:00z", whole],
      ["2026-02-01 12:00:00.0000", whole],
      ["2026-02-01 12:00:00", whole],
      ["2026-02-01T12:00:00.123456789Z", "2026-02-01T12:00:00.123Z"],
      ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
    ] as const) {
      await app.ok("clear", {
        ...orders,
        retry: false,
        scheduled: true,
        queue: false,
        destructive: false,
      });
      expect((await produce(text)).code).toBe(200);
      expect((await app.scheduled()).map(({ enqueue_at }) => enqueue_at)).toEqual([expected]);
    }
    for (const text of [
      "2026-02-30T00:00:00Z",
      "2026-02-01",
      "2026-02-01T12:00:00",
      "tomorrow",
      "1",
    ]) {
      expect(plain(await produce(text))).toEqual(
        refused(
          400,
          `items[0].enqueue_at is invalid; expected a date-time like 2026-01-01T00:00:00Z, got '${text}'`,
        ),
      );
    }
  },
);

row("rule: queues.info - name; queue_name too", async () => {
  await using app = await run();
  const info = await app.ok("queueInfo", { name: "orders" });
  expect(info.queue_name).toBe("orders");
  expect(await app.ok("queueInfo", { queue_name: "orders" })).toEqual(info);
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
  // Whoever has the new id of an imported lease may complete it.
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

row("rule: stats - scheduled, failures and average_leased_age per partition too", async () => {
  await using app = await run();
  const partition = async () => (await app.ok("stats", orders)).logical_queues[0]?.partitions[0];
  expect(await partition()).toMatchObject({ scheduled: 0, failures: 0, average_leased_age: "0s" });
  await app.ok("produce", { ...timed, items: [{}, { enqueue_at: instant(start + day) }] });
  await app.lease();
  await app.advance(90 * second);
  app.store.fail({ fault: "failed", applied: false });
  await app.begin("produce", { ...timed, items: [{}] });
  await app.advance(10 * second);
  expect(await partition()).toMatchObject({
    scheduled: 1,
    failures: 1,
    average_leased_age: "1m40s",
  });
});

row("rule: inspect - POST /v1/queue.inspect", async () => {
  await using app = await run({ orders: { requested_partitions: 2 } });
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(orders) };
  const response = await app.through(app.send("/v1/queue.inspect", init));
  expect(await response.json()).toEqual({
    ...orders,
    partitions: 2,
    queued: 0,
    retried: 0,
    scheduled: 0,
    dead_letter: 0,
  });
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
  const counts = { queued: 1, retried: 2, scheduled: 1, dead_letter: 3, partitions: 2 };
  expect(await app.ok("inspect", orders)).toEqual({ ...orders, ...counts });
  await app.restart();
  expect(await app.ok("inspect", orders)).toEqual({ ...orders, ...counts });
});

row(
  "rule: optional keys - batch_size and requested_partitions absent are 1, unknown keys 400",
  async () => {
    await using app = await run();
    await app.produce("a", "b");
    const { items } = await app.ok("lease", { ...timed, client_id: "c" });
    expect(items).toHaveLength(1);
    expect(await app.ok("queueInfo", { name: "orders" })).toMatchObject({
      requested_partitions: 1,
    });
    expect(await app.ok("inspect", orders)).toMatchObject({ partitions: 1 });
    for (const [id, { example }] of Object.entries(operations)) {
      const { code, body } = await app.call(id as keyof typeof operations, {
        ...example,
        extra: 1,
      });
      expect(code).toBe(400);
      expect(body.message).toMatch(/extra is unknown|expected only one of/);
    }
    const limit = { pivot: "", limit: 0 };
    expect(plain(await app.call("listQueues", limit))).toEqual(
      refused(400, "limit is invalid; must be greater than zero"),
    );
  },
);

row("rule: no instant - null", async () => {
  await using app = await run();
  await app.produce("a");
  const none = { lease_deadline: null, dead_deadline: null, enqueue_at: null };
  expect(await app.stored()).toMatchObject([none]);
  await app.lease();
  expect(await app.stored()).toMatchObject([{ ...none, lease_deadline: instant(start + hour) }]);
});

row("rule: state conflicts - 400 with the reference's texts", async () => {
  await using app = await run();
  const create = { ...orders, lease_timeout: "1m", expire_timeout: "1h" };
  expect(plain(await app.call("createQueue", create))).toEqual(
    refused(400, "invalid queue; 'orders' already exists"),
  );
  expect(plain(await app.call("updateQueue", { ...orders, dead_queue: "orders" }))).toEqual(
    refused(400, "dead_queue cannot reference itself"),
  );
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

row("rule: browser guard - foreign Host or Origin 403, not JSON 415", async () => {
  await using app = await run();
  const json = { "content-type": "application/json" };
  const send = async (headers: Record<string, string>, path: string = operations.produce.path) => {
    const body = new TextEncoder().encode(JSON.stringify({ ...timed, items: [{}] }));
    const response = await app.through(app.send(path, { method: "POST", headers, body }));
    return [response.status, (await response.json()).message];
  };
  expect(await send({ ...json, host: "evil.example" })).toEqual([
    403,
    "host is not allowed; got 'evil.example'",
  ]);
  expect(await send({ ...json, origin: "http://evil.example" })).toEqual([
    403,
    "origin is not allowed; got 'http://evil.example'",
  ]);
  const form = "application/x-www-form-urlencoded";
  const text = "content type is not supported; send 'Content-Type: application/json', got";
  expect(await send({ "content-type": form })).toEqual([415, `${text} '${form}'`]);
  expect(await send({})).toEqual([415, `${text} none`]);
  expect(await app.stored()).toEqual([]);
  expect(await send(json)).toEqual([200, ""]);
});

row("rule: queue names - 1 to 512 bytes, no whitespace, ~ or control characters", async () => {
  await using app = await run({ store: "sqlite", orders: null });
  const create = (queue_name: string) =>
    app.call("createQueue", { queue_name, lease_timeout: "1m", expire_timeout: "1h" });
  for (const [name, text] of [
    ["", "queue name cannot be empty"],
    [" ", "queue name cannot be empty"],
    ["a b", "'a b' cannot contain whitespace"],
    ["a\u00a0b", "'a\u00a0b' cannot contain whitespace"],
    ["a~b", "'a~b' cannot contain '~' character"],
    ["a\u0000b", "it cannot contain control characters"],
    ["a\u007fb", "it cannot contain control characters"],
    ["x".repeat(513), "cannot be greater than '512' characters"],
    ["é".repeat(257), "cannot be greater than '512' characters"],
  ] as const) {
    expect(plain(await create(name))).toEqual(refused(400, `queue name is invalid; ${text}`));
  }
  const names = ["x", "X", "é".repeat(256), "x".repeat(512), "a/b", "😀", "null"];
  for (const name of names) expect((await create(name)).code).toBe(200);
  await app.restart();
  const { items } = await app.ok("listQueues", { pivot: "", limit: 100 });
  expect(items.map(({ queue_name }) => queue_name)).toEqual(names.toSorted());
  for (const queue_name of names) {
    await app.ok("produce", { ...timed, queue_name, items: [{ utf8: "a" }] });
    expect(textsOf(await app.stored(queue_name))).toEqual(["a"]);
  }
});

row("rule: limits - partitions 1 to 10,000, queues 10,000, bodies", async () => {
  await using app = await run();
  const update = (requested_partitions: number) =>
    app.call("updateQueue", { ...orders, requested_partitions });
  expect((await update(10_000)).code).toBe(200);
  expect(await app.ok("inspect", orders)).toMatchObject({ partitions: 10_000 });
  for (const [partitions, text] of [
    [0, "cannot be less than 1"],
    [-1, "cannot be less than 1"],
    [10_001, "cannot be greater than 10000"],
    [2 ** 31 - 1, "cannot be greater than 10000"],
  ] as const) {
    expect(plain(await update(partitions))).toEqual(refused(400, `partitions is invalid; ${text}`));
  }
  expect(limits).toMatchObject({ partitionsMax: 10_000, queuesMax: 10_000 });
  for (const [id, bytes, text] of [
    ["produce", 5_000_000, "5.0MB"],
    ["importItems", 64_000_000, "61.0MiB"],
    ["lease", 256_000, "250.0KiB"],
  ] as const) {
    const send = async (length: number) => {
      const headers = { "content-type": "application/json", "content-length": String(length) };
      const init = { method: "POST", headers, body: " ".repeat(Math.min(length, 300_000)) };
      return (await app.through(app.send(operations[id].path, init))).json();
    };
    expect(await send(bytes + 1)).toEqual(refused(413, `request body exceeds ${text} limit`).body);
    expect(await send(bytes)).toMatchObject({ code: 400 });
  }
});

row("rule: limits - a full line of leases is 429 with Retry-After", async () => {
  await using app = await run({ waitingLeasesMax: 2 });
  const waiting = [
    await app.begin("lease", app.leaseOf()),
    await app.begin("lease", app.leaseOf()),
  ];
  const third = await app.call("lease", app.leaseOf());
  expect(third.code).toBe(429);
  expect(third.body).toMatchObject({ code: 429, code_text: "Too Many Requests" });
  expect(third.headers.get("retry-after")).toMatch(/^\d+$/);
  await app.produce("a", "b");
  await app.arrive();
  expect(waiting.map(({ answer }) => answer?.code)).toEqual([200, 200]);
});

row(
  "rule: server - defaults, GET /health, GET /metrics, waiting leases answered at a stop",
  async () => {
    const nothing = { argv: [], env: {}, readFile: () => "{}", cpuCount: 2 };
    expect(readConfig(nothing)).toMatchObject({
      ok: true,
      config: {
        port: 9090,
        host: "127.0.0.1",
        data: "./data",
        store: "sqlite",
        durability: "full",
      },
    });
    const env = {
      HOLDFAST_PORT: "1",
      HOLDFAST_HOST: "::1",
      HOLDFAST_DATA: "d",
      HOLDFAST_STORE: "memory",
    };
    const more = { HOLDFAST_SHARDS: "3", HOLDFAST_DURABILITY: "normal" };
    const config = {
      port: 1,
      host: "::1",
      data: "d",
      store: "memory",
      shards: 3,
      durability: "normal",
    };
    expect(readConfig({ ...nothing, env: { ...env, ...more } })).toMatchObject({
      ok: true,
      config,
    });
    const argv = Object.entries(config).flatMap(([key, value]) => [`--${key}`, String(value)]);
    expect(readConfig({ ...nothing, argv })).toMatchObject({ ok: true, config });

    await using app = await run({ store: "sqlite", shards: 2 });
    const health = await app.through(app.send("/health"));
    expect(await health.json()).toMatchObject({
      status: "ok",
      durability: "full",
      shards: 2,
      shards_up: 2,
    });
    const metrics = await app.metrics();
    expect(metrics).toContain('holdfast_info{version="1.2.3",durability="full"} 1');
    const lease = await app.begin("lease", app.leaseOf());
    await app.through(app.engine.close());
    await app.arrive();
    expect(plain(lease.answer)).toEqual(
      refused(503, "service is shutting down; nothing was changed"),
    );
    await app.open();
  },
);

complete();
