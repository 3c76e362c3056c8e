// Calls to a real server, and to fake servers with the answers of a proxy, a broken connection or a
// wrong clock.

import { expect, setSystemTime, test } from "bun:test";
import { runInNewContext } from "node:vm";
import { parseDuration } from "../engine/model/duration.ts";
import { bounds } from "../openapi/bounds.ts";
import { replyCodes } from "../openapi/codes.ts";
import { operations } from "../openapi/operations.ts";
import { type ListeningApp, listeningApp } from "../server/testing/listening-app.ts";
import { type CallOptions, timeoutMsOf } from "./call.ts";
import { type Client, type ClientOptions, createClient } from "./client.ts";
import {
  Busy,
  errorOf,
  HoldfastError,
  InvalidRequest,
  LeaseEmpty,
  NotAuthorized,
  OutcomeUnknown,
  RequestFailed,
  Unavailable,
} from "./errors.ts";
import type { NewItem } from "./items.ts";
import type { Lease } from "./lease.ts";
import { settled, stillTime } from "./testing/still-time.ts";
import { giveUpMsOf } from "./transport.ts";
import { operationPaths, timedOperations } from "./wire.ts";

type Fetch = NonNullable<ClientOptions["fetch"]>;

const quickly = { pace: { baseMs: 1, capMs: 1 } };
const settings = { lease_timeout: "1m", expire_timeout: "1h" };

async function queueOn(server: ListeningApp, options: ClientOptions = {}) {
  const client = createClient({ url: server.url, ...quickly, ...options });
  const queue = client.queue("orders");
  await queue.create(settings);
  return { client, queue };
}

/** Never aborts a request, so that only the server ends it. */
const patient: Fetch = (url, init) => globalThis.fetch(url, { ...init, signal: null });

async function caught(work: Promise<unknown>): Promise<HoldfastError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HoldfastError)) throw error ?? new Error("it did not fail");
  return error;
}

/** Like `caught`, with fake time that advances while the work waits. */
async function caughtInTime(begin: () => Promise<unknown>): Promise<HoldfastError> {
  using time = stillTime();
  let isOver = false;
  const error = caught(begin()).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await settled();
    time.advance(1);
  }
  return error;
}

/** A fake server with these answers in order, the last one repeatedly. Records the requests. */
function answering(...answers: (() => Response | Promise<Response>)[]) {
  return answeringWith({}, ...answers);
}

function answeringWith(options: ClientOptions, ...answers: (() => Response | Promise<Response>)[]) {
  const asked: { url: string; init: RequestInit }[] = [];
  const fetch: Fetch = async (url, init) => {
    asked.push({ url, init });
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    if (answer === undefined) throw new Error("nothing to answer");
    return answer();
  };
  return {
    asked,
    client: createClient({ url: "http://queue.test/", fetch, ...quickly, ...options }),
  };
}

const keysOf = (asked: readonly { readonly init: RequestInit }[]): (string | null)[] =>
  asked.map(({ init }) => new Headers(init.headers).get("idempotency-key"));

/** Errors of runtimes: Bun has the code on the error itself, Node on its cause. */
const coded = (code: string): Error => Object.assign(new TypeError("fetch failed"), { code });

/** Counts requests by operation. */
function counting() {
  const calls: Record<string, number> = {};
  const fetch: Fetch = (url, init) => {
    const call = url.slice(url.lastIndexOf(".") + 1);
    calls[call] = (calls[call] ?? 0) + 1;
    return globalThis.fetch(url, init);
  };
  return { calls, fetch };
}

const reply =
  (code: keyof typeof replyCodes, headers: Record<string, string> = {}) =>
  () =>
    Response.json(
      { code, code_text: replyCodes[code].text, message: "why", reason: "any" },
      { status: code, headers },
    );
const broken = () => Promise.reject(new Error("ECONNRESET"));
const refusedConnection = () => Promise.reject(coded("ECONNREFUSED"));

test("client: an item is produced, leased and completed, with each form of payload", async () => {
  await using server = await listeningApp();
  const { client, queue } = await queueOn(server);
  await queue.produce("two anchors");
  await queue.produce([
    new Uint8Array([0, 255, 128]),
    { json: { order: 42 }, kind: "order", reference: "order-42" },
    { bytes: btoa("three buoys"), enqueue_at: new Date(0) },
  ]);
  const lease = await queue.lease({ batch: 10 });
  const items = lease?.items ?? [];
  expect(
    items.map((item) => [item.kind, item.encoding, item.attempts, ...item.payload.subarray(0, 3)]),
  ).toEqual([
    ["", "", 1, 116, 119, 111],
    ["", "", 1, 0, 255, 128],
    ["order", "application/json", 1, 123, 34, 111],
    ["", "", 1, 116, 104, 114],
  ]);
  expect(items[0]?.text()).toBe("two anchors");
  expect(items[2]?.json()).toEqual({ order: 42 });
  expect(await lease?.complete()).toEqual({});
  const marked = ["\ufeffa", "\ufeff\ufeff", '\ufeff{"order":42}'];
  await queue.produce(marked);
  const rest = await queue.lease({ batch: 10 });
  expect(rest?.items.map((item) => item.text())).toEqual(marked);
  expect(rest?.items[2]?.json()).toEqual({ order: 42 });
  await rest?.complete();
  expect(await queue.inspect()).toMatchObject({ queued: 0 });
  expect((await client.health()).status).toBe("ok");
  expect(await client.metrics()).toContain("holdfast_waiting_leases 0\n");
});

