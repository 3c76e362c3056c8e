// A cluster of processes with two databases, each with a part of the shards: if one stops, restarts
// or is unreachable, the other's shards are unaffected.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createClient } from "../../client/client.ts";
import { nameIn as nameInShard } from "../../engine/simulation/bundle.ts";
import {
  Cluster,
  type NodeProcess,
  type OwnerRow,
  queueOf,
  settings,
} from "../../testing/cluster.ts";
import { runServer } from "../../testing/server-process.ts";
import { Wire } from "../../testing/wire.ts";

const shards = 4;
const cluster = new Cluster({ shards, databases: 2 });
const lease = "3s";
const nodes: NodeProcess[] = [];
/** Each node's connection to the second database. */
const wires: Wire[] = [];
const [first, second] = [0, 1];
/** Enough for two busy cores, and far less than the wait for a database. */
const busyMsMax = 1_500;

/** Returns the name of a queue in the database. */
function nameIn(database: number, prefix: string): string {
  const names = Array.from({ length: 64 }, (_, number) => `${prefix}-${number}`);
  return names.find((name) => cluster.databaseOf(name) === database) ?? "";
}

const ofFirst = (rows: readonly OwnerRow[]) => rows.filter((_, shard) => shard % 2 === first);

/** A node with a shard in each database, and the name of a queue in either shard. */
async function ownerInBoth(prefix: string) {
  const pairs = [0, 2].flatMap((near) => [1, 3].map((away) => ({ near, away })));
  for (;;) {
    const urls = (await cluster.ownerRows()).map(({ url }) => url);
    for (const { near, away } of pairs) {
      const owner = nodes.find(({ nodeUrl }) => nodeUrl === urls[near] && nodeUrl === urls[away]);
      if (owner === undefined) continue;
      const nameOf = (shard: number) => nameInShard(shard, shards, prefix);
      return { owner, near: nameOf(near), away: nameOf(away) };
    }
    await Bun.sleep(20);
  }
}

const statusOf = async ({ url }: NodeProcess, path: string) => (await fetch(url + path)).status;

async function reach(node: NodeProcess, path: string, status: number): Promise<void> {
  while ((await statusOf(node, path)) !== status) await Bun.sleep(20);
}

const healthOf = async ({ url }: NodeProcess) => (await fetch(`${url}/health`)).json();

/** `ok`: the node sees an owner of each shard. */
async function reachHealth(node: NodeProcess, status: "ok" | "degraded"): Promise<void> {
  while ((await healthOf(node)).status !== status) await Bun.sleep(20);
}

/** Stops the second database, and resolves once each node has detected it. */
async function withoutSecond(): Promise<void> {
  await cluster.stopDatabase(second);
  for (const node of cluster.nodes) await reachHealth(node, "degraded");
}

async function withSecond(): Promise<void> {
  await cluster.startDatabase(second);
  for (const node of cluster.nodes) await reachHealth(node, "ok");
}

/** `away`: a queue in the second database. */
async function checkWithoutSecond(node: NodeProcess, away: string): Promise<void> {
  expect(await statusOf(node, "/readyz")).toBe(200);
  const shards_without_owner = [1, 3];
  expect(await healthOf(node)).toMatchObject({ status: "degraded", shards_without_owner });
  const response = await fetch(`${node.url}/v1/queue.produce`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...{ queue_name: away, request_timeout: "300ms", items: [{ utf8: "lost" }] },
    }),
  });
  expect([503, 504]).toContain(response.status);
}

/** The duration of the longest call. Each node serves calls meanwhile, and none may fail. */
async function longestWhile(queue: string, disturb: () => Promise<void>): Promise<number> {
  let isOver = false;
  const longestMs = Promise.all(
    nodes.map(async ({ url }) => {
      const calls = createClient({ url, attemptsMax: 1 }).queue(queue);
      let longest = 0;
      const timed = async <T>(call: Promise<T>): Promise<T> => {
        const begun = performance.now();
        const reply = await call;
        longest = Math.max(longest, performance.now() - begun);
        return reply;
      };
      while (!isOver) {
        await timed(calls.produce("a"));
        // Each loop produces an item before it leases one, so no lease waits.
        const leased = await timed(calls.lease({ timeoutMs: 5_000 }));
        if (leased !== null) await timed(leased.complete());
      }
      return longest;
    }),
  );
  // A failed call ends the wait.
  await Promise.race([disturb(), longestMs]);
  isOver = true;
  return Math.max(...(await longestMs));
}

