// API keys with limited rights: the operations each may call, what it sees, and the audit.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../../client/client.ts";
import type { WorkerNotice } from "../../client/notice.ts";
import { bounds } from "../../openapi/bounds.ts";
import { type OperationId, operations, pages } from "../../openapi/operations.ts";
import type { Action } from "../../openapi/schemas.ts";
import { newApiKey } from "../auth/api-keys.ts";
import { createAuthenticator } from "../auth/authenticator.ts";
import { KeyFile } from "../auth/key-file.ts";
import type { Rights } from "../auth/key-rights.ts";
import { createLog } from "../observability/log.ts";
import { Metrics } from "../observability/metrics.ts";
import { defaultConfig, memoryEngine } from "../testing/memory-engine.ts";
import { createApp } from "../testing/one-thread-app.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-roles-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const all = ["*"];
const keyRights = {
  anna: { roles: ["admin"], queues: all },
  ops: { roles: ["admin"], queues: ["orders*"] },
  checkout: { roles: ["produce"], queues: ["orders*"] },
  worker: { roles: ["consume"], queues: all },
  prometheus: { roles: ["read"], queues: all },
  viewer: { roles: ["read"], queues: ["orders*", "none"] },
  both: { roles: ["produce", "consume"], queues: ["orders"] },
} as const satisfies Record<string, Rights>;
type Name = keyof typeof keyRights | "more";

const timeouts = { lease_timeout: "1m", expire_timeout: "1h" };
const names = ["billing", "orders", "orders-dead", "other"];

interface Setup {
  /** No keys are required. */
  readonly isOpen?: boolean;
  /** Rights of one more key. */
  readonly more?: readonly Rights[];
}

async function setup({ isOpen = false, more }: Setup = {}) {
  const engine = await memoryEngine({ historyBytes: 1_000_000 });
  const lines: string[] = [];
  const log = createLog({ level: "info", write: (line) => lines.push(line) });
  const made = Object.entries<Rights>(keyRights).map(
    ([name, rights]) => [name, newApiKey(name, rights)] as const,
  );
  if (more !== undefined) made.push(["more", newApiKey("more", ...more)]);
  const path = join(folder, crypto.randomUUID());
  writeFileSync(path, made.map(([, { line }]) => `${line}\n`).join(""));
  const keys = new KeyFile({ path, log, now: () => 0 });
  const app = createApp({
    ...{ engines: [engine] as const, log, version: "1.2.3", isClosing: () => false },
    config: defaultConfig(),
    metrics: new Metrics({ version: "1.2.3", status: () => engine.status() }),
    backup: async () => new Response("{}"),
    ...(!isOpen && {
      authenticate: createAuthenticator({ keys, log, now: () => 0 }),
      keys: () => keys.infos,
    }),
  });
  const secrets = new Map<string, string>(made.map(([name, { key }]) => [name, key]));
  const send = async (by: Name | null, path: string, init: RequestInit) => {
    const headers = {
      "content-type": "application/json",
      ...(by !== null && { authorization: `Bearer ${secrets.get(by)}` }),
    };
    const response = await app.handle(new Request(`http://localhost${path}`, { ...init, headers }));
    return { code: response.status, text: await response.text() };
  };
  const call = async (by: Name | null, id: OperationId, body: object) => {
    const init = { method: "POST", body: JSON.stringify(body) };
    const { code, text } = await send(by, operations[id].path, init);
    return { code, body: JSON.parse(text) };
  };
  const admin = isOpen ? null : "anna";
  for (const queue_name of names) await call(admin, "createQueue", { queue_name, ...timeouts });
  lines.length = 0;
  return {
    ...{ call, send, engine, secrets },
    handle: (request: Request) => app.handle(request),
    actions: async (by: Name | null, body: object = {}): Promise<readonly Action[]> =>
      (await call(by, "listActions", { limit: bounds.actionsMax, ...body })).body.items,
    logged: () => lines.map((line) => JSON.parse(line)),
    [Symbol.asyncDispose]: () => engine.close(),
  };
}

const outcome = ({ code, body }: { code: number; body: { reason?: string } }) =>
  code === 403 ? body.reason : "allowed";

/** Changes to the examples: a lease does not wait, and some keys must name the target queue. */
const changes: { readonly [Id in OperationId]?: object } = {
  lease: { request_timeout: "10ms" },
  redrive: { to_queue: "orders" },
  // `complete` needs another role, and each output needs rights for its own queue.
  transact: { complete: [], produce: [{ queue_name: "orders", items: [{ utf8: "a" }] }] },
};

