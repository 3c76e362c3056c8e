// Groups over HTTP, in JSON and in Protocol Buffers: settings of queues, groups of items, the list of
// groups and their own settings.

import { expect, test } from "bun:test";
import { type OperationId, operations, type RequestOf } from "../../openapi/operations.ts";
import { operationMessages } from "../../openapi/protobuf.ts";
import { decoded, encoded } from "../testing/independent-protobuf.ts";
import {
  done,
  minute,
  orders,
  type RunningApp,
  run,
  start,
  timed,
} from "../testing/running-app.ts";

const rules = {
  ...{ grouped: true, group_leased_max: 1, group_rate: "10/1s", group_waiting_max: 3 },
  ...{ group_order: "strict", group_on_dead: "block" },
};
const unset = {
  ...{ grouped: false, group_leased_max: 0, group_rate: "", group_waiting_max: 0 },
  ...{ group_order: "loose", group_on_dead: "continue" },
};
const timeouts = { lease_timeout: "1m", expire_timeout: "24h" };

async function withGroups(settings: object = {}): Promise<RunningApp> {
  const app = await run({ orders: null });
  await app.create("dead");
  await app.create("orders", { dead_queue: "dead", grouped: true, ...settings });
  return app;
}

async function produce(app: RunningApp, ...groups: readonly string[]): Promise<void> {
  const items = groups.map((group, index) => ({ utf8: `${group}${index}`, group }));
  expect(await app.ok("produce", { ...timed, items })).toEqual(done);
}

function lease(app: RunningApp, batch_size = 10) {
  return app.ok("lease", { ...timed, client_id: "worker-1", batch_size });
}

async function refusal(app: RunningApp, id: OperationId, body: object) {
  const { code, body: reply } = await app.call(id, body);
  return { code, reason: reply.reason, message: reply.message };
}

const malformed = (message: string) => ({ code: 400, reason: "malformed", message });

test("queues: settings of groups are kept, shown, changed and unset", async () => {
  await using app = await run({ orders: null });
  const queue_name = "grouped";
  await app.ok("createQueue", { queue_name, ...timeouts, ...rules });
  expect(await app.ok("queueInfo", { name: queue_name })).toMatchObject(rules);
  const changes = { group_leased_max: 0, group_rate: "", group_order: "loose" };
  expect(await app.ok("updateQueue", { queue_name, ...changes })).toEqual(done);
  const { items } = await app.ok("listQueues", { pivot: "", limit: 10 });
  expect(items).toMatchObject([{ ...rules, ...changes }]);
  const none = { ...unset, grouped: true };
  expect(await app.ok("updateQueue", { queue_name, ...none })).toEqual(done);
  expect(await app.ok("queueInfo", { name: queue_name })).toMatchObject(none);
});

test("queues: settings of groups out of bounds are refused", async () => {
  await using app = await run({ orders: null });
  await app.create("plain");
  const cases: [object, string][] = [
    [
      { ...rules, requested_partitions: 2 },
      "partitions is invalid; the queue is grouped: its groups are in one order, so it has exactly one partition, got 2",
    ],
    [{ group_leased_max: 1 }, "group settings are invalid; the queue is not grouped"],
    [{ group_order: "strict" }, "group settings are invalid; the queue is not grouped"],
    [
      { grouped: true, group_rate: "10/s" },
      "group rate is invalid; expected items per interval, such as '100/1s', got '10/s'",
    ],
    [
      { grouped: true, group_order: "fair" },
      "group order is invalid; expected 'loose' or 'strict', got 'fair'",
    ],
    [
      { grouped: true, group_on_dead: "stop" },
      "group on dead is invalid; expected 'continue' or 'block', got 'stop'",
    ],
    [
      { grouped: true, group_leased_max: -1 },
      "group leased max is invalid; cannot be negative number",
    ],
    [
      { grouped: true, group_waiting_max: -1 },
      "group waiting max is invalid; cannot be negative number",
    ],
  ];
  for (const [settings, message] of cases) {
    const create = { queue_name: "grouped", ...timeouts, ...settings };
    expect(await refusal(app, "createQueue", create)).toEqual(malformed(message));
  }
  for (const settings of [{ grouped: "yes" }, { group_rate: 5 }, { group_leased_max: "1" }]) {
    const update = { queue_name: "plain", ...settings };
    expect(await refusal(app, "updateQueue", update)).toMatchObject({ reason: "malformed" });
  }
  expect(await app.ok("listQueues", { pivot: "", limit: 10 })).toMatchObject({
    items: [{ queue_name: "plain", ...unset }],
  });
});

test("queues: grouped is fixed when the queue is created", async () => {
  await using app = await withGroups();
  await app.create("plain");
  const change = (queue_name: string, grouped: boolean) =>
    refusal(app, "updateQueue", { queue_name, grouped });
  expect(await change("orders", false)).toEqual(
    malformed("grouped is invalid; 'orders' was created with groups, which cannot change"),
  );
  expect(await change("plain", true)).toEqual(
    malformed("grouped is invalid; 'plain' was created without groups, which cannot change"),
  );
  expect((await change("orders", true)).code).toBe(200);
});