test("queue: explain, clients and dry runs report findings, holders and counts", async () => {
  await using server = await listeningApp();
  const { client, queue } = await queueOn(server);
  await queue.produce(["a", "b", "c"]);
  await queue.lease({ clientId: "worker-9" });
  await queue.pause({ reason: "deploy" });
  expect(await queue.explain()).toMatchObject({
    health: "paused",
    findings: [{ kind: "paused", count: 2, text: "Leases are paused: deploy." }],
  });
  expect(await queue.clients({ limit: 1 })).toMatchObject({
    holding: [{ client_id: "worker-9", items: 1 }],
  });
  const { queues, since } = await client.overview();
  expect(queues).toMatchObject({ queue_name: ["orders"], health: ["paused"], leased: [1] });
  expect(await client.overview({ since })).toMatchObject({ whole: false });

  const counts = { ready: 2, leased: 0, scheduled: 0, retried: 0 };
  expect(await queue.clear({ queue: true, dry_run: true })).toEqual(counts);
  const refused = queue.clear({ queue: true, expect: 1 });
  expect(await refused.catch((error) => error)).toMatchObject({ status: 453, code: "failed" });
  expect(await queue.clear({ queue: true, expect: 2 })).toEqual(counts);
  expect(await queue.clear({ queue: true })).toBe(null);
  expect(await queue.delete({ force: true, dry_run: true })).toMatchObject({ leased: 1 });
  expect(await queue.delete({ force: true, expect: 1 })).toMatchObject({ leased: 1 });
});

test("payload: many bytes are returned unchanged, with and without built-in base64", async () => {
  const { base64OfBytes, bytesOfBase64 } = await import("./bytes.ts");
  const bytes = Uint8Array.from({ length: 50_000 }, (_, index) => (index * 7) % 256);
  const text = Buffer.from(bytes).toString("base64");
  const { fromBase64 } = Uint8Array;
  const { toBase64 } = Uint8Array.prototype;
  expect(base64OfBytes(bytes)).toBe(text);
  expect(bytesOfBase64(text)).toEqual(bytes);
  try {
    Object.assign(Uint8Array, { fromBase64: undefined });
    Object.assign(Uint8Array.prototype, { toBase64: undefined });
    expect(base64OfBytes(bytes)).toBe(text);
    expect(bytesOfBase64(text)).toEqual(bytes);
  } finally {
    Object.assign(Uint8Array, { fromBase64 });
    Object.assign(Uint8Array.prototype, { toBase64 });
  }
});

test("produce: an item with two payloads is refused", async () => {
  const queue = createClient().queue("orders");
  for (const other of [{ utf8: "x" }, { bytes: "eA==" }]) {
    await expect(queue.produce({ json: 1, ...other })).rejects.toThrow(
      "items[0] is invalid; payload is given twice; expected one of json, utf8 and bytes",
    );
  }
});

const looped: Record<string, unknown> = {};
looped["self"] = looped;

test.each([
  ["a number", 42, "expected a text, bytes or the fields of an item, got number 42"],
  ["nothing", undefined, "expected a text, bytes or the fields of an item, got undefined"],
  ["null", null, "expected a text, bytes or the fields of an item, got null"],
  ["a date", new Date(), "expected a text, bytes or the fields of an item, got Date"],
  [
    "a promise",
    Promise.resolve(""),
    "expected a text, bytes or the fields of an item, got Promise",
  ],
  ["a list in a list", [["x"]], "expected a text, bytes or the fields of an item, got Array"],
  [
    "a buffer",
    new ArrayBuffer(1),
    "expected a text, bytes or the fields of an item, got ArrayBuffer",
  ],
  ["a function", () => "x", "expected a text, bytes or the fields of an item, got function"],
  [
    "json without a value",
    { json: undefined },
    "payload is missing; expected a value of json, got undefined",
  ],
  ["json of a function", { json: () => 1 }, "json is invalid; expected a JSON value, got function"],
  ["json of a bigint", { json: 1n }, "json is invalid; expected a JSON value, got bigint 1"],
  ["json of a loop", { json: looped }, "json is invalid; expected a JSON value, got Object"],
  [
    "a text that is not there",
    { kind: "x", utf8: undefined },
    "payload is missing; expected a value of utf8, got undefined",
  ],
  [
    "bytes of a list",
    { bytes: [1, 2] },
    "bytes is invalid; expected a Uint8Array or base64, got Array",
  ],
  [
    "no date",
    { utf8: "", enqueue_at: new Date("soon") },
    "enqueue_at is invalid; expected an instant, got Invalid Date",
  ],
])("produce: %s is refused before anything is sent", async (_, item, message) => {
  const { asked, client } = answering(reply(200));
  const error = await caught(client.queue("orders").produce(["fine", item as NewItem]));
  expect(error).toBeInstanceOf(InvalidRequest);
  expect(error).toMatchObject({ operation: "produce", code: "invalid", status: null });
  expect(error.message).toBe(`items[1] is invalid; ${message}`);
  expect(asked).toEqual([]);
});

test("produce: an item without a payload and bytes of another realm are accepted", async () => {
  const { asked, client } = answering(reply(200));
  const foreign: Uint8Array = runInNewContext("new Uint8Array([120])");
  await client.queue("orders").produce([{ kind: "bell" }, {}, foreign, { bytes: foreign }]);
  expect(JSON.parse(String(asked[0]?.init.body)).items).toEqual([
    { kind: "bell" },
    {},
    { bytes: "eA==" },
    { bytes: "eA==" },
  ]);
});

test("client: each operation of the contract has a method, which calls its path", async () => {
  const { asked, client } = answering(reply(200));
  for (const [id, operation] of Object.entries(operations)) {
    const method = client[id as keyof typeof operations] as (request: unknown) => Promise<unknown>;
    const { request_timeout: _, ...example } = { request_timeout: "", ...operation.example };
    await method(example);
    const { url, init } = asked.at(-1) ?? { url: "", init: {} };
    expect([url, init.method]).toEqual([`http://queue.test${operation.path}`, "POST"]);
    const sent = JSON.parse(String(init.body));
    const isTimed = "request_timeout" in operation.request.properties;
    expect(sent).toEqual(isTimed ? { ...example, request_timeout: sent.request_timeout } : example);
    expect(typeof sent.request_timeout).toBe(isTimed ? "string" : "undefined");
  }
  expect(Object.keys(operationPaths)).toEqual(Object.keys(operations));
});

