// Dead items sent back through the app, and the tasks that do it.

import { expect, test } from "bun:test";
import { type OperationId, operations, type RequestOf } from "../../openapi/operations.ts";
import { operationMessages, replyMessage } from "../../openapi/protobuf.ts";
import { decoded, encoded } from "../testing/independent-protobuf.ts";
import {
  instant,
  minute,
  orders,
  plain,
  type RunningApp,
  refused,
  run,
  second,
  start,
  timed,
} from "../testing/running-app.ts";

const dead = { queue_name: "dead" };
const unknownId = `1${"z".repeat(26)}`;

/** `a`, `b` and `c` have died, `c` for another reason. */
async function setup(shards = 1): Promise<RunningApp> {
  const app = await run({ orders: null, shards });
  await app.create("dead");
  await app.create("orders", { dead_queue: "dead" });
  const items = ["a", "b", "c"].map((utf8) => ({ utf8 }));
  await app.ok("produce", { ...timed, items });
  const { items: leased, partition } = await app.lease();
  const given = leased.map(({ id }, index) => ({
    ...{ id, dead: true, reason: index < 2 ? `card ${index} declined` : "timeout" },
  }));
  await app.ok("retry", { ...orders, partition, items: given });
  return app;
}

/** Starts a redrive and returns the state in which its task ends. */
async function ended(app: RunningApp, body: RequestOf<"redrive">) {
  const { task_id, matched } = await app.ok("redrive", body);
  for (let tries = 0; tries < 100; tries += 1) {
    const task = await app.ok("taskInfo", { task_id });
    if (task.state !== "running") return { ...task, matched };
    await app.advance(second);
  }
  throw new Error("the task does not end");
}

async function texts(app: RunningApp, queue_name: string): Promise<string[]> {
  const { items } = await app.ok("findItems", { queue_name, payload_head: 99 });
  return items.map(({ payload }) => atob(payload));
}

test.each([1, 2])(
  "redrive: a task moves the items and reports its progress; %p shards",
  async (shards) => {
    await using app = await setup(shards);
    expect(await ended(app, dead)).toEqual({
      ...{
        task_id: expect.any(String),
        action: "redrive",
        state: "done",
        ...dead,
        to_queue: "",
        holder: "",
        priority: 0,
        filter: {},
        per_second: 0,
      },
      ...{ matched: 3, moved: 3, skipped: 0, key_name: "" },
      ...{ created_at: instant(start), ended_at: expect.any(String) },
    });
    expect(await texts(app, "orders")).toEqual(["a", "b", "c"]);
    expect(await texts(app, "dead")).toEqual([]);
    const [first] = (await app.lease()).items;
    expect(first).toMatchObject({ attempts: 1, reason: "card 0 declined", redriven: 1 });
    expect(first?.death).toBeUndefined();
  },
);

test("redrive: by filter, by ids, and to another queue", async () => {
  await using app = await setup();
  await app.create("other");
  const filter = { reason: "card 7 declined" };
  expect(await ended(app, { ...dead, filter })).toMatchObject({ moved: 2, filter });
  expect(await texts(app, "orders")).toEqual(["a", "b"]);
  const { items } = await app.ok("findItems", dead);
  const ids = [String(items[0]?.id), unknownId];
  expect(await ended(app, { ...dead, ids, to_queue: "other" })).toMatchObject({
    moved: 1,
    to_queue: "other",
  });
  expect(await texts(app, "other")).toEqual(["c"]);
});

test("overview: has the running tasks, as in the list, in both encodings", async () => {
  await using app = await setup();
  const { task_id } = await app.ok("redrive", { ...dead, per_second: 1 });
  const { tasks } = await app.ok("overview", {});
  expect(tasks).toEqual((await app.ok("listTasks", {})).tasks);
  expect(tasks).toMatchObject([{ task_id, action: "redrive", state: "running", matched: 3 }]);
  const { body } = await inProtobuf(app, "overview", {});
  expect(body["tasks"]).toMatchObject([{ task_id, matched: 3, ended_at: null }]);
  await app.advance(minute);
  expect((await app.ok("overview", {})).tasks).toEqual([]);
});