test("produce: a group is refused if it is too long, of a wrong type, or its queue is not grouped", async () => {
  await using app = await withGroups();
  await app.create("plain");
  const cases: [string, object, string][] = [
    [
      "orders",
      { group: "ü".repeat(129) },
      "group is invalid; cannot be greater than '256' characters",
    ],
    ["orders", { group: 5 }, "items[0].group is invalid; expected a string or null, got 5"],
    [
      "plain",
      { group: "a" },
      "group is invalid; the queue is not grouped, so its items cannot have one",
    ],
  ];
  for (const [queue_name, item, message] of cases) {
    const body = { ...timed, queue_name, items: [item] };
    expect(await refusal(app, "produce", body)).toEqual(malformed(message));
    const output = { request_timeout: "1m", produce: [{ queue_name, items: [item] }] };
    expect((await refusal(app, "transact", output)).code).toBe(400);
  }
  const longest = "ü".repeat(128);
  await produce(app, longest, "");
  expect((await lease(app)).items).toMatchObject([{ group: longest }, {}]);
});

test("produce: a group that is full is refused with group_full, and other groups are not", async () => {
  await using app = await withGroups({ group_waiting_max: 2 });
  await produce(app, "a", "a");
  const body = { ...timed, items: [{ group: "b" }, { group: "a" }] };
  expect(await refusal(app, "produce", body)).toEqual({
    code: 453,
    reason: "group_full",
    message: "group is full; 2 items wait in 'a' and 1 would be added, expected at most 2",
  });
  await produce(app, "b", "b");
});

test("the group of an item is in the replies of lease, list, find and of dead letters, and in exports", async () => {
  await using app = await withGroups();
  await produce(app, "a", "");
  const { partition, items } = await lease(app);
  expect(items).toMatchObject([{ group: "a" }, {}]);
  expect(items[1]).not.toHaveProperty("group");
  const page = { ...orders, partition: 0, pivot: "", limit: 10 };
  expect((await app.ok("listItems", page)).items).toMatchObject([{ group: "a" }, {}]);
  expect((await app.ok("findItems", { ...orders, filter: { group: "a" } })).items).toMatchObject([
    { group: "a" },
  ]);
  expect((await app.ok("findItems", { ...orders, filter: { group: "" } })).items).toHaveLength(1);
  const { summaries } = await app.ok("summarizeItems", { ...orders, by: "group" });
  expect(summaries.map(({ value, count }) => [value, count]).toSorted()).toEqual([
    ["", 1],
    ["a", 1],
  ]);
  const dead = items.map(({ id }) => ({ id, dead: true }));
  await app.ok("retry", { ...orders, partition, items: dead });
  const letters = (await app.ok("listItems", { ...page, queue_name: "dead" })).items;
  expect(letters).toMatchObject([{ group: "a" }, {}]);
  await app.create("copy", { grouped: true });
  const imported = await app.ok("importItems", {
    ...{ queue_name: "copy", partition: 0, items: letters as RequestOf<"importItems">["items"] },
  });
  expect(imported.items).toMatchObject([{ group: "a" }, {}]);
});

test("groups.list: pages in the order of names, with counts and why a group is blocked", async () => {
  await using app = await withGroups({ group_leased_max: 1 });
  await produce(app, "b", "b", "a", "");
  const { items } = await lease(app, 1);
  const own = { leased_max: 0, rate: "", weight: 1, paused: false };
  const none = { leased: 0, scheduled: 0, retried: 0, next_at: null, ...own };
  const free = { ...none, waiting: 1, blocked_by: "", blocked_id: "" };
  const created = new Date(start).toISOString();
  expect(items).toMatchObject([{ group: "b" }]);
  const all = await app.ok("listGroups", orders);
  const held = { waiting: 1, leased: 1, blocked_by: "leased_max", blocked_id: items[0]?.id ?? "" };
  expect(all).toEqual({
    items: [
      { ...free, group: "", oldest_at: created },
      { ...free, group: "a", oldest_at: created },
      { ...free, ...held, group: "b", oldest_at: created },
    ],
    next_pivot: "",
  });
  const first = await app.ok("listGroups", { ...orders, limit: 1 });
  expect(first.items).toHaveLength(1);
  expect(first.next_pivot).toBe(String(all.items[1]?.group));
  const rest = await app.ok("listGroups", { ...orders, pivot: first.next_pivot });
  expect([...first.items, ...rest.items]).toEqual(all.items);
});

test("groups.list: with blocked, only groups of which no item may be leased", async () => {
  await using app = await withGroups({ group_leased_max: 1 });
  await produce(app, "a", "a", "b");
  const { items } = await lease(app, 1);
  expect(items).toMatchObject([{ group: "a" }]);
  expect((await app.ok("listGroups", { ...orders, blocked: true })).items).toMatchObject([
    { group: "a", waiting: 1, leased: 1, blocked_by: "leased_max", blocked_id: items[0]?.id },
  ]);
  await app.ok("complete", { ...timed, partition: 0, ids: [items[0]?.id ?? ""] });
  expect(await app.ok("listGroups", { ...orders, blocked: true })).toEqual({
    items: [],
    next_pivot: "",
  });
});