test("groups: items have them, and the queue lists and changes its groups", async () => {
  await using server = await listeningApp();
  const { client } = await queueOn(server);
  const queue = client.queue("tenants");
  await queue.create({ lease_timeout: "1m", expire_timeout: "1h", grouped: true });
  await queue.produce(["a", "b", "c"].map((group) => ({ utf8: group, group })));
  await queue.setGroup("a", { paused: true });
  const lease = await queue.lease({ batch: 5 });
  expect(lease?.items.map(({ group }) => group)).toEqual(["b", "c"]);
  const names: string[] = [];
  for await (const { group } of queue.groups({ limit: 2 })) names.push(group);
  expect(names).toEqual(["a", "b", "c"]);
  const later: string[] = [];
  for await (const { group } of queue.groups({ pivot: "b" })) later.push(group);
  expect(later).toEqual(["b", "c"]);
  const blocked: unknown[] = [];
  for await (const group of queue.groups({ blocked: true })) blocked.push(group);
  expect(blocked).toMatchObject([{ group: "a", waiting: 1, blocked_by: "paused" }]);
  expect(await queue.setGroup("a", { paused: false })).toMatchObject({ blocked_by: "" });
});

test("timeouts: the defaults are those that the contract recommends", () => {
  expect(timedOperations).toEqual([
    "produce",
    "lease",
    "retry",
    "complete",
    "extend",
    "release",
    "transact",
    "cancelItems",
  ]);
  const { produceRequestTimeoutDefault, leaseRequestTimeoutDefault } = bounds;
  expect(parseDuration(produceRequestTimeoutDefault)).toEqual({
    ok: true,
    ms: timeoutMsOf("produce"),
  });
  expect(parseDuration(leaseRequestTimeoutDefault)).toEqual({ ok: true, ms: timeoutMsOf("lease") });
});

test("client: an API key is sent as a bearer token; without one the header is absent", async () => {
  const asked: unknown[] = [];
  const fetch: Fetch = async (_, init) => {
    asked.push(new Headers(init.headers).get("authorization"));
    return reply(200)();
  };
  await createClient({ fetch, apiKey: "key-1" }).stats({ queue_name: "orders" });
  await createClient({ fetch }).stats({ queue_name: "orders" });
  expect(asked).toEqual(["Bearer key-1", null]);
});

test("client: an invalid URL is refused at once", () => {
  for (const url of ["localhost:9090", "ftp://localhost", "", "nonsense", "http://"]) {
    expect(() => createClient({ url })).toThrow(
      `url is invalid; expected one such as http://localhost:9090, got '${url}'`,
    );
  }
});

test("errors: each reply code has an error class, whose code shows whether the outcome is known", () => {
  const of = (status: number, operation = "produce") =>
    errorOf({ operation, status, message: "why" }, true);
  const names = Object.keys(replyCodes)
    .map(Number)
    .filter((code) => code !== 200)
    .map((code) => [code, of(code).name, of(code).code]);
  expect(names).toEqual([
    [400, "InvalidRequest", "invalid"],
    [401, "NotAuthorized", "unauthorized"],
    [403, "NotAuthorized", "unauthorized"],
    [404, "InvalidRequest", "invalid"],
    [405, "InvalidRequest", "invalid"],
    [413, "InvalidRequest", "invalid"],
    [415, "InvalidRequest", "invalid"],
    [429, "Busy", "busy"],
    [453, "RequestFailed", "failed"],
    [454, "NotInTime", "late"],
    [500, "StoreFailed", "store"],
    [503, "Unavailable", "unavailable"],
    [504, "OutcomeUnknown", "unknown"],
  ]);
  expect(of(454, "lease")).toBeInstanceOf(LeaseEmpty);
  // A proxy's answer proves nothing about the server.
  expect(errorOf({ operation: "produce", status: 503, message: "" }, false).code).toBe("unknown");
});

test("errors: a refusal has the server's message and the ids that caused it", async () => {
  await using server = await listeningApp();
  const { client, queue } = await queueOn(server, { fetch: patient });
  const unknown = await caught(client.queue("boats").produce("x"));
  expect(unknown).toBeInstanceOf(InvalidRequest);
  expect(unknown).toMatchObject({
    operation: "produce",
    status: 400,
    message: "queue does not exist; no such queue named 'boats'",
  });
  const failed = await caught(
    client.complete({ queue_name: "orders", partition: 0, ids: ["a", "b"] }),
  );
  expect(failed).toBeInstanceOf(RequestFailed);
  if (failed instanceof RequestFailed) {
    expect(failed.ids).toEqual(["a", "b"]);
    expect(failed.details["a"]).toContain("invalid storage id; 'a'");
    expect(failed.reason).toBe("not_leased");
  }
  const empty = { queue_name: "orders", client_id: "one" };
  expect(await caught(client.lease(empty, { timeoutMs: 20 }))).toBeInstanceOf(LeaseEmpty);
  expect(await queue.lease({ timeoutMs: 20 })).toBeNull();
});

test.each([
  ["429", reply(429)],
  ["500", reply(500)],
  ["503", reply(503)],
  ["a connection that is refused", refusedConnection],
])("produce: is repeated after %s, which wrote nothing", async (_, answer) => {
  const { asked, client } = answering(answer, answer, reply(200));
  await client.queue("orders").produce("x");
  expect(asked.length).toBe(3);
});

test.each([
  ["400", reply(400)],
  ["401", reply(401)],
  ["453", reply(453)],
  ["454, when its time is up", reply(454)],
])("produce: is not repeated after %s", async (_, answer) => {
  const { asked, client } = answering(answer);
  await caught(client.queue("orders").produce("x"));
  expect(asked.length).toBe(1);
});

test.each([
  "ECONNREFUSED",
  "ConnectionRefused",
  "FailedToOpenSocket",
  "EMFILE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_HAS_EXPIRED",
  "ERR_SSL_WRONG_VERSION_NUMBER",
])("connection errors: %s proves that nothing was sent, on Bun and on Node", async (code) => {
  for (const error of [coded(code), new TypeError("fetch failed", { cause: coded(code) })]) {
    const { client } = answering(() => Promise.reject(error));
    const stats = client.stats({ queue_name: "orders" }, { timeoutMs: 20 });
    expect(await caught(stats)).toBeInstanceOf(Unavailable);
  }
});

