import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import { replyCodes } from "../../openapi/codes.ts";
import { documentText } from "../../openapi/document.ts";
import { type OperationId, operations, type RequestOf } from "../../openapi/operations.ts";
import { Health, Reply } from "../../openapi/schemas.ts";
import type { AppConfig } from "../app.ts";
import { createAuthenticator } from "../auth/authenticator.ts";
import { failedAuthLimits } from "../auth/failed-auth-limiter.ts";
import { createLog, type Log } from "../observability/log.ts";
import { LostCommits } from "../observability/lost-commits.ts";
import { Metrics } from "../observability/metrics.ts";
import { RequestLog } from "../observability/request-log.ts";
import { knownKey } from "../testing/known-key.ts";
import { defaultConfig, memoryEngine, silentLog } from "../testing/memory-engine.ts";
import { type AppOptions, createApp } from "../testing/one-thread-app.ts";
import { anyReasonOf } from "../testing/running-app.ts";

const jsonType = { "content-type": "application/json" };

async function setup(options: Partial<Omit<AppOptions, "config">> & Partial<AppConfig> = {}) {
  const [engine] = options.engines ?? [await memoryEngine()];
  const logged: string[] = [];
  const note = (event: string, cause?: unknown) => {
    logged.push(cause instanceof Error ? `${event}; ${cause.message}` : event);
  };
  // Without `info`: events that operators request are expected.
  const log: Log = { ...silentLog, debug: note, warn: note, error: note, fatal: note };
  const metrics = new Metrics({ version: "1.2.3", status: () => engine.status() });
  const app = createApp({
    engines: [engine],
    log,
    metrics,
    version: "1.2.3",
    isClosing: () => false,
    ...options,
    config: { ...defaultConfig(), ...options },
  });
  const send = (path: string, init: RequestInit) =>
    app.handle(new Request(`http://localhost${path}`, init));
  const post = async (id: OperationId, body: BodyInit, headers: HeadersInit = jsonType) => {
    const response = await send(operations[id].path, { method: "POST", headers, body });
    return { code: response.status, body: await response.json(), response };
  };
  /** Sends a valid or invalid request and returns the body of the response. */
  const call = async (id: OperationId, body: unknown) =>
    (await post(id, JSON.stringify(body))).body;
  const ok = <Id extends OperationId>(id: Id, body: RequestOf<Id>) => call(id, body);
  const queue = "orders";
  await ok("createQueue", { queue_name: queue, lease_timeout: "1m", expire_timeout: "24h" });
  return {
    app,
    engine,
    logged,
    send,
    post,
    call,
    ok,
    [Symbol.asyncDispose]: () => engine.close(),
  };
}

const done = { code: 200, code_text: "OK", message: "" };

function refused(code: keyof typeof replyCodes, message: string) {
  return { code, code_text: replyCodes[code].text, message, reason: anyReasonOf(code) };
}

const orders = { queue_name: "orders" };
const produced = { ...orders, request_timeout: "1m" };
const leased = { ...produced, client_id: "worker-1" };

