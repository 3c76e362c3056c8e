// A server process with five shards in three threads. Each call has its own connection, so every
// thread receives calls for the queues of every shard.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OperationId, operations } from "../../openapi/operations.ts";
import { operationMessages } from "../../openapi/protobuf.ts";
import { runServer, type ServerProcess, startServer } from "../../testing/server-process.ts";
import { decoded, encoded, type Values } from "../testing/independent-protobuf.ts";
import {
  type Calls,
  callsTo,
  connectionCount,
  everywhere,
  queueOf,
  shardCount,
  shardFlags,
  shards,
  timeouts,
} from "./testing/calls.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-threads-"));
let server: ServerProcess;
let calls: Calls;

beforeAll(async () => {
  server = await startServer({ data: join(folder, "data"), flags: shardFlags });
  calls = callsTo(fetch, server.port);
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.log()).not.toContain('"level":"error"');
  rmSync(folder, { recursive: true, force: true });
});

const inLine = (queue: string): string => `holdfast_queue_waiting_leases{queue="${queue}"}`;
const timed = { request_timeout: "1m" };
/** All pairs of different shards. */
const ways = shards.flatMap((from) =>
  shards.filter((to) => to !== from).map((to) => [from, to] as const),
);

async function waitingLeases(queue: string, count: number): Promise<void> {
  while ((await calls.metric(inLine(queue))) !== count) await Bun.sleep(5);
}

test.each(shards)("connections of every thread see one queue; shard %p", async (shard) => {
  const queue = queueOf(shard, "orders");
  await calls.createQueue(queue, { requested_partitions: 1 });
  await everywhere((index) => calls.produce(queue, `${index}`));
  const held = await Promise.all(["a", "b", "c"].map((client) => calls.lease(queue, client)));
  const ids = held.flatMap(({ body }) => body.items.map(({ id }: { id: string }) => id));
  expect(new Set(ids).size).toBe(connectionCount);
  const asked = { queue_name: queue, partition: 0, ...timed };
  const completed = await Promise.all(
    ids.map((id) => calls.call("queue.complete", { ...asked, ids: [id] })),
  );
  expect(new Set(completed.map(({ code }) => code))).toEqual(new Set([200]));
  expect(await calls.textsIn(queue)).toEqual([]);
});

test.each(shards)(
  "leases that wait in one thread are granted items produced through others; shard %p",
  async (shard) => {
    const queue = queueOf(shard, "late");
    await calls.createQueue(queue);
    const waiting = everywhere((index) => calls.lease(queue, `client ${index}`, { batch_size: 1 }));
    await waitingLeases(queue, connectionCount);
    const refusals = await everywhere(() => calls.lease(queue, "client 0"));
    expect(new Set(refusals.map(({ body }) => body.reason))).toEqual(new Set(["duplicate_client"]));
    await everywhere((index) => calls.produce(queue, `${index}`));
    const texts = (await waiting).flatMap(({ body }) => body.items.map(({ utf8 }: never) => utf8));
    expect(texts).toHaveLength(connectionCount);
    await waitingLeases(queue, 0);
  },
);

test.each(shards)("clients that hang up leave the line; shard %p", async (shard) => {
  const queue = queueOf(shard, "left");
  await calls.createQueue(queue);
  const controller = new AbortController();
  const { signal } = controller;
  const gone = everywhere((index) =>
    calls.lease(queue, `client ${index}`, { signal }).then(
      () => "answered",
      () => "gone",
    ),
  );
  await waitingLeases(queue, connectionCount);
  controller.abort();
  expect(new Set(await gone)).toEqual(new Set(["gone"]));
  await waitingLeases(queue, 0);
  await calls.produce(queue, "x");
  expect((await calls.lease(queue, "b")).body.items).toHaveLength(1);
});

test.each(shards)("a key is known to all threads; shard %p", async (shard) => {
  const queue = queueOf(shard, "keyed");
  await calls.createQueue(queue);
  const headers = { "idempotency-key": "one-key-of-this-test" };
  const asked = { queue_name: queue, ...timed, items: [{ utf8: "x" }] };
  const replies = await everywhere(() => calls.call("queue.produce", asked, { headers }));
  expect(new Set(replies.map(({ code }) => code))).toEqual(new Set([200]));
  const first = replies.filter((reply) => reply.headers.get("idempotency-replayed") === null);
  expect(first).toHaveLength(1);
  expect(await calls.textsIn(queue)).toEqual(["x"]);
  const other = { ...asked, items: [{ utf8: "y" }] };
  const taken = await everywhere(() => calls.call("queue.produce", other, { headers }));
  expect(new Set(taken.map(({ body }) => body.reason))).toEqual(new Set(["key_taken"]));
});

