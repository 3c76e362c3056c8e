// Faults of the reference implementation that are visible over HTTP, by their number in the
// catalogue of its behaviour. This server must have none of them. The engine's
// `reference-faults.test.ts` tests the faults below HTTP.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type OperationId, operations } from "../../openapi/operations.ts";
import type { LeaseReply, Reply } from "../../openapi/schemas.ts";
import { queueLabelsMax } from "../observability/queue-metrics.ts";
import {
  type Answer,
  hour,
  idsOf,
  instant,
  minute,
  orders,
  plain,
  type RunningApp,
  refused,
  run,
  second,
  start,
  textsOf,
  timed,
} from "../testing/running-app.ts";

test("fault 1: on a full disk a produce is refused and other calls continue", async () => {
  await using app = await run({ store: "sqlite", pagesMax: 200 });
  const item = { utf8: "x".repeat(20_000) };
  let written = 0;
  let answer = await app.call("produce", { ...timed, items: [item] });
  while (answer.code === 200 && written < 200) {
    written += 1;
    answer = await app.call("produce", { ...timed, items: [item] });
  }
  expect(plain(answer)).toEqual(
    refused(500, "there is no space left on the disk; nothing was written"),
  );
  expect(written).toBeGreaterThan(0);
  expect(await app.stored()).toHaveLength(written);
  const lease = await app.lease({ batch_size: 1 });
  expect((await app.complete(lease)).code).toBe(200);
  await app.restart();
  expect(await app.stored()).toHaveLength(written - 1);
});

test("fault 2: a lease that was not written grants nothing, and its items are leased once", async () => {
  await using app = await run({ store: "sqlite" });
  await app.produce("a", "b");
  app.store.fail({ fault: "failed", applied: false });
  const first = await app.begin("lease", app.leaseOf({ batch_size: 1 }));
  const next = await app.begin("lease", app.leaseOf({ batch_size: 1 }));
  await app.advance(second);
  const leased = [first, next].map(({ answer }) => answer?.body.items ?? []);
  expect(leased.map(textsOf)).toEqual([["a"], ["b"]]);
  expect(await app.stored()).toMatchObject([{ is_leased: true }, { is_leased: true }]);
});

const later = instant(start + minute);
const wakes: readonly [string, number, (app: RunningApp) => Promise<unknown>][] = [
  ["a retry", 0, async (app) => app.retry(held(app))],
  ["a lease that lapses", 2 * minute, async (app) => held(app)],
  [
    "a scheduled item falling due",
    minute,
    (app) => app.ok("produce", { ...timed, items: [{ enqueue_at: later }] }),
  ],
  ["a retried item falling due", minute, async (app) => app.retry(held(app), { retry_at: later })],
  ["an import", 0, (app) => app.ok("importItems", { ...orders, partition: 0, items: [{}] })],
];

function held(app: RunningApp): LeaseReply {
  const [lease] = app.leases;
  if (lease === undefined) throw new Error("nothing is leased");
  return lease;
}

test.each(wakes)("fault 5: %s wakes a lease that waits", async (_, ms, make) => {
  await using app = await run({ orders: { lease_timeout: "2m" } });
  await app.produce("a");
  app.leases.push(await app.lease());
  const waiting = await app.begin("lease", app.leaseOf({ request_timeout: "15m" }));
  expect(waiting.answer).toBeNull();
  await make(app);
  await app.advance(ms);
  expect(waiting.answer?.body.items).toHaveLength(1);
});

test("fault 8: a batch with one unknown id changes nothing, on disk too", async () => {
  await using app = await run({ store: "sqlite" });
  await app.produce("a", "b", "c");
  const lease = await app.lease();
  const ids = idsOf(lease.items);
  await app.complete(lease, { ids: ids.slice(2) });
  expect((await app.complete(lease)).code).toBe(453);
  expect((await app.retry(lease)).code).toBe(453);
  await app.restart();
  const stored = await app.stored();
  expect(idsOf(stored)).toEqual(ids.slice(0, 2));
  expect(stored.every(({ is_leased }) => is_leased)).toBe(true);
});

