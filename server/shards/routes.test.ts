// The merged routes of several engines, compared with one engine that has all queues. Effects on
// queues of other shards are in `across-shards.test.ts`; unreachable shards are in
// `unreached.test.ts`.

import { expect, test } from "bun:test";
import { shardOf } from "../../engine/model/placement.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import type { RequestOf } from "../../openapi/operations.ts";
import type { LeaseReply, ServerOverviewReply } from "../../openapi/schemas.ts";
import { mergeStatuses } from "./engine-status.ts";
import { shardedRoutes } from "./routes.ts";
import { Client, deadItems, names, oneOfEach, timed, withQueues } from "./testing/twin-queues.ts";
import { minute, refusalOf, second, shardCount, start, Twins, timeouts } from "./testing/twins.ts";

const instant = (ms: number) => new Date(ms).toISOString();

async function leaseOf(
  twins: Twins,
  routes: Twins["merged"],
  queue_name: string,
): Promise<LeaseReply> {
  return twins.ask(routes, "lease", { ...timed, queue_name, client_id: "c", batch_size: 10 });
}

test("one shard: its routes are returned as they are", async () => {
  await using twins = await Twins.open();
  expect(shardedRoutes([twins.one])).toBe(twins.one);
});

test("a call that names a queue is done by the shard of its name, and by no other", async () => {
  await using twins = await withQueues();
  for (const name of names) await twins.produce(name, `of ${name}`);
  for (let shard = 0; shard < shardCount; shard += 1) {
    const { items } = await twins.ask(twins.shard(shard), "listQueues", { pivot: "", limit: 100 });
    const own = names.filter((name) => shardOf(name, shardCount) === shard);
    expect(own.length).toBeGreaterThan(0);
    expect(items.map(({ queue_name }) => queue_name)).toEqual(own);
  }
  for (const name of names) {
    expect((await twins.same("inspect", { queue_name: name })).queued).toBe(1);
    expect((await twins.same("queueInfo", { name })).queue_name).toBe(name);
    await twins.same("queueInfo", { queue_name: name });
    const { queue_name, items } = await leaseOf(twins, twins.merged, name);
    expect({ queue_name, items: items.map(({ bytes }) => atob(bytes).length) }).toEqual({
      queue_name: name,
      items: [new TextEncoder().encode(`of ${name}`).length],
    });
  }
  expect(await twins.refused("stats", { queue_name: "none" })).toContain("'none'");
  expect(await twins.refused("queueInfo", {})).toBe("name is required; expected a string");
});

test("transact: by the shard of the first queue in the order complete, retry, produce", async () => {
  await using twins = await withQueues();
  const [first = "", second = "", third = ""] = oneOfEach();
  await twins.produce(third, "a");
  for (const routes of [twins.one, twins.merged]) {
    const { partition, items } = await leaseOf(twins, routes, third);
    const finished = { queue_name: third, partition };
    const ids = items.map(({ id }) => id);
    const body = { ...timed, complete: [{ ...finished, ids }] };
    const { produced } = await twins.ask(routes, "transact", {
      ...body,
      produce: [{ queue_name: third, items: [{ utf8: "b" }] }],
    });
    expect(produced).toMatchObject([{ queue_name: third, delivered: true }]);
  }
  // The routes of the other shard fail, so the refusal shows which shard was asked.
  const id = "1".repeat(27);
  const produce = [{ queue_name: first, items: [{ utf8: "c" }] }];
  const retryOf = (queue_name: string) => [{ queue_name, partition: 0, items: [{ id }] }];
  const complete = [{ queue_name: second, partition: 0, ids: [id] }];
  const cases = [
    [{ produce, retry: retryOf(second) }, "does not exist"],
    [{ produce, complete }, "does not exist"],
    [{ retry: retryOf(first), complete }, "their queues are in different shards"],
  ] as const;
  for (const [parts, refusal] of cases) {
    const body = { ...timed, ...structuredClone(parts) } as RequestOf<"transact">;
    twins.fail(shardOf(first, shardCount), new Error("another shard"));
    expect(await refusalOf(twins.all("transact", body))).toContain(refusal);
    twins.fail(shardOf(first, shardCount), null);
    twins.fail(shardOf(second, shardCount), new Error("its shard"));
    expect(await refusalOf(twins.all("transact", body))).toBe("its shard");
    twins.fail(shardOf(second, shardCount), null);
  }
  await twins.same("transact", { ...timed, produce, retry: [], complete: [] });
  expect((await twins.same("inspect", { queue_name: first })).queued).toBe(1);
  expect(await twins.refused("transact", { ...timed })).toContain("transact is invalid");
});

