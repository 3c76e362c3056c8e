// Leases that wait at a node without the shards: they are served wherever the shards move, and no
// items are granted to clients that have left.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { createClient } from "../../client/client.ts";
import { Cluster, type NodeProcess, queueOf, settings } from "../../testing/cluster.ts";
import { Wire } from "../../testing/wire.ts";

const cluster = new Cluster({ shards: 1 });
const wires = new Map<NodeProcess, Wire>();

async function start(): Promise<NodeProcess> {
  const wire = Wire.to(cluster.databasePort);
  // Longer than a test, so that a node whose stop waits for this timeout fails the test.
  const flags = ["--shutdown-timeout-ms", "3600000"];
  // Long enough that only the node that is cut off loses its shards, even if the machine stalls for
  // seconds.
  const node = await cluster.start({ database: wire.port, flags, lease: "12s" });
  wires.set(node, wire);
  return node;
}

beforeAll(() => cluster.startDatabase());
// Replaces the nodes that an earlier test ended.
beforeEach(async () => {
  while (cluster.nodes.length < 4) await start();
});
afterEach(() => {
  for (const wire of wires.values()) wire.heal();
});
afterAll(() => cluster.end());

interface Scene {
  readonly owner: NodeProcess;
  readonly others: readonly NodeProcess[];
  /** The number of leases that wait for the queue, at all nodes. */
  waiting(): Promise<number>;
}

async function setup(queue: string): Promise<Scene> {
  const owner = await cluster.owner();
  const others = cluster.nodes.filter((node) => node !== owner);
  // An owner that is cut off before it knows any other node cannot forward calls.
  await until(async () => {
    const { items } = await createClient({ url: owner.url }).listNodes({});
    return items.filter(({ live }) => live).length === cluster.nodes.length;
  });
  await queueOf(owner, queue).create(settings);
  const waiting = async (): Promise<number> => {
    const { url } = await cluster.owner();
    const stats = await createClient({ url }).stats({ queue_name: queue });
    return stats.logical_queues[0]?.lease_waiting ?? 0;
  };
  return { owner, others, waiting };
}

function leaseAt({ url }: NodeProcess, queue: string, signal?: AbortSignal): Promise<Response> {
  const body = { queue_name: queue, client_id: url, batch_size: 1, request_timeout: "1m" };
  return fetch(`${url}/v1/queue.lease`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(20);
}

test("a client that hangs up at another node leaves the line of the owner", async () => {
  const { owner, others, waiting } = await setup("left");
  const [forwarder] = others as [NodeProcess];
  const call = new AbortController();
  const lease = leaseAt(forwarder, "left", call.signal).catch(() => "hung up");
  await until(async () => (await waiting()) === 1);
  call.abort();
  await lease;
  await until(async () => (await waiting()) === 0);
  await queueOf(owner, "left").produce("for nobody");
  expect(await queueOf(owner, "left").inspect()).toMatchObject({ queued: 1 });
});

test("waiting leases are served by the next owner after their owner was cut off from its database", async () => {
  const { owner, others, waiting } = await setup("cut");
  const all = [...others, owner];
  const leases = all.map((node) => leaseAt(node, "cut"));
  await until(async () => (await waiting()) === leases.length);
  wires.get(owner)?.cut();
  const next = await cluster.takenFrom(owner);
  for (const { url } of all) await queueOf(next, "cut").produce(url);
  const statuses = (await Promise.all(leases)).map(({ status }) => status);
  expect(statuses).toEqual(leases.map(() => 200));
  expect(await queueOf(next, "cut").inspect()).toMatchObject({ queued: 0 });
  // The node that is cut off still knows the other nodes.
  await queueOf(next, "cut").produce("behind its back");
  expect(await queueOf(owner, "cut").inspect()).toMatchObject({ queued: 1 });
});

test("a node that is cut off finds an owner that has joined since", async () => {
  const { others, waiting } = await setup("behind");
  const [deaf] = others as [NodeProcess];
  const lease = leaseAt(deaf, "behind");
  await until(async () => (await waiting()) === 1);
  wires.get(deaf)?.cut();
  const { epoch } = await cluster.ownerRow();
  const joined = await start();
  // A node that finds its own URL in a row takes the shard over.
  await cluster.query(`UPDATE holdfast_nodes.shard SET url = '${joined.nodeUrl}'`);
  await until(async () => (await cluster.ownerRow()).epoch > epoch);
  expect(await cluster.owner()).toBe(joined);
  await queueOf(joined, "behind").produce("for the deaf one");
  expect((await lease).status).toBe(200);
});

test("an owner stops even if a connected node does not detect that it leaves", async () => {
  const { owner, others, waiting } = await setup("deaf");
  const [deaf] = others as [NodeProcess];
  const lease = leaseAt(deaf, "deaf");
  await until(async () => (await waiting()) === 1);
  wires.get(deaf)?.cut();
  expect(await owner.stop()).toBe(0);
  await queueOf(await cluster.owner(), "deaf").produce("for the deaf one");
  expect((await lease).status).toBe(200);
});

test("a lease that waits at a node that shuts down is refused with that reason, and is granted no item", async () => {
  const { owner, others, waiting } = await setup("drained");
  const [forwarder] = others as [NodeProcess];
  const lease = leaseAt(forwarder, "drained");
  await until(async () => (await waiting()) === 1);
  const stopped = forwarder.stop();
  const reply = await lease;
  expect(reply.status).toBe(503);
  expect(await reply.json()).toMatchObject({
    message: "service is shutting down; nothing was changed",
  });
  expect(await stopped).toBe(0);
  await queueOf(owner, "drained").produce("for others");
  expect(await queueOf(owner, "drained").inspect()).toMatchObject({ queued: 1 });
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "a lease that waits at another node outlives an owner that has got %s",
  async (signal) => {
    const queue = signal.toLowerCase();
    const { owner, others, waiting } = await setup(queue);
    const leases = others.map((node) => leaseAt(node, queue));
    await until(async () => (await waiting()) === leases.length);
    await owner.stop(signal);
    const [next] = others as [NodeProcess];
    await queueOf(next, queue).produce(others.map(({ url }) => url));
    const statuses = (await Promise.all(leases)).map(({ status }) => status);
    expect(statuses).toEqual(leases.map(() => 200));
  },
);