test("fault 9, 10, 32: an update changes what it names, for new leases and in info and list", async () => {
  await using app = await run({ orders: { reference: "r", max_attempts: 3 } });
  const before = await app.ok("queueInfo", { name: "orders" });
  const changed = await app.call("updateQueue", { ...orders, max_attempts: 7 });
  expect(changed.code).toBe(200);
  const after = await app.ok("queueInfo", { name: "orders" });
  expect(after).toEqual({ ...before, max_attempts: 7, updated_at: after.updated_at });
  expect(await app.ok("listQueues", { pivot: "", limit: 1 })).toEqual({
    ...{ items: [after], unreached: [] },
  });
  await app.produce("a");
  expect((await app.lease()).items[0]?.lease_deadline).toBe(instant(start + hour));
  // Back to no limit, which the reference implementation cannot express.
  await app.ok("updateQueue", { ...orders, max_attempts: 0, reference: "" });
  const last = await app.ok("queueInfo", { name: "orders" });
  expect(last).toEqual({ ...after, max_attempts: 0, reference: "", updated_at: last.updated_at });
});

test("fault 12: no row of a deleted queue's items is left in its tables", async () => {
  await using app = await run({ store: "sqlite" });
  await app.ok("produce", { ...timed, items: [{}, {}, { enqueue_at: later }] });
  await app.lease({ batch_size: 1 });
  const rows = async () => {
    await app.through(app.engine.close());
    // A copy, because the store locks its file.
    const copy = join(app.folder, "copy.db");
    copyFileSync(join(app.data, "shard-0.db"), copy);
    using database = new Database(copy);
    const rowsOf = (table: string) => database.query(`SELECT * FROM ${table}`).all().length;
    const items = database.query("SELECT ifnull(sum(count), 0) FROM item").values();
    const counts = [items[0]?.[0], rowsOf("lease"), rowsOf("scheduled"), rowsOf("hole")];
    await app.open();
    return counts;
  };
  expect(await rows()).toEqual([2, 1, 1, 0]);
  await app.ok("deleteQueue", { ...orders, force: true });
  expect(await rows()).toEqual([0, 0, 0, 0]);
  await app.create("orders");
  expect(await app.stored()).toEqual([]);
});

test("fault 21: if the store hangs, each call is answered at its request_timeout", async () => {
  await using app = await run();
  await app.produce("a");
  const lease = await app.lease();
  app.store.hold();
  for (const _ of [1, 2])
    await app.begin("produce", { ...timed, request_timeout: "15m", items: [{}] });
  const calls = [
    await app.begin("produce", { ...timed, items: [{}] }),
    await app.begin("complete", { ...timed, partition: 0, ids: idsOf(lease.items) }),
    await app.begin("lease", app.leaseOf()),
    await app.begin("retry", { ...orders, partition: 0, items: [{ id: idsOf(lease.items)[0] }] }),
  ];
  await app.advance(minute);
  expect(calls.map(({ answer }) => answer?.code)).toEqual([454, 454, 454, undefined]);
  // The retry has no request_timeout, so the default of five minutes applies.
  await app.advance(4 * minute);
  expect(calls[3]?.answer?.code).toBe(454);
});

test.each([
  "../x",
  "../../../../../../tmp/x",
  "..",
  ".",
  "/etc/x",
  "a/../../x",
  "..\\x",
  "%2e%2e%2fx",
  "shard-0.db",
  "n".repeat(512),
])("fault 28: the queue name %p does not lead outside the folder", async (queue_name) => {
  await using app = await run({ store: "sqlite" });
  const files = () => readdirSync(app.folder, { recursive: true }).sort();
  const before = files();
  await app.create(queue_name);
  await app.ok("produce", { ...timed, queue_name, items: [{ utf8: "a" }] });
  const lease = await app.lease({ queue_name });
  expect((await app.complete(lease)).code).toBe(200);
  await app.ok("produce", { ...timed, queue_name, items: [{ utf8: "b" }] });
  expect(textsOf(await app.stored(queue_name))).toEqual(["b"]);
  const { items } = await app.ok("listQueues", { pivot: "", limit: 10 });
  expect(items.map((item) => item.queue_name).sort()).toEqual([queue_name, "orders"].sort());
  await app.restart();
  expect(textsOf(await app.stored(queue_name))).toEqual(["b"]);
  await app.ok("deleteQueue", { queue_name, force: true });
  expect(files()).toEqual(before);
});