test.each(shards)(
  "a transact takes effect once, whichever threads receive it, with outputs in each; shard %p",
  async (shard) => {
    const inputs = queueOf(shard, "inputs");
    const outputs = shards.map((other) => queueOf(other, `outputs of ${shard}`));
    for (const queue of [inputs, ...outputs]) await calls.createQueue(queue);
    await calls.produce(inputs, "x");
    const { body } = await calls.lease(inputs, "a");
    const ids = body.items.map(({ id }: { id: string }) => id);
    const headers = { "idempotency-key": "one-transact-of-this-test" };
    const asked = {
      ...timed,
      complete: [{ queue_name: inputs, partition: body.partition, ids }],
      produce: outputs.map((queue_name) => ({ queue_name, items: [{ utf8: "y" }] })),
    };
    const replies = await everywhere(() => calls.call("queue.transact", asked, { headers }));
    expect(new Set(replies.map(({ code }) => code))).toEqual(new Set([200]));
    const first = replies.filter((reply) => reply.headers.get("idempotency-replayed") === null);
    expect(first).toHaveLength(1);
    expect(new Set(replies.map((reply) => JSON.stringify(reply.body))).size).toBe(1);
    for (const queue of outputs) expect(await calls.arrived(queue, 1)).toEqual(["y"]);
    expect(await calls.textsIn(inputs)).toEqual([]);
  },
);

test("a transact whose inputs are in two threads is refused by each", async () => {
  const queues = [queueOf(0, "apart"), queueOf(2, "apart")];
  const held: object[] = [];
  for (const queue of queues) {
    await calls.createQueue(queue);
    await calls.produce(queue, "x");
    const { body } = await calls.lease(queue, "a");
    const ids = body.items.map(({ id }: { id: string }) => id);
    held.push({ queue_name: queue, partition: body.partition, ids });
  }
  const replies = await everywhere(() =>
    calls.call("queue.transact", { ...timed, complete: held }),
  );
  expect(new Set(replies.map(({ body }) => body.reason))).toEqual(new Set(["different_stores"]));
});

test.each(ways)(
  "dead letters and redriven items arrive once; from shard %p to shard %p",
  async (from, to) => {
    const source = queueOf(from, `dies to ${to}`);
    const dead = queueOf(to, `dead of ${from}`);
    await calls.createQueue(dead);
    await calls.createQueue(source, { dead_queue: dead });
    const texts = Array.from({ length: 50 }, (_, index) => `${index}`).sort();
    await calls.produce(source, ...texts);
    await calls.bury(source);
    expect(await calls.arrived(dead, texts.length)).toEqual(texts);
    const { body } = await calls.call("queue.redrive", { queue_name: dead });
    const { task_id } = body;
    const infos = async () => await everywhere(() => calls.call("tasks.info", { task_id }));
    let told = await infos();
    while (told.some(({ body: { state } }) => state === "running")) told = await infos();
    for (const info of told) {
      expect(info.body).toMatchObject({ task_id, queue_name: dead, moved: texts.length });
    }
    expect(await calls.arrived(source, texts.length)).toEqual(texts);
    expect(await calls.textsIn(dead)).toEqual([]);
  },
);

