// The calls, their codes and their constants, in the server and in the document from which the
// clients and the API reference are generated.

import { expect } from "bun:test";
import openapi from "../../openapi/openapi.json" with { type: "json" };
import { type OperationId, operations } from "../../openapi/operations.ts";
import { rowsOf } from "../testing/rows.ts";
import {
  day,
  done,
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

interface Documented {
  readonly description: string;
  readonly requestBody: {
    readonly content: { readonly "application/json": { readonly schema: Schema } };
  };
  readonly responses: Record<
    string,
    {
      readonly description: string;
      readonly content: {
        readonly "application/json": { readonly schema: Schema; readonly example: unknown };
      };
    }
  >;
}

interface Schema {
  readonly $ref?: string;
  readonly properties?: Record<string, Schema>;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly examples?: readonly unknown[];
  readonly description?: string;
}

const schemas: Record<string, Schema> = openapi.components.schemas as never;
const paths: Record<string, { readonly post: Documented }> = openapi.paths as never;

function resolved(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});
}

function documented(id: OperationId): Documented {
  const found = paths[operations[id].path]?.post;
  if (found === undefined) throw new Error(`the document has no ${operations[id].path}`);
  return found;
}

/** A key of an operation's request as the document describes it. */
function keyOf(id: OperationId, key: string): Schema {
  const { schema } = documented(id).requestBody.content["application/json"];
  return resolved(schema).properties?.[key] ?? {};
}

const reply = ["code", "code_text", "message"];
const queueInfo = [
  ...["queue_name", "dead_queue", "reference", "lease_timeout", "expire_timeout"],
  ...["max_attempts", "requested_partitions", "created_at", "updated_at"],
  // Beyond the specification.
  ...[
    "leased_max",
    "lease_rate",
    "unique_for",
    "priority_aging",
    "waiting_max",
    "retry_backoff",
    "grouped",
    "group_leased_max",
    "group_rate",
    "group_waiting_max",
    "group_order",
    "group_on_dead",
    "lease_paused",
    "produce_paused",
    "pause_reason",
  ],
];
const unpaused = { lease_paused: false, produce_paused: false, pause_reason: "" };
const beyond = {
  leased_max: 5,
  lease_rate: "100/1s",
  unique_for: "1d",
  priority_aging: "10m",
  waiting_max: 5,
  retry_backoff: "1s..5m",
  ...{ grouped: false, group_leased_max: 0, group_rate: "", group_waiting_max: 0 },
  ...{ group_order: "loose", group_on_dead: "continue" },
  ...unpaused,
};
const timeouts = { lease_timeout: "60m", expire_timeout: "24h" };
const place = { ...orders, partition: 0 };
const page = { ...place, pivot: "", limit: 10 };
const clearing = { ...orders, retry: true, scheduled: true, queue: true, destructive: true };

/** Builds a body with the id of an item that is leased in `orders`. */
type Body = (id: string) => object;