test.each([
  ["Node, by the system call", Object.assign(coded("ETIMEDOUT"), { syscall: "connect" })],
  ["Deno", new Error("error sending request for url (x): client error (Connect): dns error: no")],
])(
  "connection errors: an error of %s that names the connection proves that nothing was sent",
  async (_, cause) => {
    const { client } = answering(() => Promise.reject(new TypeError("fetch failed", { cause })));
    const stats = client.stats({ queue_name: "orders" }, { timeoutMs: 20 });
    expect(await caught(stats)).toBeInstanceOf(Unavailable);
  },
);

test.each([
  ["ECONNRESET", coded("ECONNRESET")],
  ["UND_ERR_SOCKET", coded("UND_ERR_SOCKET")],
  ["EHOSTUNREACH of a read", Object.assign(coded("EHOSTUNREACH"), { syscall: "read" })],
  // Bun also uses it if TLS breaks after the request was sent.
  ["EPROTO", coded("EPROTO")],
  ["Deno's SendRequest", new Error("client error (SendRequest): connection closed")],
])("connection errors: after %s the request may have arrived", async (_, cause) => {
  const failing = () => Promise.reject(new TypeError("failed", { cause }));
  const { asked, client } = answeringWith({ keys: false }, failing);
  expect(await caught(client.queue("orders").produce("x"))).toBeInstanceOf(OutcomeUnknown);
  expect(asked.length).toBe(1);
});

test("connection errors: an untrusted certificate fails at once, without a repeat", async () => {
  const { asked, client } = answering(() => Promise.reject(coded("CERT_HAS_EXPIRED")));
  const error = await caught(client.queue("orders").produce("x"));
  expect(error).toBeInstanceOf(Unavailable);
  expect(error.message).toBe(
    "the server cannot be reached at http://queue.test; CERT_HAS_EXPIRED: fetch failed",
  );
  expect(asked.length).toBe(1);
});

test("produce: with keys: false, it is not repeated after no answer", async () => {
  const { asked, client } = answeringWith({ keys: false }, broken, reply(200));
  const error = await caught(client.queue("orders").produce("x"));
  expect(error).toBeInstanceOf(OutcomeUnknown);
  expect(error.message).toBe("the connection broke; ECONNRESET");
  expect(asked.length).toBe(1);
  expect(keysOf(asked)).toEqual([null]);
});

test.each([
  ["a 502 of a proxy", () => new Response("<h1>Bad Gateway</h1>", { status: 502 })],
  ["a 503 of a proxy", () => new Response("try later", { status: 503 })],
  ["a 400 without a body", () => new Response(null, { status: 400 })],
  ["a page in place of a reply", () => new Response("<h1>Welcome</h1>")],
])("produce: after %s the outcome is unknown", async (_, answer) => {
  const { asked, client } = answeringWith({ keys: false }, answer);
  expect(await caught(client.queue("orders").produce("x"))).toBeInstanceOf(OutcomeUnknown);
  expect(asked.length).toBe(1);
});

const reading = { queue_name: "orders" };
const finishing = { ...reading, partition: 0, ids: ["a"] };
const keyedCalls: readonly [string, (client: Client, options?: CallOptions) => Promise<unknown>][] =
  [
    ["produce", (client, options) => client.queue("orders").produce("x", options)],
    ["lease", (client, options) => client.lease({ ...reading, client_id: "c" }, options)],
    ["complete", (client, options) => client.complete(finishing, options)],
    ["extend", (client, options) => client.extend(finishing, options)],
    ["release", (client, options) => client.release(finishing, options)],
    [
      "retry",
      (client, options) =>
        client.retry({ ...reading, partition: 0, items: [{ id: "a", dead: false }] }, options),
    ],
    ["redrive", (client, options) => client.queue("orders-dead").redrive({}, options)],
  ];

test.each(keyedCalls)(
  "%s: is repeated after no answer, with the same content and key",
  async (_, call) => {
    const answers = [broken, reply(504), () => new Response("<h1>Bad Gateway</h1>")];
    const { asked, client } = answering(...answers, reply(503), refusedConnection, reply(200));
    await call(client);
    const keys = keysOf(asked);
    const [first = null] = keys;
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(keys).toEqual(Array.from({ length: 6 }, () => first));
    const bodies = asked.map(({ init }) => {
      const { request_timeout: _, ...body } = JSON.parse(String(init.body));
      return body;
    });
    for (const body of bodies) expect(body).toEqual(bodies[0]);
    await call(client);
    expect(keysOf(asked).at(-1)).not.toBe(first);
  },
);

test.each(keyedCalls)("%s: the caller's own key is sent", async (_, call) => {
  const { asked, client } = answering(broken, reply(200));
  await call(client, { key: "order-4711" });
  expect(keysOf(asked)).toEqual(["order-4711", "order-4711"]);
  const other = answeringWith({ keys: false }, broken, reply(200));
  await call(other.client, { key: "order-4711" });
  expect(keysOf(other.asked)).toEqual(["order-4711", "order-4711"]);
});

test("produce: with its own key, it shares no call", async () => {
  const { asked, client } = answering(reply(200));
  const queue = client.queue("orders");
  await Promise.all([queue.produce("a"), queue.produce("b", { key: "k" }), queue.produce("c")]);
  const sent = asked.map(({ init }) => JSON.parse(String(init.body)).items.length);
  expect(new Map(keysOf(asked).map((key, index) => [key === "k", sent[index]]))).toEqual(
    new Map([
      [true, 1],
      [false, 2],
    ]),
  );
});

test("keys: reads have no key", async () => {
  const { asked, client } = answering(reply(200));
  await client.stats(reading);
  await client.createQueue({ queue_name: "orders", ...settings });
  expect(keysOf(asked)).toEqual([null, null]);
});