test.each([1, 2, 5, 12, 13])("queues.list: pages of %d skip and repeat no queue", async (limit) => {
  await using twins = await withQueues();
  const listed: string[] = [];
  for (let pivot = ""; ; ) {
    const { items } = await twins.same("listQueues", { pivot, limit: limit + 1 });
    const page = items.map(({ queue_name }) => queue_name);
    listed.push(...(pivot === "" ? page : page.slice(1)));
    if (page.length <= limit) break;
    pivot = page.at(-1) ?? "";
  }
  expect(listed).toEqual(names);
  expect(await twins.refused("listQueues", { pivot: "", limit: 0 })).toContain("limit");
});

/** The rows that a client has, without the shard of each queue. */
function rowsIn({ rows }: Client) {
  return [...rows].map(([name, { shard: _, ...row }]) => [name, row] as const).sort();
}

/** Returns the reply of the merged routes, after checking that both clients have the same rows. */
async function look(twins: Twins, [one, all]: readonly [Client, Client]) {
  const expected = one.apply(await twins.ask(twins.one, "overview", { since: one.since }));
  const reply = all.apply(await twins.all("overview", { since: all.since }));
  expect(rowsIn(all)).toEqual(rowsIn(one));
  for (const [name, { shard }] of one.rows) {
    expect([name, shard]).toEqual([name, 0]);
    expect([name, all.rows.get(name)?.["shard"]]).toEqual([name, shardOf(name, shardCount)]);
  }
  const plain = ({ whole, totals, alarms, as_of, now, removed }: ServerOverviewReply) => {
    return { whole, totals, alarms, as_of, now, removed: removed.toSorted() };
  };
  expect(plain(reply)).toEqual(plain(expected));
  const statesIn = ({ shards }: ServerOverviewReply) =>
    shards.map(({ shard, state }) => [shard, state]);
  expect(statesIn(expected)).toEqual([[0, "up"]]);
  expect(statesIn(reply)).toEqual([0, 1, 2].map((shard) => [shard, "up"]));
  return reply;
}

test("overview: a client that follows the changes knows what it would of one engine", async () => {
  await using twins = await withQueues();
  const clients = [new Client(), new Client()] as const;
  expect((await look(twins, clients)).queues.queue_name).toHaveLength(names.length);
  const [first = "", other = "", third = ""] = oneOfEach();

  await twins.advance(second);
  expect((await look(twins, clients)).queues.queue_name).toEqual([]);

  await twins.produce(first, "a");
  await twins.advance(second);
  expect((await look(twins, clients)).queues.queue_name).toEqual([first]);

  await twins.produce(other, "b", "c");
  await twins.same("deleteQueue", { queue_name: third, force: true });
  await twins.advance(second);
  const deleted = await look(twins, clients);
  expect([deleted.removed, deleted.queues.queue_name]).toEqual([[third], [other]]);

  await twins.create(third);
  await twins.advance(second);
  expect((await look(twins, clients)).queues.queue_name).toEqual([third]);

  // One client missed some replies.
  await twins.produce(third, "d");
  await twins.advance(second);
  await twins.both("overview", {});
  await twins.produce(first, "e");
  await twins.advance(2 * minute);
  const late = await look(twins, clients);
  expect(late.alarms.map(({ kind, queue_name }) => [kind, queue_name])).toEqual(
    [first, other, third].map((name) => ["no_consumers", name]),
  );
  expect(late.totals).toMatchObject({ queues: names.length, ready: 5 });
});

