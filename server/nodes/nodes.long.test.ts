// Several node processes on one database: any node accepts any call.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createClient } from "../../client/client.ts";
import type { NodeInfo } from "../../openapi/schemas.ts";
import { Cluster, type NodeProcess, queueOf, settings, wholeReply } from "../../testing/cluster.ts";
import { runServer } from "../../testing/server-process.ts";

const cluster = new Cluster();
/** Long enough that no shard is taken over when the machine stalls for seconds. */
const lease = "30s";
const nodes: NodeProcess[] = [];
const node = (index: number): NodeProcess => nodes[index] as NodeProcess;

beforeAll(async () => {
  await cluster.startDatabase();
  nodes.push(...(await Promise.all([1, 2, 3].map(() => cluster.start({ lease })))));
});
afterAll(() => cluster.end());

test("nodes that start at once on an empty database create its schema once, and share its shards out", async () => {
  await queueOf(node(0), "first").create(settings);
  for (const one of nodes) await queueOf(one, "first").produce("a");
  expect(await queueOf(node(2), "first").inspect()).toMatchObject({ queued: 3 });
  const counts = async () => {
    const rows = await cluster.ownerRows();
    return nodes.map(({ nodeUrl }) => rows.filter(({ url }) => url === nodeUrl).length).sort();
  };
  while (`${await counts()}` !== "1,1,2") await Bun.sleep(20);
});

test("any node accepts any call", async () => {
  await queueOf(node(1)).create(settings);
  for (const one of nodes) await queueOf(one).produce(["a", "b"]);
  expect(await queueOf(node(2)).inspect()).toMatchObject({ queued: 6 });
  const held = await queueOf(node(2)).lease({ batch: 2 });
  await held?.complete();
  expect(await queueOf(node(1)).inspect()).toMatchObject({ queued: 4 });
});

test("any node accepts a transact, which is atomic", async () => {
  for (const name of ["inputs", "outputs"]) await queueOf(node(0), name).create(settings);
  for (const [index, one] of nodes.entries()) {
    await queueOf(one, "inputs").produce(`${index}`);
    const client = createClient({ url: one.url });
    const held = await client.queue("inputs").lease();
    await client.transact((t) => {
      t.complete(held?.items ?? []);
      t.produce("outputs", held?.items.map((item) => item.text()) ?? []);
    });
  }
  expect(await queueOf(node(1), "inputs").inspect()).toMatchObject({ queued: 0 });
  const outputs: string[] = [];
  while (outputs.length < nodes.length) {
    const held = await queueOf(node(2), "outputs").lease({ batch: 10 });
    outputs.push(...(held?.items.map((item) => item.text()) ?? []));
  }
  expect(outputs.toSorted()).toEqual(["0", "1", "2"]);
});

test("any node returns the history of items, which the owner records", async () => {
  await queueOf(node(0), "told").create(settings);
  for (const one of nodes) await queueOf(one, "told").produce("a");
  const replies = nodes.map(async ({ url }) => {
    const client = createClient({ url });
    const { logical_queues } = await client.stats({ queue_name: "told" });
    const { since } = await client.series({ names: ["produced"] });
    return [logical_queues[0]?.counters.produced, since];
  });
  const [first, ...others] = await Promise.all(replies);
  expect(first).toEqual([3, expect.stringMatching(/^2/)]);
  for (const other of others) expect(other).toEqual(first ?? []);
});

const listed = ({ url }: NodeProcess) => createClient({ url }).listNodes({});

test("each node lists the owner of every shard", async () => {
  const rows = await cluster.ownerRows();
  const owned = ({ nodeUrl }: NodeProcess) =>
    rows.flatMap(({ url }, shard) => (url === nodeUrl ? [shard] : []));
  await queueOf(node(0), "asked").create(settings);
  for (const one of nodes) await queueOf(one, "asked").produce("a");
  for (const one of nodes) {
    // Each node polls on its own schedule, and one has just joined.
    let items: readonly NodeInfo[] = [];
    while (items.length < nodes.length) ({ items } = await listed(one));
    const { shards } = await listed(one);
    expect(shards).toEqual(
      rows.map(({ url, epoch }, shard) => ({
        ...{ shard, node: url ?? "", epoch },
        taken_at: expect.stringMatching(/^20.*Z$/),
      })),
    );
    for (const other of nodes) {
      expect(items.find(({ url }) => url === other.nodeUrl)).toMatchObject({
        shards: owned(other),
      });
    }
    // The metrics count a shard once it is open.
    const has = `\nholdfast_node_shards ${owned(one).length}\n`;
    let metrics = "";
    while (!metrics.includes(has)) metrics = await (await fetch(`${one.url}/metrics`)).text();
    expect(metrics).toContain("\nholdfast_nodes 3\n");
    // Only the nodes that do not own the shard forward calls.
    if (one !== (await cluster.owner("asked"))) {
      expect(metrics).toMatch(/^holdfast_node_forwarded_total\{operation="produce"\} [1-9]/m);
      expect(metrics).toMatch(/^holdfast_node_forwarded_seconds_sum\{.*"produce"\} .*[1-9]/m);
    }
    expect((await fetch(`${one.url}/readyz`)).status).toBe(200);
  }
});