test("fault 29: partitions are capped, and no client makes the metrics grow without end", async () => {
  await using app = await run();
  for (const id of ["createQueue", "updateQueue"] as const) {
    const timeouts = { lease_timeout: "1m", expire_timeout: "1h" };
    const queue_name = id === "createQueue" ? "new" : "orders";
    const body = { queue_name, ...timeouts, requested_partitions: 2_147_483_647 };
    expect(plain(await app.call(id, body))).toEqual(
      refused(400, "partitions is invalid; cannot be greater than 10000"),
    );
  }
  await app.through(app.send("/warm-up"));
  const before = (await app.metrics()).length;
  const methods = ["GET", "POST", "BREW"];
  for (let index = 0; index < 300; index += 1) {
    const method = methods[index % methods.length] ?? "GET";
    await app.through(app.send(`/v1/queue.${index}?q=${index}`, { method }));
  }
  expect((await app.metrics()).join("\n")).not.toContain("/v1/");
  for (let index = 0; index < 300; index += 1) await app.create(`q${index}`);
  const labels = (await app.metrics()).flatMap((line) => /queue="([^"]*)"/.exec(line)?.[1] ?? []);
  expect(new Set(labels).size).toBe(queueLabelsMax + 1);
  expect((await app.metrics()).length).toBeLessThan(before + (queueLabelsMax + 1) * 22);
});

// The document's example of each error reply equals the reply of the server.
const sampleId = operations.complete.example.ids[0];

type Provoke = (app: RunningApp) => Promise<Answer | null | undefined>;

const tooLong = (app: RunningApp, id: OperationId) =>
  respond(app, id, { "content-length": "999999999999", "content-type": "application/json" });

async function respond(
  app: RunningApp,
  id: OperationId,
  headers: Record<string, string>,
): Promise<Answer> {
  const init = { method: "POST", headers, body: new Uint8Array([123, 125]) };
  const response = await app.through(app.send(operations[id].path, init));
  return { code: response.status, body: await response.json(), headers: response.headers };
}

/** Makes the call behind two turns that do not end, so that it is still waiting at its timeout. */
const late =
  (id: OperationId, make: (app: RunningApp) => object): Provoke =>
  async (app) => {
    const body = make(app);
    app.store.hold();
    const slow = { ...timed, request_timeout: "15m", items: [{}] };
    for (const _ of [1, 2]) await app.begin("produce", slow);
    const begun = await app.begin(id, body);
    await app.advance(5 * minute);
    return begun.answer;
  };

const leasedIds = (app: RunningApp) => idsOf(app.leases[0]?.items ?? []);
const readyId = async (app: RunningApp) => (await app.stored())[1]?.id ?? "";
const place = { ...orders, partition: 0 };
const unknown = { queue_name: "none" };
const timeouts = { lease_timeout: "1m", expire_timeout: "1h" };
const page = { ...place, pivot: "", limit: 1 };