test("overview: each shard is given its own part of the since", async () => {
  await using twins = await withQueues();
  // The shards started together, and some were read more often.
  await twins.all("overview", {});
  for (const shard of [2, 2, 2, 1]) {
    await twins.advance(second);
    await twins.ask(twins.shard(shard), "overview", {});
  }
  await twins.advance(second);
  const { since } = await twins.all("overview", {});
  const [first = ""] = oneOfEach();
  await twins.produce(first, "a");
  await twins.advance(second);
  const { whole, queues } = await twins.all("overview", { since });
  expect({ whole, names: queues.queue_name }).toEqual({ whole: false, names: [first] });
});

test("overview: a since that not all shards know leads to a reply with all queues", async () => {
  await using twins = await withQueues();
  const { since } = await twins.all("overview", {});
  const parts = since.split(",");
  expect(parts).toHaveLength(shardCount);
  const own = await twins.ask(twins.shard(1), "overview", {});
  await twins.advance(second);
  const strange = [own.since, parts.slice(1).join(), [...parts, parts[0]].join(), `${since},`];
  const unknown = [parts.with(1, "x.1").join(), parts.with(2, "").join(), "x", ",,"];
  for (const other of [...strange, ...unknown]) {
    const reply = await twins.all("overview", { since: other });
    expect([other, reply.whole, reply.queues.queue_name.toSorted()]).toEqual([other, true, names]);
  }
  expect((await twins.all("overview", { since })).whole).toBe(false);
});

test("overview: after a restart the reply contains the queues of all shards", async () => {
  await using twins = await withQueues();
  const client = new Client();
  client.apply(await twins.all("overview", {}));
  await twins.advance(second);
  await twins.restart();
  const reply = client.apply(await twins.all("overview", { since: client.since }));
  expect([reply.whole, [...client.rows.keys()].sort()]).toEqual([true, names]);
  await twins.advance(second);
  const next = await twins.all("overview", { since: client.since });
  expect([next.whole, next.queues.queue_name]).toEqual([false, []]);
});

test.each([1, 2, 3, 4, 5])(
  "overview: a client knows what there is, after whatever happened; seed %d",
  async (seed) => {
    await using twins = await withQueues();
    const random = seededRandom(seed);
    const client = new Client();
    const present = new Set(names);
    for (let step = 0; step < 40; step += 1) {
      const queue_name = names[random.below(names.length)] ?? "";
      const choice = random.below(8);
      if (choice === 0) {
        await twins.restart(random.below(shardCount));
      } else if (!present.has(queue_name)) {
        await twins.all("createQueue", { queue_name, ...timeouts });
        present.add(queue_name);
      } else if (choice < 3) {
        await twins.all("deleteQueue", { queue_name, force: true });
        present.delete(queue_name);
      } else {
        await twins.all("produce", { ...timed, queue_name, items: [{ utf8: "a" }] });
      }
      await twins.advance(second);
      if (random.below(2) === 0) continue;
      const reply = client.apply(await twins.all("overview", { since: client.since }));
      const fresh = new Client();
      const { totals } = fresh.apply(await twins.all("overview", {}));
      expect([...client.rows].sort()).toEqual([...fresh.rows].sort());
      expect([...client.rows.keys()].sort()).toEqual([...present].sort());
      expect(reply.totals).toEqual(totals);
    }
  },
);

test("overview: a key for some queues sees these alone, and their sums", async () => {
  await using twins = await withQueues();
  for (const name of names) await twins.produce(name, "a");
  const rights = [{ roles: ["read"], queues: ["a", "b", "orders"] }] as const;
  const [one, all] = await twins.both("overview", {}, { name: "k", rights });
  expect(all.queues.queue_name.toSorted()).toEqual(["a", "b", "orders"]);
  expect(all.totals).toEqual(one.totals);
});

