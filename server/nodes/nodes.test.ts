// Several nodes on one database, as processes: any takes any call, and what was acknowledged
// outlives each of them.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createClient } from "../../client/client.ts";
import type { NodeInfo } from "../../openapi/schemas.ts";
import { Cluster, type NodeProcess, ordersOf, ordersSettings } from "./testing/cluster.ts";

const cluster = new Cluster();
const nodes: NodeProcess[] = [];

beforeAll(async () => {
  await cluster.startDatabase();
  for (let count = 0; count < 3; count += 1) nodes.push(await cluster.start());
}, 180_000);
afterAll(() => cluster.end(), 60_000);

const node = (index: number): NodeProcess => nodes[index] as NodeProcess;

test("any node takes any call", async () => {
  await ordersOf(node(1)).create(ordersSettings);
  for (const one of nodes) await ordersOf(one).produce(["a", "b"]);
  expect(await ordersOf(node(2)).inspect()).toMatchObject({ queued: 6 });
  const held = await ordersOf(node(2)).lease({ batch: 2 });
  await held?.complete();
  expect(await ordersOf(node(1)).inspect()).toMatchObject({ queued: 4 });
}, 60_000);

const listed = ({ url }: NodeProcess) => createClient({ url }).listNodes({});

test("each node says who has the shards", async () => {
  for (const one of nodes) {
    // Each looks in its own rhythm, and one has joined just now.
    let items: readonly NodeInfo[] = [];
    while (items.length < nodes.length) ({ items } = await listed(one));
    const { epoch } = await listed(one);
    expect(items.map(({ url }) => url)).toEqual(nodes.map(({ url }) => url).sort());
    expect(items.filter(({ owner }) => owner)).toMatchObject([{ url: node(0).url }]);
    expect(epoch).toBe(1);
    const metrics = await (await fetch(`${one.url}/metrics`)).text();
    expect(metrics).toContain(`\nholdfast_node_owner ${one === node(0) ? 1 : 0}\n`);
    expect(metrics).toContain("\nholdfast_nodes 3\n");
    expect((await fetch(`${one.url}/readyz`)).status).toBe(200);
  }
}, 60_000);

test("a refusal of another node is told as it was said", async () => {
  const client = createClient({ url: node(2).url });
  const missing = client.queueInfo({ queue_name: "missing" });
  expect(await missing.catch((error: unknown) => error)).toMatchObject({
    message: "queue does not exist; no such queue named 'missing'",
  });
}, 60_000);

test("a lease that waits at one node is given what is produced at another", async () => {
  const waiting = createClient({ url: node(2).url }).queue("late");
  await waiting.create(ordersSettings);
  const held = waiting.lease({ batch: 1, timeoutMs: 60_000 });
  await ordersOf(node(1)).produce("elsewhere");
  await createClient({ url: node(1).url })
    .queue("late")
    .produce("here");
  expect((await held)?.items.map((item) => item.text())).toEqual(["here"]);
}, 90_000);

test("what was acknowledged is there after the owner was killed, and calls go on", async () => {
  const before = await ordersOf(node(1)).inspect();
  await node(0).stop("SIGKILL");
  // Sent before anyone has taken over.
  await Promise.all(nodes.slice(1).map((one) => ordersOf(one).produce("more")));
  expect(await ordersOf(node(2)).inspect()).toMatchObject({ queued: before.queued + 2 });
}, 90_000);

test("the owner is drained, and no call fails", async () => {
  const fourth = await cluster.start();
  const before = await ordersOf(fourth).inspect();
  const stopped = Promise.all([node(1).stop(), node(2).stop()]);
  for (let count = 0; count < 20; count += 1) await ordersOf(fourth).produce("more");
  expect(await stopped).toEqual([0, 0]);
  expect(await ordersOf(fourth).inspect()).toMatchObject({ queued: before.queued + 20 });
}, 120_000);
