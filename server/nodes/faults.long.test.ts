// Nodes are killed, stopped, or cut off from their database while clients use all of them:
// acknowledged work is not lost, and each item has one holder at a time.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { Cluster, type NodeProcess, queueOf, settings } from "../../testing/cluster.ts";
import { Wire } from "../../testing/wire.ts";
import { underLoad } from "./testing/load.ts";

const cluster = new Cluster();
/** Each node's connection to the database. */
const wires = new Map<NodeProcess, Wire>();

/** Long enough that no other node loses its shards when the machine stalls for seconds. */
const lease = "12s";

async function start(port?: number): Promise<void> {
  const wire = Wire.to(cluster.databasePort);
  const where = { database: wire.port, ...(port !== undefined && { port }) };
  const node = await cluster.start({ ...where, lease });
  wires.set(node, wire);
}

beforeAll(() => cluster.startDatabase());
// Replaces the nodes that an earlier test ended.
beforeEach(async () => {
  while (cluster.nodes.length < 3) await start();
});
afterAll(() => cluster.end());

test("the owner is killed", async () => {
  const { faults } = await underLoad(cluster, async (progress) => {
    const owner = await cluster.owner();
    await owner.stop("SIGKILL");
    await cluster.takenFrom(owner);
    await progress(200);
    await start(owner.port);
    await progress(100);
  });
  expect(faults).toEqual([]);
});

test("an owner that was suspended for longer than its lease continues as a node that forwards", async () => {
  const { faults } = await underLoad(cluster, async (progress) => {
    const owner = await cluster.owner();
    void owner.stop("SIGSTOP");
    const next = await cluster.takenFrom(owner);
    await Bun.sleep(300);
    void owner.stop("SIGCONT");
    await progress(300);
    // No other node opened the shards at the same time.
    expect(next.log()).not.toContain("shard is down");
  });
  expect(faults).toEqual([]);
});

test("an owner hangs: another node answers each call at its timeout", async () => {
  const owner = await cluster.owner("hung");
  await queueOf(owner, "hung").create(settings);
  const other = cluster.nodes.find((node) => node !== owner) as NodeProcess;
  // The forwarded call opens the connection between the nodes.
  expect(await queueOf(other, "hung").inspect()).toMatchObject({ queued: 0 });
  const answered: string[] = [];
  const call = async (name: string, operation: string, body: object, key?: string) => {
    const response = await fetch(`${other.url}/v1/queue.${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key && { "idempotency-key": key }) },
      body: JSON.stringify({ queue_name: "hung", ...body }),
    });
    answered.push(name);
    return response.status;
  };
  const items = [{ utf8: "a" }];
  void owner.stop("SIGSTOP");
  try {
    // Ends once the owner is considered unreachable, which takes four seconds.
    const patient = call("patient", "produce", { request_timeout: "1m", items });
    const request_timeout = "500ms";
    const statuses = await Promise.all([
      call("lease", "lease", { request_timeout, client_id: "c", batch_size: 1 }),
      call("produce", "produce", { request_timeout, items }),
      call("keyed", "produce", { request_timeout, items }, "key-1"),
      call("complete", "complete", { request_timeout, partition: 0, ids: ["a"] }),
    ]);
    expect(statuses).toEqual([504, 504, 504, 504]);
    expect(await patient).toBe(504);
    expect(answered.at(-1)).toBe("patient");
  } finally {
    void owner.stop("SIGCONT");
  }
});

test("an owner that was suspended does not answer from outdated memory", async () => {
  const owner = await cluster.owner("stopped");
  await queueOf(owner, "stopped").create(settings);
  void owner.stop("SIGSTOP");
  const next = await cluster.takenFrom(owner, "stopped");
  await queueOf(next, "stopped").produce("behind its back");
  const looks = Array.from({ length: 8 }, () => queueOf(owner, "stopped").inspect());
  void owner.stop("SIGCONT");
  for (const look of looks) expect(await look).toMatchObject({ queued: 1 });
});

test("the owner is cut off from its database, and its last commits arrive late", async () => {
  const { faults } = await underLoad(cluster, async (progress) => {
    const owner = await cluster.owner();
    wires.get(owner)?.cut();
    await cluster.takenFrom(owner);
    await progress(200);
    wires.get(owner)?.heal();
    await progress(200);
  });
  expect(faults).toEqual([]);
});

test("an owner that is cut off from its database stops on SIGTERM", async () => {
  const owner = await cluster.owner("ended");
  await queueOf(owner, "ended").create(settings);
  wires.get(owner)?.cut();
  // The call may arrive before or after the port is closed.
  const produced = fetch(`${owner.url}/v1/queue.produce`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...{ queue_name: "ended", request_timeout: "1m", items: [{ utf8: "held up" }] },
    }),
  }).catch(() => undefined);
  expect(await owner.stop()).toBe(0);
  await produced;
});

test("no node is ready or healthy while the database is unreachable, and all are afterwards", async () => {
  const { nodes } = cluster;
  await cluster.owner();
  const reach = async (path: string, status: number) => {
    for (const { url } of nodes) {
      while ((await fetch(url + path)).status !== status) await Bun.sleep(20);
    }
  };
  await reach("/readyz", 200);
  for (const node of nodes) wires.get(node)?.cut();
  await reach("/readyz", 503);
  await reach("/health", 503);
  for (const { url } of nodes) {
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({
      ...{ reason: "not_ready", message: "the database does not answer; nothing was changed" },
    });
  }
  for (const node of nodes) wires.get(node)?.heal();
  await reach("/readyz", 200);
  await reach("/health", 200);
});