beforeAll(async () => {
  await cluster.startDatabases();
  const [near, away] = cluster.databasePorts as [number, number];
  wires.push(...[1, 2, 3].map(() => Wire.to(away)));
  const starts = wires.map(({ port }) => cluster.start({ lease, databases: [near, port] }));
  nodes.push(...(await Promise.all(starts)));
  for (const node of nodes) await reachHealth(node, "ok");
});
afterAll(() => cluster.end());

test("each database has its own part of the shards, and any node accepts calls for both", async () => {
  const shardsIn = (database: number) =>
    cluster.query("SELECT shard::int FROM holdfast_nodes.shard ORDER BY shard", database);
  expect(await shardsIn(first)).toEqual([{ shard: 0 }, { shard: 2 }]);
  expect(await shardsIn(second)).toEqual([{ shard: 1 }, { shard: 3 }]);
  for (const [database, name] of [nameIn(first, "any"), nameIn(second, "any")].entries()) {
    await queueOf(nodes[0] as NodeProcess, name).create(settings);
    for (const node of nodes) await queueOf(node, name).produce("a");
    expect(await queueOf(nodes[1] as NodeProcess, name).inspect()).toMatchObject({ queued: 3 });
    const stored = `SELECT count(*)::int AS turns FROM holdfast_${database}.turn`;
    expect(await cluster.query(stored, database)).toHaveLength(1);
    expect(await cluster.query(stored, 1 - database).catch(() => "none")).toBe("none");
  }
});

test("while a database is unreachable, every node serves the queues of the other without delay", async () => {
  const [near, away] = [nameIn(first, "near"), nameIn(second, "away")];
  for (const name of [near, away]) await queueOf(nodes[0] as NodeProcess, name).create(settings);
  for (const node of nodes) await queueOf(node, away).produce("before");
  const longestMs = await longestWhile(near, async () => {
    await withoutSecond();
    for (const node of nodes) await checkWithoutSecond(node, away);
    await Bun.sleep(4_000);
    // A client that retries is answered once the database is back.
    const waiting = queueOf(nodes[2] as NodeProcess, away).produce("during", {
      ...{ key: "during", timeoutMs: 60_000 },
    });
    await withSecond();
    await waiting;
  });
  expect(longestMs).toBeLessThan(busyMsMax);
  expect((await queueOf(nodes[0] as NodeProcess, away).inspect()).queued).toBeGreaterThanOrEqual(4);
  for (const node of nodes) expect(node.log()).toContain("database 2");
});

test("while no node reaches a database, the queues of the other are served, and no shard changes its owner", async () => {
  const [near, away] = [nameIn(first, "kept"), nameIn(second, "cut")];
  for (const name of [near, away]) await queueOf(nodes[0] as NodeProcess, name).create(settings);
  for (const node of nodes) await queueOf(node, away).produce("before");
  const before = await cluster.ownerRows();
  const longestMs = await longestWhile(near, async () => {
    for (const wire of wires) wire.cut();
    for (const node of nodes) await reachHealth(node, "degraded");
    for (const node of nodes) await checkWithoutSecond(node, away);
    await Bun.sleep(4_000);
    const waiting = queueOf(nodes[1] as NodeProcess, away).produce("during", {
      ...{ key: "cut", timeoutMs: 60_000 },
    });
    for (const wire of wires) wire.heal();
    await waiting;
    for (const node of nodes) await reachHealth(node, "ok");
  });
  expect(longestMs).toBeLessThan(busyMsMax);
  expect((await queueOf(nodes[0] as NodeProcess, away).inspect()).queued).toBeGreaterThanOrEqual(4);
  expect(ofFirst(await cluster.ownerRows())).toEqual(ofFirst(before));
});

test("a node that does not reach a database keeps its shards of the other, and forwards calls for both", async () => {
  const { owner, near, away } = await ownerInBoth("held");
  for (const name of [near, away]) await queueOf(owner, name).create(settings);
  const before = await cluster.ownerRows();
  const longestMs = await longestWhile(near, async () => {
    wires[nodes.indexOf(owner)]?.cut();
    while ((await cluster.ownerRow(away)).url === owner.nodeUrl) await Bun.sleep(20);
    for (const node of nodes) await queueOf(node, away).produce("a", { timeoutMs: 60_000 });
    await Bun.sleep(3_000);
    wires[nodes.indexOf(owner)]?.heal();
    await reachHealth(owner, "ok");
  });
  expect(longestMs).toBeLessThan(busyMsMax);
  expect(await queueOf(owner, away).inspect()).toMatchObject({ queued: 3 });
  expect(ofFirst(await cluster.ownerRows())).toEqual(ofFirst(before));
});