test.each(Object.keys(operations) as OperationId[])(
  "%s is refused to keys that have not its role, and to no others",
  async (id) => {
    await using server = await setup();
    const { role } = operations[id];
    const { reach = "named" }: { readonly reach?: string } = operations[id];
    // A permitted call may still fail: its items do not exist.
    const body = { ...operations[id].example, ...changes[id] };
    for (const [name, { roles, queues }] of Object.entries<Rights>(keyRights)) {
      // Each key has rights for `orders`, which the examples name.
      const isFor = reach !== "all" || queues === all;
      const isAllowed = isFor && [role, "admin"].some((one) => roles.some((own) => own === one));
      const expected = role === "any" || isAllowed ? "allowed" : "not_allowed";
      expect([name, outcome(await server.call(name as Name, id, body))]).toEqual([name, expected]);
    }
  },
);

test("a call without the role is denied before it has an effect, and the reply names the role", async () => {
  await using server = await setup();
  const items = [{ utf8: "x" }];
  const produce = { queue_name: "orders", request_timeout: "1m", items };
  expect(await server.call("worker", "produce", produce)).toEqual({
    code: 403,
    body: {
      code: 403,
      code_text: "Forbidden",
      message: "key 'worker' is not allowed to produce to any queue; it needs the role 'produce'",
      reason: "not_allowed",
    },
  });
  // The body is not even read.
  const unread = await server.call("worker", "importItems", { nonsense: "x".repeat(1_000) });
  expect([unread.code, unread.body.reason]).toEqual([403, "not_allowed"]);
  expect((await server.call("checkout", "produce", { ...produce, queue_name: "other" })).code).toBe(
    403,
  );
  expect((await server.call("checkout", "produce", produce)).code).toBe(200);
  for (const [name, queued] of [
    ["orders", 1],
    ["other", 0],
  ] as const) {
    const { body } = await server.call("prometheus", "inspect", { queue_name: name });
    expect(body).toMatchObject({ queue_name: name, queued });
  }
  // The reply does not reveal whether the queue exists.
  const hidden = ["other", "missing"].map((queue_name) =>
    server.call("viewer", "stats", { queue_name }),
  );
  for (const { body } of await Promise.all(hidden)) expect(body.reason).toBe("not_allowed");
  expect((await server.call("viewer", "stats", { queue_name: "none" })).body.reason).toBe(
    "no_such_queue",
  );
});

test("a dead queue is one of the queues that a change names", async () => {
  await using server = await setup();
  const create = { queue_name: "orders-2", ...timeouts, dead_queue: "other" };
  const refused = await server.call("ops", "createQueue", create);
  expect(refused.body.message).toStartWith("key 'ops' is not allowed to administer 'other'");
  const update = { queue_name: "orders", dead_queue: "other" };
  expect(outcome(await server.call("ops", "updateQueue", update))).toBe("not_allowed");
  const own = { ...create, dead_queue: "orders-dead" };
  expect((await server.call("ops", "createQueue", own)).code).toBe(200);
});

test("deleteQueue: a dead queue needs a key that administers all queues that use it", async () => {
  await using server = await setup();
  await server.call("anna", "updateQueue", { queue_name: "other", dead_queue: "orders-dead" });
  await server.call("anna", "updateQueue", { queue_name: "orders", dead_queue: "orders-dead" });
  const remove = { queue_name: "orders-dead", force: true };
  for (const dry_run of [true, false]) {
    const { code, body } = await server.call("ops", "deleteQueue", { ...remove, dry_run });
    expect({ code, ...body }).toMatchObject({ code: 403, reason: "not_allowed" });
    expect(body.message).toBe(
      "key 'ops' is not allowed to delete 'orders-dead'; it is the dead_queue of queues that the key does not administer",
    );
  }
  const other = (await server.call("anna", "queueInfo", { queue_name: "other" })).body;
  expect(other.dead_queue).toBe("orders-dead");
  // Once no foreign queue depends on it, the key may delete it.
  await server.call("anna", "updateQueue", { queue_name: "other", dead_queue: "" });
  const { body } = await server.call("ops", "deleteQueue", { ...remove, dry_run: true });
  expect(body.dependents).toEqual(["orders"]);
  expect((await server.call("ops", "deleteQueue", remove)).code).toBe(200);
  const [action] = await server.actions("anna");
  expect(action).toMatchObject({ operation: "deleteQueue", to_queues: ["orders"] });
});

test("an error reply names only queues that the key may read", async () => {
  await using server = await setup();
  await server.call("anna", "updateQueue", { queue_name: "other", dead_queue: "orders-dead" });
  const remove = { queue_name: "orders-dead", force: false };
  const update = { queue_name: "orders-dead", dead_queue: "orders" };
  const messagesFor = async (by: Name) => [
    (await server.call(by, "deleteQueue", remove)).body.message,
    (await server.call(by, "updateQueue", update)).body.message,
  ];
  const texts = (dependent: string) => [
    `queue is in use; 'orders-dead' is the dead_queue of ${dependent}`,
    `dead_queue is invalid; 'orders-dead' is itself the dead_queue of ${dependent}`,
  ];
  expect(await messagesFor("anna")).toEqual(texts("'other'"));
  expect(await messagesFor("ops")).toEqual(texts("another queue"));
});

