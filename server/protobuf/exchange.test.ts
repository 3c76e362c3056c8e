// The operations in protobuf, as a client of the protocol calls them: through the app, with a
// second library for requests and replies.

import { expect, test } from "bun:test";
import { type OperationId, operations } from "../../openapi/operations.ts";
import { operationMessages, replyMessage } from "../../openapi/protobuf.ts";
import { decoded, encoded, type Values } from "../testing/independent-protobuf.ts";
import { listeningApp } from "../testing/listening-app.ts";
import { type RunningApp, run } from "../testing/running-app.ts";

const protobuf = "application/protobuf";
const orders = { queue_name: "orders" };
const timed = { ...orders, request_timeout: "1m" };
const done = { code: 200, code_text: "OK", message: "", details: {} };
/** The reply of a call whose `counts` were not requested. */
const guardedDone = { code: 200, code_text: "OK", message: "", counts: null };
const yearOne = "0001-01-01T00:00:00.000Z";

interface Sent {
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array<ArrayBuffer>;
}

/** Sends a request in protobuf, and reads the reply according to its content type. */
async function call(app: RunningApp, id: OperationId, values: Values, sent: Sent = {}) {
  const { request, reply } = operationMessages[id];
  const { headers, body = encoded(request, values) } = sent;
  const init = { method: "POST", headers: { "content-type": protobuf, ...headers }, body };
  const response = await app.through(app.send(operations[id].path, init));
  const type = response.headers.get("content-type") ?? "";
  const bytes = await response.bytes();
  const isJson = type === "application/json";
  const message = response.status === 200 ? reply : replyMessage;
  return {
    code: response.status,
    type,
    body: isJson
      ? (JSON.parse(new TextDecoder().decode(bytes)) as Values)
      : decoded(message, bytes),
    headers: response.headers,
  };
}

function refused(code: number, code_text: string, message: string, details: Values = {}) {
  return { code, type: protobuf, body: { code, code_text, message, details } };
}

test("an item is produced, leased, retried, leased again and completed", async () => {
  await using app = await run({ orders: null });
  const created = await call(app, "createQueue", {
    ...orders,
    lease_timeout: "60m",
    expire_timeout: "24h",
    requested_partitions: 1,
    namespace: "_system",
  });
  expect(created).toMatchObject({ code: 200, type: protobuf, body: done });
  expect(created.headers.get("x-content-type-options")).toBe("nosniff");
  const items = [
    { kind: "k", encoding: "e", reference: "r", bytes: "AAH//g==" },
    { utf8: "two", bytes: "" },
    {},
  ];
  const written = { code: 200, code_text: "OK", message: "", duplicates: [] };
  expect(await call(app, "produce", { ...timed, items })).toMatchObject({
    code: 200,
    body: written,
  });

  const leased = { ...timed, client_id: "one", batch_size: 10 };
  const first = await call(app, "lease", leased);
  expect(first).toMatchObject({
    code: 200,
    type: protobuf,
    body: {
      queue_name: "orders",
      partition: 0,
      items: [
        {
          kind: "k",
          encoding: "e",
          reference: "r",
          bytes: "AAH//g==",
          attempts: 1,
          lease_deadline: "2026-01-01T01:00:00.000Z",
        },
        { kind: "", bytes: btoa("two"), attempts: 1 },
        { bytes: "" },
      ],
    },
  });
  const idsOf = (body: Values) => (body["items"] as { id: string }[]).map(({ id }) => id);
  const retries = idsOf(first.body).map((id) => ({ id }));
  expect(await call(app, "retry", { ...orders, items: retries })).toMatchObject({ body: done });
  const second = await call(app, "lease", leased);
  expect(second.body["items"]).toMatchObject([{ attempts: 2 }, { attempts: 2 }, { attempts: 2 }]);
  const ids = idsOf(second.body);
  const completing = { ...timed, ids };
  expect(await call(app, "complete", completing)).toMatchObject({ code: 200, body: done });
  const reason = (id: string) => `invalid storage id; '${id}' does not exist`;
  expect(await call(app, "complete", completing)).toMatchObject(
    refused(
      453,
      "Request Failed",
      reason(ids[0] ?? ""),
      Object.fromEntries(ids.map((id) => [id, reason(id)])),
    ),
  );
});