const calls = [
  // The last keys of these are beyond the specification.
  ["/v1/queue.produce", () => ({ ...timed, items: [{}], return_ids: false }), reply],
  [
    "/v1/queue.lease",
    () => ({
      ...timed,
      client_id: "c",
      batch_size: 1,
      lease_timeout: "1m",
      priority_min: 0,
      group_runs: false,
    }),
    ["items", "queue_name", "partition", "max_attempts", "now", "retry_backoff"],
  ],
  [
    "/v1/queue.retry",
    (id) => ({
      ...place,
      items: [{ id, retry_at: instant(start + day), dead: false }],
      request_timeout: "1m",
    }),
    reply,
  ],
  ["/v1/queue.complete", (id) => ({ ...place, request_timeout: "1m", ids: [id] }), reply],
  [
    "/v1/queues.list",
    () => ({ pivot: "", limit: 10, namespace: "_system" }),
    ["items", "unreached"],
  ],
  [
    "/v1/queues.create",
    () => ({
      ...timeouts,
      queue_name: "new",
      created_at: instant(start),
      updated_at: instant(start),
      dead_queue: "orders",
      reference: "r",
      max_attempts: 1,
      requested_partitions: 2,
      ...beyond,
      namespace: "_system",
    }),
    reply,
  ],
  [
    "/v1/queues.update",
    () => ({
      ...orders,
      ...timeouts,
      created_at: instant(start),
      updated_at: instant(start),
      dead_queue: "",
      reference: "r",
      max_attempts: 1,
      requested_partitions: 2,
      ...beyond,
      namespace: "_system",
    }),
    reply,
  ],
  ["/v1/queues.info", () => ({ name: "orders" }), queueInfo],
  ["/v1/queues.delete", () => ({ ...orders, force: true }), reply],
  ["/v1/queue.stats", () => orders, ["queue_name", "logical_queues"]],
  ["/v1/queue.clear", () => clearing, reply],
  ["/v1/storage/items.list", () => page, ["items"]],
  ["/v1/storage/items.import", () => ({ ...place, items: [{}] }), ["items"]],
  ["/v1/storage/items.delete", (id) => ({ ...place, ids: [id] }), reply],
] as const satisfies readonly (readonly [path: string, body: Body, reply: readonly string[]])[];

type Path = (typeof calls)[number][0];

const { row, complete } = rowsOf("calls, errors and constants", [
  ...calls.map(([path]): `call: ${Path}` => `call: ${path}`),
  "calls: all are POST with a JSON body",
  "calls: the base is a local server on port 9090, or an example with {host}",
  "calls: a lease answered 454 is to be retried by the client",
  "calls: a complete answered 453 needs the offending id removed before it is retried",
  "calls: clients should not cancel a request before its request_timeout",
  "roles: no security schemes, no credentials asked for",
  "error 200: success",
  "error 453: on complete, an id cannot be completed",
  "error 454: on lease, the queue stayed empty until request_timeout",
  "error non-200 on produce: the items were not written",
  "error non-200 on complete: the items were not completed",
  "error non-200 on retry: queue_name or partition does not match, or an id is not leased",
  "constant: produce items per call, 1 to 1000",
  "constant: lease batch_size, 1 to 1000",
  "constant: queues list limit, at most 1000",
  "constant: request_timeout default, produce is 5m",
  "constant: request_timeout default, lease is 1m",
  "constant: example request_timeouts 30s, 1m, 5m, 15m",
  "constant: example lease_timeout 60m, expire_timeout 24h",
  "constant: max_attempts, 0 means infinite",
  "constant: example requested partitions, up to 1025",
]);

for (const [path, body, keys] of calls) {
  row(`call: ${path}`, async () => {
    await using app = await run();
    await app.produce("leased", "ready");
    const [id = ""] = idsOf((await app.lease({ batch_size: 1 })).items);
    const found = Object.entries(operations).find(([, operation]) => operation.path === path);
    const operation = found?.[0] as OperationId;
    const answer = await app.call(operation, body(id));
    expect(answer.code).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(Object.keys(answer.body).sort()).toEqual(keys.toSorted());
    // The document names the same keys, both ways.
    const { requestBody, responses } = documented(operation);
    const request = resolved(requestBody.content["application/json"].schema).properties ?? {};
    // Beyond the specification, and without effect on a call that leaves them out.
    const own = ["dry_run", "expect", "columns"];
    const asked = Object.keys(request).filter(
      (key) => !own.includes(key) && (path !== "/v1/queues.info" || key === "name"),
    );
    expect(Object.keys(body(id)).sort()).toEqual(asked.sort());
    const response = resolved(responses["200"]?.content["application/json"].schema ?? {});
    const guarded = ["counts", "waiting_leases", "dependents"];
    const sometimes = ["reason", "details", "duplicates", "ids", ...guarded];
    const answered = Object.keys(response.properties ?? {}).filter(
      (key) => !sometimes.includes(key),
    );
    expect(answered.sort()).toEqual(keys.toSorted());
  });
}