test.each(ways)(
  "a dead queue in another thread is found, protected, and deleted by force; of shard %p in shard %p",
  async (from, to) => {
    const source = queueOf(from, `names in ${to}`);
    const dead = queueOf(to, `named by ${from}`);
    const { call } = calls;
    const settings = { queue_name: source, ...timeouts, dead_queue: dead };
    const missing = await everywhere(() => call("queues.create", settings));
    expect(new Set(missing.map(({ body }) => body.reason))).toEqual(new Set(["bad_dead_queue"]));
    await calls.createQueue(dead);
    const created = await everywhere(() => call("queues.create", settings));
    expect(created.filter(({ code }) => code === 200)).toHaveLength(1);
    const others = created.filter(({ code }) => code !== 200);
    expect(new Set(others.map(({ body }) => body.reason))).toEqual(new Set(["queue_exists"]));
    const used = await everywhere(() => call("queues.delete", { queue_name: dead, force: false }));
    expect(new Set(used.map(({ body }) => body.message))).toEqual(
      new Set([`queue is in use; '${dead}' is the dead_queue of '${source}'`]),
    );
    const none = { queue_name: source, dead_queue: "" };
    expect((await call("queues.update", none)).code).toBe(200);
    expect((await call("queues.update", { ...none, dead_queue: dead })).code).toBe(200);
    expect((await call("queues.delete", { queue_name: dead, force: true })).code).toBe(200);
    const infos = await everywhere(() => call("queues.info", { name: source }));
    expect(new Set(infos.map(({ body }) => body.dead_queue))).toEqual(new Set([""]));
    // A later queue of the same name is another queue.
    await calls.createQueue(dead);
    expect((await call("queues.delete", { queue_name: dead, force: false })).code).toBe(200);
  },
);

test.each(ways)(
  "a pause applies to outputs of other threads once it is answered; from shard %p to shard %p",
  async (from, to) => {
    const source = queueOf(from, `pays to ${to}`);
    const target = queueOf(to, `paid by ${from}`);
    for (const queue of [source, target]) await calls.createQueue(queue);
    const produce = [
      { queue_name: source, items: [{ utf8: "here" }] },
      { queue_name: target, items: [{ utf8: "there" }] },
    ];
    const transact = () => calls.call("queue.transact", { ...timed, produce });
    for (let round = 1; round <= 3; round += 1) {
      const pause = { queue_name: target, produce: true, reason: "counting" };
      expect((await calls.call("queue.pause", pause)).code).toBe(200);
      const refused = await everywhere(transact);
      expect(new Set(refused.map(({ body }) => body.reason))).toEqual(new Set(["queue_paused"]));
      expect((await calls.call("queue.resume", { queue_name: target })).code).toBe(200);
      expect(new Set((await everywhere(transact)).map(({ code }) => code))).toEqual(new Set([200]));
      const texts = await calls.arrived(target, round * connectionCount);
      expect(texts).toHaveLength(round * connectionCount);
    }
  },
);

test("a listing has the queues of all shards, in order, over pages", async () => {
  const names = shards.flatMap((shard) => [queueOf(shard, "p-a"), queueOf(shard, "p-b")]).sort();
  for (const name of names) await calls.createQueue(name);
  const listed = await everywhere(async () => {
    const found: string[] = [];
    for (let pivot = ""; ; ) {
      const { body } = await calls.call("queues.list", { pivot, limit: 10 });
      const page: string[] = body.items.map(({ queue_name }: never) => queue_name);
      found.push(...page.filter((name) => !found.includes(name)));
      const last = page.at(-1);
      if (page.length < 10 || last === undefined) return found;
      pivot = last;
    }
  });
  for (const found of listed) {
    expect(found.filter((name) => name.startsWith("p-"))).toEqual(names);
    expect(found).toEqual(found.toSorted());
  }
});

test("overview: returns the changes of all shards since the last one", async () => {
  const names = shards.map((shard) => queueOf(shard, "seen"));
  for (const name of names) await calls.createQueue(name);
  const look = async (since: string) => (await calls.call("server.overview", { since })).body;
  let whole = await look("");
  while (!names.every((name) => whole.queues.queue_name.includes(name))) whole = await look("");
  expect(whole.whole).toBe(true);
  let since: string = whole.since;
  for (const name of names) {
    await calls.produce(name, "a");
    let seen: string[] = [];
    while (!seen.includes(name)) {
      const changed = await look(since);
      expect(changed.whole).toBe(false);
      since = changed.since;
      seen = changed.queues.queue_name;
    }
    // Of the other queues, only changed ones are returned.
    expect(seen.filter((one) => names.includes(one) && one !== name)).toEqual([]);
  }
});

test("overview: each shard computes it once per second for all clients", async () => {
  const looks = await everywhere(async () => (await calls.call("server.overview", {})).body);
  const made = looks.map(({ as_of }) => Date.parse(as_of));
  const moments = [...new Set(made)].sort((a, b) => a - b);
  expect(moments.length).toBeLessThan(looks.length);
});