describe("operations", () => {
  test("an item is produced, leased and completed", async () => {
    await using server = await setup();
    const item = { kind: "k", encoding: "e", reference: "r", bytes: "_-8" };
    expect(await server.ok("produce", { ...produced, items: [item] })).toEqual(done);
    const lease = await server.ok("lease", leased);
    expect(lease).toEqual({
      queue_name: "orders",
      partition: 0,
      max_attempts: 0,
      retry_backoff: "",
      now: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      items: [
        {
          id: expect.stringMatching(/^[0-9A-Za-z]{27}$/),
          kind: "k",
          encoding: "e",
          reference: "r",
          priority: 0,
          attempts: 1,
          lease_deadline: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          bytes: "/+8=",
        },
      ],
    });
    const ids = [lease.items[0].id];
    expect(await server.ok("complete", { ...produced, partition: 0, ids })).toEqual(done);
    expect(await server.ok("complete", { ...produced, partition: 0, ids })).toEqual({
      code: 453,
      code_text: "Request Failed",
      message: expect.stringContaining(ids[0]),
      reason: "not_leased",
      details: { [ids[0]]: expect.any(String) },
    });
  });

  test("lease: a queue that stays empty answers 454", async () => {
    await using server = await setup();
    expect(await server.ok("lease", { ...leased, request_timeout: "10ms" })).toEqual(
      refused(454, "request timeout; no items are in the queue, try again"),
    );
  });

  test("lease: stops waiting if its client hangs up", async () => {
    await using server = await setup();
    const caller = new AbortController();
    const body = JSON.stringify(leased);
    const init = { method: "POST", headers: jsonType, body, signal: caller.signal };
    const answer = server.send(operations.lease.path, init);
    while (server.engine.status().waitingLeases === 0) await Bun.sleep(1);
    caller.abort();
    expect((await answer).status).toBe(454);
    expect(server.engine.status().waitingLeases).toBe(0);
  });

  test("produce: has no effect if the client disconnected before its body was complete", async () => {
    await using server = await setup();
    const body = JSON.stringify({ ...produced, items: [{ utf8: "a" }] });
    const signal = AbortSignal.abort();
    const { path } = operations.produce;
    await server.send(path, { method: "POST", headers: jsonType, body, signal });
    expect(await server.call("inspect", orders)).toMatchObject({ queued: 0 });
  });

  test("retry: an item is requeued under another id", async () => {
    await using server = await setup();
    await server.ok("produce", { ...produced, items: [{ utf8: "é" }] });
    const [first] = (await server.ok("lease", leased)).items;
    const items = [{ id: first.id, retry_at: null }];
    expect(await server.ok("retry", { ...orders, partition: 0, items })).toEqual(done);
    const [second] = (await server.ok("lease", leased)).items;
    expect(second).toMatchObject({ attempts: 2, bytes: first.bytes });
    expect(second.id).not.toBe(first.id);
  });

  test("queues: created, described, listed, changed and deleted", async () => {
    await using server = await setup();
    const info = {
      queue_name: "orders",
      created_at: expect.any(String),
      updated_at: expect.any(String),
      dead_queue: "",
      reference: "",
      lease_timeout: "1m",
      expire_timeout: "24h",
      max_attempts: 0,
      requested_partitions: 1,
      leased_max: 0,
      lease_rate: "",
      unique_for: "",
      priority_aging: "60s",
      waiting_max: 0,
      retry_backoff: "",
      grouped: false,
      group_leased_max: 0,
      group_rate: "",
      group_waiting_max: 0,
      group_order: "loose",
      group_on_dead: "continue",
      lease_paused: false,
      produce_paused: false,
      pause_reason: "",
    };
    expect(await server.ok("queueInfo", { name: "orders" })).toEqual(info);
    expect(await server.ok("queueInfo", { queue_name: "orders" })).toEqual(info);
    const page = { pivot: "", limit: 10 };
    const unreached: number[] = [];
    expect(await server.ok("listQueues", page)).toEqual({ items: [info], unreached });
    const change = { ...orders, reference: "team", lease_timeout: "90s" };
    expect(await server.ok("updateQueue", change)).toEqual(done);
    expect(await server.ok("queueInfo", { name: "orders" })).toEqual({
      ...info,
      reference: "team",
      lease_timeout: "90s",
    });
    expect(await server.ok("deleteQueue", { ...orders, force: false })).toEqual(done);
    expect(await server.ok("listQueues", page)).toEqual({ items: [], unreached });
  });

  test("pause and resume: produces are refused, leases wait, and the pause is shown", async () => {
    await using server = await setup();
    const items = [{}];
    await server.ok("produce", { ...produced, items });
    const reason = "moving house";
    expect(await server.ok("pause", { ...orders, lease: true, produce: true, reason })).toEqual(
      done,
    );
    expect(await server.ok("produce", { ...produced, items })).toEqual(
      refused(453, `queue is paused; ${reason}`),
    );
    const lease = { ...orders, client_id: "me", request_timeout: "1m" };
    const brief = { ...lease, request_timeout: "10ms" };
    expect(await server.ok("lease", brief)).toEqual(refused(454, `queue is paused; ${reason}`));
    expect(await server.ok("updateQueue", { ...orders, max_attempts: 3 })).toEqual(done);
    const shown = { lease_paused: true, produce_paused: true, pause_reason: reason };
    const info = await server.ok("queueInfo", { name: "orders" });
    expect(info).toMatchObject({ ...shown, max_attempts: 3 });
    // Sending a reply back as a request neither pauses nor resumes.
    const back = { ...info, lease_paused: false, produce_paused: false };
    expect(await server.ok("updateQueue", back)).toEqual(done);
    expect(await server.ok("createQueue", { ...info, queue_name: "copy" })).toEqual(done);
    const listed = await server.ok("listQueues", { pivot: "", limit: 10 });
    expect(listed.items).toMatchObject([{ lease_paused: false, pause_reason: "" }, shown]);
    expect(await server.ok("resume", orders)).toEqual(done);
    const resumed = await server.ok("queueInfo", { name: "orders" });
    expect(resumed).toMatchObject({ lease_paused: false, produce_paused: false, pause_reason: "" });
    expect(await server.ok("resume", orders)).toEqual(done);
    expect(await server.ok("queueInfo", { name: "orders" })).toEqual(resumed);
    expect((await server.ok("lease", lease)).items).toHaveLength(1);
  });

  test("limits of leases are kept, shown, changed and unset", async () => {
    await using server = await setup();
    const limits = { leased_max: 2, lease_rate: "3/1h" };
    expect(await server.ok("updateQueue", { ...orders, ...limits })).toEqual(done);
    expect(await server.ok("queueInfo", { name: "orders" })).toMatchObject(limits);
    await server.ok("produce", { ...produced, items: Array(9).fill({}) });
    const lease = { ...leased, batch_size: 10 };
    const brief = { ...lease, request_timeout: "10ms" };
    const first = await server.ok("lease", lease);
    expect(first.items).toHaveLength(2);
    const late = "request timeout; the queue's limits allowed no more items, try again";
    expect(await server.ok("lease", brief)).toEqual(refused(454, late));
    const ids = first.items.map(({ id }: { id: string }) => id);
    await server.ok("complete", { ...produced, partition: 0, ids });
    expect((await server.ok("lease", lease)).items).toHaveLength(1);
    expect(await server.ok("lease", brief)).toEqual(refused(454, late));
    const unset = { leased_max: 0, lease_rate: "" };
    expect(await server.ok("updateQueue", { ...orders, ...unset })).toEqual(done);
    expect(await server.ok("queueInfo", { name: "orders" })).toMatchObject(unset);
    expect((await server.ok("lease", lease)).items).toHaveLength(6);
    const wrong = { ...orders, lease_rate: "100/s" };
    const why = "lease rate is invalid; expected items per interval, such as '100/1s', got '100/s'";
    expect(await server.ok("updateQueue", wrong)).toEqual(refused(400, why));
  });

  test("waiting_max is kept, shown, changed and unset, and a full queue refuses", async () => {
    await using server = await setup();
    expect(await server.ok("updateQueue", { ...orders, waiting_max: 3 })).toEqual(done);
    expect(await server.ok("queueInfo", { name: "orders" })).toMatchObject({ waiting_max: 3 });
    const produce = (count: number) =>
      server.ok("produce", { ...produced, items: Array(count).fill({}) });
    expect(await produce(2)).toEqual(done);
    const why = "queue is full; 2 items wait and 2 would be added, expected at most 3";
    expect(await produce(2)).toEqual({ ...refused(453, why), reason: "queue_full" });
    expect(await produce(1)).toEqual(done);
    expect(await server.ok("updateQueue", { ...orders, waiting_max: 0 })).toEqual(done);
    expect(await produce(2)).toEqual(done);
    const wrong = { ...orders, waiting_max: -1 };
    expect(await server.ok("updateQueue", wrong)).toMatchObject({ code: 400 });
  });

  test("retry_backoff is kept, shown, changed and unset, and sets retried items aside", async () => {
    await using server = await setup();
    const backoff = { retry_backoff: "1h..2h" };
    expect(await server.ok("updateQueue", { ...orders, ...backoff })).toEqual(done);
    expect(await server.ok("queueInfo", { name: "orders" })).toMatchObject(backoff);
    await server.ok("produce", { ...produced, items: [{}] });
    const retryIt = async (how: object) => {
      const lease = await server.ok("lease", leased);
      const items = [{ id: lease.items[0].id, ...how }];
      expect(await server.ok("retry", { ...orders, partition: 0, items })).toEqual(done);
      return lease;
    };
    expect(await retryIt({ retry_after: "0s" })).toMatchObject(backoff);
    await retryIt({});
    const brief = { ...leased, request_timeout: "10ms" };
    expect(await server.ok("lease", brief)).toMatchObject({ code: 454, reason: "empty" });
    expect(await server.ok("updateQueue", { ...orders, retry_backoff: "" })).toEqual(done);
    await server.ok("produce", { ...produced, items: [{}] });
    expect(await retryIt({ retry_at: "" })).toMatchObject({ retry_backoff: "" });
    expect((await server.ok("lease", leased)).items).toMatchObject([{ attempts: 2 }]);
    const wrong = { ...orders, retry_backoff: "5m" };
    const why =
      "retry backoff is invalid; expected its first and its longest delay, such as '1s..5m', got '5m'";
    expect(await server.ok("updateQueue", wrong)).toEqual(refused(400, why));
  });

  test("own max_attempts and lease_timeout of an item apply, are shown, and survive an export", async () => {
    await using server = await setup();
    const own = { max_attempts: 1, lease_timeout: "10m" };
    const none = { max_attempts: 0, lease_timeout: "" };
    const shown = { own_max_attempts: 1, own_lease_timeout: "10m0s" };
    expect(await server.ok("produce", { ...produced, items: [own, none] })).toEqual(done);
    const reply = await server.ok("lease", { ...leased, batch_size: 10 });
    const heldMs = reply.items.map(
      (item: { lease_deadline: string }) => Date.parse(item.lease_deadline) - Date.parse(reply.now),
    );
    expect(Math.round(heldMs[0] / 60_000)).toBe(10);
    expect(Math.round(heldMs[1] / 60_000)).toBe(1);
    expect(reply.items).toMatchObject([shown, {}]);
    expect(reply.items[1]).not.toHaveProperty("own_max_attempts");
    const list = { ...orders, partition: 0, pivot: "", limit: 10 };
    const { items } = await server.ok("listItems", list);
    expect(items).toMatchObject([{ ...shown, max_attempts: 1 }, { max_attempts: 0 }]);
    await server.ok("createQueue", {
      queue_name: "other",
      lease_timeout: "1m",
      expire_timeout: "24h",
    });
    const imports = { queue_name: "other", partition: 0, items };
    expect((await server.ok("importItems", imports)).items).toMatchObject([shown, {}]);
    const wrong: [object, string][] = [
      [{ max_attempts: 65_537 }, "max attempts is invalid; cannot be greater than 65536"],
      [{ max_attempts: -1 }, "max attempts is invalid; cannot be negative number"],
      [
        { lease_timeout: "1x" },
        'lease timeout is invalid; time: unknown unit "x" in duration "1x" - expected format: 8m, 15m or 1h',
      ],
      [{ lease_timeout: "9000h" }, "lease timeout is invalid; cannot be greater than '8784h0m0s'"],
    ];
    for (const [item, message] of wrong) {
      const answer = await server.call("produce", { ...produced, items: [item] });
      expect(answer).toMatchObject({ code: 400, message });
    }
  });

  test("unique keys: a duplicate is reported by its position", async () => {
    await using server = await setup();
    const produce = (...items: object[]) => server.ok("produce", { ...produced, items });
    const [one, other] = [{ unique_key: "1" }, { unique_key: "2" }];
    const why = "unique key is invalid; the queue has no unique_for, so its items cannot have one";
    expect(await produce(one)).toEqual(refused(400, why));
    expect(await server.ok("updateQueue", { ...orders, unique_for: "1h" })).toEqual(done);
    expect(await server.ok("queueInfo", { name: "orders" })).toMatchObject({ unique_for: "1h" });
    expect(await produce(one, {}, { unique_key: "" })).toEqual(done);
    expect(await produce({}, one, other, other)).toEqual({ ...done, duplicates: [1, 3] });
    const { items } = await server.ok("lease", { ...leased, batch_size: 10 });
    expect(items).toHaveLength(5);
    const long = "unique key is invalid; cannot be greater than '256' characters";
    expect(await produce({ unique_key: "k".repeat(257) })).toEqual(refused(400, long));
    const wrong = { ...orders, unique_for: "1x" };
    expect(await server.ok("updateQueue", wrong)).toMatchObject({
      code: 400,
      message: expect.stringMatching(
        /^unique for is invalid; .* expected format: 1h, 7d or pending$/,
      ),
    });
    expect(await server.ok("updateQueue", { ...orders, unique_for: "" })).toEqual(done);
    expect(await produce(one)).toEqual(refused(400, why));
  });

  test("stats, inspect and clear", async () => {
    await using server = await setup();
    await server.ok("produce", { ...produced, items: [{}, {}] });
    const stats = await server.ok("stats", orders);
    expect(Value.Check(operations.stats.response, stats)).toBe(true);
    expect(stats.logical_queues[0].partitions[0]).toMatchObject({
      partition: 0,
      total: 2,
      average_leased_age: "0s",
    });
    const counted = {
      partitions: 1,
      queued: 2,
      leased: 0,
      retried: 0,
      scheduled: 0,
      dead_letter: 0,
    };
    expect(await server.ok("inspect", orders)).toEqual({ ...orders, ...counted });
    const what = { queue: true, retry: false, scheduled: false, destructive: false };
    expect(await server.ok("clear", { ...orders, ...what })).toEqual(done);
    expect(await server.ok("inspect", orders)).toMatchObject({ queued: 0 });
  });

  test("storage: listed items can be imported unchanged, then deleted", async () => {
    await using server = await setup();
    const enqueueAt = "2099-01-01T00:00:00.000Z";
    await server.ok("produce", {
      ...produced,
      items: [{ utf8: "now" }, { enqueue_at: enqueueAt }],
    });
    const page = { ...orders, partition: 0, pivot: "", limit: 20_000 };
    const ready = await server.ok("listItems", page);
    const scheduled = await server.ok("listScheduled", page);
    expect(Value.Check(operations.listItems.response, ready)).toBe(true);
    expect(ready.items).toHaveLength(1);
    expect(scheduled.items).toHaveLength(1);
    expect(scheduled.items[0].enqueue_at).toBe(enqueueAt);
    const items = [...ready.items, ...scheduled.items];
    const imported = await server.ok("importItems", { ...orders, partition: 0, items });
    expect(Value.Check(operations.importItems.response, imported)).toBe(true);
    expect(imported.items[0]).toMatchObject({ payload: "bm93", kind: "" });
    const ids = imported.items.map(({ id }: { id: string }) => id);
    expect(await server.ok("deleteItems", { ...orders, partition: 0, ids })).toEqual(done);
    expect((await server.ok("listItems", page)).items).toEqual(ready.items);
  });

  test.each(Object.keys(operations) as OperationId[])(
    "%s: its example is understood, and answered in the form of the contract",
    async (id) => {
      await using server = await setup();
      // Without an item, the example of a lease would wait for a minute.
      await server.ok("produce", { ...produced, items: [{}] });
      const body = await server.call(id, operations[id].example);
      const schema = "code" in body ? Reply : operations[id].response;
      expect(Value.Check(schema, body)).toBe(true);
    },
  );
});