test("tasks: listed newest first, looked up and cancelled by whichever shard has them", async () => {
  await using twins = await withQueues();
  await deadItems(twins);
  const [one, all] = await twins.both("listTasks", {});
  const plain = (tasks: typeof all.tasks) =>
    tasks.map(({ queue_name, state, matched, created_at }) => [
      ...[queue_name, state, matched, created_at],
    ]);
  expect(plain(all.tasks)).toEqual(plain(one.tasks));
  expect(all.tasks.map(({ queue_name }) => queue_name)).toEqual(oneOfEach().toReversed());
  const overview = await twins.all("overview", {});
  expect(overview.tasks).toEqual(all.tasks);
  for (const task of all.tasks) {
    const { task_id, queue_name } = task;
    expect(await twins.all("taskInfo", { task_id })).toEqual(task);
    expect((await twins.all("listTasks", { queue_name })).tasks).toEqual([task]);
  }
  const [, second_] = all.tasks;
  const task_id = second_?.task_id ?? "";
  expect((await twins.all("cancelTask", { task_id })).state).toBe("cancelled");
  const states = (await twins.all("listTasks", {})).tasks.map(({ state }) => state);
  expect(states).toEqual(["running", "cancelled", "running"]);
  expect(await twins.refused("taskInfo", { task_id: "none" })).toContain("no such task 'none'");
  expect(await twins.refused("cancelTask", { task_id: "none" })).toContain("no such task 'none'");
  expect(await twins.refused("listTasks", { queue_name: "none" })).toContain("'none'");
});

test("tasks: those of one millisecond have different ids in each shard, also after a restart", async () => {
  await using twins = await withQueues();
  const ids: string[] = [];
  for (const _ of [1, 2]) {
    for (const queue_name of oneOfEach()) {
      for (const action of ["delete", "promote"]) {
        const body = { queue_name, action, filter: { kind: "" } };
        ids.push((await twins.all("repair", body)).task_id);
      }
    }
    await twins.restart();
  }
  expect(new Set(ids).size).toBe(ids.length);
  for (const [at, task_id] of ids.entries()) {
    const queue_name = oneOfEach()[(at >> 1) % shardCount] ?? "";
    expect(await twins.all("taskInfo", { task_id })).toMatchObject({ task_id, queue_name });
  }
  const listed = (await twins.all("listTasks", {})).tasks.map(({ task_id }) => task_id);
  expect(listed.toSorted()).toEqual(ids.toSorted());
});

test("tasks: a key for some queues neither sees nor cancels those of others", async () => {
  await using twins = await withQueues();
  await deadItems(twins);
  const [first = ""] = oneOfEach();
  const identity = { name: "k", rights: [{ roles: ["admin"], queues: [first] }] } as const;
  const { tasks } = await twins.all("listTasks", {}, identity);
  expect(tasks.map(({ queue_name }) => queue_name)).toEqual([first]);
  const [newest] = (await twins.all("listTasks", {})).tasks;
  const task_id = newest?.task_id ?? "";
  expect(await refusalOf(twins.all("cancelTask", { task_id }, identity))).toContain("no such task");
  expect((await twins.all("taskInfo", { task_id })).state).toBe("running");
});