row("calls: all are POST with a JSON body", async () => {
  await using app = await run();
  for (const [path] of calls) {
    expect(Object.keys(paths[path] ?? {})).toEqual(["post"]);
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      expect((await app.through(app.send(path, { method }))).status).toBe(405);
    }
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const init = { method: "POST", headers: form, body: "queue_name=orders" };
    expect((await app.through(app.send(path, init))).status).toBe(415);
  }
});

row("calls: the base is a local server on port 9090, or an example with {host}", () => {
  const urls = openapi.servers.map(({ url }) => url);
  expect(urls).toEqual(["http://localhost:9090", "https://{host}"]);
});

row("calls: a lease answered 454 is to be retried by the client", async () => {
  await using app = await run();
  // Repeats the same request, including its client_id.
  const request = { ...timed, client_id: "c" };
  for (let round = 0; round < 3; round += 1) {
    const lease = await app.begin("lease", request);
    await app.advance(minute);
    expect(lease.answer?.code).toBe(454);
  }
  await app.produce("a");
  expect(textsOf((await app.ok("lease", request)).items)).toEqual(["a"]);
  expect(documented("lease").responses["454"]?.description).toContain(
    "Send the same request again",
  );
});

row(
  "calls: a complete answered 453 needs the offending id removed before it is retried",
  async () => {
    await using app = await run();
    await app.produce("a", "b", "c");
    const lease = await app.lease();
    const [first = "", ...rest] = idsOf(lease.items);
    await app.complete(lease, { ids: [first] });
    const { code, body } = await app.complete(lease);
    expect(code).toBe(453);
    expect(Object.keys(body.details)).toEqual([first]);
    expect(plain(await app.complete(lease, { ids: rest }))).toEqual({ code: 200, body: done });
  },
);

row("calls: clients should not cancel a request before its request_timeout", () => {
  for (const id of ["produce", "lease", "complete"] as const) {
    const { description } = keyOf(id, "request_timeout");
    expect(description).toContain("Do not give up on the request before then");
  }
});

row("roles: no security schemes, no credentials asked for", async () => {
  expect(JSON.stringify(openapi)).not.toMatch(/"security(Schemes)?":/);
  await using app = await run();
  for (const authorization of ["Bearer x", "Basic eDp5", "nonsense", ""]) {
    const headers = { "content-type": "application/json", authorization };
    const init = { method: "POST", headers, body: JSON.stringify(orders) };
    expect((await app.through(app.send("/v1/queue.stats", init))).status).toBe(200);
  }
});

row("error 200: success", async () => {
  await using app = await run();
  const answer = await app.call("produce", { ...timed, items: [{}] });
  expect(plain(answer)).toEqual({ code: 200, body: done });
});

row("error 453: on complete, an id cannot be completed", async () => {
  await using app = await run({ store: "sqlite" });
  await app.produce("a");
  const lease = await app.lease();
  const [id = ""] = idsOf(lease.items);
  await app.complete(lease);
  const text = `invalid storage id; '${id}' does not exist`;
  expect(plain(await app.complete(lease))).toEqual({
    code: 453,
    body: {
      code: 453,
      code_text: "Request Failed",
      message: text,
      reason: "not_leased",
      details: { [id]: text },
    },
  });
});

row("error 454: on lease, the queue stayed empty until request_timeout", async () => {
  await using app = await run();
  const lease = await app.begin("lease", app.leaseOf({ request_timeout: "90s" }));
  await app.advance(90_000 - 1);
  expect(lease.answer).toBeNull();
  await app.advance(1);
  expect(plain(lease.answer)).toEqual({
    code: 454,
    body: {
      code: 454,
      code_text: "Retry Request",
      message: "request timeout; no items are in the queue, try again",
      reason: "empty",
    },
  });
});