test("a queue is described with canonical timeouts and its namespace, also in a list", async () => {
  await using app = await run({ orders: { expire_timeout: "1440m" } });
  const info = {
    ...orders,
    created_at: "2026-01-01T00:00:00.000Z",
    updated_at: "2026-01-01T00:00:00.000Z",
    dead_queue: "",
    reference: "",
    lease_timeout: "1h0m0s",
    expire_timeout: "24h0m0s",
    max_attempts: 0,
    requested_partitions: 1,
    namespace: "_system",
    leased_max: 0,
    lease_rate: "",
    unique_for: "",
    priority_aging: "1m0s",
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
  expect((await call(app, "queueInfo", orders)).body).toEqual(info);
  expect((await call(app, "listQueues", {})).body).toEqual({ items: [info], unreached: [] });
  const json = await app.ok("queueInfo", { name: "orders" });
  expect(json).toMatchObject({ lease_timeout: "60m", expire_timeout: "1440m" });
  expect(json).not.toHaveProperty("namespace");
});

test.each([
  [{}, { lease_paused: true, produce_paused: false }],
  [{ produce: true }, { lease_paused: false, produce_paused: true }],
  [
    { lease: true, produce: true },
    { lease_paused: true, produce_paused: true },
  ],
])("pause: %j pauses %j", async (what, paused) => {
  await using app = await run();
  expect(await call(app, "pause", { ...orders, ...what, reason: "r" })).toMatchObject({
    body: done,
  });
  const { body } = await call(app, "queueInfo", orders);
  expect(body).toMatchObject({ ...paused, pause_reason: "r" });
  expect(await call(app, "resume", orders)).toMatchObject({ body: done });
  expect((await call(app, "queueInfo", orders)).body).toMatchObject({ pause_reason: "" });
});

test("update: a number or text that the message leaves out is its zero, a timeout stays", async () => {
  const before = { reference: "a", max_attempts: 3, dead_queue: "dead", requested_partitions: 2 };
  await using app = await run({ orders: null });
  await app.create("dead");
  await app.create("orders", before);
  const kept = { lease_timeout: "60m", requested_partitions: 2 };
  const update = (values: Values) => call(app, "updateQueue", { ...orders, ...values });
  const { requested_partitions: _, ...sent } = before;
  await update({ ...sent, expire_timeout: "48h" });
  expect(await app.ok("queueInfo", { name: "orders" })).toMatchObject({
    ...before,
    ...kept,
    expire_timeout: "48h",
  });
  await update({ ...sent, leased_max: 5, lease_rate: "9/1s" });
  const limits = { leased_max: 5, lease_rate: "9/1s" };
  await update(sent);
  expect((await call(app, "queueInfo", orders)).body).toMatchObject(limits);
  await update({ ...sent, leased_max: 0, lease_rate: "" });
  expect((await call(app, "queueInfo", orders)).body).toMatchObject({
    leased_max: 0,
    lease_rate: "",
  });
  expect(await update({})).toMatchObject({ body: guardedDone });
  expect(await app.ok("queueInfo", { name: "orders" })).toMatchObject({
    ...kept,
    expire_timeout: "48h",
    reference: "",
    max_attempts: 0,
    dead_queue: "",
  });
});

test("stored items: an instant that is not set, leases and imports", async () => {
  await using app = await run();
  await app.produce("a");
  const page = { ...orders, partition: 0, pivot: "", limit: 10 };
  const listed = await call(app, "listItems", page);
  expect(listed.body["items"]).toMatchObject([
    { is_leased: false, lease_deadline: yearOne, payload: btoa("a") },
  ]);
  const imported = await call(app, "importItems", { ...orders, items: listed.body["items"] });
  expect(imported.body["items"]).toMatchObject([
    { is_leased: false, lease_deadline: yearOne, payload: btoa("a") },
  ]);
  await app.lease();
  expect((await call(app, "listItems", { ...orders })).body["items"]).toMatchObject([
    { is_leased: true, lease_deadline: "2026-01-01T01:00:00.000Z" },
    { is_leased: true },
  ]);
});

test("stats, inspect, clear, reload, delete: each has its message", async () => {
  await using app = await run();
  await app.produce("a", "b");
  await app.advance(90_000);
  const stats = await call(app, "stats", orders);
  expect(stats.body["logical_queues"]).toMatchObject([
    { partitions: [{ partition: 0, total: 2, average_age: "1m30s", average_leased_age: "0s" }] },
  ]);
  expect(await call(app, "inspect", orders)).toMatchObject({ body: { queued: 2, partitions: 1 } });
  expect(await call(app, "reload", orders)).toMatchObject({ code: 200, body: done });
  expect(await call(app, "deleteQueue", orders)).toMatchObject(
    refused(453, "Request Failed", "queue is not empty; 'orders' holds 2 items"),
  );
  const cleared = await call(app, "clear", { ...orders, queue: true });
  expect(cleared).toMatchObject({ body: guardedDone });
  expect(await call(app, "deleteQueue", orders)).toMatchObject({ body: guardedDone });
});

test.each([
  ["produce", { ...timed, items: [] }],
  ["produce", { ...timed, items: Array(1_001).fill({}) }],
  ["produce", { ...timed, queue_name: "none", items: [{}] }],
  ["produce", { ...orders, request_timeout: "", items: [{}] }],
  ["produce", { ...orders, request_timeout: "16m", items: [{}] }],
  ["produce", { ...orders, request_timeout: "foo", items: [{}] }],
  ["lease", { ...timed, client_id: "", batch_size: 1 }],
  ["lease", { ...timed, client_id: "a", batch_size: 1_001 }],
  ["lease", { ...timed, client_id: "a", batch_size: -1 }],
  ["complete", { ...timed, partition: 9, ids: ["a"] }],
  ["complete", { ...timed, partition: 0, ids: ["a"] }],
  ["retry", { ...orders, partition: 0, items: [] }],
  ["createQueue", { queue_name: "a b", lease_timeout: "1m", expire_timeout: "1h" }],
  ["createQueue", { queue_name: "n", lease_timeout: "1m", expire_timeout: "1h", namespace: "x" }],
  ["updateQueue", { ...orders, namespace: "x" }],
  ["listQueues", { pivot: "", limit: 1_001 }],
  ["listQueues", { pivot: "", limit: 1, namespace: "x" }],
  ["clear", { ...orders, retry: false, scheduled: false, queue: false, destructive: true }],
  ["reload", { queue_name: "none" }],
] as const)("%s: %j is refused as in JSON", async (id, values) => {
  await using app = await run();
  const json = await app.call(id, values);
  const answer = await call(app, id, values);
  expect(json.code).toBeGreaterThan(399);
  expect(answer).toMatchObject({
    code: json.code,
    type: protobuf,
    body: { details: {}, ...json.body },
  });
});

test("a namespace is accepted when it is empty or the system's, in JSON too", async () => {
  await using app = await run();
  for (const namespace of ["", "_system"]) {
    const queue_name = `queue${namespace}`;
    await app.create(queue_name, { namespace });
    await app.ok("updateQueue", { queue_name, namespace, max_attempts: 1 });
    expect((await app.ok("listQueues", { pivot: "", limit: 9, namespace })).items).not.toEqual([]);
  }
  expect(
    await app.call("createQueue", {
      queue_name: "n",
      lease_timeout: "1m",
      expire_timeout: "1h",
      namespace: "mine",
    }),
  ).toMatchObject({
    code: 400,
    body: { message: "namespace does not exist; 'mine' was not found" },
  });
});

test("Accept: decides on the reply, of either request; without it the reply is as the request", async () => {
  await using app = await run();
  const json = "application/json";
  const other = "application/x-protobuf";
  const typeOf = async (headers: Record<string, string>) =>
    (await call(app, "stats", orders, { headers })).type;
  expect(await typeOf({})).toBe(protobuf);
  expect(await typeOf({ "content-type": other })).toBe(other);
  expect(await typeOf({ accept: json })).toBe(json);
  expect(await typeOf({ accept: "*/*" })).toBe(protobuf);
  const body = new TextEncoder().encode(JSON.stringify(orders));
  const headers = { "content-type": json, accept: protobuf };
  expect(await call(app, "stats", {}, { headers, body })).toMatchObject({
    code: 200,
    type: protobuf,
    body: orders,
  });
  const unknown = new TextEncoder().encode(JSON.stringify({ queue_name: "none" }));
  expect(await call(app, "stats", {}, { headers, body: unknown })).toMatchObject(
    refused(400, "Bad Request", "queue does not exist; no such queue named 'none'"),
  );
  expect(
    await call(app, "stats", { queue_name: "none" }, { headers: { accept: json } }),
  ).toMatchObject({
    code: 400,
    type: json,
  });
});

test("a malformed message and an encoded body are refused in protobuf", async () => {
  await using app = await run({ config: { bodyMax: 1_024 } });
  const broken = await call(app, "stats", {}, { body: Uint8Array.of(0x0a, 0x06, 0x6f) });
  expect(broken).toMatchObject({ code: 400, type: protobuf });
  expect(broken.body["message"]).toStartWith("request body is not valid protobuf; ");
  expect(
    await call(app, "stats", orders, { headers: { "content-encoding": "gzip" } }),
  ).toMatchObject(
    refused(
      415,
      "Unsupported Media Type",
      "content encoding is not supported; send the body as it is, got 'gzip'",
    ),
  );
  expect(await call(app, "stats", {}, { body: new Uint8Array() })).toMatchObject(
    refused(400, "Bad Request", "queue name is invalid; queue name cannot be empty"),
  );
});

/** The status, type and text of an answer. */
async function shown(answer: Promise<Response>) {
  const response = await answer;
  return [response.status, response.headers.get("content-type"), await response.text()];
}

test("codes that clients of the protocol attribute to a proxy are sent as text", async () => {
  await using app = await run({ config: { bodyMax: 1_024 } });
  const body = encoded(operationMessages.stats.request, { queue_name: "a".repeat(2_000) });
  const stats = (headers: Record<string, string>) =>
    shown(app.through(app.send(operations.stats.path, { method: "POST", headers, body })));
  const message = "request body exceeds 1.0KiB limit";
  const text = "text/plain; charset=utf-8";
  expect(await stats({ "content-type": protobuf })).toEqual([413, text, message]);
  const json = { "content-type": protobuf, accept: "application/json" };
  expect((await stats(json)).slice(0, 2)).toEqual([413, "application/json"]);

  const waiting = encoded(operationMessages.lease.request, {
    ...timed,
    client_id: "a",
    batch_size: 1,
  });
  const init = { method: "POST", headers: { "content-type": protobuf }, body: waiting };
  const lease = app.send(operations.lease.path, init);
  await app.arrive();
  await app.through(app.engine.close());
  expect(await shown(lease)).toEqual([503, text, "service is shutting down; nothing was changed"]);
});

test("an error before the operation is known is sent in protobuf too", async () => {
  await using app = await run();
  const headers = { "content-type": protobuf };
  for (const [path, method, code] of [
    ["/v1/queue.nothing", "POST", 404],
    ["/v1/queue.stats", "PUT", 405],
  ] as const) {
    const response = await app.send(path, { method, headers });
    expect(response.headers.get("content-type")).toBe(protobuf);
    expect(decoded(replyMessage, await response.bytes())).toMatchObject({ code });
  }
});

test("a lease that finds nothing is answered 454, with the text of JSON", async () => {
  await using app = await run();
  const { path } = operations.lease;
  const values = { ...orders, request_timeout: "10ms", client_id: "a", batch_size: 1 };
  const body = encoded(operationMessages.lease.request, values);
  const answer = app.send(path, { method: "POST", headers: { "content-type": protobuf }, body });
  await app.arrive();
  await app.advance(20);
  const response = await answer;
  expect(decoded(replyMessage, await response.bytes())).toEqual({
    code: 454,
    code_text: "Retry Request",
    message: "request timeout; no items are in the queue, try again",
    reason: "empty",
    details: {},
  });
});

test("a client that waits in protobuf and one that produces in JSON meet", async () => {
  await using app = await run();
  const body = encoded(operationMessages.lease.request, {
    ...timed,
    client_id: "a",
    batch_size: 1,
  });
  const headers = { "content-type": protobuf };
  const answer = app.send(operations.lease.path, { method: "POST", headers, body });
  await app.arrive();
  await app.produce("met");
  const response = await app.through(answer);
  const leased = decoded(operationMessages.lease.reply, await response.bytes());
  expect(leased["items"]).toMatchObject([{ bytes: btoa("met") }]);
});

test("clock.advance: by a duration, to an instant", async () => {
  await using server = await listeningApp({}, { testClock: true });
  const { request, reply } = operationMessages.advance;
  const advance = async (by: string): Promise<number> => {
    const init = { method: "POST", headers: { "content-type": protobuf } };
    const body = encoded(request, { by });
    const response = await fetch(server.url + operations.advance.path, { ...init, body });
    expect(response.headers.get("content-type")).toBe(protobuf);
    return Date.parse(String(decoded(reply, await response.bytes())["now"]));
  };
  const first = await advance("1ms");
  expect(await advance("1d12h")).toBe(first + 36 * 3_600_000);
});

test("unique keys: the positions of duplicates are returned, the first of all included", async () => {
  await using app = await run();
  await call(app, "updateQueue", { ...orders, unique_for: "90m" });
  const { body } = await call(app, "queueInfo", orders);
  expect(body).toMatchObject({ unique_for: "1h30m0s" });
  const items = [{ unique_key: "1" }, { unique_key: "2" }, {}];
  await call(app, "produce", { ...timed, items });
  const again = await call(app, "produce", { ...timed, items });
  expect(again.body).toMatchObject({ code: 200, duplicates: [0, 1] });
});

test("transact: a part without a partition means partition 0, and the outcome of each output is returned", async () => {
  await using app = await run();
  await app.create("invoices", { unique_for: "1h" });
  await call(app, "produce", { ...timed, items: [{ utf8: "a" }, { utf8: "b" }] });
  const { body } = await call(app, "lease", { ...timed, client_id: "one", batch_size: 2 });
  const [a, b] = (body["items"] as { id: string }[]).map(({ id }) => id);
  const answer = await call(app, "transact", {
    request_timeout: "1m",
    complete: [{ ...orders, ids: [a] }],
    retry: [{ ...orders, items: [{ id: b }] }],
    produce: [
      { queue_name: "invoices", items: [{ utf8: "x", unique_key: "1" }, { unique_key: "1" }] },
      { ...orders, items: [{ bytes: "AAH//g==" }] },
    ],
  });
  const delivered = { partition: 0, delivered: true };
  expect(answer).toMatchObject({
    code: 200,
    type: protobuf,
    body: {
      produced: [
        { queue_name: "invoices", ...delivered, duplicates: [1] },
        { ...orders, ...delivered, duplicates: [] },
      ],
    },
  });
  const again = await call(app, "lease", { ...timed, client_id: "one", batch_size: 5 });
  expect(again.body["items"]).toMatchObject([{ attempts: 2 }, { attempts: 1, bytes: "AAH//g==" }]);
  expect(await call(app, "transact", { request_timeout: "1m", complete: [{ ids: [a] }] })).toEqual(
    expect.objectContaining({ code: 400 }),
  );
});

const int32Max = 2_147_483_647;

test("import: a count that protobuf cannot hold is refused, in either encoding", async () => {
  await using app = await run();
  for (const attempts of [int32Max + 1, 3_000_000_000]) {
    const items = [{ attempts, payload: "AAAA" }];
    expect(await app.call("importItems", { ...orders, partition: 0, items })).toMatchObject({
      code: 400,
      body: {
        reason: "malformed",
        message: `items is invalid; attempts of item 0 cannot be greater than ${int32Max}, got ${attempts}`,
      },
    });
  }
  for (const key of ["origin_attempts", "redriven"]) {
    const items = [{ [key]: int32Max + 1 }];
    const { code } = await app.call("importItems", { ...orders, partition: 0, items });
    expect([key, code]).toEqual([key, 400]);
  }
  expect(await app.stored()).toEqual([]);
});

test("a count at its bound stays there, and all calls that show its item are answered in protobuf", async () => {
  await using app = await run({ orders: null });
  await app.create("dead");
  await app.create("orders", { dead_queue: "dead" });
  const counts = { attempts: int32Max, origin_attempts: int32Max, redriven: int32Max };
  const items = [counts, { attempts: 7 }];
  const place = { ...orders, partition: 0 };
  expect((await call(app, "importItems", { ...place, items })).code).toBe(200);
  const lease = { ...timed, client_id: "one", batch_size: 10 };
  for (const attempts of [8, 9]) {
    const leased = await call(app, "lease", lease);
    expect(leased).toMatchObject({
      code: 200,
      body: { items: [counts, { attempts }] },
    });
    const ids = (leased.body["items"] as { id: string }[]).map(({ id }) => id);
    const listed = { ...place, pivot: "", limit: 10 };
    expect((await call(app, "listItems", listed)).body).toMatchObject({ items: [counts, {}] });
    expect((await call(app, "findItems", { ...orders, filter: {} })).body).toMatchObject({
      items: [counts, {}],
    });
    expect((await call(app, "explainItem", { id: ids[0] })).body).toMatchObject({ item: counts });
    const dead = attempts === 9;
    const retry = { ...place, items: ids.map((id) => ({ id, dead })) };
    expect((await call(app, "retry", retry)).code).toBe(200);
  }
  expect((await call(app, "redrive", { queue_name: "dead", to_queue: "orders" })).code).toBe(200);
  await app.arrive();
  expect(await call(app, "lease", lease)).toMatchObject({
    code: 200,
    body: {
      items: [
        { attempts: 1, redriven: int32Max },
        { attempts: 1, redriven: 1 },
      ],
    },
  });
});

test("headers are passed unchanged, whatever their names", async () => {
  await using app = await run();
  const headers = { ["__proto__"]: "a", constructor: "b", "": "c" };
  await call(app, "produce", { ...timed, items: [{ headers }] });
  const leased = await call(app, "lease", { ...timed, client_id: "one", batch_size: 1 });
  const [item] = leased.body["items"] as { headers: object }[];
  expect(Object.entries(item?.headers ?? {}).toSorted()).toEqual([
    ["", "c"],
    ["__proto__", "a"],
    ["constructor", "b"],
  ]);
});
