// Compares the contract with the specification and with the file on disk, and checks that it is
// consistent.

import { expect, test } from "bun:test";
import { validate } from "@readme/openapi-parser";
import { type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { bounds, sizeText } from "./bounds.ts";
import { type ReplyCode, replyCodes } from "./codes.ts";
import { document, documentText } from "./document.ts";
import { messageName } from "./fields.ts";
import { messages, messagesIn } from "./messages.ts";
import { type Operation, operations, type Page, pages, tags } from "./operations.ts";
import { queueFinder } from "./queue-names.ts";
import * as schemas from "./schemas.ts";
import { publishedKeyword, queueKeyword, Reply } from "./schemas.ts";

const rows: readonly (readonly [string, Operation])[] = Object.entries(operations);
const pageRows: readonly (readonly [string, Page])[] = Object.entries(pages);

interface Documented {
  readonly summary: string;
  readonly requestBody?: { readonly content: Record<string, { schema: object; example: unknown }> };
  readonly responses: Record<
    string,
    { readonly description: string; readonly content: Record<string, { schema: object }> }
  >;
  readonly security?: unknown;
}
const documentOnDisk = await Bun.file(new URL("openapi.json", import.meta.url)).text();
const paths = JSON.parse(documentOnDisk).paths as Record<string, Record<string, Documented>>;

test("document: the file on disk is up to date; `bun run openapi` writes it", () => {
  expect(documentOnDisk).toBe(documentText());
});

test("document: it is valid OpenAPI 3.1", async () => {
  expect(await validate(JSON.parse(documentOnDisk))).toMatchObject({ valid: true });
});

test("document: without keys it declares no security schemes, and no operation requires one", () => {
  expect(document()).not.toHaveProperty("security");
  expect(document().components).not.toHaveProperty("securitySchemes");
  for (const methods of Object.values(paths)) {
    for (const operation of Object.values(methods)) expect(operation.security).toBeUndefined();
  }
});

test("document: for a server with keys, each operation except the probes requires one", () => {
  const { security, components, paths: kept } = document({ hasKeys: true });
  expect(security).toEqual([{ apiKey: [] }]);
  expect(components.securitySchemes).toMatchObject({ apiKey: { type: "http", scheme: "bearer" } });
  const open = Object.entries(kept)
    .filter(([, methods]) => Object.values(methods).some((each) => "security" in each))
    .map(([path]) => path);
  expect(open).toEqual(["/health", "/livez", "/readyz"]);
});

test("document: the servers are a local one on port 9090 and an example with a host to fill in", () => {
  expect(document().servers.map(({ url }) => url)).toEqual([
    "http://localhost:9090",
    "https://{host}",
  ]);
});

test("document: each operation under /v1/ is a POST", () => {
  const [, prefix = ""] =
    /Every operation under `([^`]+)` is a POST/.exec(document().info.description) ?? [];
  expect(prefix).toBe("/v1/");
  const below = Object.entries(paths).filter(([path]) => path.startsWith(prefix));
  expect(below.length).toBe(rows.length);
  for (const [, methods] of below) expect(Object.keys(methods)).toEqual(["post"]);
});

test("document: each reference has a schema, and each named schema is used", () => {
  const used = new Set(
    [...documentOnDisk.matchAll(/"\$ref": "#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name,
    ),
  );
  expect([...used].sort()).toEqual([...messages.keys()].sort());
});

test("document: the default of a key is published, but not applied by validators", () => {
  const published: { properties: Record<string, object> } =
    JSON.parse(documentOnDisk).components.schemas.LeaseRequest;
  expect(published.properties["batch_size"]).toMatchObject({ default: 1 });
  expect(published.properties["request_timeout"]).toMatchObject({ default: "1m" });
  expect(documentOnDisk).not.toContain('"x-default"');
  expect(JSON.stringify([...messages])).not.toContain('"default"');
});

test("document: an optional key of a request may be null, except in an update", () => {
  const { schemas } = JSON.parse(documentOnDisk).components;
  const typesOf = (name: string) =>
    Object.entries<{ type: string | string[] }>(schemas[name].properties)
      .filter(([, { type }]) => type.includes("null"))
      .map(([key]) => key);
  const stamps = ["created_at", "updated_at"];
  expect(typesOf("QueuesListRequest")).toEqual(["namespace"]);
  expect(typesOf("ImportItem")).toEqual(Object.keys(schemas["ImportItem"].properties));
  expect(typesOf("QueueCreateRequest")).toEqual([
    ...stamps,
    ...["dead_queue", "reference", "max_attempts", "requested_partitions"],
    ...["leased_max", "lease_rate", "unique_for", "priority_aging", "waiting_max", "retry_backoff"],
    ...["grouped", "group_leased_max", "group_rate", "group_waiting_max"],
    ...["group_order", "group_on_dead"],
    ...["lease_paused", "produce_paused", "pause_reason", "namespace"],
  ]);
  expect(typesOf("QueueUpdateRequest")).toEqual(stamps);
  expect(typesOf("Reply")).toEqual([]);
  expect(JSON.stringify(schemas).replaceAll('"x-extensible-enum"', "")).not.toContain('"x-');
});

test("document: replies may have unknown fields, requests may not", () => {
  const { schemas } = JSON.parse(documentOnDisk).components;
  expect(JSON.stringify(schemas["Reply"])).not.toContain('"additionalProperties":false');
  expect(JSON.stringify(schemas["FoundItem"])).not.toContain('"additionalProperties":false');
  for (const { response } of Object.values(operations)) {
    for (const name of messagesIn(response).map(messageName)) {
      expect(JSON.stringify(schemas[name ?? ""])).not.toContain('"additionalProperties":false');
    }
  }
  for (const { request } of Object.values(operations)) {
    expect(schemas[messageName(request) ?? ""]).toMatchObject({ additionalProperties: false });
  }
});

test("operations: paths and order begin with those of the specification", () => {
  expect(rows.map(([, { path }]) => path)).toEqual([
    "/v1/queue.produce",
    "/v1/queue.lease",
    "/v1/queue.retry",
    "/v1/queue.complete",
    "/v1/queue.extend",
    "/v1/queue.release",
    "/v1/queue.transact",
    "/v1/queues.list",
    "/v1/queues.create",
    "/v1/queues.update",
    "/v1/queues.info",
    "/v1/queues.delete",
    "/v1/queue.stats",
    "/v1/queue.inspect",
    "/v1/queue.explain",
    "/v1/queue.clients",
    "/v1/server.overview",
    "/v1/queue.pause",
    "/v1/queue.resume",
    "/v1/queue.clear",
    "/v1/queue.reload",
    "/v1/clock.advance",
    "/v1/server.series",
    "/v1/nodes.list",
    "/v1/nodes.drain",
    "/v1/losses.confirm",
    "/v1/server.whoami",
    "/v1/server.keys",
    "/v1/actions.list",
    "/v1/storage/items.list",
    "/v1/storage/scheduled.list",
    "/v1/storage/items.find",
    "/v1/storage/items.summarize",
    "/v1/storage/items.get",
    "/v1/storage/items.explain",
    "/v1/groups.list",
    "/v1/groups.set",
    "/v1/queue.redrive",
    "/v1/queue.repair",
    "/v1/tasks.list",
    "/v1/tasks.info",
    "/v1/tasks.cancel",
    "/v1/storage/items.import",
    "/v1/storage/items.delete",
    "/v1/storage/items.cancel",
  ]);
  expect(pageRows.map(([, { path }]) => path)).toEqual([
    "/health",
    "/livez",
    "/readyz",
    "/metrics",
    "/backup",
  ]);
});

test("operations: requests require the keys that the specification requires, and few others", () => {
  expect(rows.map(([id, { request }]) => [id, request["required"] ?? []])).toEqual([
    ["produce", ["queue_name", "request_timeout", "items"]],
    ["lease", ["queue_name", "client_id", "request_timeout"]],
    ["retry", ["queue_name", "partition", "items"]],
    ["complete", ["queue_name", "partition", "request_timeout", "ids"]],
    ["extend", ["queue_name", "partition", "ids"]],
    ["release", ["queue_name", "partition", "ids"]],
    ["transact", ["request_timeout"]],
    ["listQueues", ["pivot", "limit"]],
    ["createQueue", ["queue_name", "lease_timeout", "expire_timeout"]],
    ["updateQueue", ["queue_name"]],
    ["queueInfo", []],
    ["deleteQueue", ["queue_name", "force"]],
    ["stats", ["queue_name"]],
    ["inspect", ["queue_name"]],
    ["explain", ["queue_name"]],
    ["clients", ["queue_name"]],
    ["overview", []],
    ["pause", ["queue_name"]],
    ["resume", ["queue_name"]],
    ["clear", ["queue_name", "retry", "scheduled", "queue", "destructive"]],
    ["reload", ["queue_name"]],
    ["advance", ["by"]],
    ["series", ["names"]],
    ["listNodes", []],
    ["drainNode", ["url"]],
    ["confirmLoss", []],
    ["whoAmI", []],
    ["listKeys", []],
    ["listActions", ["limit"]],
    ["listItems", ["queue_name", "partition", "pivot", "limit"]],
    ["listScheduled", ["queue_name", "partition", "pivot", "limit"]],
    ["findItems", ["queue_name"]],
    ["summarizeItems", ["queue_name", "by"]],
    ["getItem", ["id"]],
    ["explainItem", ["id"]],
    ["listGroups", ["queue_name"]],
    ["setGroup", ["queue_name", "group"]],
    ["redrive", ["queue_name"]],
    ["repair", ["queue_name", "action"]],
    ["listTasks", []],
    ["taskInfo", ["task_id"]],
    ["cancelTask", ["task_id"]],
    ["importItems", ["queue_name", "partition", "items"]],
    ["deleteItems", ["queue_name", "partition", "ids"]],
    ["cancelItems", ["queue_name", "ids"]],
  ]);
});

test("operations: each has a role, and an operation on all queues names no queue", () => {
  for (const [id, { path, role, reach = "named", request }] of rows) {
    const documented = paths[path]?.["post"];
    expect([id, documented]).toMatchObject([id, { "x-role": role, "x-role-queues": reach }]);
    const names = queueFinder(request)(operations[id as keyof typeof operations].example);
    // A call that names no queue would require the role for all queues.
    expect([id, names.length > 0]).toEqual([id, reach === "named"]);
  }
  const keyed = pageRows.filter(([, { needs }]) => needs !== undefined);
  expect(keyed.map(([id]) => id)).toEqual(["metrics", "backup"]);
  for (const [, { path, method, needs }] of keyed) {
    const documented = paths[path]?.[method.toLowerCase()];
    expect(documented).toMatchObject({ "x-role": needs?.role, "x-role-queues": needs?.reach });
  }
});

test("operations: administrative operations are audited, and of the others only a cancel and a retry with dead", () => {
  for (const [id, row] of rows) {
    const isChange = (row.role === "admin" && id !== "listKeys") || id === "cancelItems";
    expect([id, row.audits?.(row.example) ?? false]).toEqual([id, isChange]);
  }
  const { example } = operations.retry;
  const dead = { ...example, items: [...example.items, { id: "x", dead: true }] };
  expect(operations.retry.audits?.(dead)).toBe(true);
});

test("operations: each queue key of a request is marked", () => {
  const { createQueue, updateQueue, queueInfo, produce } = operations;
  const names = (request: TSchema, value: unknown) => queueFinder(request)(value);
  const own = (...queues: string[]) => queues.map((name) => ({ name, role: null }));
  const create = { ...createQueue.example, dead_queue: "orders-dead" };
  expect(names(createQueue.request, create)).toEqual(own("orders", "orders-dead"));
  const update = { queue_name: "orders", dead_queue: "" };
  expect(names(updateQueue.request, update)).toEqual(own("orders"));
  expect(names(queueInfo.request, { name: "a" })).toEqual(own("a"));
  expect(names(queueInfo.request, { queue_name: "a" })).toEqual(own("a"));
  expect(names(produce.request, produce.example)).toEqual(own("orders"));
  // Every key with the name of a queue is marked.
  const fields = rows.flatMap(([id, { request: each }]) =>
    objectsIn(each).flatMap(({ properties }) =>
      Object.entries<TSchema>(properties).map(([key, schema]) => ({ id, key, schema })),
    ),
  );
  const unmarked = fields.filter(
    ({ key, schema }) =>
      // The queue that an item came from is not changed.
      /(?<!origin_)queue(_name)?$/.test(key) &&
      schema["type"] === "string" &&
      !schema[queueKeyword],
  );
  expect(unmarked.map(({ id, key }) => `${id}: ${key}`)).toEqual([]);
  // Queue names may be nested, and may require another role.
  const name = (role: true | string) => Type.String({ [queueKeyword]: role });
  const part = (role: true | string) => Type.Array(Type.Object({ queue_name: name(role) }));
  const both = Type.Object({ complete: part("consume"), produce: part(true), at: Type.String() });
  const request = { complete: [{ queue_name: "in" }], produce: [{ queue_name: "out" }], at: "x" };
  expect(names(both, request)).toEqual([{ name: "in", role: "consume" }, ...own("out")]);
  expect(names(both, { complete: null, at: "x" })).toEqual([]);
});

test("operations: queues.info requires name or queue_name, not both", () => {
  const { request } = operations.queueInfo;
  expect(Value.Check(request, { name: "orders" })).toBe(true);
  expect(Value.Check(request, { queue_name: "orders" })).toBe(true);
  expect(Value.Check(request, {})).toBe(false);
  expect(Value.Check(request, { name: "orders", queue_name: "orders" })).toBe(false);
});

/** Optional fields that stay with an item. */
const carried = [
  ...["headers", "origin_id", "reason", "death", "origin_queue", "origin_attempts"],
  ...["origin_created_at", "redriven", "own_max_attempts", "own_lease_timeout", "group"],
];

test("operations: keys of replies are always present, with few exceptions", () => {
  // Without duplicates the reply of a produce is byte for byte that of the specification.
  const guarded = ["counts", "waiting_leases", "dependents"];
  const sometimes = [
    "reason",
    "details",
    "duplicates",
    "ids",
    ...guarded,
    "columns",
    "item",
    ...carried,
  ];
  const { Health, BackupReply } = schemas;
  const replies = [...rows.map(([, { response }]) => response), Health, BackupReply];
  for (const schema of replies.flatMap(objectsIn)) {
    const isOutput = schema["description"] === schemas.TransactProduced.description;
    const absent = isOutput ? [...sometimes, "partition"] : sometimes;
    const keys = Object.keys(schema["properties"]).filter((key) => !absent.includes(key));
    if (keys.length === 0) continue;
    // A filter is returned as it was sent.
    if (schema["description"] === schemas.ItemFilter.description) continue;
    const required: readonly string[] = schema["required"];
    expect(required.filter((key) => !sometimes.includes(key))).toEqual(keys);
  }
});

test("operations: messages have the keys of the specification", () => {
  const keysOf = (schema: TSchema) => Object.keys(schema["properties"]).sort();
  expect(keysOf(schemas.QueueInfo)).toEqual(
    [
      "queue_name created_at updated_at dead_queue reference lease_timeout",
      "expire_timeout max_attempts requested_partitions",
      // Beyond the specification.
      "leased_max lease_rate unique_for priority_aging waiting_max retry_backoff",
      "grouped group_leased_max group_rate group_waiting_max group_order group_on_dead",
      "lease_paused produce_paused pause_reason",
    ]
      .join(" ")
      .split(" ")
      .sort(),
  );
  expect(keysOf(schemas.LeaseItem)).toEqual(
    [
      ..."id encoding kind reference priority attempts lease_deadline bytes".split(" "),
      ...carried,
    ].sort(),
  );
  expect(keysOf(schemas.RetryItem)).toEqual(
    "id retry_at retry_after dead reason".split(" ").sort(),
  );
  expect(keysOf(schemas.StorageItem)).toEqual(
    [
      "id source_id is_leased lease_deadline dead_deadline expire_deadline created_at",
      "updated_at enqueue_at priority attempts max_attempts reference encoding kind payload",
      ...carried,
    ]
      .join(" ")
      .split(" ")
      .sort(),
  );
  expect(keysOf(schemas.PartitionStats)).toEqual(
    expect.arrayContaining(["partition", "total", "total_leased", "average_age"]),
  );
  expect(keysOf(schemas.LogicalQueueStats)).toEqual(
    [
      "average_leased_age produce_waiting lease_waiting complete_waiting in_flight partitions",
      "counters columns",
    ]
      .join(" ")
      .split(" ")
      .sort(),
  );
  expect(keysOf(schemas.Inspect)).toEqual(
    "queue_name partitions queued leased retried scheduled dead_letter".split(" ").sort(),
  );
});

test("operations: a listed item can be imported unchanged, and a listed queue created", () => {
  const [item] = operations.listItems.replies[200].example.items;
  const request = { queue_name: "orders", partition: 0, items: [item] };
  expect(Value.Check(operations.importItems.request, request)).toBe(true);
  const info = operations.queueInfo.replies[200].example;
  expect(Value.Check(operations.createQueue.request, info)).toBe(true);
  expect(Value.Check(operations.updateQueue.request, info)).toBe(true);
});

test.each(rows)("operations: the examples of %s match its schemas", (_, operation) => {
  expect([...Value.Errors(operation.request, operation.example)]).toEqual([]);
  for (const [code, reply] of Object.entries(operation.replies)) {
    const schema = code === "200" ? operation.response : Reply;
    expect([...Value.Errors(schema, reply.example)]).toEqual([]);
  }
});

test("document: 429 and 503 replies have Retry-After", () => {
  const paths: Record<
    string,
    Record<string, { responses: Record<string, object> }>
  > = structuredClone(document()).paths as never;
  for (const [path, methods] of Object.entries(paths)) {
    for (const { responses } of Object.values(methods)) {
      const withHeader = Object.keys(responses).filter((code) =>
        Object.keys((responses[code] as { headers?: object }).headers ?? {}).includes(
          "Retry-After",
        ),
      );
      const later = Object.keys(responses).filter((code) => code === "429" || code === "503");
      expect([path, withHeader]).toEqual([path, later]);
    }
  }
});

test.each([...rows, ...pageRows])("operations: %s has a meaning for each code", (_, row) => {
  for (const [key, reply] of Object.entries(row.replies)) {
    const code = Number(key) as ReplyCode;
    expect(reply.meaning).toEndWith(".");
    expect(reply.reaction).toEndWith(".");
    if (code !== 200) {
      expect(reply.example).toMatchObject({ code, code_text: replyCodes[code].text });
    }
  }
  expect(row.description).toEndWith(".");
  expect(Object.keys(tags)).toContain(row.tag);
});

test.each(rows)("operations: %s lists each code that it can return", (id, { replies }) => {
  const held = ["retry", "complete", "extend", "release"];
  const guarded = ["updateQueue", "clear", "deleteItems", "confirmLoss"];
  const queues = ["createQueue", "updateQueue", "deleteQueue", "pause", "resume"];
  const worked = ["produce", ...held, "transact", "cancelItems"];
  const tasks = ["redrive", "repair", "cancelTask"];
  const others = [
    "clear",
    "reload",
    "advance",
    "drainNode",
    "importItems",
    "deleteItems",
    "setGroup",
  ];
  const changing = ["lease", ...worked, ...queues, ...tasks, ...others];
  const timed = ["lease", ...worked, ...queues];
  const named = ["getItem", "redrive", "repair", "taskInfo", "cancelTask"];
  const stateful = [
    "lease",
    ...worked,
    "deleteQueue",
    "advance",
    "drainNode",
    "importItems",
    "setGroup",
    ...named,
  ];
  // These are answered from memory, so they wait for no store.
  const ofServer = ["confirmLoss", "whoAmI", "listKeys", "listActions"];
  const unqueued = ["listQueues", "queueInfo", ...ofServer];
  expect(Object.keys(replies).map(Number)).toEqual([
    ...[200, 400, 403, 413, 415],
    ...(unqueued.includes(id) ? [] : [429]),
    ...(stateful.includes(id) || guarded.includes(id) ? [453] : []),
    ...(timed.includes(id) ? [454] : []),
    ...[500, 503],
    ...(changing.includes(id) ? [504] : []),
  ]);
});

test.each(pageRows)("pages: the example of %s matches its schema", (_, page) => {
  const { response, replies } = page;
  if (response !== null) expect([...Value.Errors(response, replies[200].example)]).toEqual([]);
  for (const [code, { example }] of Object.entries(replies)) {
    if (code !== "200") expect([...Value.Errors(Reply, example)]).toEqual([]);
  }
  expect(Object.keys(paths[page.path] ?? {})).toEqual([page.method.toLowerCase()]);
  const [documented] = Object.values(paths[page.path] ?? {});
  expect(documented?.requestBody === undefined).toBe(page.method === "GET");
});

test("pages: each states whether it requires an API key, and health its statuses", () => {
  for (const [, { description }] of pageRows) expect(description).toContain("API key");
  const { Health } = JSON.parse(documentOnDisk).components.schemas;
  expect(Health.properties.status["x-extensible-enum"]).toEqual([
    "ok",
    "degraded",
    "store_full",
    "commits_lost",
  ]);
});

test.each([...rows, ...pageRows])("document: %s has each code of its row", (_, row) => {
  const [documented] = Object.values(paths[row.path] ?? {});
  expect(documented?.summary).toBe(row.summary);
  const needsKey = !["/health", "/livez", "/readyz"].includes(row.path);
  const codes = [...Object.keys(row.replies), ...(needsKey ? ["401"] : [])];
  expect(Object.keys(documented?.responses ?? {})).toEqual(codes.sort());
  for (const { content, description } of Object.values(documented?.responses ?? {})) {
    expect(description).not.toBe("");
    for (const media of Object.values(content)) expect(media).toHaveProperty("example");
  }
});

test.each([...messages])("schemas: every key of %s is described", (_, message) => {
  for (const schema of objectsIn(message)) {
    expect(schema["description"]).toEndWith(".");
    const properties: Record<string, TSchema> = schema["properties"];
    for (const property of Object.values(properties)) {
      expect(property["description"]).toEndWith(".");
      expect(property["examples"]).not.toBeEmpty();
      for (const example of property["examples"]) {
        expect([...Value.Errors(property, example)]).toEqual([]);
      }
    }
  }
});

test("schemas: no request has a key that the schema does not name", () => {
  for (const [, { request }] of rows) {
    for (const schema of objectsIn(request)) {
      // The sender chooses the keys of a map of texts.
      if (schema["additionalProperties"]?.["type"] === "string") continue;
      expect(schema["additionalProperties"]).toBe(false);
    }
  }
});

test("schemas: requests use no format, pattern or allOf", () => {
  const known = (key: string, value: unknown) => (key === publishedKeyword ? undefined : value);
  const text = JSON.stringify(
    rows.map(([, { request }]) => request),
    known,
  );
  expect(text).not.toMatch(/"(format|pattern|patternProperties|allOf|not)":/);
});

test("bounds: the limits of the specification are in force", () => {
  const items = (count: number) => Array(count).fill({});
  const produce = (count: number) => ({
    queue_name: "orders",
    request_timeout: "5m",
    items: items(count),
  });
  const lease = (batch_size: number) => ({ ...operations.lease.example, batch_size });
  const list = (limit: number) => ({ pivot: "", limit });
  const create = (changed: object) => ({ ...operations.createQueue.example, ...changed });
  const verdicts = (schema: TSchema, values: readonly unknown[]) =>
    values.map((value) => Value.Check(schema, value));

  expect(verdicts(operations.produce.request, [0, 1, 1000, 1001].map(produce))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(verdicts(operations.lease.request, [0, 1, 1000, 1001].map(lease))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(verdicts(operations.listQueues.request, [0, 1, 1000, 1001].map(list))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(
    verdicts(operations.createQueue.request, [
      create({ max_attempts: 0 }),
      create({ max_attempts: -1 }),
      create({ requested_partitions: 1025 }),
      create({ requested_partitions: 0 }),
    ]),
  ).toEqual([true, false, true, false]);
  expect(bounds).toMatchObject({
    produceRequestTimeoutDefault: "5m",
    leaseRequestTimeoutDefault: "1m",
    produceBodyBytesMax: 5_000_000,
    importBodyBytesMax: 64_000_000,
    bodyBytesMax: 256_000,
  });
  const examples = JSON.stringify([operations, [...messages]]);
  for (const timeout of ["30s", "1m", "5m", "15m", "60m", "24h"]) {
    expect(examples).toContain(`"${timeout}"`);
  }
});

test.each([
  [512, "512B"],
  [256_000, "250.0KiB"],
  [512_000, "500.0KiB"],
  [5_000_000, "5.0MB"],
  [64_000_000, "61.0MiB"],
  [2_500, "2.5kB"],
])("bounds: %i bytes are written as %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

test("codes: the texts are those of the contract", () => {
  expect(Object.entries(replyCodes).map(([code, { text }]) => [Number(code), text])).toEqual([
    [200, "OK"],
    [400, "Bad Request"],
    [401, "Unauthorized"],
    [403, "Forbidden"],
    [404, "Not Found"],
    [405, "Method Not Allowed"],
    [413, "Payload Too Large"],
    [415, "Unsupported Media Type"],
    [429, "Too Many Requests"],
    [453, "Request Failed"],
    [454, "Retry Request"],
    [500, "Internal Service Error"],
    [503, "Service Unavailable"],
    [504, "Gateway Timeout"],
  ]);
});

/** The object schemas at any depth, including the schema itself. */
function objectsIn(schema: TSchema): TSchema[] {
  const items: TSchema | undefined = schema["items"];
  const properties: Record<string, TSchema> = schema["properties"] ?? {};
  const inner = [...(items ? [items] : []), ...Object.values(properties)].flatMap(objectsIn);
  return schema["type"] === "object" ? [schema, ...inner] : inner;
}