const rejected: readonly [OperationId, number, Provoke][] = [
  ["produce", 400, (app) => app.call("produce", { ...timed, items: [] })],
  ["produce", 454, late("produce", () => ({ ...timed, items: [{}] }))],
  [
    "produce",
    500,
    (app) => {
      app.store.fail({ fault: "full", applied: false });
      return app.call("produce", { ...timed, items: [{}] });
    },
  ],
  [
    "lease",
    400,
    async (app) => {
      await app.begin("lease", { ...timed, queue_name: "empty", client_id: "c" });
      return app.call("lease", { ...timed, queue_name: "empty", client_id: "c" });
    },
  ],
  [
    "lease",
    453,
    async (app) => {
      const lease = await app.begin("lease", app.leaseOf({ queue_name: "empty" }));
      await app.ok("deleteQueue", { queue_name: "empty", force: true });
      return lease.answer;
    },
  ],
  [
    "lease",
    454,
    async (app) => {
      const lease = await app.begin("lease", app.leaseOf({ queue_name: "empty" }));
      await app.advance(minute);
      return lease.answer;
    },
  ],
  ["retry", 400, (app) => app.call("retry", { ...place, partition: 9, items: [] })],
  [
    "retry",
    453,
    async (app) => app.call("retry", { ...place, items: [{ id: await readyId(app) }] }),
  ],
  [
    "retry",
    454,
    late("retry", (app) => ({ ...place, items: leasedIds(app).map((id) => ({ id })) })),
  ],
  ["complete", 400, (app) => app.call("complete", { ...timed, partition: 0, ids: [] })],
  [
    "complete",
    453,
    async (app) => app.call("complete", { ...timed, partition: 0, ids: [await readyId(app)] }),
  ],
  ["complete", 454, late("complete", (app) => ({ ...timed, partition: 0, ids: leasedIds(app) }))],
  ["transact", 400, (app) => app.call("transact", { request_timeout: "1m" })],
  [
    "transact",
    453,
    async (app) => {
      const complete = [{ ...place, ids: [await readyId(app)] }];
      return app.call("transact", { request_timeout: "1m", complete });
    },
  ],
  [
    "transact",
    454,
    late("transact", (app) => {
      return { request_timeout: "1m", complete: [{ ...place, ids: leasedIds(app) }] };
    }),
  ],
  [
    "transact",
    500,
    (app) => {
      app.store.fail({ fault: "full", applied: false });
      const produce = [{ ...orders, items: [{}] }];
      return app.call("transact", { request_timeout: "1m", produce });
    },
  ],
  ["listQueues", 400, (app) => app.call("listQueues", { pivot: "", limit: 1001 })],
  ["createQueue", 400, (app) => app.call("createQueue", { ...orders, ...timeouts })],
  ["updateQueue", 400, (app) => app.call("updateQueue", { ...orders, dead_queue: "orders-dead" })],
  [
    "deleteQueue",
    453,
    async (app) => {
      await app.ok("produce", { ...timed, items: Array(498).fill({}) });
      return app.call("deleteQueue", { ...orders, force: false });
    },
  ],
  [
    "clear",
    400,
    (app) => {
      const none = { retry: false, scheduled: false, queue: false, destructive: false };
      return app.call("clear", { ...orders, ...none });
    },
  ],
  ["listItems", 400, (app) => app.call("listItems", { ...page, partition: 9 })],
  ["listScheduled", 400, (app) => app.call("listScheduled", { ...page, partition: 9 })],
  ["importItems", 400, (app) => app.call("importItems", { ...place, items: [] })],
  [
    "importItems",
    453,
    async (app) => {
      await app.ok("updateQueue", { ...orders, requested_partitions: 2 });
      await app.produce("b");
      await app.ok("updateQueue", { ...orders, requested_partitions: 1 });
      return app.call("importItems", { ...place, partition: 1, items: [{}] });
    },
  ],
  ["deleteItems", 400, (app) => app.call("deleteItems", { ...place, ids: [] })],
];

/** Operations that are rejected for an unknown queue. */
const ofUnknown: readonly [OperationId, object][] = [
  ["queueInfo", { name: "none" }],
  ["deleteQueue", { ...unknown, force: true }],
  ["stats", unknown],
  ["inspect", unknown],
];

test.each([
  ...rejected,
  ...ofUnknown.map(([id, body]): [OperationId, number, Provoke] => [
    id,
    400,
    (app) => app.call(id, body),
  ]),
])("fault 31: the reply of %s with %d equals that of the document", async (id, code, provoke) => {
  await using app = await run();
  await app.create("empty");
  await app.produce("leased", "ready");
  app.leases.push(await app.lease({ batch_size: 1 }));
  const ready = await readyId(app);
  const answer = await provoke(app);
  expect(answer?.code).toBe(code);
  const replies: Partial<Record<number, { readonly example: unknown }>> = operations[id].replies;
  const example = JSON.stringify(replies[code]?.example ?? null)
    .replaceAll(sampleId ?? "", ready)
    .replace("such queue named 'orders'", "such queue named 'none'")
    .replace("partition takes no new items; '0'", "partition takes no new items; '1'");
  expect(answer?.body).toEqual(JSON.parse(example));
  app.store.heal();
});

test.each(Object.keys(operations) as OperationId[])(
  "fault 31: the common error replies of %s equal those of the document",
  async (id) => {
    await using app = await run();
    const json = { "content-type": "application/json" };
    const replies: Partial<Record<number, { readonly example: unknown }>> = operations[id].replies;
    const exampleOf = (code: number) => replies[code]?.example as Reply;
    const origin = "https://example.com";
    expect((await respond(app, id, { ...json, origin })).body).toEqual(exampleOf(403));
    expect((await tooLong(app, id)).body).toEqual(exampleOf(413));
    expect((await respond(app, id, { "content-type": "text/plain" })).body).toEqual(exampleOf(415));
    await app.through(app.engine.close());
    const { code, body } = await app.call(id, { ...operations[id].example });
    // The server answers these without the engine.
    const ofServer = ["listNodes", "drainNode", "confirmLoss", "whoAmI", "listKeys", "listActions"];
    const aside = ["listQueues", "queueInfo", ...ofServer];
    if (!aside.includes(id)) {
      expect({ code, body }).toEqual({ code: 503, body: exampleOf(503) });
    }
    await app.open();
  },
);