test("a key for some queues gets neither names nor counts of other queues", async () => {
  await using server = await setup();
  const mortal = { queue_name: "orders", dead_queue: "other", max_attempts: 1 };
  await server.call("anna", "updateQueue", mortal);
  const items = [{ utf8: "a" }];
  const timed = { queue_name: "orders", request_timeout: "1m" };
  await server.call("anna", "produce", { ...timed, items });
  const leased = await server.call("anna", "lease", { ...timed, client_id: "c", batch_size: 1 });
  const [{ id }] = leased.body.items;
  const retry = { queue_name: "orders", partition: 0, items: [{ id }] };
  await server.call("anna", "retry", retry);
  const many = Array.from({ length: 1_000 }, () => ({ utf8: "a" }));
  await server.call("anna", "produce", { ...timed, items: many });
  const slow = { queue_name: "orders", to_queue: "other", per_second: 1 };
  const { task_id } = (await server.call("anna", "redrive", slow)).body;
  const replies = async (by: Name) => {
    const queue_name = "orders";
    const calls: [OperationId, object][] = [
      ["taskInfo", { task_id }],
      ["listTasks", {}],
      ["listTasks", { queue_name }],
      ["overview", {}],
      ["inspect", { queue_name }],
      ["explain", { queue_name }],
      ["explainItem", { id }],
      ["stats", { queue_name }],
      ["clients", { queue_name }],
      ["listActions", { limit: 1_000 }],
      ["series", { queue_name, names: ["dead"] }],
    ];
    const texts: string[] = [];
    for (const [operation, body] of calls) {
      const { code, body: reply } = await server.call(by, operation, body);
      expect([operation, code]).toEqual([operation, 200]);
      texts.push(JSON.stringify(reply));
    }
    return texts;
  };
  const named = (texts: readonly string[]) =>
    texts.flatMap((text, n) => (/other\b/.test(text.replaceAll("other_", "")) ? [n] : []));
  expect(named(await replies("prometheus"))).toEqual([0, 1, 2, 3, 5, 6, 9]);
  const shown = await replies("viewer");
  expect(named(shown)).toEqual([]);
  expect(JSON.parse(shown[0] ?? "")).toMatchObject({ queue_name: "orders", to_queue: "" });
  expect(JSON.parse(shown[4] ?? "")).toMatchObject({ dead_letter: 0 });
  expect(shown[5]).toContain("1 item died within the last hour and went to the dead queue");
  const reject = { queue_name: "orders", action: "reject", filter: {}, dry_run: true };
  const [whole, part] = await Promise.all(
    (["anna", "ops"] as const).map(async (by) => (await server.call(by, "repair", reject)).body),
  );
  expect(whole.destinations).toEqual([{ queue_name: "other", count: whole.matched }]);
  expect(part.matched).toBeGreaterThan(0);
  expect(part.destinations).toEqual([]);
  const { dead_letter } = (await server.call("prometheus", "inspect", { queue_name: "orders" }))
    .body;
  expect(dead_letter).toBeGreaterThanOrEqual(1);
});

test("metrics need a key that reads all queues, backup one that administers all", async () => {
  await using server = await setup();
  const status = async (name: Name) => [
    (await server.send(name, pages.metrics.path, {})).code,
    (await server.send(name, pages.backup.path, { method: "POST", body: "{}" })).code,
  ];
  expect(await status("anna")).toEqual([200, 200]);
  expect(await status("prometheus")).toEqual([200, 403]);
  for (const name of ["ops", "viewer", "worker"] as const) {
    expect([name, ...(await status(name))]).toEqual([name, 403, 403]);
  }
});

test("queues.list: returns the queues that the key may see, in full pages", async () => {
  await using server = await setup();
  const listed = async (by: Name, limit: number) => {
    const seen: string[] = [];
    for (let pivot = ""; ; ) {
      const { items } = (await server.call(by, "listQueues", { pivot, limit })).body;
      const page = items.map(({ queue_name }: { queue_name: string }) => queue_name);
      seen.push(...page.filter((name: string) => name !== pivot || seen.length === 0));
      if (page.length < limit) return seen;
      pivot = page.at(-1);
    }
  };
  const many = Array.from({ length: 30 }, (_, index) => `p-${String(index).padStart(2, "0")}`);
  const mine = many.map((name) => `orders-${name}`);
  for (const queue_name of [...many, ...mine]) {
    await server.call("anna", "createQueue", { queue_name, ...timeouts });
  }
  const visible = ["orders", "orders-dead", ...mine];
  for (const limit of [2, 3, 32, 33, 1_000]) {
    expect([limit, await listed("viewer", limit)]).toEqual([limit, visible]);
    expect(await listed("prometheus", limit)).toEqual([...names, ...many, ...mine].toSorted());
  }
  const after = await server.call("viewer", "listQueues", { pivot: "orders-p-29x", limit: 5 });
  expect(after.body.items).toEqual([]);
  const wrong = await server.call("viewer", "listQueues", { pivot: "", limit: 0 });
  expect(wrong.body.reason).toBe("malformed");
});

