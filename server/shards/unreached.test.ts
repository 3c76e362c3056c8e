// Replies of the merged routes of several engines while a shard is unreachable.

import { expect, test } from "bun:test";
import { failure, QueueError } from "../../engine/model/errors.ts";
import { shardOf } from "../../engine/model/placement.ts";
import type { Caller, Route } from "../routes/route.ts";
import { type ShardRoutes, shardedRoutes } from "./routes.ts";
import { Client, deadItems, names, oneOfEach, withQueues } from "./testing/twin-queues.ts";
import { refusalOf, second, shardCount } from "./testing/twins.ts";

const unreached = QueueError.from(failure("not_ready", "the owner of the shard is unreachable"));

/** The names of the queues in other shards. */
const besides = (shard: number) => names.filter((name) => shardOf(name, shardCount) !== shard);

test("lists: a shard that could not be reached is named, and the others are listed", async () => {
  await using twins = await withQueues();
  await deadItems(twins);
  const page = { pivot: "", limit: 100 };
  twins.fail(1, unreached);
  const queues = await twins.all("listQueues", page);
  expect(queues.unreached).toEqual([1]);
  expect(queues.items.map(({ queue_name }) => queue_name)).toEqual(besides(1));
  const ofOthers = oneOfEach().filter((_, shard) => shard !== 1);
  const { tasks, unreached: tasksUnreached } = await twins.all("listTasks", {});
  expect(tasksUnreached).toEqual([1]);
  expect(tasks.map(({ queue_name }) => queue_name)).toEqual(ofOthers.toReversed());
  const { items, unreached: actionsUnreached } = await twins.all("listActions", { limit: 1_000 });
  expect(actionsUnreached).toEqual([1]);
  expect(new Set(items.map(({ queue_name }) => queue_name))).toEqual(new Set(besides(1)));

  twins.fail(1, null);
  await twins.same("listQueues", page);
  const all = await twins.all("listActions", { limit: 1_000 });
  // Unreachable shards do not change the ids.
  expect(items).toEqual(all.items.filter(({ id }) => id % shardCount !== 1));
  const pivot = all.items.find(({ id }) => id % shardCount === 1)?.id ?? 0;
  twins.fail(1, unreached);
  expect(await refusalOf(twins.all("listActions", { limit: 2, pivot }))).toBe(
    "shard 1 could not be reached; the action of the pivot is there, try again",
  );
});

test("lists: if no shard could be reached, the first says why; another failure fails the list", async () => {
  await using twins = await withQueues();
  const calls = (): Promise<unknown>[] => [
    twins.all("listQueues", { pivot: "", limit: 100 }),
    twins.all("overview", {}),
    twins.all("listTasks", {}),
    twins.all("listActions", { limit: 1 }),
  ];
  for (const shard of [2, 1, 0]) {
    const message = `shard ${shard} is opened again; nothing was changed`;
    twins.fail(shard, QueueError.from(failure("not_ready", message)));
  }
  for (const call of calls()) expect(await refusalOf(call)).toContain("shard 0 is opened again");
  twins.fail(2, new Error("gone"));
  for (const call of calls()) expect(await refusalOf(call)).toBe("gone");
});

test("a call about all shards waits a second for those elsewhere, one about a queue its own time", async () => {
  await using twins = await withQueues();
  const [queue_name = ""] = oneOfEach();
  const waits = new Map<string, Set<number | null>>();
  const noting = (shard: number): ShardRoutes =>
    new Proxy({} as ShardRoutes, {
      get: (_, id: keyof ShardRoutes) => (body: never, caller: Caller) => {
        waits.getOrInsertComputed(id, () => new Set()).add(caller.elsewhereMsMax);
        return (twins.shard(shard)[id] as Route<typeof id>)(body, caller);
      },
    });
  const routes = shardedRoutes([0, 1, 2].map(noting));
  await twins.ask(routes, "listQueues", { pivot: "", limit: 100 });
  await twins.ask(routes, "overview", {});
  await twins.ask(routes, "listTasks", {});
  await twins.ask(routes, "listActions", { limit: 1 });
  await twins.ask(routes, "series", { names: ["produced"] });
  const id = "1".repeat(27);
  await twins.ask(routes, "explainItem", { id });
  await refusalOf(twins.ask(routes, "getItem", { id }));
  await refusalOf(twins.ask(routes, "cancelTask", { task_id: "none" }));
  const lookups = ["explainItem", "getItem", "taskInfo"];
  const wholes = ["listQueues", "overview", "listTasks", "listActions", "series", ...lookups];
  for (const name of wholes) expect([name, ...(waits.get(name) ?? [])]).toEqual([name, second]);
  waits.clear();
  await twins.ask(routes, "listTasks", { queue_name });
  await twins.ask(routes, "series", { names: ["produced"], queue_name });
  await twins.ask(routes, "series", { names: ["commits"], shard: 1 });
  await twins.ask(routes, "inspect", { queue_name });
  await refusalOf(twins.ask(routes, "cancelTask", { task_id: "none" }));
  waits.delete("taskInfo");
  for (const [name, each] of waits) expect([name, ...each]).toEqual([name, null]);
});