test("redrive: a dry run counts; with more than expected nothing is moved, and 453 has the count", async () => {
  await using app = await setup();
  expect(await app.ok("redrive", { ...dead, dry_run: true })).toEqual({
    ...{ task_id: "", matched: 3, destinations: [{ queue_name: "orders", count: 3 }] },
  });
  expect(await app.ok("redrive", { ...dead, dry_run: true, limit: 2 })).toMatchObject({
    matched: 2,
  });
  for (const expected of [0, 2]) {
    const answer = await app.call("redrive", { ...dead, expect: expected });
    const text = `3 items would be moved, expected at most ${expected}`;
    expect(plain(answer)).toEqual({
      code: 453,
      body: {
        ...refused(453, `count has changed; ${text}`).body,
        details: { count: "3" },
      },
    });
    expect(answer.body.reason).toBe("count_changed");
  }
  expect((await app.ok("listTasks", {})).tasks).toEqual([]);
  expect(await texts(app, "dead")).toEqual(["a", "b", "c"]);
  expect(await ended(app, { ...dead, expect: 3 })).toMatchObject({ moved: 3 });
});

test("repair: scheduled items are promoted, waiting ones rejected with a reason, dead ones deleted", async () => {
  await using app = await setup();
  const later = instant(start + 60 * minute);
  await app.ok("produce", { ...timed, items: [{ utf8: "later", enqueue_at: later }] });
  const done = async (body: Omit<RequestOf<"repair">, "queue_name">, queue = orders) => {
    const { task_id } = await app.ok("repair", { ...queue, ...body });
    await app.advance(second);
    return app.ok("taskInfo", { task_id });
  };
  expect(await done({ action: "promote", state: "scheduled", filter: {} })).toMatchObject({
    ...{ action: "promote", state: "done", matched: 1, moved: 1, skipped: 0 },
  });
  expect((await app.lease()).items.map(({ attempts }) => attempts)).toEqual([1]);
  await app.ok("produce", { ...timed, items: [{ utf8: "d" }, { utf8: "e", enqueue_at: later }] });
  const reason = "sent by mistake";
  const rejected = { action: "reject", moved: 2, filter: {} };
  expect(await done({ action: "reject", filter: {}, reason })).toMatchObject(rejected);
  const { items } = await app.ok("findItems", { ...dead, filter: { reason } });
  expect(items).toMatchObject([
    { reason, death: "rejected", origin_queue: "orders" },
    { reason, death: "rejected", origin_queue: "orders" },
  ]);
  const ids = items.map(({ id }) => String(id));
  expect(await done({ action: "delete", ids }, dead)).toMatchObject({
    moved: 2,
    queue_name: "dead",
  });
  expect(await texts(app, "dead")).toEqual(["a", "b", "c"]);
  const dry = { action: "delete", filter: { kind: "" }, state: null, dry_run: true } as const;
  expect(await app.ok("repair", { ...dead, ...dry })).toEqual({
    ...{ task_id: "", matched: 3, destinations: [] },
  });
});

test("repair: items held by a client are requeued, by its client id", async () => {
  await using app = await setup();
  await app.ok("produce", { ...timed, items: [{ utf8: "d" }] });
  const { partition, items } = await app.lease();
  const [{ client_id: holder = "" } = {}] = (await app.ok("clients", orders)).holding;
  const body = { ...orders, action: "retry", holder, reason: "its machine burnt" };
  const { task_id, matched } = await app.ok("repair", body);
  expect(matched).toBe(1);
  await app.advance(second);
  expect(await app.ok("taskInfo", { task_id })).toMatchObject({
    ...{ action: "retry", state: "done", holder, moved: 1 },
  });
  const ids = items.map(({ id }) => id);
  expect((await app.call("complete", { ...timed, partition, ids })).code).toBe(453);
  const [again] = (await app.lease()).items;
  expect(again).toMatchObject({ attempts: 2, reason: "its machine burnt", origin_id: ids[0] });
});

test.each<[object, number, string]>([
  [
    { action: "burn", filter: {} },
    400,
    "action is invalid; expected 'promote' or 'reject' or 'retry' or 'prioritize' or 'delete', got 'burn'",
  ],
  [
    { action: "delete" },
    400,
    "repair is invalid; expected ids, a filter or a holder, got none of them",
  ],
  [
    { action: "delete", filter: {}, state: "leased" },
    400,
    "state is invalid; expected 'ready' or 'scheduled' for 'delete', got 'leased'",
  ],
  [
    { action: "reject", filter: {} },
    453,
    "items cannot be rejected; queue 'dead' has no dead queue",
  ],
  [
    { action: "delete", filter: {}, expect: 2 },
    453,
    "count has changed; 3 items would be removed, expected at most 2",
  ],
])("repair: %j is refused with %p", async (change, code, message) => {
  await using app = await setup();
  const answer = await app.call("repair", { ...dead, ...change } as RequestOf<"repair">);
  expect({ code: answer.code, message: answer.body.message }).toEqual({ code, message });
  expect(await texts(app, "dead")).toEqual(["a", "b", "c"]);
});