test("a dead letter for a queue in an unreachable database arrives exactly once", async () => {
  const [near, dead] = [nameIn(first, "source"), nameIn(second, "dead")];
  const client = createClient({ url: nodes.map(({ url }) => url) });
  await client.queue(dead).create(settings);
  await client.queue(near).create({ ...settings, dead_queue: dead });
  await client.queue(near).produce("a");
  await withoutSecond();
  const held = await client.queue(near).lease();
  const items = held?.items.map(({ id }) => ({ id, dead: true, reason: "no card" })) ?? [];
  await client.retry({ queue_name: near, partition: held?.partition ?? 0, items });
  expect(items).toHaveLength(1);
  // `inspect` would wait for the dead queue, which is in the other database.
  const { logical_queues } = await client.stats({ queue_name: near });
  expect(logical_queues[0]?.counters).toMatchObject({ dead: 1 });
  // The next owner loads the shard from its database, and cannot reach the other database either.
  const owner = await cluster.owner(near);
  await owner.stop("SIGKILL");
  nodes.splice(nodes.indexOf(owner), 1, await cluster.start({ lease }));
  while ((await cluster.ownerRow(near)).url === owner.nodeUrl) await Bun.sleep(20);
  await withSecond();
  while ((await client.queue(dead).inspect()).queued === 0) await Bun.sleep(20);
  await Bun.sleep(2_000);
  expect(await client.queue(dead).inspect()).toMatchObject({ queued: 1 });
  expect(await client.queue(near).inspect()).toMatchObject({ queued: 0, leased: 0 });
});

test("a node that starts while a database is unreachable serves the other, and joins that one later", async () => {
  const [near, away] = [nameIn(first, "early"), nameIn(second, "late")];
  for (const name of [near, away]) await queueOf(nodes[0] as NodeProcess, name).create(settings);
  await withoutSecond();
  await Promise.all(nodes.map((node) => node.stop("SIGKILL")));
  const alone = await cluster.start({ lease });
  await reach(alone, "/readyz", 200);
  await queueOf(alone, near).produce("a");
  expect(await queueOf(alone, near).inspect()).toMatchObject({ queued: 1 });
  await withSecond();
  await queueOf(alone, away).produce("a");
  expect(await queueOf(alone, away).inspect()).toMatchObject({ queued: 1 });
  expect(await alone.stop()).toBe(0);
});

test("start: a different number, order or kind of databases is refused", async () => {
  const urls = cluster.databasePorts.map(
    (port) => `postgres://holdfast@127.0.0.1:${port}/postgres`,
  );
  const nodeUrl = ["--node-url", "http://127.0.0.1:1"];
  const run = async (databases: readonly string[], flags: readonly string[] = nodeUrl) => {
    const given = databases.flatMap((url) => ["--database-url", url]);
    return await runServer(["--store", "postgres", "--port", "0", ...given, ...flags]);
  };
  const refused = (text: string) => ({ code: 2, output: expect.stringContaining(text) });
  const [one = "", two = ""] = urls;
  const place = (database: number) => `'127.0.0.1:${cluster.databasePorts[database]}/postgres'`;
  expect(await run([two, one])).toEqual(
    refused(`the database is number 2 of the cluster; got it as number 1; database 1, ${place(1)}`),
  );
  expect(await run([one])).toEqual(
    refused("the cluster was made with 2 databases; got 1 of --database-url"),
  );
  const third = one.replace(/postgres$/, "template1");
  expect(await run([one, two, third])).toEqual(
    refused("the cluster was made with 2 databases; got 3 of --database-url"),
  );
  expect(await run([one], [])).toEqual(refused("the database is one of the 2 of a cluster"));
  expect(await run([one, two], [...nodeUrl, "--shards", "8"])).toEqual(
    refused("the cluster was made with 4 shards; got --shards 8"),
  );
  // If a new cluster's second database is unreachable, nothing is written to the first.
  const gone = "postgres://holdfast:secret@127.0.0.1:1/gone";
  const fresh = ["--database-schema", "fresh", ...nodeUrl];
  const { code, output } = await run([one, gone], fresh);
  expect(code).toBe(74);
  expect(output).toContain("a new cluster needs all of its databases");
  expect(output).toContain("database 2, '127.0.0.1:1/gone'");
  expect(output).not.toContain("secret");
  const schemas = "SELECT FROM pg_namespace WHERE nspname LIKE 'fresh%'";
  expect(await cluster.query(schemas)).toEqual([]);
});