test("actions: in the order of time, page by page, each once", async () => {
  await using twins = await withQueues();
  const queues = oneOfEach();
  for (const name of [...queues, ...queues.toReversed(), ...queues]) {
    await twins.advance(1);
    await twins.same("pause", { queue_name: name });
    await twins.advance(1);
    await twins.same("resume", { queue_name: name });
  }
  await twins.advance(1);
  await twins.refused("cancelTask", { task_id: "none" });
  const plain = ({ items }: { readonly items: readonly { readonly id: number }[] }) =>
    items.map(({ id: _, ...action }) => action);
  const [one, all] = await twins.both("listActions", { limit: 1_000 });
  // The queues were created at one instant, at which actions of different shards have no order.
  const later = 2 * 9 + 1;
  expect(plain(all).slice(0, later)).toEqual(plain(one).slice(0, later));
  expect(all.items).toHaveLength(later + names.length);
  expect(new Set(all.items.map(({ id }) => id)).size).toBe(all.items.length);
  expect(all.since).toBe(one.since);
  for (const limit of [1, 4, 7]) {
    const paged: object[] = [];
    for (let pivot = 0; ; ) {
      const { items } = await twins.all("listActions", { limit: limit + 1, pivot });
      paged.push(...(pivot === 0 ? items : items.slice(1)));
      if (items.length <= limit) break;
      pivot = items.at(-1)?.id ?? 0;
      // Newer actions do not move the page.
      await twins.advance(1);
      await twins.both("pause", { queue_name: queues[1] ?? "" });
    }
    const known = (await twins.all("listActions", { limit: 1_000 })).items;
    expect(paged).toEqual(known.slice(known.length - paged.length));
    expect(known.at(-1)).toEqual(all.items.at(-1) ?? expect.anything());
    expect(paged.length).toBeGreaterThanOrEqual(all.items.length);
  }
  const [queue_name = ""] = queues;
  const [ofOne, ofAll] = await twins.both("listActions", { limit: 3, queue_name });
  expect(plain(ofAll)).toEqual(plain(ofOne));
  expect(await twins.refused("listActions", { limit: 0 })).toContain("limit");
});

test("items: an id alone finds its item in whichever shard has it", async () => {
  await using twins = await withQueues();
  for (const name of oneOfEach()) await twins.produce(name, `of ${name}`);
  for (const name of oneOfEach()) {
    const page = { queue_name: name, partition: 0, pivot: "", limit: 10 };
    const [item] = (await twins.all("listItems", page)).items;
    const id = item?.id ?? "";
    const found = await twins.all("getItem", { id });
    expect([found.queue_name, atob(found.payload)]).toEqual([name, `of ${name}`]);
    expect((await twins.all("explainItem", { id })).item?.queue_name).toBe(name);
    expect(await refusalOf(twins.all("getItem", { id, payload_offset: 100 }))).toContain(
      "payload offset",
    );

    const { partition } = await leaseOf(twins, twins.merged, name);
    await twins.all("complete", { ...timed, queue_name: name, partition, ids: [id] });
    const { item: none, why, history } = await twins.all("explainItem", { id });
    expect({ none, why, kinds: history.map(({ kind }) => kind) }).toEqual({
      none: undefined,
      why: [expect.stringContaining("It was completed by c")],
      kinds: ["produced", "leased", "completed"],
    });
    expect(await refusalOf(twins.all("getItem", { id }))).toContain("no item has the id");
  }
  const id = "1".repeat(27);
  await twins.same("explainItem", { id });
  await twins.refused("getItem", { id });
  await twins.refused("getItem", { id: "42" });
  await twins.refused("explainItem", { id: "42" });
});

test("items: a shard that fails hides nothing of the others, and no item that it may have", async () => {
  await using twins = await withQueues();
  const [name = "", other = ""] = oneOfEach();
  await twins.produce(name, "a");
  const page = { queue_name: name, partition: 0, pivot: "", limit: 10 };
  const id = (await twins.all("listItems", page)).items[0]?.id ?? "";
  twins.fail(shardOf(other, shardCount), new Error("gone"));
  expect((await twins.all("getItem", { id })).queue_name).toBe(name);
  expect((await twins.all("explainItem", { id })).item?.queue_name).toBe(name);
  const unknown = { id: "1".repeat(27) };
  expect(await refusalOf(twins.all("getItem", unknown))).toBe("gone");
  expect(await refusalOf(twins.all("explainItem", unknown))).toBe("gone");
  expect(await refusalOf(twins.all("taskInfo", { task_id: "none" }))).toBe("gone");
});