test("tasks: listed newest first, by queue or all, and cancelled", async () => {
  await using app = await setup();
  const first = await app.ok("redrive", { ...dead, per_second: 1 });
  await app.advance(minute / 60);
  expect(await app.ok("taskInfo", { task_id: first.task_id })).toMatchObject({
    state: "running",
    moved: 2,
  });
  const { task_id } = first;
  const cancelled = await app.ok("cancelTask", { task_id });
  expect(cancelled).toMatchObject({
    state: "cancelled",
    moved: 2,
    ended_at: instant(start + second),
  });
  expect(await app.ok("cancelTask", { task_id })).toEqual(cancelled);
  const other = await ended(app, orders);
  const { tasks } = await app.ok("listTasks", {});
  expect(tasks).toEqual([other, cancelled]);
  expect(await app.ok("listTasks", dead)).toEqual({ tasks: [cancelled], unreached: [] });
  expect(await app.ok("listTasks", { queue_name: "" })).toEqual({ tasks, unreached: [] });
  expect(await texts(app, "dead")).toEqual(["c"]);
});

test("tasks: the 101st at once is refused until another has ended", async () => {
  await using app = await setup();
  const tasks: string[] = [];
  for (let count = 0; count < 100; count += 1) {
    const { task_id } = await app.ok("redrive", { ...dead, to_queue: "dead", per_second: 1 });
    tasks.push(task_id);
  }
  expect(new Set(tasks).size).toBe(100);
  const text = "too many tasks are running; there cannot be more than 100, try again later";
  expect(plain(await app.call("redrive", dead))).toEqual(refused(429, text));
  await app.ok("cancelTask", { task_id: String(tasks[0]) });
  await app.ok("redrive", dead);
  const { tasks: listed } = await app.ok("listTasks", {});
  expect(listed).toHaveLength(100);
  expect(await app.ok("taskInfo", { task_id: String(tasks[0]) })).toMatchObject({
    state: "cancelled",
  });
});

test("tasks: a task ends if its queue is deleted", async () => {
  await using app = await setup();
  const { task_id } = await app.ok("redrive", { ...dead, per_second: 1 });
  expect((await app.call("deleteQueue", { ...dead, force: true })).code).toBe(200);
  await app.advance(minute);
  expect(await app.ok("taskInfo", { task_id })).toMatchObject({ state: "done", ...dead });
});

test("tasks: a task fails if its destination is deleted, and the remaining items stay", async () => {
  await using app = await setup();
  await app.create("other");
  const { task_id } = await app.ok("redrive", { ...dead, to_queue: "other", per_second: 1 });
  expect((await app.call("deleteQueue", { queue_name: "other", force: true })).code).toBe(200);
  await app.advance(minute);
  expect(await app.ok("taskInfo", { task_id })).toMatchObject({
    state: "failed",
    to_queue: "other",
  });
  expect(await texts(app, "dead")).not.toEqual([]);
});

test("tasks: continue after a restart", async () => {
  await using app = await setup();
  const { task_id } = await app.ok("redrive", { ...dead, per_second: 1 });
  await app.restart();
  await app.advance(minute);
  expect(await app.ok("taskInfo", { task_id })).toMatchObject({ state: "done", moved: 3 });
  expect(await texts(app, "orders")).toEqual(["a", "b", "c"]);
});