/** The store is full, or too slow, or the server is closing. */
const troubles = ["full", "slow", "closing"] as const;
const troubleCodes = { full: 500, slow: 454, closing: 503 } as const;

async function inTrouble(
  app: RunningApp,
  trouble: (typeof troubles)[number],
  call: () => Promise<unknown>,
): Promise<void> {
  if (trouble === "full") app.store.fail({ fault: "full", applied: false, sticky: true });
  if (trouble === "closing") {
    await app.through(app.engine.close());
    await call();
    await app.open();
    return;
  }
  if (trouble === "slow") app.store.hold();
  await call();
  app.store.heal();
  app.store.release();
  // A full store is retried after a while.
  await app.advance(minute);
}

row("error non-200 on produce: the items were not written", async () => {
  for (const store of ["memory", "sqlite"] as const) {
    for (const trouble of troubles) {
      await using app = await run({ store });
      await inTrouble(app, trouble, async () => {
        // A running commit cannot be cancelled, but the requests behind it can.
        const slow = { ...timed, request_timeout: "15m", items: [] };
        if (trouble === "slow") {
          for (const utf8 of ["one", "two"])
            await app.begin("produce", { ...slow, items: [{ utf8 }] });
        }
        const produce = await app.begin("produce", { ...timed, items: [{ utf8: "lost" }] });
        await app.advance(minute);
        expect(produce.answer?.code).toBe(troubleCodes[trouble]);
        expect(produce.answer?.body).toMatchObject({ code: troubleCodes[trouble] });
      });
      await app.produce("later");
      const stored = textsOf(await app.stored());
      expect(stored).toEqual(trouble === "slow" ? ["one", "two", "later"] : ["later"]);
    }
    await using app = await run({ store });
    const items = [{ utf8: "a" }, { bytes: "?" }];
    expect((await app.call("produce", { ...timed, items })).code).toBe(400);
    expect(await app.stored()).toEqual([]);
  }
});

row("error non-200 on complete: the items were not completed", async () => {
  for (const trouble of ["slow", "closing"] as const) {
    await using app = await run({ store: "sqlite" });
    await app.produce("a", "b");
    const lease = await app.lease();
    const { partition } = lease;
    await inTrouble(app, trouble, async () => {
      if (trouble === "slow") {
        for (const _ of [1, 2]) {
          await app.begin("produce", { ...timed, request_timeout: "15m", items: [{}] });
        }
      }
      const ids = idsOf(lease.items);
      const late = await app.begin("complete", { ...timed, partition, ids });
      await app.advance(minute);
      expect(late.answer?.code).toBe(troubleCodes[trouble]);
    });
    const leased = (await app.stored()).filter(({ is_leased }) => is_leased);
    expect(textsOf(leased)).toEqual(["a", "b"]);
    expect((await app.complete(lease)).code).toBe(200);
  }
});

row(
  "error non-200 on retry: queue_name or partition does not match, or an id is not leased",
  async () => {
    await using app = await run({ orders: { requested_partitions: 2 } });
    await app.create("others");
    await app.produce("a");
    const lease = await app.lease();
    const [id = ""] = idsOf(lease.items);
    const right = { ...orders, partition: lease.partition, items: [{ id }] };
    for (const [change, code] of [
      [{ queue_name: "others" }, 453],
      [{ queue_name: "none" }, 400],
      [{ partition: 1 - lease.partition }, 453],
      [{ partition: 2 }, 400],
      [{ items: [{ id }, { id: `${id.slice(0, -1)}z` }] }, 453],
    ] as const) {
      expect((await app.call("retry", { ...right, ...change })).code).toBe(code);
    }
    expect((await app.call("retry", right)).code).toBe(200);
    expect((await app.call("retry", right)).code).toBe(453);
  },
);