test("whoami: returns the rights of the key, or all rights if none is required", async () => {
  await using server = await setup();
  for (const [name, { roles, queues }] of Object.entries<Rights>(keyRights)) {
    expect((await server.call(name as Name, "whoAmI", {})).body).toEqual({
      ...{ name, roles, queues, rights: [{ roles, queues }], keys_required: true },
    });
  }
  await using open = await setup({ isOpen: true });
  const all = { roles: ["admin"], queues: ["*"] };
  expect((await open.call(null, "whoAmI", {})).body).toEqual({
    ...{ name: "", ...all, rights: [all], keys_required: false },
  });
  expect((await open.call(null, "listKeys", {})).body).toEqual({ items: [] });
});

test("server.keys: rights, last use and denied calls of each key, with a part of its digest", async () => {
  await using server = await setup();
  for (const id of ["listQueues", "inspect", "inspect"] as const) {
    await server.call("checkout", id, operations[id].example);
  }
  const { items } = (await server.call("anna", "listKeys", {})).body;
  const used = items.map(({ name, last_used_at, denied_calls }: Record<string, unknown>) => [
    ...[name, last_used_at !== null, denied_calls],
  ]);
  const expected = Object.keys(keyRights).map((name) => [
    ...[name, ["anna", "checkout"].includes(name), name === "checkout" ? 3 : 0],
  ]);
  expect(used).toEqual(expected);
  for (const { digest, roles, queues, name } of items) {
    expect(digest).toMatch(/^[0-9a-f]{8}$/);
    expect({ roles, queues }).toEqual(keyRights[name as keyof typeof keyRights] as never);
  }
});

test("worker: a key with the role consume suffices, also to ensure an existing queue", async () => {
  await using server = await setup();
  const update = { queue_name: "orders", dead_queue: "orders-dead", max_attempts: 1 };
  expect((await server.call("anna", "updateQueue", update)).code).toBe(200);
  const fetch = async (url: string, init: RequestInit) =>
    await server.handle(new Request(url, init));
  const as = (name: Name) =>
    createClient({ url: "http://localhost", fetch, apiKey: server.secrets.get(name) ?? "" });
  await as("checkout").queue("orders").produce("two anchors");
  const noticed = Promise.withResolvers<WorkerNotice>();
  const orders = as("worker").queue("orders");
  expect(await orders.ensure(timeouts)).toEqual({});
  const work = () => Promise.reject(new Error("no anchors"));
  const worker = orders.work(work, { processSignals: [], notice: noticed.resolve });
  // Not `removed`: it could ask.
  expect((await noticed.promise).kind).toBe("dead");
  await worker.stop();
  expect(await as("prometheus").queue("orders-dead").inspect()).toMatchObject({ queued: 1 });
});

test("pause: the name of the key is returned to every key that may read the queue", async () => {
  await using server = await setup();
  await server.call("ops", "pause", { queue_name: "orders", reason: "deploy" });
  const { body } = await server.call("viewer", "explain", { queue_name: "orders" });
  expect(body.findings[0].text).toBe("Leases are paused by ops: deploy.");
});

test("history: a key sees the events of an item in its own queues only", async () => {
  await using server = await setup();
  await server.call("anna", "updateQueue", {
    ...{ queue_name: "orders", ...timeouts, dead_queue: "other", max_attempts: 1 },
  });
  const timed = { queue_name: "orders", request_timeout: "1m" };
  const produce = { ...timed, items: [{ utf8: "a" }], return_ids: true };
  const [id] = (await server.call("anna", "produce", produce)).body.ids;
  await server.call("worker", "lease", { ...timed, client_id: "w", batch_size: 1 });
  await server.call("worker", "retry", { queue_name: "orders", partition: 0, items: [{ id }] });
  const [one, all] = await Promise.all(
    (["viewer", "prometheus"] as const).map(
      async (name) => (await server.call(name, "explainItem", { id })).body,
    ),
  );
  const eventsOf = ({ history }: { history: readonly { kind: string }[] }) =>
    history.map(({ kind }) => kind);
  expect([eventsOf(one), one.item]).toEqual([["produced", "leased", "retried"], undefined]);
  expect(one.history_since).toBe(all.history_since);
  expect([eventsOf(all), all.item.queue_name]).toEqual([[...eventsOf(one), "dead"], "other"]);
  const hidden = all.item.id;
  const unseen = (await server.call("viewer", "explainItem", { id: hidden })).body;
  expect(eventsOf(unseen)).toEqual(eventsOf(one));
});

