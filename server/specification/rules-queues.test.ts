// Questions about replies, queues and the server that the specification leaves open, and their
// answers: each rule that is visible over HTTP.

import { expect } from "bun:test";
import { limits } from "../../engine/model/limits.ts";
import { type Operation, operations } from "../../openapi/operations.ts";
import { readConfig } from "../config/config.ts";
import { rowsOf } from "../testing/rows.ts";
import {
  day,
  done,
  hour,
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
} from "../testing/running-app.ts";

const { row, complete } = rowsOf("rules of queues", [
  "rule: reply - code, code_text, message, and details per id; HTTP status = code",
  "rule: codes - each with a Reply body, none with a stack, path or SQL",
  "rule: unknown queue, bad partition - 400",
  "rule: dead queue - must exist, not itself, no chains",
  "rule: update - an absent key keeps its value, a present one sets it",
  "rule: update - requested_partitions up adds, down drains the surplus",
  "rule: delete - without force 453 when it holds items or is a dead queue",
  "rule: delete - with force nothing is left, nor comes back with the name",
  "rule: durations - 300ms, 1.5s, 60m, 1h30m; echoed as given",
  "rule: date-times - RFC 3339 and the form with a space, milliseconds, no 30 February",
  "rule: queues.info - name; queue_name too",
  "rule: stats - scheduled, failures and average_leased_age per partition too",
  "rule: inspect - POST /v1/queue.inspect",
  "rule: optional keys - batch_size and requested_partitions absent are 1, unknown keys 400",
  "rule: state conflicts - 400 with the reference's texts",
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
    const ofErrors = code === 200 ? [] : ["reason", ...(code === 453 ? ["details"] : [])];
    expect(keys).toEqual(["code", "code_text", "message", ...ofErrors]);
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
  // None of these is an error of the server.
  expect(app.logged).toEqual([]);
  await app.open();
});

row("rule: unknown queue, bad partition - 400", async () => {
  await using app = await run();
  const queueKeyed = Object.entries(operations).filter(
    ([id, { reach = "named" }]: [string, Operation]) =>
      reach === "named" && !["createQueue", "overview", "series", "transact"].includes(id),
  );
  for (const [id, { example, path }] of queueKeyed) {
    const key = "name" in example ? "name" : "queue_name";
    const body = { ...example, [key]: "none" };
    expect([path, plain(await app.call(id as keyof typeof operations, body))]).toEqual([
      path,
      refused(400, "queue does not exist; no such queue named 'none'"),
    ]);
  }
  const parts = {
    complete: { partition: 0, ids: ["a"] },
    retry: { partition: 0, items: [{ id: "a" }] },
    produce: { items: [{}] },
  };
  for (const [part, of] of Object.entries(parts)) {
    const body = { request_timeout: "1m", [part]: [{ queue_name: "none", ...of }] };
    expect([part, plain(await app.call("transact", body))]).toEqual([
      part,
      refused(400, "queue does not exist; no such queue named 'none'"),
    ]);
  }
  const placed = queueKeyed.filter(([, { example }]) => "partition" in example);
  expect(placed).toHaveLength(8);
  for (const [id, { example }] of placed) {
    for (const partition of [1, -1, 2 ** 53 - 1]) {
      const answer = await app.call(id as keyof typeof operations, { ...example, partition });
      expect(plain(answer)).toEqual(
        refused(400, `partition is invalid; '${partition}' is not a valid partition`),
      );
    }
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
  for (const text of ["1w", "1 h", "one hour", "1h-5m", "h", "1.5"]) {
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
      ["2026-02-01T12:00:00.123456789Z", "2026-02-01T12:00:00.124Z"],
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
    leased: 0,
    retried: 0,
    scheduled: 0,
    dead_letter: 0,
  });
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
    "host is not allowed; expected this server's address or one of --allowed-hosts, got 'evil.example'",
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
    const nothing = { argv: [], env: {}, readFile: () => "{}" };
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
      shards_without_owner: [],
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