test("tasks, actions and items are found by their ids through any thread", async () => {
  const queues = shards.map((shard) => queueOf(shard, "looked up"));
  const ids: string[] = [];
  const tasks: string[] = [];
  for (const queue of queues) {
    await calls.createQueue(queue);
    await calls.produce(queue, queue);
    const { body } = await calls.call("storage/items.find", { queue_name: queue, limit: 1 });
    const [{ id }] = body.items;
    ids.push(id);
    const asked = { queue_name: queue, action: "promote", ids: [id] };
    const repaired = await calls.call("queue.repair", asked);
    expect(repaired).toMatchObject({ code: 200 });
    tasks.push(repaired.body.task_id);
  }
  const found = await everywhere((index) =>
    calls.call("storage/items.get", { id: ids[index % shardCount] }),
  );
  const explained = await everywhere((index) =>
    calls.call("storage/items.explain", { id: ids[index % shardCount] }),
  );
  const infos = await everywhere((index) =>
    calls.call("tasks.info", { task_id: tasks[index % shardCount] }),
  );
  for (let index = 0; index < connectionCount; index += 1) {
    const [id, queue_name] = [ids[index % shardCount], queues[index % shardCount]];
    expect(found[index]?.body).toMatchObject({ id, payload: btoa(queue_name ?? "") });
    expect(explained[index]?.body).toMatchObject({ id, item: { id, queue_name } });
    expect(infos[index]?.body).toMatchObject({ task_id: tasks[index % shardCount], queue_name });
  }
  for (const { body } of await everywhere(() => calls.call("tasks.list", {}))) {
    const listed = body.tasks.map(({ task_id }: { task_id: string }) => task_id);
    expect(listed).toEqual(expect.arrayContaining(tasks));
  }
  for (const { body } of await everywhere(() => calls.call("actions.list", { limit: 1_000 }))) {
    const made = body.items.filter(({ operation }: never) => operation === "createQueue");
    const named = made.map(({ queue_name }: never) => queue_name);
    expect(named).toEqual(expect.arrayContaining(queues));
  }
  for (const path of ["items.get", "items.explain"]) {
    const unknown = await everywhere(() => calls.call(`storage/${path}`, { id: "1".repeat(27) }));
    expect(new Set(unknown.map(({ body }) => body.reason ?? body.item)).size).toBe(1);
  }
  const cancels = await everywhere(() => calls.call("tasks.cancel", { task_id: "x" }));
  expect(new Set(cancels.map(({ body }) => body.reason))).toEqual(new Set(["no_such_task"]));
});

test("every thread reports the same history of items", async () => {
  for (const shard of shards) {
    const queue = queueOf(shard, "told");
    await calls.createQueue(queue);
    await calls.produce(queue, "a", "b");
    for (const { body } of await everywhere(() =>
      calls.call("queue.stats", { queue_name: queue }),
    )) {
      expect(body.logical_queues).toMatchObject([{ counters: { produced: 2, leased: 0 } }]);
    }
    for (const path of ["queue.explain", "queue.clients"]) {
      for (const { body } of await everywhere(() => calls.call(path, { queue_name: queue }))) {
        expect(body).not.toHaveProperty("reason");
      }
    }
  }
  for (const { body } of await everywhere(() =>
    calls.call("server.series", { names: ["produced"] }),
  ))
    expect(body).toMatchObject({ queue_name: "", since: expect.stringMatching(/^2/) });
});

test("metrics: include all threads and shards, through any thread", async () => {
  const name = 'holdfast_requests_total{operation="queueInfo",code="200"}';
  const before = (await calls.metric(name)) || 0;
  const queues = shards.map((shard) => queueOf(shard, "counted"));
  for (const queue of queues) await calls.createQueue(queue);
  await everywhere(() => calls.call("queues.info", { queue_name: queues[1] }));
  for (const count of await everywhere(() => calls.metric(name))) {
    expect(count).toBe(before + connectionCount);
  }
  for (const { text } of await everywhere(() => calls.page("metrics"))) {
    const up = text.split("\n").filter((line) => line.startsWith("holdfast_shard_up{"));
    expect(up).toEqual(shards.map((shard) => `holdfast_shard_up{shard="${shard}"} 1`));
    for (const shard of shards) {
      expect(text).toMatch(new RegExp(`holdfast_commits_total{shard="${shard}"} [1-9]`));
      expect(text).toContain(`queue="${queues[shard]}"`);
    }
  }
});