test("a key has each role for the queues listed with it", async () => {
  const more: Rights[] = [
    { roles: ["consume"], queues: ["orders"] },
    { roles: ["produce"], queues: ["billing"] },
    { roles: ["read"], queues: ["other"] },
    { roles: ["admin"], queues: ["orders-dead"] },
  ];
  await using server = await setup({ more });
  const timed = { request_timeout: "10ms" };
  const mayIn = async (id: OperationId, body: object) => {
    const calls = names.map((queue_name) => server.call("more", id, { ...body, queue_name }));
    const outcomes = (await Promise.all(calls)).map(outcome);
    return names.filter((_, index) => outcomes[index] === "allowed");
  };
  expect(await mayIn("lease", { ...timed, client_id: "c", batch_size: 1 })).toEqual([
    ...["orders", "orders-dead"],
  ]);
  expect(await mayIn("produce", { ...timed, items: [{}] })).toEqual(["billing", "orders-dead"]);
  expect(await mayIn("inspect", {})).toEqual(["orders-dead", "other"]);
  expect(await mayIn("pause", {})).toEqual(["orders-dead"]);
  expect(await mayIn("queueInfo", {})).toEqual(names);
  const transact = (consumed: string, produced: string) =>
    server.call("more", "transact", {
      request_timeout: "1m",
      complete: [{ queue_name: consumed, partition: 0, ids: [`1${"z".repeat(26)}`] }],
      produce: [{ queue_name: produced, items: [{}] }],
    });
  expect(outcome(await transact("orders", "billing"))).toBe("allowed");
  expect(outcome(await transact("billing", "orders"))).toBe("not_allowed");
  // Queues that the key may not see are not listed either.
  const { items } = (await server.call("more", "listQueues", { pivot: "", limit: 9 })).body;
  expect(items.map(({ queue_name }: { queue_name: string }) => queue_name)).toEqual([
    ...["orders-dead", "other"],
  ]);
  const slow = { queue_name: "other", to_queue: "orders-dead", per_second: 1 };
  const { task_id } = (await server.call("anna", "redrive", slow)).body;
  expect((await server.call("more", "taskInfo", { task_id })).code).toBe(200);
  expect(outcome(await server.call("more", "cancelTask", { task_id }))).toBe("not_allowed");
  const { rights, roles } = (await server.call("more", "whoAmI", {})).body;
  expect({ rights, roles: roles.length }).toEqual({ rights: more, roles: 4 });
  const listed = (await server.call("anna", "listKeys", {})).body.items;
  expect(listed.at(-1)).toMatchObject({ name: "more", rights: more });
});

test("items and tasks requested by id are returned to keys of their queues only", async () => {
  await using server = await setup();
  const items = [{ reason: "why", death: "failed", origin_queue: "other" }];
  const placed = async (queue_name: string): Promise<string> => {
    const imported = { queue_name, partition: 0, items };
    return (await server.call("anna", "importItems", imported)).body.items[0].id;
  };
  const [shown, hidden] = [await placed("orders"), await placed("other")];
  const redriven = async (queue_name: string): Promise<string> =>
    (await server.call("anna", "redrive", { queue_name, limit: 1 })).body.task_id;
  const [task, hiddenTask] = [await redriven("orders-dead"), await redriven("billing")];
  for (const name of ["viewer", "ops", "prometheus"] as const) {
    const ask = async (id: OperationId, body: object) => {
      const { code, body: reply } = await server.call(name, id, body);
      return { code, ...reply };
    };
    expect(await ask("getItem", { id: shown })).toMatchObject({ code: 200, id: shown });
    expect((await ask("explainItem", { id: shown })).item).toMatchObject({ id: shown });
    expect(await ask("taskInfo", { task_id: task })).toMatchObject({ code: 200, task_id: task });
    const got = await ask("getItem", { id: hidden });
    const explained = await ask("explainItem", { id: hidden });
    const info = await ask("taskInfo", { task_id: hiddenTask });
    const { tasks } = await ask("listTasks", {});
    const listed = tasks.map(({ queue_name }: { queue_name: string }) => queue_name).toSorted();
    if (name === "prometheus") {
      expect([got.code, explained.item.id, info.code]).toEqual([200, hidden, 200]);
      expect(listed).toEqual(["billing", "orders-dead"]);
      continue;
    }
    // The replies are those for an item that does not exist.
    const unknownId = `1${"z".repeat(26)}`;
    const absent = await ask("getItem", { id: unknownId });
    expect(got).toEqual({ ...absent, message: absent.message.replace(unknownId, hidden) });
    expect({ ...(await ask("explainItem", { id: unknownId })), id: hidden }).toEqual(explained);
    expect(info).toMatchObject({ code: 453, reason: "no_such_task" });
    expect(listed).toEqual(["orders-dead"]);
    expect(await ask("listTasks", { queue_name: "billing" })).toMatchObject({ code: 403 });
  }
});