test("series: of a queue, of a shard, and of all queues together", async () => {
  await using twins = await withQueues();
  const [first = "", other = "", third = ""] = oneOfEach();
  await twins.produce(first, "a", "b");
  await twins.advance(25 * second);
  await twins.produce(other, "c");
  await twins.advance(2 * minute);
  const names = ["produced", "ready", "oldest_ready_seconds"];
  const sums = await twins.same("series", { names });
  expect(sums).toMatchObject({ queue_name: "", shard: -1, since: instant(start) });
  expect(sums.series[0]?.values.slice(0, 4)).toEqual([2, 0, 1, 0]);
  expect(sums.series[2]?.values.slice(0, 4)).toEqual([10, 20, 30, 40]);
  await twins.same("series", { names, step: "1m" });
  await twins.same("series", { names, from: instant(start + 65 * second) });
  await twins.same("series", { names, from: instant(start + 10 * minute) });
  expect((await twins.same("series", { names, queue_name: other })).queue_name).toBe(other);
  const committed = [
    [first, [2, 0, 0]],
    [other, [0, 0, 1]],
    [third, [0, 0, 0]],
  ] as const;
  for (const [name, values] of committed) {
    const shard = shardOf(name, shardCount);
    const reply = await twins.all("series", { names: ["items_committed"], shard });
    expect(reply).toMatchObject({ shard, queue_name: "", since: sums.since, from: sums.from });
    expect(reply.series[0]?.values.slice(0, 3)).toEqual([...values]);
  }
  expect(await refusalOf(twins.all("series", { names: ["commits"], shard: shardCount }))).toBe(
    "shard is invalid; expected 0 to 2, got 3",
  );
  await twins.refused("series", { names: ["commits"], shard: 0, queue_name: first });
  await twins.refused("series", { names: ["none"] });
});

test("series: shards that choose different steps are called again with the longer one", async () => {
  await using twins = await withQueues();
  const [first = ""] = oneOfEach();
  await twins.advance(70 * second);
  await twins.produce(first, "a");
  await twins.advance(4 * minute);
  const [fine, coarse] = [twins.shard(0), twins.shard(1)];
  const late: typeof coarse = {
    ...coarse,
    series: (body, caller) => coarse.series({ ...body, step: "1m" }, caller),
  };
  const names = ["produced"];
  const reply = await twins.ask(shardedRoutes([fine, late]), "series", { names });
  expect([reply.step, reply.from, reply.series[0]?.values]).toEqual([
    ...["1m0s", instant(start), [0, 1, 0, 0, 0]],
  ]);
});

test("status: for metrics, health and readiness as that of one engine", async () => {
  await using twins = await withQueues();
  for (const name of names) await twins.produce(name, "a");
  const one = twins.engine.status();
  const all = mergeStatuses(twins.engines.map((engine) => engine.status()));
  const plain = ({ shards: _, queues, ...rest }: typeof one) => ({
    ...rest,
    queues: queues.toSorted((a, b) => (a.queue < b.queue ? -1 : 1)),
  });
  expect(plain(all)).toEqual(plain(one));
  const namesOf = (shard: number) => names.filter((name) => shardOf(name, shardCount) === shard);
  const shardsIn = ({ shards }: typeof one) =>
    shards.map(({ shard, up, itemsCommitted }) => [shard, up, itemsCommitted]);
  expect(shardsIn(one)).toEqual([[0, true, names.length]]);
  expect(shardsIn(all)).toEqual([0, 1, 2].map((shard) => [shard, true, namesOf(shard).length]));
});

test("close: of any engine closes those of all shards", async () => {
  await using twins = await withQueues();
  await twins.close(1);
  for (const queue_name of oneOfEach()) {
    expect(await refusalOf(twins.all("inspect", { queue_name }))).toContain("shutting down");
  }
  await twins.restart();
  for (const queue_name of oneOfEach()) await twins.same("inspect", { queue_name });
});
