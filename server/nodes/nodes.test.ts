// Several nodes on one database, as processes: any takes any call, and what was acknowledged
// outlives each of them.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createClient } from "../../client/client.ts";
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