test("overview: a key for some queues sees only these, and their sums", async () => {
  await using server = await setup();
  for (const queue_name of ["orders", "billing"]) {
    const items = [{ utf8: "a" }];
    await server.call("anna", "produce", { queue_name, request_timeout: "1m", items });
  }
  const seen = async (name: Name, since = "") =>
    (await server.call(name, "overview", { since })).body;
  const whole = await seen("prometheus");
  expect(whole.queues.queue_name).toContain("billing");
  for (const name of ["viewer", "ops"] as const) {
    const { queues, totals, shards, machine } = await seen(name);
    expect(queues.queue_name.toSorted()).toEqual(["orders", "orders-dead"]);
    expect(totals).toMatchObject({ queues: 2, ready: 1, produced_total: 1 });
    expect({ shards, machine }).toMatchObject({ shards: [{ shard: 0 }], machine: {} });
    const later = await seen(name, whole.since);
    expect({ ...later.totals, queues: later.queues.queue_name }).toMatchObject({
      ...totals,
      queues: [],
    });
  }
});

test("series of a shard need a key for all queues", async () => {
  await using server = await setup();
  const series = { shard: 0, names: ["commits"] };
  for (const name of ["viewer", "ops"] as const) {
    expect(outcome(await server.call(name, "series", series))).toBe("not_allowed");
  }
  expect((await server.call("prometheus", "series", series)).code).toBe(200);
});

test("overview: a key for some queues sees only their tasks", async () => {
  await using server = await setup();
  // Each repair takes more than a second, so that none ends before the check.
  const items = Array.from({ length: 1_000 }, () => ({ utf8: "a" }));
  for (const queue_name of ["orders", "billing"]) {
    await server.call("anna", "produce", { queue_name, request_timeout: "1m", items });
    const slow = { queue_name, action: "delete", filter: {}, per_second: 1 };
    expect((await server.call("anna", "repair", slow)).code).toBe(200);
  }
  const running = async (name: Name): Promise<string[]> => {
    const { tasks } = (await server.call(name, "overview", {})).body;
    return tasks.map(({ queue_name }: { queue_name: string }) => queue_name).toSorted();
  };
  expect(await running("prometheus")).toEqual(["billing", "orders"]);
  for (const name of ["viewer", "ops"] as const) expect(await running(name)).toEqual(["orders"]);
});

test("redrive: needs a key that administers both queues", async () => {
  await using server = await setup();
  const redrive = { queue_name: "orders-dead", to_queue: "orders" };
  for (const name of ["viewer", "worker", "checkout", "both"] as const) {
    expect(outcome(await server.call(name, "redrive", redrive))).toBe("not_allowed");
  }
  expect(outcome(await server.call("ops", "redrive", { ...redrive, to_queue: "other" }))).toBe(
    "not_allowed",
  );
  const { code, body } = await server.call("ops", "redrive", redrive);
  expect(code).toBe(200);
  const info = await server.call("ops", "taskInfo", { task_id: body.task_id });
  expect(info.body).toMatchObject({ action: "redrive", key_name: "ops" });
});

test("tasks: a key that administers its queues can cancel one; to others it is unknown", async () => {
  await using server = await setup();
  const begun = async (queue_name: string, to: string): Promise<string> =>
    (await server.call("anna", "redrive", { queue_name, to_queue: to })).body.task_id;
  const own = { task_id: await begun("orders-dead", "orders") };
  for (const name of ["viewer", "worker", "checkout", "both"] as const) {
    expect(outcome(await server.call(name, "cancelTask", own))).toBe("not_allowed");
  }
  expect((await server.call("ops", "cancelTask", own)).code).toBe(200);
  const [action] = await server.actions("ops");
  expect(action).toMatchObject({ operation: "cancelTask", to_queues: ["orders-dead", "orders"] });
  const leaving = { task_id: await begun("orders-dead", "other") };
  const { code, body } = await server.call("ops", "cancelTask", leaving);
  expect({ code, ...body }).toMatchObject({
    ...{ code: 403, reason: "not_allowed" },
    message: "key 'ops' does not administer all queues of this task",
  });
  const hidden = { task_id: await begun("other", "orders") };
  expect((await server.call("ops", "cancelTask", hidden)).body.reason).toBe("no_such_task");
  for (const task of [leaving, hidden]) {
    expect((await server.call("anna", "cancelTask", task)).code).toBe(200);
  }
});

test("redrive: a key for some queues has to name the destination", async () => {
  await using server = await setup();
  const items = [{ death: "failed", origin_queue: "other" }];
  await server.call("anna", "importItems", { queue_name: "orders-dead", partition: 0, items });
  for (const dry_run of [true, false]) {
    const { code, body } = await server.call("ops", "redrive", {
      queue_name: "orders-dead",
      dry_run,
    });
    expect({ code, body }).toMatchObject({
      ...{ code: 403, body: { reason: "not_allowed" } },
    });
    expect(body.message).toBe(
      "key 'ops' is not for all queues; name the destination with 'to_queue'",
    );
  }
  const { body } = await server.call("anna", "inspect", { queue_name: "orders-dead" });
  expect(body).toMatchObject({ queued: 1 });
});

const partition = { queue_name: "orders", partition: 0 };