test.each([
  ["", '""'],
  ["two words", '"two words"'],
  ["naïve", '"naïve"'],
  ["x".repeat(256), "256"],
])("keys: %p is refused before anything is sent", async (key, got) => {
  const { asked, client } = answering(reply(200));
  const error = await caught(client.queue("orders").produce("x", { key }));
  expect(error).toMatchObject({ code: "invalid", status: null });
  expect(error.message).toBe(
    `key is invalid; expected 1 to 255 visible ASCII characters, got ${got}`,
  );
  const other = await caught(client.stats(reading, { key: "k" }));
  expect(other.message).toBe("key is not supported; expected none for 'stats', got 'k'");
  expect(asked).toEqual([]);
});

test("errors: after an attempt without an answer, a later failure is reported as unknown", async () => {
  for (const answer of [
    broken,
    refusedConnection,
    reply(429),
    reply(503),
    reply(454),
    reply(401),
  ]) {
    const { asked, client } = answering(broken, answer);
    const error = await caughtInTime(() => client.queue("orders").produce("x", { timeoutMs: 40 }));
    expect(error).toBeInstanceOf(OutcomeUnknown);
    expect(asked.length).toBeGreaterThan(1);
  }
});

test("errors: a proxy's page does not decide the outcome of an earlier attempt", async () => {
  const page = () => new Response("<h1>Bad Request</h1>", { status: 400 });
  const { asked, client } = answering(broken, page);
  expect(await caught(client.queue("orders").produce("x"))).toBeInstanceOf(OutcomeUnknown);
  // As the only answer it is final: a proxy that sends it has not forwarded the call.
  expect(asked.length).toBe(2);
  const first = answering(page);
  expect(await caught(first.client.queue("orders").produce("x"))).toBeInstanceOf(InvalidRequest);
});

test("errors: a refusal of a call with a key is final, even after no answer", async () => {
  for (const code of [400, 453] as const) {
    const { client } = answering(broken, reply(code));
    const error = await caught(client.complete(finishing));
    expect(error).toMatchObject({ status: code, followsUnknown: false });
  }
});

test("keys: a call is not repeated once the server may have forgotten its key", async () => {
  using time = stillTime();
  const { promise: lost, resolve: lose } = Promise.withResolvers<Response>();
  const { asked, client } = answering(() => lost);
  const produced = caught(client.queue("orders").produce("x", { timeoutMs: 900_000 }));
  await settled();
  // The machine was suspended, which stops its steady clock.
  setSystemTime(Date.now() + 290_000);
  time.advance(5_000);
  await settled();
  lose(broken() as never);
  await settled();
  time.advance(1);
  expect(await produced).toBeInstanceOf(OutcomeUnknown);
  setSystemTime();
  expect(asked.length).toBe(1);
});

test("complete: with keys: false, it is repeated, and followsUnknown marks a later refusal", async () => {
  await using server = await listeningApp();
  let isCut = false;
  const fetch: Fetch = async (url, init) => {
    const response = await globalThis.fetch(url, init);
    if (!url.endsWith("complete") || isCut) return response;
    isCut = true;
    throw new Error("ECONNRESET");
  };
  const { client, queue } = await queueOn(server, { fetch, keys: false });
  await queue.produce("x");
  const lease = await queue.lease();
  const { queue_name = "", partition = 0, items = [] } = lease ?? {};
  const error = await caught(
    client.complete({ queue_name, partition, ids: items.map(({ id }) => id) }),
  );
  expect(error).toMatchObject({ code: "failed", followsUnknown: true });
  expect(await queue.inspect()).toMatchObject({ queued: 0 });
});

test("importItems: is repeated with a key; without one, only if each item has a source_id", async () => {
  const plain = { queue_name: "orders", partition: 0, items: [{ payload: "" }] };
  const sourced = { ...plain, items: [{ payload: "", source_id: "a" }] };
  const stored = () => Response.json({ items: [] });
  const keyed = answering(broken, stored);
  await keyed.client.importItems(plain);
  expect(keyed.asked.length).toBe(2);
  const one = answeringWith({ keys: false }, broken, stored);
  await caught(one.client.importItems(plain));
  expect(one.asked.length).toBe(1);
  const two = answeringWith({ keys: false }, broken, stored);
  await two.client.importItems(sourced);
  expect(two.asked.length).toBe(2);
});

test("attempts: a repeatable call is repeated until its timeoutMs has passed", async () => {
  const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
  const { asked, client } = answering(...times(30, refusedConnection), reply(200));
  await client.queue("orders").produce("x");
  expect(asked.length).toBe(31);
  const other = answering(refusedConnection);
  let tookMs = 0;
  const error = await caughtInTime(async () => {
    const begun = Date.now();
    const produced = other.client.queue("orders").produce("x", { timeoutMs: 2_000 });
    await produced.finally(() => {
      tookMs = Date.now() - begun;
    });
  });
  expect(error).toBeInstanceOf(Unavailable);
  expect(other.asked.length).toBeGreaterThan(8);
  expect(tookMs).toBeGreaterThan(1_950);
});

test("attempts: a pause takes at most half of the time left", async () => {
  const fetch: Fetch = refusedConnection;
  const client = createClient({ fetch, random: () => 1, pace: { baseMs: 60_000, capMs: 60_000 } });
  const begun = Date.now();
  await caught(client.stats({ queue_name: "orders" }, { timeoutMs: 200 }));
  expect(Date.now() - begun).toBeGreaterThan(150);
});

test.each([reply(500), broken])(
  "advance: is not repeated if it may have been done in part",
  async (answer) => {
    const { asked, client } = answering(answer, reply(200));
    expect(await caught(client.advance({ by: "10m" }))).toBeInstanceOf(HoldfastError);
    expect(asked.length).toBe(1);
  },
);

test("attempts: attemptsMax limits their number", async () => {
  let count = 0;
  const fetch: Fetch = () => {
    count += 1;
    return refusedConnection();
  };
  const client = createClient({ fetch, attemptsMax: 3, ...quickly });
  expect(await caught(client.queue("orders").produce("x"))).toBeInstanceOf(Unavailable);
  expect(count).toBe(3);
});