test("a node that was killed is listed as gone, even if its last heartbeat is dated an hour ahead", async () => {
  const own = new Cluster();
  await own.startDatabase();
  const [looks, killed] = [await own.start(), await own.start()];
  const lives = async () =>
    (await listed(looks)).items.find(({ url }) => url === killed.nodeUrl)?.live;
  while ((await lives()) !== true) await Bun.sleep(20);
  await killed.stop("SIGKILL");
  await own.query(
    `UPDATE holdfast_nodes.node SET seen_at = seen_at + 3600000 WHERE url = '${killed.nodeUrl}'`,
  );
  while ((await lives()) !== false) await Bun.sleep(20);
  await own.end();
});

test("each node returns the overview, explanations and clients of all shards", async () => {
  const looks = await Promise.all(
    nodes.map(({ url }) => wholeReply(() => createClient({ url }).overview())),
  );
  const queues = looks.map((look) => look.queues.queue_name.toSorted());
  for (const told of queues) expect(told).toEqual(queues[0] ?? []);
  const queue_name = "looked-at";
  await queueOf(node(0), queue_name).create(settings);
  for (const one of nodes) {
    const queue = queueOf(one, queue_name);
    expect(await queue.explain()).toMatchObject({ queue_name, health: "empty" });
    expect(await queue.clients()).toMatchObject({ queue_name, holding: [], partial: false });
  }
});

test("listNodes: takes no parameters", async () => {
  const body = JSON.stringify({ node: 1 });
  const init = { method: "POST", headers: { "content-type": "application/json" }, body };
  const response = await fetch(`${node(1).url}/v1/nodes.list`, init);
  expect(await response.json()).toMatchObject({
    ...{ code: 400, message: "node is unknown; expected no key" },
  });
});

test("a refusal by another node is forwarded unchanged", async () => {
  for (const { url } of nodes) {
    const missing = createClient({ url }).queueInfo({ queue_name: "missing" });
    expect(await missing.catch((error: unknown) => error)).toMatchObject({
      message: "queue does not exist; no such queue named 'missing'",
    });
  }
});

test("a lease that waits at one node is granted items that are produced at another", async () => {
  await queueOf(node(2), "late").create(settings);
  const waiting = nodes.map((one) => queueOf(one, "late").lease({ batch: 1, timeoutMs: 60_000 }));
  for (const [index, one] of nodes.entries()) await queueOf(one, "late").produce(`item ${index}`);
  const held = await Promise.all(waiting);
  const texts = held.flatMap((batch) => batch?.items.map((item) => item.text()) ?? []);
  expect(texts.toSorted()).toEqual(["item 0", "item 1", "item 2"]);
});

test("a node finds, explains and redrives items of shards that another node owns", async () => {
  const [first, second] = nodes as [NodeProcess, NodeProcess];
  const dead = queueOf(first, "found-dead");
  await dead.create(settings);
  const queue = queueOf(first, "found");
  await queue.create({ ...settings, dead_queue: "found-dead" });
  const { ids = [] } = await queue.produce(["a", "b"], { returnIds: true });
  const held = await queue.lease({ batch: 2 });
  const items = held?.items.map(({ id }) => ({ id, dead: true, reason: "no card" })) ?? [];
  const client = createClient({ url: second.url });
  await client.retry({ queue_name: "found", partition: held?.partition ?? 0, items });
  const find = () =>
    Array.fromAsync(queueOf(second, "found-dead").find({ filter: { reason: "no card" } }));
  // In transit between shards, the items are in neither queue.
  let found = await find();
  while (found.length < ids.length) found = await find();
  expect(found.map(({ origin_id = "" }) => origin_id).toSorted()).toEqual([...ids].toSorted());
  const [id = ""] = ids;
  expect(await client.explainItem({ id })).toMatchObject({ item: { queue_name: "found-dead" } });
  const { task_id, matched } = await dead.redrive();
  expect(matched).toBe(2);
  // Each node reports the task, whichever node started it.
  for (const one of nodes) {
    const { taskInfo } = createClient({ url: one.url });
    while ((await taskInfo({ task_id })).state === "running") await Bun.sleep(5);
    expect(await taskInfo({ task_id })).toMatchObject({ state: "done", moved: 2 });
  }
  while ((await queue.inspect()).queued < matched) await Bun.sleep(5);
  expect(await dead.inspect()).toMatchObject({ queued: 0 });
});