test("actions: operations by hand are logged and listed with key and outcome; work on items is not", async () => {
  await using server = await setup();
  const produced = { queue_name: "orders", request_timeout: "1m", items: [{}, {}] };
  await server.call("both", "produce", produced);
  const leased = await server.call("both", "lease", {
    ...{ queue_name: "orders", client_id: "c", request_timeout: "1m", batch_size: 2 },
  });
  const [first, second] = leased.body.items.map(({ id }: { id: string }) => ({ id }));
  await server.call("both", "retry", { ...partition, items: [first] });
  await server.call("both", "retry", { ...partition, items: [{ ...second, dead: true }] });
  await server.call("ops", "pause", { queue_name: "orders" });
  await server.call("ops", "resume", { queue_name: "orders" });
  await server.call("ops", "updateQueue", { queue_name: "orders", lease_timeout: "2h" });
  await server.call("anna", "deleteItems", { ...partition, ids: [first.id] });
  const cancelled = { queue_name: "orders", ids: [first.id, `1${"z".repeat(26)}`] };
  await server.call("both", "cancelItems", cancelled);
  await server.call("ops", "setGroup", { queue_name: "orders", group: "a", weight: 2 });
  await server.call("ops", "listGroups", { queue_name: "orders" });
  await server.call("anna", "importItems", { ...partition, items: [{}, {}, {}] });
  await server.call("anna", "importItems", { queue_name: "other", partition: 0, items: [{}, {}] });
  await server.call("anna", "clear", {
    ...{ queue_name: "other", retry: false, scheduled: false, queue: true, destructive: false },
  });
  await server.call("anna", "advance", { by: "1m" });
  await server.send("anna", pages.backup.path, { method: "POST", body: "{}" });
  // The key lacks the role: this counts as a denied request, not as an action.
  await server.call("worker", "deleteQueue", { queue_name: "orders", force: true });
  const expected = [
    ["both", "retry", "orders", 1, 453],
    ["ops", "pause", "orders", 0, 200],
    ["ops", "resume", "orders", 0, 200],
    ["ops", "updateQueue", "orders", 0, 400],
    ["anna", "deleteItems", "orders", 0, 200],
    ["both", "cancelItems", "orders", 0, 200],
    ["ops", "setGroup", "orders", 0, 400],
    ["anna", "importItems", "orders", 3, 200],
    ["anna", "importItems", "other", 2, 200],
    ["anna", "clear", "other", 2, 200],
    ["anna", "advance", "", 0, 453],
    ["anna", "backup", "", 0, 200],
  ];
  const logged = server.logged();
  expect(
    logged.map((line) => [line.key, line.operation, line.queue, line.items, line.code]),
  ).toEqual(expected);
  for (const { level, event, audit } of logged) {
    expect({ level, event, audit }).toEqual({ level: "info", event: "action", audit: true });
  }
  const listed = (await server.actions("prometheus")).slice(0, expected.length);
  expect(
    listed.map((line) => [line.key_name, line.operation, line.queue_name, line.items, line.code]),
  ).toEqual(expected.toReversed());
  expect(listed.map(({ id }) => id)).toEqual(
    Array.from({ length: expected.length }, (_, index) => names.length + expected.length - index),
  );
  const of = async (by: Name, body: object = {}) =>
    new Set((await server.actions(by, body)).map(({ queue_name }) => queue_name));
  expect(await of("prometheus")).toEqual(new Set(["", ...names]));
  expect(await of("viewer")).toEqual(new Set(["orders", "orders-dead"]));
  expect(await of("anna", { queue_name: "other" })).toEqual(new Set(["other"]));
  const hidden = await server.call("viewer", "listActions", { limit: 1, queue_name: "other" });
  expect(outcome(hidden)).toBe("not_allowed");
});

test("actions: a transact that sends items to dead queues is listed for each of its queues", async () => {
  await using server = await setup();
  await server.call("anna", "updateQueue", { queue_name: "other", dead_queue: "orders-dead" });
  const parts = [];
  for (const queue_name of ["orders", "other"]) {
    await server.call("anna", "importItems", { queue_name, partition: 0, items: [{}, {}] });
    const leased = await server.call("anna", "lease", {
      ...{ queue_name, client_id: "c", request_timeout: "1m", batch_size: 2 },
    });
    const items = leased.body.items.map(({ id }: { id: string }) => ({ id, dead: true }));
    parts.push({ queue_name, partition: 0, items });
  }
  await server.call("anna", "transact", { request_timeout: "1m", retry: parts });
  const [action] = await server.actions("anna");
  expect(action).toMatchObject({ operation: "transact", queue_name: "orders", items: 4 });
  expect(action?.to_queues).toEqual(["other"]);
});

test("actions: without keys there is no key name; calls refused at shutdown are not listed", async () => {
  await using server = await setup({ isOpen: true });
  await server.call(null, "pause", { queue_name: "orders" });
  await server.engine.close();
  expect((await server.call(null, "resume", { queue_name: "orders" })).code).toBe(503);
  expect(server.logged()).toMatchObject([{ key: null, operation: "pause", code: 200 }]);
  expect((await server.actions(null))[0]).toMatchObject({ key_name: "", operation: "pause" });
});