test("attempts: Retry-After is respected, or the call ends if too little time is left", async () => {
  const { asked, client } = answering(reply(429, { "retry-after": "60" }), reply(200));
  const error = await caught(client.queue("orders").produce("x", { timeoutMs: 30_000 }));
  expect(error).toBeInstanceOf(Busy);
  expect(error).toMatchObject({ retryAfterMs: 60_000 });
  expect(asked.length).toBe(1);
});

test("attempts: a repeat requests only the time that is left", async () => {
  const { asked, client } = answering(reply(503), reply(200));
  await client.queue("orders").produce("x", { timeoutMs: 60_000 });
  const [first = 0, second = 0] = asked.map(({ init }) =>
    Number.parseInt(JSON.parse(String(init.body)).request_timeout, 10),
  );
  expect(first).toBeGreaterThan(59_000);
  expect(first).toBeLessThanOrEqual(60_000);
  expect(second).toBeLessThanOrEqual(first);
});

test("attempts: pauses have full jitter, from 0 to a bound that doubles", async () => {
  const { pauseMs } = await import("./repeat.ts");
  const pace = { baseMs: 100, capMs: 5_000 };
  expect([1, 2, 3, 7, 99].map((count) => pauseMs(count, pace, () => 1))).toEqual([
    100, 200, 400, 5_000, 5_000,
  ]);
  expect(pauseMs(3, pace, () => 0)).toBe(0);
});

test("timeouts: the client waits slightly longer than the request_timeout that it sends", () => {
  expect(giveUpMsOf("lease", 60_000, false)).toBe(65_000);
  expect(giveUpMsOf("produce", 300_000, false)).toBe(305_000);
  expect(giveUpMsOf("stats", 60_000, false)).toBe(60_000);
});

test("timeouts: a call with a key is repeated after a minute without an answer", () => {
  expect(giveUpMsOf("produce", 300_000, true)).toBe(60_000);
  expect(giveUpMsOf("complete", 300_000, true)).toBe(60_000);
  expect(giveUpMsOf("produce", 10_000, true)).toBe(15_000);
  // A lease may wait for its whole timeout.
  expect(giveUpMsOf("lease", 300_000, true)).toBe(305_000);
});