describe("validation", () => {
  test.each<[OperationId, unknown, string]>([
    ["produce", {}, "queue_name is required"],
    ["produce", orders, "request_timeout is required"],
    ["produce", produced, "items is required"],
    ["produce", null, "request is invalid; expected an object, got null"],
    ["produce", [], "request is invalid; expected an object, got a list"],
    ["produce", "x", "request is invalid; expected an object, got a string"],
    ["produce", { ...produced, items: {} }, "items is invalid; expected a list, got an object"],
    ["produce", { ...produced, items: [7] }, "items[0] is invalid; expected an object, got 7"],
    [
      "produce",
      { ...produced, items: [{ kind: 7 }] },
      "items[0].kind is invalid; expected a string or null, got 7",
    ],
    [
      "produce",
      { ...produced, items: [{ utf8: ["x"] }] },
      "items[0].utf8 is invalid; expected a string or null, got a list",
    ],
    [
      "produce",
      { ...produced, items: [{ payload: "x" }] },
      "items[0].payload is unknown; expected one of encoding, kind, reference, enqueue_at, bytes, utf8, unique_key, headers, priority, max_attempts, lease_timeout, group",
    ],
    [
      "produce",
      { ...produced, items: [], queue: "x" },
      "queue is unknown; expected one of queue_name, request_timeout, items, return_ids",
    ],
    [
      "produce",
      { ...produced, queue_name: 1, items: [] },
      "queue_name is invalid; expected a string, got 1",
    ],
    [
      "produce",
      { ...produced, request_timeout: null, items: [] },
      "request_timeout is invalid; expected a string, got null",
    ],
    [
      "produce",
      { ...produced, request_timeout: 60, items: [] },
      "request_timeout is invalid; expected a string, got 60",
    ],
    ["lease", produced, "client_id is required"],
    [
      "lease",
      { ...leased, batch_size: "5" },
      "batch_size is invalid; expected a whole number or null, got a string",
    ],
    [
      "lease",
      { ...leased, batch_size: 1.5 },
      "batch_size is invalid; expected a whole number or null, got 1.5",
    ],
    ["retry", orders, "partition is required"],
    ["retry", { ...orders, partition: 0, items: [{}] }, "items[0].id is required"],
    [
      "retry",
      { ...orders, partition: 0, items: [{ id: "x", dead: "yes" }] },
      "items[0].dead is invalid; expected true or false or null, got a string",
    ],
    ["complete", { ...produced, partition: 0 }, "ids is required"],
    [
      "complete",
      { ...produced, partition: 0, ids: [1] },
      "ids[0] is invalid; expected a string, got 1",
    ],
    [
      "complete",
      { ...produced, partition: "0", ids: [] },
      "partition is invalid; expected a whole number, got a string",
    ],
    ["listQueues", { pivot: "" }, "limit is required"],
    ["listQueues", { limit: 1 }, "pivot is required"],
    ["createQueue", { ...orders, lease_timeout: "1m" }, "expire_timeout is required"],
    ["queueInfo", {}, "name is required"],
    ["queueInfo", { name: null }, "name is required; expected a string"],
    [
      "queueInfo",
      { name: "a", queue_name: "b" },
      "request is invalid; expected only one of name, queue_name",
    ],
    ["deleteQueue", orders, "force is required"],
    ["deleteQueue", { ...orders, force: 1 }, "force is invalid; expected true or false, got 1"],
    ["clear", { ...orders, retry: true }, "scheduled is required"],
    ["listItems", { ...orders, partition: 0, pivot: "" }, "limit is required"],
    ["importItems", { ...orders, partition: 0 }, "items is required"],
    ["deleteItems", { ...orders, partition: 0 }, "ids is required"],
  ])("%s: %j is malformed", async (id, body, message) => {
    await using server = await setup();
    expect(await server.call(id, body)).toEqual(refused(400, message));
  });

  test.each<[OperationId, unknown, string]>([
    [
      "produce",
      { ...produced, queue_name: "x", items: [] },
      "queue does not exist; no such queue named 'x'",
    ],
    [
      "produce",
      { ...produced, queue_name: "", items: [] },
      "queue name is invalid; queue name cannot be empty",
    ],
    [
      "produce",
      { queue_name: "x", request_timeout: "foo", items: [] },
      "queue does not exist; no such queue named 'x'",
    ],
    [
      "produce",
      { ...orders, request_timeout: "foo", items: [] },
      'request timeout is invalid; time: invalid duration "foo" - expected format: 900ms, 5m or 15m',
    ],
    [
      "produce",
      { ...orders, request_timeout: "", items: [] },
      "request timeout is required; '5m' is recommended, 15m is the maximum",
    ],
    [
      "produce",
      { ...orders, request_timeout: "16m", items: [] },
      "request timeout is invalid; maximum timeout is '15m' but '16m0s' was requested",
    ],
    [
      "produce",
      { ...orders, request_timeout: "1ms", items: [] },
      "request timeout is invalid; minimum timeout is '10ms' but '1ms' was requested",
    ],
    ["produce", { ...produced, items: [] }, "items cannot be empty; at least one item is required"],
    [
      "produce",
      { ...produced, items: new Array(1001).fill({}) },
      "items is invalid; max_produce_batch_size is 1000 but received 1001",
    ],
    ["lease", { ...leased, client_id: "" }, "invalid client id; cannot be empty"],
    ["lease", { ...leased, batch_size: 0 }, "invalid batch size; must be greater than zero"],
    ["lease", { ...leased, batch_size: -1 }, "invalid batch size; must be greater than zero"],
    [
      "lease",
      { ...leased, batch_size: 1001 },
      "invalid batch size; max_lease_batch_size is 1000, but 1001 was requested",
    ],
    [
      "retry",
      { ...orders, partition: 9, items: [] },
      "partition is invalid; '9' is not a valid partition",
    ],
    [
      "retry",
      { ...orders, partition: -1, items: [] },
      "partition is invalid; '-1' is not a valid partition",
    ],
    [
      "retry",
      { ...orders, partition: 0, items: [] },
      "items is invalid; list of items cannot be empty",
    ],
    [
      "complete",
      { ...produced, partition: 0, ids: [] },
      "ids is invalid; list of ids cannot be empty",
    ],
    [
      "complete",
      { ...produced, partition: 0, ids: new Array(1001).fill("a") },
      "ids is invalid; max_complete_batch_size is 1000 but received 1001",
    ],
    ["listQueues", { pivot: "", limit: 1001 }, "limit is invalid; cannot be greater than 1000"],
    ["listQueues", { pivot: "", limit: -1 }, "limit is invalid; limit cannot be negative"],
    [
      "listQueues",
      { pivot: "a~", limit: 1 },
      "pivot is invalid; 'a~' cannot contain '~' character",
    ],
    [
      "createQueue",
      { queue_name: "a b", lease_timeout: "foo", expire_timeout: "1h" },
      "queue name is invalid; 'a b' cannot contain whitespace",
    ],
    [
      "createQueue",
      { queue_name: "a", lease_timeout: "2h", expire_timeout: "1h" },
      "lease timeout is too long; 2h0m0s cannot be greater than the expire timeout 1h0m0s",
    ],
    [
      "createQueue",
      { ...orders, lease_timeout: "1m", expire_timeout: "1h" },
      "invalid queue; 'orders' already exists",
    ],
    [
      "createQueue",
      { queue_name: "a", lease_timeout: "1m", expire_timeout: "1h", requested_partitions: 0 },
      "partitions is invalid; cannot be less than 1",
    ],
    ["queueInfo", { name: "__proto__" }, "queue does not exist; no such queue named '__proto__'"],
    ["deleteItems", { ...orders, partition: 0, ids: [] }, "ids is invalid; cannot be empty"],
    ["importItems", { ...orders, partition: 0, items: [] }, "items is invalid; cannot be empty"],
  ])("%s: %j breaks a rule, which the engine names", async (id, body, message) => {
    await using server = await setup();
    expect(await server.call(id, body)).toEqual(refused(400, message));
  });

  test("null means the same as an absent optional key", async () => {
    await using server = await setup();
    const item = {
      kind: null,
      encoding: null,
      reference: null,
      bytes: null,
      utf8: null,
      enqueue_at: null,
    };
    expect(await server.call("produce", { ...produced, items: [item] })).toEqual(done);
    expect((await server.call("lease", { ...leased, batch_size: null })).items).toHaveLength(1);
    const imported = { ...orders, partition: 0, items: [{ payload: null }] };
    expect((await server.call("importItems", imported)).items).toHaveLength(1);
    const page = { pivot: "", limit: 1, namespace: null };
    expect((await server.call("listQueues", page)).items).toHaveLength(1);
  });

  test.each([
    ["dead_queue", "a string"],
    ["reference", "a string"],
    ["lease_timeout", "a string"],
    ["expire_timeout", "a string"],
    ["max_attempts", "a whole number"],
    ["requested_partitions", "a whole number"],
    ["namespace", "a string"],
  ])(
    "an update refuses %s: null, which could mean that it stays or that it goes",
    async (key, expected) => {
      await using server = await setup();
      const update = await server.call("updateQueue", { ...orders, [key]: null });
      expect(update).toEqual(refused(400, `${key} is invalid; expected ${expected}, got null`));
    },
  );

  test.each([
    ['{"queue_name":"orders","__proto__":{"x":1}}', "__proto__ is unknown"],
    ['{"queue_name":"orders","constructor":1}', "constructor is unknown"],
    ['{"queue_name":"orders"', "request body is not valid JSON; Expected '}'"],
    ['{"queue_name":01}', "request body is not valid JSON; "],
    ["\ufeff{}", "request body is not valid JSON; "],
    ["", "request body is empty; expected a JSON object"],
    ["[".repeat(60_000), "request body is not valid JSON; "],
    [`${"[".repeat(30_000)}${"]".repeat(30_000)}`, "request is invalid; expected an object"],
    ["[".repeat(100_000), "request body is nested too deeply; expected at most 16 levels"],
    ['{"queue_name":1e999}', "queue_name is invalid; expected a string, got Infinity"],
    ['{"queue_name":"\\ud800"}', "queue_name is invalid; expected well-formed Unicode"],
    ['{"queue_name":"a\\uDEAD"}', "queue_name is invalid; expected well-formed Unicode"],
    ['{"queue_name":"\\ud83d\\ude00"}', "queue does not exist; no such queue named '😀'"],
    ['{"queue_name":"\\\\ud800"}', "queue does not exist; no such queue named '\\ud800'"],
  ])("body %#: %p", async (body, message) => {
    await using server = await setup();
    const answer = await server.post("stats", body.slice(0, 250_000));
    expect(answer.body).toEqual(refused(400, expect.stringContaining(message) as never));
  });

  test("half of a surrogate pair is refused wherever it is", async () => {
    await using server = await setup();
    const body = '{"queue_name":"orders","request_timeout":"1m","items":[{},{"utf8":"\\udc00"}]}';
    expect((await server.post("produce", body)).body).toEqual(
      refused(
        400,
        "items[1].utf8 is invalid; expected well-formed Unicode, got half of a surrogate pair",
      ),
    );
    const named =
      '{"queue_name":"orders","request_timeout":"1m","items":[{"headers":{"\\ud800":""}}]}';
    expect((await server.post("produce", named)).body).toEqual(
      refused(
        400,
        "items[0].headers is invalid; expected well-formed Unicode, got half of a surrogate pair",
      ),
    );
  });

  test("bytes that are not UTF-8 are refused, and the replacement character is not", async () => {
    await using server = await setup();
    const encode = (text: string) => new TextEncoder().encode(text);
    const head = encode('{"queue_name":"');
    for (const bad of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98], [0xc0, 0xaf]]) {
      const body = Buffer.concat([head, new Uint8Array(bad), encode('"}')]);
      expect((await server.post("stats", body)).body).toEqual(
        refused(400, "request body is not valid UTF-8; expected a JSON object in UTF-8"),
      );
    }
    expect((await server.post("stats", Buffer.concat([head, encode('\ufffd"}')]))).body).toEqual(
      refused(400, "queue does not exist; no such queue named '\ufffd'"),
    );
  });

  test("a compressed body is refused with its encoding", async () => {
    await using server = await setup();
    const body = Bun.gzipSync(JSON.stringify(orders));
    const headers = { ...jsonType, "content-encoding": "gzip" };
    expect((await server.post("stats", body, headers)).body).toEqual(
      refused(415, "content encoding is not supported; send the body as it is, got 'gzip'"),
    );
  });

  test("any malformed body gets an error reply of the contract", async () => {
    await using server = await setup();
    const ids = Object.keys(operations) as OperationId[];
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom("orders", "1m", 0, -1, true, [{}], [""]),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ids), fc.string(), value, async (id, key, put) => {
        const body = { ...operations[id].example, request_timeout: "10ms", [key]: put };
        if (!("request_timeout" in operations[id].example))
          Reflect.deleteProperty(body, "request_timeout");
        const { code, body: reply } = await server.post(id, JSON.stringify(body));
        expect(code === 200 || Value.Check(Reply, reply)).toBe(true);
        expect(code).toBeLessThan(500);
        expect(code === 200 || reply.code === code).toBe(true);
      }),
      { numRuns: 500 },
    );
    expect(server.logged).toEqual([]);
  });
});