test("overview: the queues of an unreached shard stay as they were, and follow from there", async () => {
  await using twins = await withQueues();
  const client = new Client();
  client.apply(await twins.all("overview", {}));
  const [first = "", other = ""] = oneOfEach();
  await twins.produce(first, "a");
  await twins.produce(other, "b");
  await twins.advance(second);
  twins.fail(1, unreached);
  const partial = client.apply(await twins.all("overview", { since: client.since }));
  expect(partial).toMatchObject({ whole: false, unreached: [1], removed: [] });
  expect(partial.queues.queue_name).toEqual([first]);
  expect(partial.shards.map(({ shard }) => shard)).toEqual([0, 2]);
  expect([...client.rows.keys()].sort()).toEqual(names);
  await twins.advance(second);
  twins.fail(1, null);
  const next = client.apply(await twins.all("overview", { since: client.since }));
  expect(next).toMatchObject({ whole: false, unreached: [] });
  expect(next.queues.queue_name).toEqual([other]);
});

test("overview: a whole reply without a shard leads to another whole one with its queues", async () => {
  await using twins = await withQueues();
  const client = new Client();
  client.apply(await twins.all("overview", {}));
  await twins.advance(second);
  twins.fail(1, unreached);
  // As if shard 2 had another owner, which knows no earlier reply.
  const since = client.since.split(",").with(2, "x.1").join();
  const partial = client.apply(await twins.all("overview", { since }));
  expect(partial).toMatchObject({ whole: true, unreached: [1] });
  expect([...client.rows.keys()].sort()).toEqual(besides(1));
  await twins.advance(second);
  const still = client.apply(await twins.all("overview", { since: client.since }));
  expect(still).toMatchObject({ whole: false, unreached: [1] });
  await twins.advance(second);
  twins.fail(1, null);
  const next = client.apply(await twins.all("overview", { since: client.since }));
  expect(next).toMatchObject({ whole: true, unreached: [] });
  expect([...client.rows.keys()].sort()).toEqual(names);
});

test("items and tasks: what may be in an unreached shard is not said to be nowhere", async () => {
  await using twins = await withQueues();
  const [name = "", other = ""] = oneOfEach();
  await twins.produce(name, "a");
  const page = { queue_name: name, partition: 0, pivot: "", limit: 10 };
  const id = (await twins.all("listItems", page)).items[0]?.id ?? "";
  twins.fail(shardOf(other, shardCount), unreached);
  expect((await twins.all("getItem", { id })).queue_name).toBe(name);
  expect((await twins.all("explainItem", { id })).item?.queue_name).toBe(name);
  const unknown = { id: "1".repeat(27) };
  const of = (what: string) =>
    `shard ${shardOf(other, shardCount)} could not be reached; the ${what} may be there, try again`;
  expect(await refusalOf(twins.all("getItem", unknown))).toBe(of("item"));
  expect(await refusalOf(twins.all("explainItem", unknown))).toBe(of("item"));
  expect(await refusalOf(twins.all("taskInfo", { task_id: "none" }))).toBe(of("task"));
  expect(await refusalOf(twins.all("cancelTask", { task_id: "none" }))).toBe(of("task"));
  // No shard can have it, so another try would not help.
  expect(await refusalOf(twins.all("getItem", { id: "42" }))).toContain("invalid storage id");
});

test("series: of all queues, it fails if a shard could not be reached", async () => {
  await using twins = await withQueues();
  const names = ["produced"];
  twins.fail(1, unreached);
  await expect(twins.all("series", { names })).rejects.toMatchObject({
    ...{ reason: "not_ready", code: "closing" },
    message: "shard 1 could not be reached; a series of all queues needs every shard, try again",
  });
  expect((await twins.all("series", { names: ["commits"], shard: 0 })).shard).toBe(0);
});