test("timeouts: a call to a server that never answers fails with an unknown outcome", async () => {
  const fetch: Fetch = (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  const begun = Date.now();
  const client = createClient({ fetch, ...quickly });
  const error = await caught(client.stats({ queue_name: "orders" }, { timeoutMs: 30 }));
  expect(error).toBeInstanceOf(OutcomeUnknown);
  expect(error.message).toBe("no answer arrived in time; expected one within 30 ms");
  expect(Date.now() - begun).toBeGreaterThanOrEqual(29);
});

test("signal: aborts a call with its own reason, also between attempts", async () => {
  await using server = await listeningApp();
  const { queue } = await queueOn(server);
  const leaving = new AbortController();
  const waiting = queue.lease({ signal: leaving.signal }).catch((reason: Error) => reason.message);
  leaving.abort(new Error("enough"));
  expect(await waiting).toBe("enough");

  const between = new AbortController();
  const { client } = answering(() => {
    between.abort(new Error("no more"));
    return reply(503)();
  });
  const call = client.stats({ queue_name: "orders" }, { signal: between.signal });
  expect(await call.catch((reason: Error) => reason.message)).toBe("no more");
});

test("produce: succeeds while the server restarts", async () => {
  await using server = await listeningApp();
  const { queue } = await queueOn(server, { pace: { baseMs: 20, capMs: 200 }, attemptsMax: 1_000 });
  await server.stop();
  const produced = queue.produce("kept");
  await server.start();
  await produced;
  expect(await queue.inspect()).toMatchObject({ queued: 1 });
});

test("lease: completes the items that it still holds, and returns the others", async () => {
  await using server = await listeningApp();
  // The call without the refused item is another call, not another attempt.
  const { client, queue } = await queueOn(server, { attemptsMax: 1 });
  await queue.produce(["a", "b", "c"]);
  const lease = await queue.lease({ batch: 3 });
  const [first, second] = lease?.items ?? [];
  const lost = first?.id ?? "";
  await client.deleteItems({ queue_name: "orders", partition: 0, ids: [lost] });
  const refusals = await lease?.complete(lease.items.slice(0, 2));
  expect(refusals).toEqual({ [lost]: `invalid storage id; '${lost}' does not exist` });
  expect(second?.text()).toBe("b");
  expect(await lease?.retry()).toEqual({});
  expect((await queue.lease())?.items.map((item) => item.text())).toEqual(["c"]);
});

test("ensure: creates a queue once, keeps an existing one, and rejects invalid settings", async () => {
  await using server = await listeningApp();
  const queue = createClient({ url: server.url, ...quickly }).queue("ensured");
  await queue.ensure(settings);
  await queue.ensure({ ...settings, lease_timeout: "2m" });
  expect(await queue.info()).toMatchObject({ lease_timeout: "1m" });
  const other = createClient({ url: server.url, ...quickly }).queue("other");
  const error = await caught(other.ensure({ ...settings, lease_timeout: "soon" }));
  expect(error.message).toStartWith("lease timeout is invalid");
  const cut: Fetch = async (url, init) => {
    const response = await globalThis.fetch(url, init);
    if (url.endsWith("create")) throw new Error("ECONNRESET");
    return response;
  };
  await createClient({ url: server.url, ...quickly, fetch: cut })
    .queue("unheard")
    .ensure(settings);
});

test("ensure: with a key that may not create queues, accepts an existing one", async () => {
  const refusal = { code: 403, code_text: "Forbidden", message: "no" };
  const [notAllowed, foreign] = ["not_allowed", "origin_not_allowed"].map(
    (reason) => () => Response.json({ ...refusal, reason }, { status: 403 }),
  );
  if (notAllowed === undefined || foreign === undefined) throw new Error("there are two");
  const info = () => Response.json({ queue_name: "q", ...settings, max_attempts: 3 });
  const { asked, client } = answering(notAllowed, info);
  expect(await client.queue("q").ensure({ ...settings, max_attempts: 5 })).toEqual({
    max_attempts: { requested: 5, actual: 3 },
  });
  expect(asked.map(({ url }) => url.slice(url.lastIndexOf("/")))).toEqual([
    ...["/queues.create", "/queues.info"],
  ]);
  // Neither without the permission to read the queue, nor without any access.
  for (const answers of [
    [notAllowed, notAllowed],
    [foreign, info],
  ]) {
    const error = await caught(
      answering(...answers)
        .client.queue("q")
        .ensure(settings),
    );
    expect(error).toMatchObject({ code: "unauthorized", operation: "createQueue" });
  }
});

test("ensure: returns the settings in which an existing queue differs", async () => {
  await using server = await listeningApp();
  const client = createClient({ url: server.url, ...quickly });
  await client.queue("dead").create(settings);
  const queue = client.queue("ensured");
  expect(await queue.ensure({ ...settings, max_attempts: 3 })).toEqual({});
  expect(await queue.ensure(settings)).toEqual({});
  expect(await queue.ensure({ lease_timeout: "60s", expire_timeout: "0.5h30m" })).toEqual({});
  const asked = { lease_timeout: "2m", expire_timeout: "1h", max_attempts: 5, dead_queue: "dead" };
  const differences = {
    lease_timeout: { requested: "2m", actual: "1m" },
    max_attempts: { requested: 5, actual: 3 },
    dead_queue: { requested: "dead", actual: "" },
    leased_max: { requested: 5, actual: 0 },
    lease_rate: { requested: "1/1s", actual: "" },
    waiting_max: { requested: 9, actual: 0 },
    retry_backoff: { requested: "1s..5m", actual: "" },
    group_order: { requested: "strict", actual: "loose" },
  };
  const limits = {
    ...{ leased_max: 5, lease_rate: "1/1s", waiting_max: 9, retry_backoff: "1s..5m" },
    ...{ grouped: false, group_order: "strict" },
  };
  expect(await queue.ensure({ ...asked, ...limits })).toEqual(differences);
  expect(await queue.info()).toMatchObject({ lease_timeout: "1m", max_attempts: 3 });

  const precise = client.queue("precise");
  const rated = { unique_for: "1500us", lease_rate: "100/1s" };
  await precise.create({ lease_timeout: "1s", expire_timeout: "1h", ...rated });
  for (const same of [
    { lease_timeout: "1000ms", unique_for: "1500000ns", lease_rate: "100/1000ms" },
    { lease_timeout: "1000000\u00b5s", unique_for: "1.5ms", lease_rate: "100/0.5s500000us" },
  ]) {
    expect(await precise.ensure({ ...same, expire_timeout: "1h" })).toEqual({});
  }
  for (const lease_rate of ["100/2s", "200/1s", "1s"]) {
    const other = precise.ensure({ lease_timeout: "1s", expire_timeout: "1h", lease_rate });
    expect(await other).toEqual({ lease_rate: { requested: lease_rate, actual: "100/1s" } });
  }

  const weekly = client.queue("weekly");
  await weekly.create({ ...settings, expire_timeout: "7d" });
  expect(await weekly.ensure({ ...settings, expire_timeout: "6d24h" })).toEqual({});
  expect(await weekly.ensure({ ...settings, expire_timeout: "never" })).toEqual({
    expire_timeout: { requested: "never", actual: "7d" },
  });
  expect(await weekly.ensure({ ...settings, expire_timeout: "7d", priority_aging: "1m" })).toEqual(
    {},
  );
  const strict = { ...settings, expire_timeout: "7d", priority_aging: "never" };
  expect(await weekly.ensure(strict)).toEqual({
    priority_aging: { requested: "never", actual: "60s" },
  });
  await weekly.ensure(strict, { update: true });
  expect(await weekly.ensure(strict)).toEqual({});
});

test("ensure: with update, changes an existing queue", async () => {
  await using server = await listeningApp();
  const { calls, fetch } = counting();
  const queue = createClient({ url: server.url, fetch, ...quickly }).queue("ensured");
  await queue.ensure({ ...settings, max_attempts: 3 }, { update: true });
  const changed = { ...settings, lease_timeout: "2m" };
  expect(await queue.ensure(changed, { update: true })).toEqual({});
  expect(await queue.info()).toMatchObject({ lease_timeout: "2m", max_attempts: 3 });
  await queue.ensure(changed, { update: true });
  expect(calls["update"]).toBe(1);
  const error = await caught(queue.ensure({ ...changed, dead_queue: "nowhere" }, { update: true }));
  expect(error).toMatchObject({ operation: "updateQueue", code: "invalid" });
});

test("leases: yields leases until its signal is aborted or the loop breaks", async () => {
  await using server = await listeningApp();
  const { queue } = await queueOn(server);
  const leaving = new AbortController();
  const texts: string[] = [];
  const iterated = (async () => {
    for await (const lease of queue.leases({ batch: 2, signal: leaving.signal })) {
      texts.push(...lease.items.map((item) => item.text()));
      await lease.complete();
      if (texts.length === 3) leaving.abort();
    }
  })();
  await queue.produce(["a", "b", "c"]);
  await iterated;
  expect(texts).toEqual(["a", "b", "c"]);
  await queue.produce("d");
  for await (const lease of queue.leases()) {
    expect(lease.items.map((item) => item.text())).toEqual(["d"]);
    break;
  }
});

test("lease: has the requested timeout, also after an extension without one", async () => {
  const extended: unknown[] = [];
  const fetch: Fetch = (url, init) => {
    if (url.endsWith("queue.extend")) extended.push(JSON.parse(String(init.body)).lease_timeout);
    return globalThis.fetch(url, init);
  };
  await using server = await listeningApp();
  const { queue } = await queueOn(server, { fetch });
  await queue.produce(["a", "b", "c"]);
  const leftMs = (lease: Lease | null | undefined) => (lease?.lapsesAt ?? 0) - performance.now();
  const one = await queue.lease({ leaseTimeout: "30m" });
  expect(leftMs(one)).toBeGreaterThan(20 * 60_000);
  await one?.extend();
  await one?.extend(undefined, { leaseTimeout: "40m" });
  for await (const lease of queue.leases({ leaseTimeout: "20m" })) {
    expect(leftMs(lease)).toBeGreaterThan(10 * 60_000);
    await lease.extend();
    break;
  }
  await (await queue.lease())?.extend();
  expect(extended).toEqual(["30m", "40m", "20m", null]);
  expect(await caught(queue.lease({ leaseTimeout: "soon" }))).toMatchObject({ code: "invalid" });
});

test("lease, leases: the highest priority first, and with priorityMin nothing below it", async () => {
  await using server = await listeningApp();
  const { queue } = await queueOn(server);
  const texts = (lease: Lease | null) => lease?.items.map((item) => [item.text(), item.priority]);
  await queue.produce(["a", { utf8: "b", priority: 5 }, { utf8: "c", priority: 9 }]);
  await queue.produce({ utf8: "d", priority: 5 });
  expect(texts(await queue.lease({ batch: 10 }))).toEqual([["c", 9]]);
  for await (const lease of queue.leases({ batch: 10, priorityMin: 5 })) {
    expect(texts(lease)).toEqual([
      ["b", 5],
      ["d", 5],
    ]);
    break;
  }
  expect(await queue.lease({ priorityMin: 1, timeoutMs: 10 })).toBeNull();
  expect(texts(await queue.lease())).toEqual([["a", 0]]);
  for (const priorityMin of [-1, 1.5, 10]) {
    expect(await caught(queue.lease({ priorityMin }))).toMatchObject({
      message: `priorityMin is invalid; expected a whole number from 0 to 9, got number ${priorityMin}`,
    });
  }
  expect(await caught(queue.produce({ utf8: "e", priority: 10 }))).toMatchObject({
    code: "invalid",
  });
});

test("leases: throws the error if its queue is deleted", async () => {
  await using server = await listeningApp();
  const { queue } = await queueOn(server);
  const iterated = caught(
    (async () => {
      for await (const lease of queue.leases()) throw new Error(`not expected: ${lease.partition}`);
    })(),
  );
  for (let waiting = 0; waiting !== 1; ) {
    waiting = (await queue.stats()).logical_queues[0]?.lease_waiting ?? 0;
  }
  await queue.delete({ force: true });
  expect(await iterated).toMatchObject({ code: "failed" });
});

test("errors: a gateway's 401 is NotAuthorized and is not repeated", async () => {
  const { asked, client } = answering(() => new Response("no", { status: 401 }));
  expect(await caught(client.inspect({ queue_name: "orders" }))).toBeInstanceOf(NotAuthorized);
  expect(asked.length).toBe(1);
});

test.each([{}, { gather: false }])(
  "produce: returns which items were duplicates; %j",
  async (options) => {
    await using server = await listeningApp();
    const { queue } = await queueOn(server, options);
    await queue.update({ unique_for: "1h" });
    expect(await queue.produce({ utf8: "a", unique_key: "1" })).toEqual({ duplicates: [] });
    const items = [{ utf8: "b" }, { utf8: "c", unique_key: "1" }, { utf8: "d", unique_key: "2" }];
    expect(await queue.produce(items)).toEqual({ duplicates: [1] });
    const lease = await queue.lease({ batch: 10 });
    expect(lease?.items.map((item) => item.text())).toEqual(["a", "b", "d"]);
    expect(await queue.ensure({ ...settings, unique_for: "60m" })).toEqual({});
    expect(await queue.ensure({ ...settings, unique_for: "2h" })).toEqual({
      unique_for: { requested: "2h", actual: "1h" },
    });
  },
);

test("find, redrive: find yields the matching items of all pages, and redrive sends them back", async () => {
  await using server = await listeningApp();
  const { client, queue } = await queueOn(server);
  const dead = client.queue("orders-dead");
  await dead.create(settings);
  await queue.update({ dead_queue: "orders-dead" });
  const { ids = [] } = await queue.produce(["a", "b", "c"], { returnIds: true });
  expect(ids).toHaveLength(3);
  const lease = await queue.lease({ batch: 3 });
  const items = lease?.items.map(({ id }) => ({ id, dead: true, reason: `no card ${id}` })) ?? [];
  await client.retry({ queue_name: "orders", partition: 0, items });
  const filter = { reason: "no card 1n9rPb4rwKwuC00010000000000" };
  const found = await Array.fromAsync(dead.find({ filter, limit: 1, payload_head: 1 }));
  expect(found.map(({ payload, origin_id }) => [atob(payload), origin_id])).toEqual(
    ["a", "b", "c"].map((text, index) => [text, ids[index]]),
  );
  expect(await Array.fromAsync(dead.find({ filter: { kind: "none" } }))).toEqual([]);
  // No page is requested that the program does not read.
  for await (const { id } of dead.find({ limit: 1 })) {
    expect(id).toBe(found[0]?.id as string);
    break;
  }
  const refused = await caught(dead.redrive({ expect: 2 }));
  expect(refused).toBeInstanceOf(RequestFailed);
  expect(refused.reason).toBe("count_changed");
  const begun = await dead.redrive({ filter, expect: 3 }, { key: "once" });
  expect(await dead.redrive({ filter, expect: 3 }, { key: "once" })).toEqual(begun);
  const { task_id } = begun;
  while ((await client.taskInfo({ task_id })).state === "running") await Bun.sleep(1);
  expect(await queue.inspect()).toMatchObject({ queued: 3 });
  const again = await queue.lease({ batch: 1 });
  expect(again?.items[0]).toMatchObject({ attempts: 1, origin_id: ids[0], redriven: 1 });
});