describe("guards", () => {
  test.each([
    ["text/plain", "'text/plain'"],
    ["application/x-www-form-urlencoded", "'application/x-www-form-urlencoded'"],
    ["application/json; charset=latin1", "'application/json; charset=latin1'"],
    ["application/jsonp", "'application/jsonp'"],
    ["text/plain; application/json", "'text/plain; application/json'"],
    [null, "none"],
  ])("content type %s is refused", async (type, got) => {
    await using server = await setup();
    const headers = type === null ? {} : { "content-type": type };
    const body = new TextEncoder().encode(JSON.stringify(orders));
    expect((await server.post("stats", body, headers)).body).toEqual(
      refused(
        415,
        `content type is not supported; send 'Content-Type: application/json', got ${got}`,
      ),
    );
  });

  test.each([
    "application/json",
    "Application/JSON",
    'application/json; charset="UTF-8"',
    "application/json;charset=utf-8",
  ])("content type %s is JSON", async (type) => {
    await using server = await setup();
    const body = JSON.stringify(orders);
    expect((await server.post("stats", body, { "content-type": type })).code).toBe(200);
  });

  test.each([
    ["localhost", 200],
    ["LOCALHOST:9090", 200],
    ["127.0.0.1:1", 200],
    ["[::1]:9090", 200],
    ["queue.example.com", 200],
    ["localhost.", 200],
    ["Queue.Example.com.:9090", 200],
    ["localhost..", 403],
    [".", 403],
    ["evil.example.com.", 403],
    ["evil.example.com", 403],
    ["localhost.evil.com", 403],
    ["localhost:9090, evil.com", 403],
    ["10.0.0.1", 403],
    ["", 403],
  ])("host %p: %d", async (host, code) => {
    await using server = await setup({ allowedHosts: ["queue.example.com"] });
    for (const path of ["/health", "/metrics", "/swagger", "/swagger/json"]) {
      expect((await server.send(path, { headers: { host } })).status).toBe(code);
    }
  });

  test.each([
    ["a.example.com", 200],
    ["A.Example.COM:9090", 200],
    ["a.example.com.", 200],
    ["a.b.example.com", 403],
    ["example.com", 403],
    [".example.com", 403],
    ["aexample.com", 403],
    ["a.example.com.evil.com", 403],
  ])("host %p, where *.example.com is allowed: %d", async (host, code) => {
    await using server = await setup({ allowedHosts: ["*.Example.com"] });
    const response = await server.send("/health", { headers: { host } });
    expect(response.status).toBe(code);
    const message = expect.stringContaining(
      "expected this server's address or one of --allowed-hosts",
    );
    if (code === 403) expect(await response.json()).toEqual(refused(403, message));
  });

  test("host: where every address is listened on, any address will do, but no other name", async () => {
    await using server = await setup({ host: "0.0.0.0" });
    const codes = ["10.1.2.3:9090", "[fe80::1]:9090", "10.1.2.3.evil.com", "1e100"].map(
      async (host) => (await server.send("/health", { headers: { host } })).status,
    );
    expect(await Promise.all(codes)).toEqual([200, 200, 403, 403]);
  });

  test.each([
    ["http://localhost", 200],
    ["https://localhost", 200],
    ["https://app.example.com", 200],
    ["http://localhost:8080", 403],
    ["https://evil.example.com", 403],
    ["null", 403],
    ["", 403],
  ])("origin %p: %d", async (origin, code) => {
    await using server = await setup({ allowedOrigins: ["https://app.example.com"] });
    const answer = await server.post("stats", JSON.stringify(orders), { ...jsonType, origin });
    expect(answer.code).toBe(code);
    if (code === 403) {
      expect(answer.body).toEqual(refused(403, `origin is not allowed; got '${origin}'`));
    }
  });

  test("origin: pages of an allowed one may send a preflight and read the reply; others may not", async () => {
    await using server = await setup({ allowedOrigins: ["https://app.example.com"] });
    const preflight = (origin: string) =>
      server.send(operations.stats.path, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST" },
      });
    const allowed = await preflight("https://app.example.com");
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get("access-control-allow-headers")).toBe(
      "authorization, content-type, idempotency-key",
    );
    const refusedOne = await preflight("https://evil.example.com");
    expect(refusedOne.status).toBe(403);
    expect(refusedOne.headers.get("access-control-allow-origin")).toBeNull();
    const headers = { ...jsonType, origin: "https://app.example.com" };
    const { response } = await server.post("stats", JSON.stringify(orders), headers);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    expect(response.headers.get("access-control-expose-headers")).toBe("idempotency-replayed");
    const { code, response: reply } = await server.post("stats", "{}", headers);
    expect([code, reply.headers.get("access-control-allow-origin")]).toEqual([
      400,
      "https://app.example.com",
    ]);
    // Responses share their headers, but not this one.
    const { response: next } = await server.post("stats", JSON.stringify(orders));
    expect(next.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("a body larger than the operation takes is refused, its length declared or not", async () => {
    await using server = await setup({ bodyMax: 2_048, produceBodyMax: 5_000 });
    const body = JSON.stringify({ ...orders, x: "y".repeat(3_000) });
    const limit = refused(413, "request body exceeds 2.0KiB limit");
    const declared = { ...jsonType, "content-length": String(body.length) };
    expect((await server.post("stats", body, declared)).body).toEqual(limit);
    expect((await server.post("stats", body)).body).toEqual(limit);
    expect((await server.post("produce", body)).code).toBe(400);
    const huge = { ...jsonType, "content-length": "999999999999" };
    expect((await server.post("produce", body, huge)).body).toEqual(
      refused(413, "request body exceeds 5.0kB limit"),
    );
  });

  test.each(["35, 35", "", "x", "-35", "3.5e1", "0x23", "1e999", "NaN", " "])(
    "a length of %j is refused, and what is counted stays a number",
    async (length) => {
      await using server = await setup();
      const { code, body } = await server.post("stats", JSON.stringify(orders), {
        ...jsonType,
        "content-length": length,
      });
      expect({ code, body }).toEqual({
        code: 400,
        body: refused(400, `content length is invalid; expected a number, got '${length.trim()}'`),
      });
      const metrics = await (await server.send("/metrics", {})).text();
      expect(metrics).toContain("\nholdfast_request_body_bytes 0\n");
    },
  );

  test("a request beyond the bound of body bytes gets 429, and the others continue", async () => {
    await using server = await setup({ bodiesMax: 2_000 });
    const body = (client_id: string) => JSON.stringify({ ...leased, client_id });
    const declared = (text: string) => ({ ...jsonType, "content-length": String(text.length) });
    const long = body("a".repeat(1_500));
    const waiting = server.post("lease", long, declared(long));
    while (server.engine.status().waitingLeases === 0) await Bun.sleep(1);
    const second = await server.post("lease", long, declared(long));
    expect(second.body).toEqual(
      refused(429, "too many request bodies are in progress; try again later"),
    );
    const short = JSON.stringify(orders);
    expect((await server.post("stats", short, declared(short))).code).toBe(200);
    await server.engine.produce({
      queue: "orders",
      requestTimeoutMs: 60_000,
      items: [{ payload: "a" }],
    });
    expect((await waiting).code).toBe(200);
    await server.engine.produce({
      queue: "orders",
      requestTimeoutMs: 60_000,
      items: [{ payload: "b" }],
    });
    expect((await server.post("lease", long, declared(long))).code).toBe(200);
  });

  test("a request beyond the bound of requests gets 429, and the others continue", async () => {
    await using server = await setup({ connectionsMax: 2 });
    const waiting = ["a", "b"].map((client_id) => server.call("lease", { ...leased, client_id }));
    const third = await server.post("stats", JSON.stringify(orders));
    expect(third.body).toEqual(refused(429, "too many requests are in progress; try again later"));
    expect(third.response.headers.get("retry-after")).toBe("1");
    await server.engine.produce({
      queue: "orders",
      requestTimeoutMs: 60_000,
      items: [{ payload: "a" }, { payload: "b" }],
    });
    for (const lease of await Promise.all(waiting)) expect(lease.items).toHaveLength(1);
    expect((await server.post("stats", JSON.stringify(orders))).code).toBe(200);
  });

  test.each([
    ["GET", operations.produce.path, "POST"],
    ["DELETE", operations.lease.path, "POST"],
    ["OPTIONS", operations.lease.path, "POST"],
    ["POST", "/health", "GET"],
    ["POST", "/livez", "GET"],
    ["POST", "/readyz", "GET"],
    ["PUT", "/metrics", "GET"],
  ])("%s %s: the method is refused", async (method, path, allowed) => {
    await using server = await setup();
    const response = await server.send(path, { method });
    expect(response.headers.get("allow")).toBe(allowed);
    expect(await response.json()).toEqual(
      refused(405, `http method '${method}' not allowed; only ${allowed}`),
    );
  });

  test.each(["/", "/nope", "/v1/queue.produce/", "/v1/queue.PRODUCE", "/v1", "//", "/v1/%2e%2e/x"])(
    "%s is no path",
    async (path) => {
      await using server = await setup();
      for (const method of ["GET", "POST", "HEAD"]) {
        const response = await server.send(path, { method });
        expect(response.status).toBe(404);
        if (method !== "HEAD") {
          expect(await response.json()).toMatchObject({ code: 404, code_text: "Not Found" });
        }
      }
    },
  );

  test("the site serves GET and HEAD of paths outside the API", async () => {
    const site = (_: Request, path: string) => (path === "/docs" ? new Response("docs") : null);
    await using server = await setup({ site });
    expect(await (await server.send("/docs?x=1", {})).text()).toBe("docs");
    expect((await server.send("/docs", { method: "POST" })).status).toBe(404);
    expect((await server.send("/other", {})).status).toBe(404);
    expect((await server.send(operations.stats.path, {})).status).toBe(405);
  });
});

describe("keys", () => {
  const keys = { find: (key: string) => (key === "right" ? knownKey("billing") : null) };
  const authenticate = () => createAuthenticator({ keys, log: silentLog, now: () => 0 });

  test("all paths except probes need a key; a rejected request changes nothing, and its body is not read", async () => {
    await using server = await setup();
    await using kept = await setup({ engines: [server.engine], authenticate: authenticate() });
    const right = { ...jsonType, authorization: "Bearer right" };
    const wrong = { ...jsonType, authorization: "Bearer wrong" };
    for (const path of ["/metrics", "/any", "/backup", operations.stats.path]) {
      const response = await kept.send(path, {});
      expect([path, response.status]).toEqual([path, 401]);
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="holdfast"');
    }
    for (const path of ["/health", "/livez", "/readyz"]) {
      expect([path, (await kept.send(path, {})).status]).toEqual([path, 200]);
    }
    expect((await kept.send("/metrics", { headers: right })).status).toBe(200);
    const produce = JSON.stringify({ ...produced, items: [{}] });
    for (const headers of [jsonType, wrong, { "content-type": "text/plain" }]) {
      expect((await kept.post("produce", produce, headers)).body).toMatchObject({
        code: 401,
        code_text: "Unauthorized",
      });
    }
    expect(await server.ok("inspect", orders)).toMatchObject({ queued: 0 });
    expect((await kept.post("produce", produce, right)).code).toBe(200);
    expect(await server.ok("inspect", orders)).toMatchObject({ queued: 1 });
  });

  test("pages and their assets need no key; unknown paths and other methods do", async () => {
    await using server = await setup();
    const pages = ["/", "/docs", "/docs/intro", "/console", "/assets/a.js"];
    const site = (_: Request, path: string) => (pages.includes(path) ? new Response("page") : null);
    await using kept = await setup({
      engines: [server.engine],
      authenticate: authenticate(),
      site,
    });
    const status = async (path: string, method = "GET") =>
      (await kept.send(path, { method })).status;
    for (const path of ["/", "/docs", "/docs/intro?a=1", "/console?name=a", "/assets/a.js"]) {
      expect([path, await status(path), await status(path, "HEAD")]).toEqual([path, 200, 200]);
      expect([path, await status(path, "POST")]).toEqual([path, 401]);
    }
    for (const path of ["/swagger", "/swagger/json"]) {
      expect([path, await status(path), await status(path, "POST")]).toEqual([path, 200, 401]);
    }
    for (const path of ["/consoles", "/v1/queues.list", "/metrics", "/v1/a.json", "//docs"]) {
      expect([path, await status(path)]).toEqual([path, 401]);
    }
  });

  test("too many wrong keys are answered 429 with Retry-After", async () => {
    await using server = await setup();
    await using kept = await setup({ engines: [server.engine], authenticate: authenticate() });
    const wrong = { ...jsonType, authorization: "Bearer wrong" };
    for (let count = 0; count < failedAuthLimits.countMax; count += 1) {
      expect((await kept.post("stats", "{}", wrong)).code).toBe(401);
    }
    const { body, response } = await kept.post("stats", "{}", wrong);
    expect(body).toEqual(refused(429, "too many wrong API keys; try again later"));
    expect(response.headers.get("retry-after")).toBe("60");
  });

  test("a page of an allowed origin can read that it needs a key", async () => {
    await using server = await setup();
    const allowedOrigins = ["https://app.example.com"];
    await using kept = await setup({
      engines: [server.engine],
      authenticate: authenticate(),
      allowedOrigins,
    });
    const origin = "https://app.example.com";
    const preflight = await kept.send(operations.stats.path, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toContain("authorization");
    const { code, response } = await kept.post("stats", "{}", { ...jsonType, origin });
    expect(code).toBe(401);
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
  });
});

describe("log", () => {
  test("each request is logged with its key's name, operation, queue, code and time", async () => {
    const lines: string[] = [];
    const log = createLog({ level: "debug", write: (line) => lines.push(line) });
    const keys = { find: (key: string) => (key === "right" ? knownKey("billing") : null) };
    const authenticate = createAuthenticator({ keys, log, now: () => 0 });
    await using server = await setup();
    const { engine } = server;
    await using logged = await setup({
      engines: [engine],
      authenticate,
      requestLog: new RequestLog(log),
    });
    lines.length = 0;
    const right = { ...jsonType, authorization: "Bearer right" };
    await logged.post("stats", JSON.stringify(orders), right);
    await logged.post("stats", JSON.stringify({ queue_name: "x".repeat(1_000) }), right);
    await logged.post("stats", JSON.stringify({ queue_name: 1 }), right);
    await logged.post("stats", JSON.stringify(orders));
    await logged.send("/nowhere?secret", { headers: right });
    await logged.send("/health", {});
    const common = { level: "debug", time: expect.any(String), event: "request" };
    const key = "billing";
    const ms = expect.any(Number);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { ...common, key, operation: "stats", queue: "orders", code: 200, ms },
      { ...common, key, operation: "stats", queue: "x".repeat(80), code: 400, ms },
      { ...common, key, operation: "stats", code: 400, ms },
      { ...common, operation: "stats", code: 401, ms },
      { ...common, key, operation: "/nowhere", code: 404, ms },
      { ...common, operation: "health", code: 200, ms },
    ]);
  });
});