/** Runs a `holdfast` command at one of the nodes. */
async function typed({ url }: NodeProcess, ...words: readonly string[]) {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "../../cli/main.ts"), ...words],
    {
      env: { ...process.env, HOLDFAST_URL: url },
      stdout: "pipe",
    },
  );
  const out = await new Response(child.stdout).text();
  return { code: await child.exited, out: out.trim() };
}

/** Produces to several shards, at each node in turn, until it is stopped; collects failures. */
function producing(nodes: readonly NodeProcess[], names: readonly string[]) {
  let isOver = false;
  let produced = 0;
  const failed: string[] = [];
  const produceTo = async (name: string): Promise<void> => {
    for (let count = 0; !isOver; count += 1) {
      const { url = "" } = nodes[count % nodes.length] ?? {};
      const queue = createClient({ url, attemptsMax: 1 }).queue(name);
      await queue.produce(`${count}`).then(
        () => {
          produced += 1;
        },
        (error: Error) => void failed.push(error.message),
      );
    }
  };
  const producers = names.map(produceTo);
  return async () => {
    isOver = true;
    await Promise.all(producers);
    return { produced, failed };
  };
}

test("drainNode: the node hands its shards over while clients produce, and gets its share back when the request is undone", async () => {
  const own = new Cluster({ shards: 6 });
  await own.startDatabase();
  const three = await Promise.all([1, 2, 3].map(() => own.start({ lease: "10s" })));
  const [drained, asked, third] = three as [NodeProcess, NodeProcess, NodeProcess];
  const held = async () => {
    const rows = await own.ownerRows();
    return three.map(({ nodeUrl }) => rows.filter(({ url }) => url === nodeUrl).length).join();
  };
  while ((await held()) !== "2,2,2") await Bun.sleep(20);
  const names = Array.from({ length: 8 }, (_, index) => `orders-${index}`);
  for (const name of names) await queueOf(asked, name).create(settings);
  const stop = producing(three, names);
  const { nodeUrl } = drained;
  expect(await typed(asked, "nodes", "drain", nodeUrl)).toEqual({
    ...{
      code: 0,
      out: `${nodeUrl} hands its 2 shards over; \`holdfast nodes\` shows how many it still has`,
    },
  });
  while ((await held()) !== "0,3,3") await Bun.sleep(20);
  // The drained node keeps polling, and takes over no shards.
  const state = async () => (await listed(third)).items.find(({ url }) => url === nodeUrl);
  const seen = (await state())?.seen_at ?? "";
  while (((await state())?.seen_at ?? "") <= seen) await Bun.sleep(100);
  expect(await state()).toMatchObject({ draining: true, live: true, shards: [] });
  expect(await held()).toBe("0,3,3");
  expect((await fetch(`${drained.url}/readyz`)).status).toBe(200);
  const client = createClient({ url: drained.url });
  expect(await client.drainNode({ url: nodeUrl, draining: false })).toMatchObject({
    ...{ url: nodeUrl, draining: false, live: true },
  });
  while ((await held()) !== "2,2,2") await Bun.sleep(20);
  const { produced, failed } = await stop();
  expect(failed).toEqual([]);
  const counts = await Promise.all(names.map((name) => queueOf(drained, name).inspect()));
  expect(counts.reduce((sum, { queued }) => sum + queued, 0)).toBe(produced);
  // A list of actions is empty after a shard moves, but each node also logs its actions.
  for (const one of [asked, drained]) expect(one.log()).toContain("drainNode");
  await own.end();
});

test("start: a node whose database is unreachable stops with an error", async () => {
  const database = ["--store", "postgres", "--database-url", "postgres://nobody@127.0.0.1:1/none"];
  const { code, output } = await runServer([
    ...[...database, "--port", "0", "--node-url", "http://127.0.0.1:1"],
  ]);
  expect({ code, output }).toEqual({
    code: 74,
    output: expect.stringContaining("the database cannot be reached"),
  });
});

test("two processes with one URL do not take the shards from each other repeatedly", async () => {
  const own = new Cluster();
  await own.startDatabase();
  const first = await own.start({ lease });
  const nodePort = Number(new URL(first.nodeUrl).port);
  const second = await own.start({ lease, nodePort });
  const isTold = () =>
    [first, second].every((one) => one.log().includes("node URL used by another process"));
  while (!isTold()) await Bun.sleep(20);
  const { epoch } = await own.ownerRow();
  // The owner continues to renew its leases.
  for (let look = 0; look < 4; look += 1) {
    await own.query("UPDATE holdfast_nodes.node SET seen_at = 0");
    const seen = "SELECT FROM holdfast_nodes.node WHERE seen_at > 0";
    while ((await own.query(seen)).length === 0) await Bun.sleep(20);
  }
  expect(await own.ownerRow()).toMatchObject({ epoch });
  await own.end();
});