const long = "x".repeat(2_049);
const rejected: readonly [OperationId, object, number, string][] = [
  ["redrive", {}, 400, "queue_name is required"],
  ["redrive", { queue_name: "none" }, 400, "queue does not exist; no such queue named 'none'"],
  [
    "redrive",
    { ...dead, to_queue: "none" },
    400,
    "queue does not exist; no such queue named 'none'",
  ],
  ["redrive", { ...dead, limit: 0 }, 400, "limit is invalid; cannot be less than 1"],
  ["redrive", { ...dead, limit: -1 }, 400, "limit is invalid; cannot be less than 1"],
  ["redrive", { ...dead, per_second: 0 }, 400, "per second is invalid; cannot be less than 1"],
  [
    "redrive",
    { ...dead, per_second: 1_000_001 },
    400,
    "per second is invalid; cannot be greater than 1000000",
  ],
  ["redrive", { ...dead, expect: -1 }, 400, "expect is invalid; cannot be less than 0"],
  ["redrive", { ...dead, ids: [] }, 400, "ids is invalid; cannot be empty"],
  ["redrive", { ...dead, ids: ["42"] }, 400, "invalid storage id; '42'"],
  ["redrive", { ...dead, ids: Array(1_001).fill(unknownId) }, 400, "ids is invalid"],
  [
    "redrive",
    { ...dead, ids: [unknownId], filter: {} },
    400,
    "redrive is invalid; expected ids or a filter, got both",
  ],
  ["redrive", { ...dead, filter: { reason: long } }, 400, "reason is invalid"],
  [
    "redrive",
    { ...dead, filter: { any_of: { by: "reason", values: [] } } },
    400,
    "values is invalid; cannot be empty",
  ],
  [
    "redrive",
    { ...dead, filter: { any_of: { by: "kind", values: Array(201).fill("") } } },
    400,
    "values is invalid; ",
  ],
  [
    "redrive",
    { ...dead, filter: { any_of: { by: "kind", values: [long] } } },
    400,
    "values is invalid",
  ],
  [
    "redrive",
    { ...dead, filter: { any_of: { by: "id", values: [""] } } },
    400,
    "by is invalid; expected 'reason' or",
  ],
  ["redrive", { ...dead, filter: { death: "old" } }, 400, "death is invalid; expected 'failed' or"],
  [
    "redrive",
    { ...dead, filter: { redriven_max: -1 } },
    400,
    "redriven max is invalid; cannot be negative",
  ],
  [
    "repair",
    { ...dead, action: "prioritize", filter: {}, priority: 10 },
    400,
    "priority is invalid; expected a whole number from 0 to 9, got 10",
  ],
  ["listTasks", { queue_name: "none" }, 400, "queue does not exist; no such queue named 'none'"],
  ["taskInfo", {}, 400, "task_id is required"],
  ["taskInfo", { task_id: "x" }, 453, "task does not exist; no such task 'x'"],
  ["taskInfo", { task_id: "__proto__" }, 453, "task does not exist; no such task '__proto__'"],
  ["cancelTask", { task_id: "x" }, 453, "task does not exist; no such task 'x'"],
  ["cancelTask", { task_id: 1 }, 400, "task_id is invalid; expected a string, got 1"],
];

test.each(rejected)("%s: %j is refused with %p", async (id, body, code, message) => {
  await using app = await setup();
  const answer = await app.call(id, body);
  expect([answer.code, answer.body.message]).toEqual([code, expect.stringContaining(message)]);
  expect((await app.ok("listTasks", {})).tasks).toEqual([]);
});

test("tasks: an error reply quotes a part of a long id", async () => {
  await using app = await setup();
  const { body } = await app.call("taskInfo", { task_id: "x".repeat(100_000) });
  expect(body.message.length).toBeLessThan(200);
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

test("redrive and tasks in protobuf: an expected zero is sent, an unset field is not", async () => {
  await using app = await setup();
  expect(await inProtobuf(app, "redrive", { ...dead, expect: 0 })).toMatchObject({
    ...{ code: 453, body: { reason: "count_changed" } },
  });
  const any_of = { by: "reason", values: ["none", "timeout"] };
  const redrive = { ...dead, filter: { redriven_max: 0, any_of } };
  const begun = await inProtobuf(app, "redrive", redrive);
  expect(begun).toMatchObject({ code: 200, body: { matched: 1 } });
  const task_id = String(begun.body["task_id"]);
  await app.advance(second);
  const info = await app.ok("taskInfo", { task_id });
  for (const id of ["taskInfo", "cancelTask"] as const) {
    expect(await inProtobuf(app, id, { task_id })).toMatchObject({ code: 200, body: info });
  }
  const { body } = await inProtobuf(app, "listTasks", dead);
  expect(body).toMatchObject({ tasks: [info] });
  expect(await texts(app, "orders")).toEqual(["c"]);
});

test("repair in protobuf: priority 0 is sent, and an unset one is refused", async () => {
  await using app = await setup();
  const body = { ...dead, action: "prioritize", filter: {} };
  const { task_id } = await app.ok("repair", { ...body, priority: 7 });
  await app.advance(second);
  expect(await app.ok("taskInfo", { task_id })).toMatchObject({ priority: 7, moved: 3 });
  const { items } = await app.ok("findItems", dead);
  expect(items.map(({ priority }) => priority)).toEqual([7, 7, 7]);
  expect(await inProtobuf(app, "repair", body)).toMatchObject({
    ...{
      code: 400,
      body: { message: "priority is invalid; expected a whole number from 0 to 9, got none" },
    },
  });
  const zero = await inProtobuf(app, "repair", { ...body, priority: 0 });
  await app.advance(second);
  const id = String(zero.body["task_id"]);
  expect(await app.ok("taskInfo", { task_id: id })).toMatchObject({ priority: 0, moved: 3 });
});