describe("errors", () => {
  test("an unexpected error is logged, and its text is not sent", async () => {
    await using real = await setup();
    const engine = {
      ...real.engine,
      status: () => real.engine.status(),
      requireQueue: () => undefined,
      createQueue: async () => undefined,
      stats: async () => {
        throw new TypeError("SELECT secret FROM /data/shard-0.db");
      },
      close: () => real.engine.close(),
    };
    await using server = await setup({ engines: [engine] });
    expect(await server.call("stats", orders)).toEqual(refused(500, "Internal Error"));
    expect(server.logged).toEqual(["request failed; SELECT secret FROM /data/shard-0.db"]);
  });

  test("after close every operation is answered 503, and pages are still served", async () => {
    await using server = await setup();
    await server.engine.close();
    const { code, body } = await server.post(
      "produce",
      JSON.stringify({ ...produced, items: [{}] }),
    );
    expect(code).toBe(503);
    expect(body).toEqual(refused(503, "service is shutting down; nothing was changed"));
    expect((await server.send("/metrics", {})).status).toBe(200);
  });
});

describe("pages", () => {
  test("health: names the store", async () => {
    await using server = await setup();
    const body = await (await server.send("/health", {})).json();
    expect(Value.Check(Health, body)).toBe(true);
    expect(body).toEqual({
      status: "ok",
      version: "1.2.3",
      store: "memory",
      durability: "none",
      shards: 1,
      shards_up: 1,
      shards_without_owner: [],
    });
  });

  test("health: a full store is reported unless a shard is down, and a loss unless either", async () => {
    await using server = await setup();
    const answered = async (change: { full: boolean; up?: boolean }, lost = 0) => {
      const status = server.engine.status();
      const [shard] = status.shards;
      const shards = shard === undefined ? [] : [shard, { ...shard, ...change }];
      const engine = {
        ...server.engine,
        createQueue: async () => undefined,
        status: () => ({ ...status, shards }),
        // The outer server closes the engine.
        close: async () => undefined,
      };
      await using other = await setup({
        engines: [engine],
        lostCommits: new LostCommits(() => lost),
      });
      return (await (await other.send("/health", {})).json()).status;
    };
    expect(await answered({ full: false })).toBe("ok");
    expect(await answered({ full: true })).toBe("store_full");
    expect(await answered({ full: true, up: false })).toBe("degraded");
    expect(await answered({ full: false }, 2)).toBe("commits_lost");
    expect(await answered({ full: true }, 2)).toBe("store_full");
    expect(await answered({ full: false, up: false }, 2)).toBe("degraded");
  });

  test("nodes.drain: a single server refuses it, and lists the action", async () => {
    await using server = await setup();
    const url = "http://10.0.0.7:9090";
    for (const draining of [true, false]) {
      expect(await server.call("drainNode", { url, draining })).toMatchObject({
        code: 453,
        reason: "not_a_node",
        message: "server is not a node of a cluster; start it with --node-url",
      });
    }
    expect((await server.call("drainNode", {} as never)).code).toBe(400);
    const { items } = await server.ok("listActions", { limit: 1 });
    expect(items).toMatchObject([{ operation: "drainNode", code: 453 }]);
  });

  test("losses.confirm: a loss is reported until an operator confirms it, and so is the next one", async () => {
    let lost = 3;
    await using server = await setup({ lostCommits: new LostCommits(() => lost) });
    const status = async () => (await (await server.send("/health", {})).json()).status;
    const confirm = () => server.ok("confirmLoss", {});
    expect(await status()).toBe("commits_lost");
    expect(await confirm()).toEqual({ lost_commits: 3 });
    expect(await status()).toBe("ok");
    lost += 1;
    expect(await status()).toBe("commits_lost");
    expect(await confirm()).toEqual({ lost_commits: 4 });
    expect(await status()).toBe("ok");
    const { items } = await server.ok("listActions", { limit: 2 });
    expect(items).toMatchObject([
      { operation: "confirmLoss", code: 200 },
      { operation: "confirmLoss", code: 200 },
    ]);
  });

  test("losses.confirm: confirms at most the expected number, and the overview has an alarm until then", async () => {
    let lost = 1;
    await using server = await setup({ lostCommits: new LostCommits(() => lost) });
    const alarms = async () => (await server.ok("overview", {})).alarms;
    const alarm = { kind: "commits_lost", since: null, count: 1, queue_name: "", shard: -1 };
    expect(await alarms()).toEqual([
      { ...alarm, text: "A commit that had been acknowledged was lost by the database, at least." },
    ]);
    lost = 3;
    const [more] = await alarms();
    expect(more?.text).toStartWith("3 commits that had been acknowledged were lost");
    expect(await server.call("confirmLoss", { expect: 1 })).toEqual({
      ...refused(453, "count has changed; 3 lost commits would be confirmed, expected at most 1"),
      reason: "count_changed",
      details: { count: "3" },
    });
    expect((await server.call("confirmLoss", { expect: -1 })).code).toBe(400);
    expect(await alarms()).toHaveLength(1);
    expect(await server.ok("confirmLoss", { expect: 3 })).toEqual({ lost_commits: 3 });
    expect(await alarms()).toEqual([]);
  });

  test("losses.confirm: a server whose store loses nothing has nothing to confirm", async () => {
    await using server = await setup();
    expect(await server.ok("confirmLoss", {})).toEqual({ lost_commits: 0 });
  });

  test("health: 503 from the moment a stop begins", async () => {
    await using server = await setup({ isClosing: () => true });
    const response = await server.send("/health", {});
    expect(await response.json()).toEqual(
      refused(503, "service is shutting down; nothing was changed"),
    );
  });

  test("livez: 200 as long as the process answers, however many others wait", async () => {
    await using server = await setup({ isClosing: () => true, connectionsMax: 0 });
    const response = await server.send("/livez", {});
    expect([response.status, await response.json()]).toEqual([200, done]);
    expect((await server.send("/readyz", {})).status).toBe(429);
  });

  test("readyz: 200 while every shard is up and no stop has begun", async () => {
    await using server = await setup();
    const ready = await server.send("/readyz", {});
    expect([ready.status, await ready.json()]).toEqual([200, done]);

    await using stopping = await setup({ engines: [server.engine], isClosing: () => true });
    const closing = refused(503, "service is shutting down; nothing was changed");
    expect(await (await stopping.send("/readyz", {})).json()).toEqual(closing);

    const status = server.engine.status();
    const shards = [...status.shards, ...status.shards.map((shard) => ({ ...shard, up: false }))];
    const engine = {
      ...server.engine,
      createQueue: async () => undefined,
      status: () => ({ ...status, shards }),
      close: () => server.engine.close(),
    };
    await using degraded = await setup({ engines: [engine] });
    const down = refused(503, "not every shard is up; expected 2, got 1");
    const answer = await degraded.send("/readyz", {});
    expect([answer.headers.get("retry-after"), await answer.json()]).toEqual(["1", down]);
    expect((await degraded.send("/health", {})).status).toBe(200);
  });

  test("metrics: count requests by operation and code", async () => {
    await using server = await setup();
    await server.ok("produce", { ...produced, items: [{}, {}] });
    await server.call("produce", { ...produced, items: [] });
    await server.send("/some/path", {});
    const response = await server.send("/metrics", {});
    expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
    const lines = (await response.text()).split("\n");
    for (const line of [
      'holdfast_requests_total{operation="produce",code="200"} 1',
      'holdfast_requests_total{operation="produce",code="400"} 1',
      'holdfast_requests_total{operation="~other",code="404"} 1',
      'holdfast_request_seconds_count{operation="produce"} 2',
      'holdfast_items{queue="orders",state="queued"} 2',
      "holdfast_waiting_leases 0",
      "holdfast_requests_in_flight 1",
      'holdfast_info{version="1.2.3",durability="none"} 1',
    ]) {
      expect(lines).toContain(line);
    }
  });

  test("swagger: the page loads nothing from other origins, and the document is the file", async () => {
    await using server = await setup();
    const page = await server.send("/swagger", {});
    const html = await page.text();
    expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await (await server.send("/swagger/json", {})).text()).toBe(documentText());
  });
});