// The tests of validation check that the server enforces these bounds; here, that it documents
// them.
row("constant: produce items per call, 1 to 1000", () => {
  expect(keyOf("produce", "items")).toMatchObject({ minItems: 1, maxItems: 1000 });
});

row("constant: lease batch_size, 1 to 1000", () => {
  expect(keyOf("lease", "batch_size")).toMatchObject({ minimum: 1, maximum: 1000 });
});

row("constant: queues list limit, at most 1000", () => {
  expect(keyOf("listQueues", "limit")).toMatchObject({ maximum: 1000 });
});

row("constant: request_timeout default, produce is 5m", async () => {
  expect(keyOf("produce", "request_timeout")).toMatchObject({ default: "5m" });
  await using app = await run();
  const answer = await app.call("produce", { ...timed, request_timeout: "", items: [{}] });
  expect(plain(answer)).toEqual(
    refused(400, "request timeout is required; '5m' is recommended, 15m is the maximum"),
  );
});

row("constant: request_timeout default, lease is 1m", async () => {
  expect(keyOf("lease", "request_timeout")).toMatchObject({ default: "1m" });
  await using app = await run();
  expect(plain(await app.call("lease", app.leaseOf({ request_timeout: "" })))).toEqual(
    refused(400, "request timeout is required; '1m' is recommended, 15m is the maximum"),
  );
});

row("constant: example request_timeouts 30s, 1m, 5m, 15m", async () => {
  await using app = await run();
  for (const [request_timeout, ms] of [
    ["30s", 30_000],
    ["1m", minute],
    ["5m", 5 * minute],
    ["15m", 15 * minute],
  ] as const) {
    await app.ok("produce", { ...orders, request_timeout, items: [{}] });
    const { partition, items } = await app.lease({ request_timeout });
    await app.ok("complete", { ...orders, partition, request_timeout, ids: idsOf(items) });
    const lease = await app.begin("lease", app.leaseOf({ request_timeout }));
    await app.advance(ms - 1);
    expect(lease.answer).toBeNull();
    await app.advance(1);
    expect(lease.answer?.code).toBe(454);
  }
});

row("constant: example lease_timeout 60m, expire_timeout 24h", async () => {
  expect(keyOf("createQueue", "lease_timeout").examples).toContain("60m");
  expect(keyOf("createQueue", "expire_timeout").examples).toContain("24h");
  await using app = await run({ orders: { lease_timeout: "60m", expire_timeout: "24h" } });
  await app.produce("a");
  expect((await app.lease()).items[0]?.lease_deadline).toBe(instant(start + 60 * minute));
  expect((await app.stored())[0]?.expire_deadline).toBe(instant(start + day));
});

row("constant: max_attempts, 0 means infinite", async () => {
  expect(keyOf("createQueue", "max_attempts")).toMatchObject({ minimum: 0, default: 0 });
  expect(keyOf("createQueue", "max_attempts").description).toContain("0 = no limit");
  await using app = await run();
  await app.produce("a");
  for (let attempts = 1; attempts <= 20; attempts += 1) {
    const lease = await app.lease();
    expect(lease.items[0]?.attempts).toBe(attempts);
    await app.retry(lease);
  }
});

row("constant: example requested partitions, up to 1025", async () => {
  expect(keyOf("createQueue", "requested_partitions").examples).toContain(1025);
  const options = { store: "sqlite", config: { connectionsMax: 2_000 } } as const;
  await using app = await run({ ...options, orders: { requested_partitions: 1025 } });
  expect(await app.ok("inspect", orders)).toMatchObject({ partitions: 1025 });
  const answers = await app.through(
    Promise.all(Array.from({ length: 1025 }, () => app.call("produce", { ...timed, items: [{}] }))),
  );
  expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([200]));
  const { logical_queues } = await app.ok("stats", orders);
  const totals = logical_queues.flatMap(({ partitions }) => partitions.map(({ total }) => total));
  expect(totals).toEqual(Array(1025).fill(1));
});

complete();