test("refusals are the same as with one thread", async () => {
  for (const shard of shards) {
    const queue_name = queueOf(shard, "missing");
    for (const { code, body } of await everywhere(() =>
      calls.call("queue.inspect", { queue_name }),
    ))
      expect([code, body.reason]).toEqual([400, "no_such_queue"]);
  }
  for (const { code, body } of await everywhere(() => calls.call("queue.inspect", { queue: "x" })))
    expect([code, body.reason]).toEqual([400, "malformed"]);
  for (const { body } of await everywhere(() => calls.call("../backup", {})))
    expect(body).toMatchObject({ code: 453, reason: "backups_off" });
  for (const { body } of await everywhere(() => calls.call("clock.advance", { by: "1s" })))
    expect(body).toMatchObject({ code: 453, reason: "no_test_clock" });
  for (const { body } of await everywhere(() => calls.call("nodes.list", {})))
    expect(body).toMatchObject({ items: [] });
  for (const { body } of await everywhere(() => calls.call("server.keys", {})))
    expect(body).toEqual({ items: [] });
  for (const { body } of await everywhere(() => calls.call("server.whoami", {})))
    expect(body).toMatchObject({ name: "", keys_required: false });
  for (const path of ["health", "readyz", "livez"]) {
    for (const { code } of await everywhere(() => calls.page(path))) expect(code).toBe(200);
  }
  const health = await everywhere(async () => JSON.parse((await calls.page("health")).text));
  for (const body of health)
    expect(body).toMatchObject({ status: "ok", shards: shardCount, shards_up: shardCount });
});

test.each(shards)("every thread answers protobuf in the same way; shard %p", async (shard) => {
  const queue = queueOf(shard, "protobuf");
  await calls.createQueue(queue);
  const type = "application/protobuf";
  const call = async (id: OperationId, values: Values) => {
    const { request, reply } = operationMessages[id];
    const response = await fetch(calls.url + operations[id].path, {
      ...{ method: "POST", body: encoded(request, values) },
      headers: { "content-type": type, connection: "close" },
    });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
    return decoded(reply, await response.bytes());
  };
  const bytes = Array.from({ length: connectionCount }, (_, index) =>
    Buffer.from([0, 255, index, 0xc3, 10]).toString("base64"),
  );
  await everywhere((index) =>
    call("produce", {
      queue_name: queue,
      ...timed,
      items: [{ bytes: bytes[index], kind: "\u{1f600}" }],
    }),
  );
  const leases = await everywhere((index) =>
    call("lease", { queue_name: queue, client_id: `${index}`, batch_size: 1, ...timed }),
  );
  const items = leases.flatMap((lease) => lease["items"] as { bytes: string; kind: string }[]);
  expect(items.map((item) => item.bytes).sort()).toEqual(bytes.toSorted());
  expect(new Set(items.map(({ kind }) => kind))).toEqual(new Set(["\u{1f600}"]));
  for (const { items: listed } of await everywhere(() =>
    call("listQueues", { pivot: "", limit: 1_000 }),
  ))
    expect(listed).toEqual(
      expect.arrayContaining([expect.objectContaining({ queue_name: queue })]),
    );
});

test("a second server is refused the port, whether it has threads or not", async () => {
  for (const flags of [shardFlags, ["--shards", "1"]]) {
    const data = ["--data", join(folder, "second"), "--port", String(server.port)];
    const { code, output } = await runServer([...data, ...flags]);
    expect({ code, output }).toEqual({
      code: 3,
      output: `port is in use; another program listens on 127.0.0.1:${server.port}\n`,
    });
  }
});

test("a second server is refused the data, and leaves the first its own", async () => {
  const data = join(folder, "data");
  const { code, output } = await runServer(["--data", data, "--port", "0", ...shardFlags]);
  expect({ code, output }).toEqual({ code: 3, output: expect.stringContaining("data folder") });
  expect((await calls.page("readyz")).code).toBe(200);
});