test("groups.set: own settings are kept, returned and unset; a paused group is passed over", async () => {
  await using app = await withGroups();
  const group = "a";
  const own = { leased_max: 2, rate: "5/1s", weight: 3, paused: true };
  expect(await app.ok("setGroup", { ...orders, group, ...own })).toMatchObject({ group, ...own });
  await produce(app, "a", "b");
  expect((await lease(app)).items).toMatchObject([{ group: "b" }]);
  expect((await app.ok("listGroups", { ...orders, blocked: true })).items).toMatchObject([
    { group, blocked_by: "paused", ...own },
  ]);
  expect(await app.ok("setGroup", { ...orders, group, paused: false })).toMatchObject({
    ...{ ...own, paused: false },
  });
  expect((await lease(app)).items).toMatchObject([{ group }]);
  const back = { leased_max: 0, rate: "", weight: 1 };
  expect(await app.ok("setGroup", { ...orders, group, ...back })).toMatchObject(back);
});

test("groups.set: unblock opens a group that a dead letter has closed", async () => {
  await using app = await withGroups({ group_on_dead: "block" });
  await produce(app, "a", "a");
  const { partition, items } = await lease(app, 1);
  const id = items[0]?.id ?? "";
  await app.ok("retry", { ...orders, partition, items: [{ id, dead: true }] });
  const blocked = { ...orders, blocked: true };
  expect((await app.ok("listGroups", blocked)).items).toMatchObject([
    { group: "a", blocked_by: "dead", blocked_id: id },
  ]);
  const opened = await app.ok("setGroup", { ...orders, group: "a", unblock: true });
  expect(opened).toMatchObject({ group: "a", blocked_by: "", waiting: 1 });
  expect((await lease(app)).items).toHaveLength(1);
});

test("groups.list, groups.set: values out of bounds, and queues without groups, are refused", async () => {
  await using app = await withGroups();
  await app.create("plain");
  const group = "a";
  const long = "k".repeat(257);
  const cases: [OperationId, object, string][] = [
    [
      "setGroup",
      { ...orders, group, weight: 0 },
      "weight is invalid; expected from 1 to 100, got 0",
    ],
    [
      "setGroup",
      { ...orders, group, weight: 101 },
      "weight is invalid; expected from 1 to 100, got 101",
    ],
    [
      "setGroup",
      { ...orders, group, rate: "often" },
      "rate is invalid; expected items per interval, such as '100/1s', got 'often'",
    ],
    [
      "setGroup",
      { ...orders, group, leased_max: -1 },
      "leased max is invalid; cannot be negative number",
    ],
    [
      "setGroup",
      { ...orders, group: long },
      "group is invalid; cannot be greater than '256' characters",
    ],
    ["setGroup", { ...orders }, "group is required"],
    ["setGroup", { queue_name: "plain", group }, "queue is invalid; 'plain' is not grouped"],
    ["listGroups", { queue_name: "plain" }, "queue is invalid; 'plain' is not grouped"],
    ["listGroups", { ...orders, limit: 0 }, "limit is invalid; must be greater than zero"],
    ["listGroups", { ...orders, limit: 1_001 }, "limit is invalid; cannot be greater than 1000"],
    ["listGroups", { ...orders, pivot: 5 }, "pivot is invalid; expected a string or null, got 5"],
  ];
  for (const [id, body, message] of cases) {
    expect([id, body, await refusal(app, id, body)]).toEqual([id, body, malformed(message)]);
  }
  const unknown = { code: 400, reason: "no_such_queue" };
  expect(await refusal(app, "listGroups", { queue_name: "no" })).toMatchObject(unknown);
  expect(await refusal(app, "setGroup", { queue_name: "no", group })).toMatchObject(unknown);
});

test("groups: in protobuf, an absent setting of a group keeps its value and zero unsets it", async () => {
  await using app = await withGroups();
  const call = async <Id extends "setGroup" | "listGroups">(
    id: Id,
    body: Record<string, unknown>,
  ) => {
    const { request, reply } = operationMessages[id];
    const type = "application/protobuf";
    const headers = { "content-type": type, accept: type };
    const init = { method: "POST", headers, body: encoded(request, body) };
    const response = await app.through(app.send(operations[id].path, init));
    expect(response.status).toBe(200);
    return decoded(reply, new Uint8Array(await response.arrayBuffer()));
  };
  const group = "a";
  const own = { leased_max: 2, rate: "5/1s", weight: 3, paused: true };
  await call("setGroup", { ...orders, group, ...own });
  expect(await call("setGroup", { ...orders, group, weight: 2 })).toMatchObject({
    ...{ group, ...own, weight: 2 },
  });
  const changed = { leased_max: 0, rate: "", paused: false };
  expect(await call("setGroup", { ...orders, group, ...changed })).toMatchObject(changed);
  await produce(app, "a");
  expect(await call("listGroups", orders)).toMatchObject({
    items: [{ group, waiting: 1, oldest_at: new Date(start).toISOString() }],
  });
  await app.advance(minute);
});
