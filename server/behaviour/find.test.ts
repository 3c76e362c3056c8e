// Finding, summarizing, reading and explaining items through the app; their origin and their failures.

import { expect, test } from "bun:test";
import { type OperationId, operations, type RequestOf } from "../../openapi/operations.ts";
import { operationMessages, replyMessage } from "../../openapi/protobuf.ts";
import type { FoundItem } from "../../openapi/schemas.ts";
import { decoded, encoded } from "../testing/independent-protobuf.ts";
import {
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

const dead = { queue_name: "dead" };

/**
 * Eight items: two failed because of a card and one because of a timeout; one is leased, one
 * scheduled, and three are ready.
 */
async function setup(): Promise<{ app: RunningApp; ids: readonly string[] }> {
  const app = await run({ orders: null });
  await app.create("dead");
  await app.create("orders", { dead_queue: "dead", max_attempts: 3 });
  const items = ["card 1", "card 2", "timeout", "leased"].map((utf8) => ({ utf8, kind: "charge" }));
  const produced = await app.ok("produce", { ...timed, items, return_ids: true });
  await app.advance(minute);
  const [card1, card2, timeout] = idsOf((await app.lease({ batch_size: 3 })).items);
  const given = [
    { id: String(card1), dead: true, reason: "order 4711: no card" },
    { id: String(card2), dead: true, reason: "order 4712: no card" },
    { id: String(timeout), dead: true, reason: "timed out after 30s" },
  ];
  expect((await app.call("retry", { ...orders, partition: 0, items: given })).code).toBe(200);
  await app.lease({ batch_size: 1, client_id: "holder" });
  const enqueue_at = instant(start + 60 * minute);
  await app.ok("produce", { ...timed, items: [{ utf8: "later", enqueue_at }] });
  await app.produce("ready 1", "ready 2", "ready 3");
  return { app, ids: produced.ids ?? [] };
}

const found = async (app: RunningApp, body: RequestOf<"findItems">) =>
  (await app.ok("findItems", body)).items;

test("find: newest first, page by page, and the holder of each item", async () => {
  const { app } = await setup();
  await using _ = app;
  const order = "newest";
  const { items } = await app.ok("findItems", { ...orders, order, payload_head: 100 });
  expect(items.map(({ payload, holder }) => [atob(payload), holder])).toEqual([
    ["ready 3", ""],
    ["ready 2", ""],
    ["ready 1", ""],
    ["later", ""],
    ["leased", "holder"],
  ]);
  const [first, second] = items;
  const page = await app.ok("findItems", { ...orders, order, limit: 1, payload_head: 100 });
  expect(page.items).toEqual(first === undefined ? [] : [first]);
  const { next_pivot: pivot } = page;
  const next = await app.ok("findItems", { ...orders, order, pivot, limit: 1, payload_head: 100 });
  expect(next.items).toEqual(second === undefined ? [] : [second]);
  const expected = refused(400, "order is invalid; expected 'newest', got 'oldest'");
  expect(await app.call("findItems", { ...orders, order: "oldest" })).toMatchObject(expected);
});

test("find: items in any state, in order, with the requested part of their payloads", async () => {
  const { app } = await setup();
  await using _ = app;
  const reply = await app.ok("findItems", { ...orders, payload_head: 5 });
  expect(
    reply.items.map(({ state, payload, payload_bytes }) => [state, atob(payload), payload_bytes]),
  ).toEqual([
    ["leased", "lease", 6],
    ["ready", "ready", 7],
    ["ready", "ready", 7],
    ["ready", "ready", 7],
    ["scheduled", "later", 5],
  ]);
  expect(reply).toMatchObject({ scanned: 5, next_pivot: "" });
  expect(textsOf(await found(app, orders))).toEqual(["", "", "", "", ""]);
});

test("find: a dead item keeps its history", async () => {
  const { app, ids } = await setup();
  await using _ = app;
  const [first] = await found(app, dead);
  expect(first).toMatchObject({
    ...{ queue_name: "dead", partition: 0, state: "ready", kind: "charge", origin_id: ids[0] },
    ...{ reason: "order 4711: no card", death: "rejected", origin_queue: "orders" },
    ...{ origin_attempts: 1, origin_created_at: instant(start) },
    ...{ created_at: instant(start + minute) },
  });
  expect(first?.id).not.toBe(ids[0]);
});

const card = "order <n>: no card";
const filters: readonly [RequestOf<"findItems">["filter"], string[]][] = [
  [{ reason: "order 99: no card" }, ["card 1", "card 2"]],
  [{ reason: card }, ["card 1", "card 2"]],
  [{ reason: card, payload_contains: "2" }, ["card 2"]],
  [{ death: "rejected", origin_queue: "orders", kind: "charge" }, ["card 1", "card 2", "timeout"]],
  [{ death: "failed" }, []],
  [{ attempts_min: 1 }, ["card 1", "card 2", "timeout"]],
  [{ attempts_min: 2 }, []],
  [{ created_before: instant(start + 1) }, ["card 1", "card 2", "timeout"]],
  [{ created_before: instant(start) }, []],
  [{ created_before: null }, ["card 1", "card 2", "timeout"]],
  [{ redriven_max: 0 }, ["card 1", "card 2", "timeout"]],
  [{ any_of: { by: "reason", values: ["order 9: no card", "none"] } }, ["card 1", "card 2"]],
  [{ any_of: { by: "origin_queue", values: ["none", "orders"] } }, ["card 1", "card 2", "timeout"]],
  [{ any_of: { by: "death", values: ["failed", "expired"] } }, []],
  [{ any_of: { by: "kind", values: [""] } }, []],
  [{ any_of: { by: "kind", values: ["charge"] }, payload_contains: "1" }, ["card 1"]],
  [{ reference: "" }, ["card 1", "card 2", "timeout"]],
  [{ reason: "" }, []],
];

test.each(filters)("find: %j means %j", async (filter, texts) => {
  const { app } = await setup();
  await using _ = app;
  expect(
    textsOf(await found(app, { ...dead, ...(filter && { filter }), payload_head: 99 })),
  ).toEqual(texts);
});

test("find: pages together equal the whole, of one partition or of all", async () => {
  await using app = await run({ shards: 2, orders: { requested_partitions: 3 } });
  for (let count = 0; count < 7; count += 1) await app.produce(`a${count}`, `b${count}`);
  const all = await found(app, { ...orders, limit: 1_000 });
  expect(all).toHaveLength(14);
  const partitions = all.map(({ partition }) => partition);
  expect(partitions).toEqual(partitions.toSorted());
  const paged: FoundItem[] = [];
  let pivot = "";
  do {
    const page = await app.ok("findItems", { ...orders, limit: 3, pivot });
    expect(page.items.length).toBeLessThanOrEqual(3);
    paged.push(...page.items);
    pivot = page.next_pivot;
  } while (pivot !== "");
  expect(paged).toEqual(all);
  const one = await found(app, { ...orders, partition: 1 });
  expect(one).toEqual(all.filter(({ partition }) => partition === 1));
});

test("summarize: counts per reason, largest first, with instants and a sample", async () => {
  const { app } = await setup();
  await using _ = app;
  const at = instant(start + minute);
  const { summaries, scanned, next_pivot } = await app.ok("summarizeItems", {
    ...dead,
    by: "reason",
  });
  expect({ summaries, scanned, next_pivot }).toEqual({
    summaries: [
      { value: card, count: 2, first_at: at, last_at: at, sample_id: expect.any(String) },
      {
        value: "timed out after <n>s",
        count: 1,
        first_at: at,
        last_at: at,
        sample_id: expect.any(String),
      },
    ],
    ...{ scanned: 3, next_pivot: "" },
  });
  const [sample] = await found(app, { ...dead, filter: { reason: summaries[0]?.value ?? "" } });
  expect(sample?.id).toBe(summaries[0]?.sample_id);
  const by = async (body: RequestOf<"summarizeItems">) =>
    (await app.ok("summarizeItems", body)).summaries.map(({ value, count }) => [value, count]);
  expect(await by({ ...dead, by: "death" })).toEqual([["rejected", 3]]);
  expect(await by({ ...dead, by: "origin_queue" })).toEqual([["orders", 3]]);
  expect(await by({ ...orders, by: "kind", state: "ready" })).toEqual([["", 3]]);
});

test("summarize: at most top, and the number of items in the others", async () => {
  const { app } = await setup();
  await using _ = app;
  const most = async (top: number | null) => {
    const reply = await app.ok("summarizeItems", { ...dead, by: "reason", top } as never);
    return [reply.summaries.map(({ value }) => value), reply.other_items];
  };
  const all = [card, "timed out after <n>s"];
  expect(await most(1)).toEqual([[card], 1]);
  expect(await most(2)).toEqual([all, 0]);
  expect(await most(null)).toEqual([all, 0]);
});

test("get: an item by its current id, with its whole payload; a former id is unknown", async () => {
  const { app, ids } = await setup();
  await using _ = app;
  const [first] = await found(app, dead);
  const item = await app.ok("getItem", { id: String(first?.id) });
  expect(item).toEqual({ ...first, payload: btoa("card 1") } as FoundItem);
  const former = await app.call("getItem", { id: String(ids[0]) });
  const unknown = refused(453, `item does not exist; no item has the id '${ids[0]}'`);
  expect(plain(former)).toEqual(unknown);
});

test("get: a payload in pieces, each with the size of all of it, in both encodings", async () => {
  const { app } = await setup();
  await using _ = app;
  const id = String((await found(app, dead))[0]?.id);
  const pieces: unknown[] = [];
  for (const payload_offset of [0, 4]) {
    const { payload, payload_bytes } = await app.ok("getItem", {
      ...{ id, payload_offset, payload_limit: 4 },
    });
    pieces.push([atob(payload), payload_bytes]);
  }
  expect(pieces).toEqual([
    ["card", 6],
    [" 1", 6],
  ]);
  const range = { payload_offset: 1, payload_limit: 0 };
  expect(await inProtobuf(app, "getItem", { id, ...range })).toMatchObject({
    ...{ code: 200, body: { payload: "", payload_bytes: 6 } },
  });
  const rest = await inProtobuf(app, "getItem", { id, payload_offset: 5 });
  expect(rest.body).toMatchObject({ payload: btoa("1"), payload_bytes: 6 });
  const beyond = await app.call("getItem", { id, payload_offset: 7 });
  expect(plain(beyond)).toEqual(refused(400, "payload offset is invalid; expected 0 to 6, got 7"));
});

test("find: items by holder; items that are not leased have none", async () => {
  const { app } = await setup();
  await using _ = app;
  const items = await found(app, { ...orders, holder: "holder" });
  expect(items.map(({ state, kind }) => [state, kind])).toEqual([["leased", "charge"]]);
  expect(await found(app, { ...orders, holder: "none" })).toEqual([]);
  const { summaries } = await app.ok("summarizeItems", { ...orders, by: "kind", holder: "holder" });
  expect(summaries.map(({ count }) => count)).toEqual([1]);
  const refused = await app.call("findItems", { ...orders, holder: "holder", state: "ready" });
  expect(plain(refused)).toMatchObject({ code: 400 });
});

test("explain: finds an item by any id that it had, also after it is gone", async () => {
  const { app, ids } = await setup();
  await using _ = app;
  const [first] = await found(app, dead);
  const explained = await app.ok("explainItem", { id: String(ids[0]) });
  expect(explained).toMatchObject({
    ...{ id: String(ids[0]), item: first as FoundItem, ahead: 0, ahead_is_exact: true },
    why: [
      "It is ready, with 0 ahead of it in partition 0.",
      "It died in 'orders': it was rejected.",
      "The last reason given was: order 4711: no card",
      `It now has another id; it was produced as ${ids[0]}.`,
    ],
    history_since: instant(start),
  });
  const at = instant(start + minute);
  const here = { id: String(ids[0]), queue_name: "orders", partition: 0 };
  expect(explained.history).toEqual([
    { at: instant(start), kind: "produced", ...here, holder: "" },
    { at, kind: "leased", ...here, holder: expect.any(String) },
    { at, kind: "retried", ...here, holder: expect.any(String) },
    { at, kind: "dead", id: String(first?.id), queue_name: "dead", partition: 0, holder: "" },
  ]);
  await app.ok("deleteItems", { ...dead, partition: 0, ids: [String(first?.id)] });
  const gone = await app.ok("explainItem", { id: String(first?.id) });
  expect(gone).not.toHaveProperty("item");
  expect(gone.why).toEqual(["It was removed, 0s ago."]);
  const never = await app.ok("explainItem", { id: unknownId });
  expect(never.why).toEqual([expect.stringContaining("No item has this id")]);
});

const unknownId = `1${"z".repeat(26)}`;
const long = "x".repeat(2_049);
const rejected: readonly [OperationId, object, number, string][] = [
  ["findItems", { queue_name: "none" }, 400, "queue does not exist; no such queue named 'none'"],
  ["findItems", { ...orders, partition: 7 }, 400, "partition"],
  ["findItems", { ...orders, limit: 0 }, 400, "limit"],
  ["findItems", { ...orders, limit: 1_001 }, 400, "limit"],
  [
    "summarizeItems",
    { ...orders, by: "kind", top: 0 },
    400,
    "top is invalid; expected 1 to 1000, got 0",
  ],
  [
    "summarizeItems",
    { ...orders, by: "kind", top: 1_001 },
    400,
    "top is invalid; expected 1 to 1000",
  ],
  ["summarizeItems", { ...orders, by: "kind", top: 0.5 }, 400, "top is invalid"],
  [
    "findItems",
    { ...orders, payload_head: -1 },
    400,
    "payload head is invalid; cannot be negative",
  ],
  [
    "findItems",
    { ...orders, payload_head: 1e9 },
    400,
    "payload head is invalid; cannot be greater than 65536",
  ],
  [
    "findItems",
    { ...orders, state: "lost" },
    400,
    "state is invalid; expected 'ready' or 'leased' or 'scheduled', got 'lost'",
  ],
  [
    "findItems",
    { ...orders, pivot: "1" },
    400,
    "pivot is invalid; expected the next_pivot of the page before, got '1'",
  ],
  ["findItems", { ...orders, pivot: "0.2.0" }, 400, "pivot is invalid"],
  [
    "findItems",
    { ...orders, filter: { death: "old" } },
    400,
    "death is invalid; expected 'failed' or 'expired' or 'rejected', got 'old'",
  ],
  [
    "findItems",
    { ...orders, filter: { created_before: "noon" } },
    400,
    "created_before is invalid; expected a date-time like 2026-01-01T00:00:00Z, got 'noon'",
  ],
  ["findItems", { ...orders, filter: { reason: long } }, 400, "reason is invalid"],
  [
    "findItems",
    { ...orders, filter: { attempts_min: -1 } },
    400,
    "attempts min is invalid; cannot be negative",
  ],
  [
    "findItems",
    { ...orders, filter: { redriven_max: 0.5 } },
    400,
    "filter.redriven_max is invalid; expected a whole number or null, got 0.5",
  ],
  [
    "findItems",
    { ...orders, filter: { where: "x" } },
    400,
    "filter.where is unknown; expected one of kind, reference, ",
  ],
  [
    "findItems",
    { ...orders, filter: [] },
    400,
    "filter is invalid; expected an object or null, got a list",
  ],
  ["summarizeItems", { ...orders }, 400, "by is required"],
  [
    "summarizeItems",
    { ...orders, by: "payload" },
    400,
    "by is invalid; expected 'reason' or 'death' or 'kind' or 'origin_queue' or 'group', got 'payload'",
  ],
  ["summarizeItems", { ...orders, by: "kind", pivot: "x" }, 400, "pivot is invalid"],
  ["summarizeItems", { queue_name: "none", by: "kind" }, 400, "queue does not exist"],
  ["getItem", {}, 400, "id is required"],
  [
    "getItem",
    { id: "42" },
    400,
    "invalid storage id; '42': Valid encoded KSUIDs are 27 characters",
  ],
  [
    "getItem",
    { id: unknownId, payload_offset: -1 },
    400,
    "payload offset is invalid; expected 0 to 2147483647, got -1",
  ],
  [
    "getItem",
    { id: unknownId, payload_limit: 0.5 },
    400,
    "payload_limit is invalid; expected a whole number or null, got 0.5",
  ],
  ["getItem", { id: unknownId }, 453, `item does not exist; no item has the id '${unknownId}'`],
  [
    "explainItem",
    { id: "42" },
    400,
    "invalid storage id; '42': Valid encoded KSUIDs are 27 characters",
  ],
];

test.each(rejected)("%s: %j is refused with %p", async (id, body, code, message) => {
  await using app = await run();
  const answer = await app.call(id, body);
  expect([answer.code, answer.body.message]).toEqual([code, expect.stringContaining(message)]);
});

test.each<[object, string]>([
  [{ reason: "x".repeat(1_025) }, "reason is invalid"],
  [{ origin_queue: "x".repeat(513) }, "origin queue is invalid"],
  [{ origin_id: "42" }, "invalid storage id; '42'"],
  [{ origin_attempts: 2 ** 31 }, "origin attempts is invalid; cannot be greater than 2147483647"],
  [{ redriven: -1 }, "redriven is invalid; cannot be negative"],
  [
    { death: "old" },
    "death of item 0 is invalid; expected 'failed' or 'expired' or 'rejected', got 'old'",
  ],
])("import: an item with %j is refused", async (item, message) => {
  await using app = await run();
  const answer = await app.call("importItems", { ...orders, partition: 0, items: [item] });
  expect([answer.code, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
});

/** Makes a call in protobuf; returns the status and the reply. */
async function inProtobuf(app: RunningApp, id: OperationId, body: object) {
  const { request, reply } = operationMessages[id];
  const headers = { "content-type": "application/protobuf" };
  const init = { method: "POST", headers, body: encoded(request, { ...body }) };
  const response = await app.through(app.send(operations[id].path, init));
  const message = response.status === 200 ? reply : replyMessage;
  return { code: response.status, body: decoded(message, await response.bytes()) };
}

/** In protobuf, an unset lease deadline is in year one. */
const unset = (reply: object) =>
  JSON.parse(JSON.stringify(reply), (key, value) =>
    key === "lease_deadline" && value === null ? "0001-01-01T00:00:00.000Z" : value,
  );

test.each<[OperationId, (ids: readonly string[]) => object]>([
  ["findItems", () => ({ ...dead, filter: { reason: card, redriven_max: 0 }, limit: 1 })],
  ["findItems", () => ({ ...orders, partition: 0, state: "ready", limit: 9, payload_head: 3 })],
  ["summarizeItems", () => ({ ...dead, by: "reason" })],
  ["summarizeItems", () => ({ ...dead, by: "reason", top: 1 })],
  ["explainItem", ([id]) => ({ id })],
])("%s in protobuf has the values of JSON", async (id, bodyOf) => {
  const { app, ids } = await setup();
  await using _ = app;
  const body = bodyOf(ids);
  const { code, body: reply } = await inProtobuf(app, id, body);
  expect(code).toBe(200);
  expect(reply).toMatchObject(unset((await app.call(id, body)).body));
});

test("get: replies and errors in protobuf equal those in JSON", async () => {
  const { app } = await setup();
  await using _ = app;
  const id = String((await found(app, dead))[0]?.id);
  const { code, body } = await inProtobuf(app, "getItem", { id });
  const item = unset(await app.ok("getItem", { id }));
  expect({ code, body }).toMatchObject({ code: 200, body: item });
  expect(await inProtobuf(app, "getItem", { id: unknownId })).toMatchObject({
    ...{ code: 453, body: { reason: "no_such_item" } },
  });
  expect(await inProtobuf(app, "explainItem", { id: unknownId })).toMatchObject({ code: 200 });
  // An unset limit is not 0.
  expect((await inProtobuf(app, "findItems", dead)).body["items"]).toHaveLength(3);
  expect(await inProtobuf(app, "findItems", { ...dead, limit: 1_001 })).toMatchObject({
    code: 400,
  });
});