test("actions: a dry run is none", async () => {
  await using server = await setup();
  await server.call("anna", "resume", { queue_name: "orders" });
  const dry = { queue_name: "orders", dry_run: true };
  const runs = [
    ["updateQueue", { ...dry, requested_partitions: 1 }],
    ["deleteQueue", { ...dry, force: true }],
    ["clear", { ...dry, retry: true, scheduled: true, queue: true, destructive: true }],
    ["deleteItems", { ...dry, partition: 0, ids: [`1${"z".repeat(26)}`] }],
    ["redrive", { ...dry, to_queue: "orders" }],
    ["repair", { ...dry, action: "delete", filter: {} }],
  ] as const;
  for (const [id, body] of runs) {
    const { code, body: reply } = await server.call("anna", id, body);
    expect([id, code, reply.message ?? ""]).toEqual([id, 200, ""]);
  }
  const listed = (await server.actions("anna")).map(({ operation }) => operation);
  expect(listed[0]).toBe("resume");
  for (const [id, { dry_run: _, ...body }] of runs) {
    if (id !== "deleteQueue") await server.call("anna", id, body);
  }
  expect((await server.actions("anna")).length - listed.length).toBe(runs.length - 1);
});

test("actions: a redrive lists its source and destinations, as far as the key may see them", async () => {
  await using server = await setup();
  const died = (origin_queue: string) => ({ death: "failed", origin_queue });
  const items = [died("other"), died("other"), died("orders"), died("gone"), died("orders-dead")];
  await server.call("anna", "importItems", { queue_name: "orders-dead", partition: 0, items });
  const mortal = { queue_name: "orders", dead_queue: "orders-dead", max_attempts: 1 };
  await server.call("anna", "updateQueue", mortal);
  await server.call("anna", "redrive", { queue_name: "orders-dead" });
  await server.call("anna", "redrive", { queue_name: "billing", to_queue: "orders" });
  await server.call("anna", "repair", { queue_name: "orders", action: "reject", filter: {} });
  await server.call("anna", "repair", { queue_name: "orders", action: "delete", filter: {} });
  await server.call("anna", "redrive", { queue_name: "orders-dead", to_queue: "none" });
  const actionsFor = async (by: Name, body: object = {}) =>
    (await server.actions(by, body))
      .filter(({ operation }) => operation === "redrive" || operation === "repair")
      .map(({ queue_name, to_queues }) => [queue_name, ...to_queues]);
  const first = ["orders-dead", "other", "orders"];
  expect(await actionsFor("prometheus")).toEqual([
    ["orders-dead"],
    ["orders"],
    ["orders", "orders-dead"],
    ["billing", "orders"],
    first,
  ]);
  expect(await actionsFor("prometheus", { queue_name: "other" })).toEqual([first]);
  expect(await actionsFor("prometheus", { queue_name: "orders-dead" })).toEqual([
    ["orders-dead"],
    ["orders", "orders-dead"],
    first,
  ]);
  expect(await actionsFor("viewer")).toEqual([
    ["orders-dead"],
    ["orders"],
    ["orders", "orders-dead"],
    ["", "orders"],
    ["orders-dead", "orders"],
  ]);
});

test("actions: the list is paged and bounded, and keeps the newest", async () => {
  await using server = await setup();
  const [queue_name] = ["q".repeat(100_000)];
  for (let count = 0; count < bounds.actionsMax + 5; count += 1) {
    await server.call("anna", "resume", { queue_name });
  }
  const kept = await server.actions("anna");
  const last = names.length + bounds.actionsMax + 5;
  expect(kept.map(({ id }) => id)).toEqual(
    Array.from({ length: bounds.actionsMax }, (_, index) => last - index),
  );
  expect(new Set(kept.map((action) => action.queue_name.length))).toEqual(new Set([512]));
  const page = async (pivot: number) =>
    (await server.actions("anna", { limit: 3, pivot })).map(({ id }) => last - id);
  expect(await page(0)).toEqual([0, 1, 2]);
  expect(await page(last - 2)).toEqual([2, 3, 4]);
  expect(await page(last - bounds.actionsMax + 1)).toEqual([bounds.actionsMax - 1]);
  expect(await page(1)).toEqual([]);
  const { since } = (await server.call("anna", "listActions", { limit: 1 })).body;
  expect(since).toBe(kept.at(-1)?.at ?? "");
  const wrong = [
    { pivot: -1 },
    { queue_name: "a b" },
    ...[0, -1, 1_001].map((limit) => ({ limit })),
  ];
  for (const body of wrong) {
    const refused = await server.call("anna", "listActions", { limit: 1, ...body });
    expect([body, refused.body.reason]).toEqual([body, "malformed"]);
  }
});
