// A restart of the database, and nodes cut off from each other: no shard moves, and calls are
// served afterwards or fail with the true outcome.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { freePort } from "../../testing/child-server.ts";
import { Cluster, type NodeProcess, queueOf, settings } from "../../testing/cluster.ts";
import { Wire } from "../../testing/wire.ts";
import { underLoad, unexpected } from "./testing/load.ts";

const cluster = new Cluster({ shards: 1 });
/** Long enough to lapse only when a test makes it, even on a very slow machine. */
const lease = "30s";
/** The connections of the owner and of the other node to the database. */
let ownerDatabase: Wire;
let otherDatabase: Wire;
/** The connection from the other nodes to the owner. */
let link: Wire;
let owner: NodeProcess;
let other: NodeProcess;

beforeAll(async () => {
  await cluster.startDatabase();
  ownerDatabase = Wire.to(cluster.databasePort);
  otherDatabase = Wire.to(cluster.databasePort);
  const port = freePort();
  link = Wire.to(port);
  owner = await cluster.start({ database: ownerDatabase.port, port, nodePort: link.port, lease });
  other = await cluster.start({ database: otherDatabase.port, lease });
  await queueOf(owner, "plain").create(settings);
});
afterAll(() => cluster.end());
// Opens the connection, so that it can be cut.
beforeEach(async () => expect(await produceAtOther({})).toBe(200));
afterEach(() => link.heal());

interface Call {
  readonly timeout?: string;
  readonly key?: string;
}

async function produceAtOther({ timeout = "1m", key }: Call): Promise<number> {
  const item = { utf8: "by another node" };
  const reply = await fetch(`${other.url}/v1/queue.produce`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { "idempotency-key": key }) },
    body: JSON.stringify({ queue_name: "plain", request_timeout: timeout, items: [item] }),
  });
  return reply.status;
}

async function queued(): Promise<number> {
  return (await queueOf(owner, "plain").inspect()).queued;
}

async function nextLook(): Promise<void> {
  await cluster.query("UPDATE holdfast_nodes.node SET seen_at = 0");
  const seen = "SELECT FROM holdfast_nodes.node WHERE seen_at > 0";
  while ((await cluster.query(seen)).length === 0) await Bun.sleep(20);
}

test("the database is restarted for longer than a lease, and the owner stays", async () => {
  const before = await cluster.ownerRow();
  const { faults } = await underLoad(cluster, async (progress) => {
    for (const wire of [ownerDatabase, otherDatabase]) wire.cut();
    await cluster.stopDatabase();
    for (const wire of [ownerDatabase, otherDatabase]) wire.snap();
    await cluster.startDatabase();
    await cluster.query("UPDATE holdfast_nodes.shard SET lease_until = 0");
    // The other node sees the lapse first; its first poll has ended once the second one starts.
    otherDatabase.heal();
    await nextLook();
    await nextLook();
    ownerDatabase.heal();
    await progress(200);
  });
  expect(faults).toEqual([]);
  expect(await cluster.ownerRow()).toEqual(before);
});

test("calls at a node that is cut off from the owner are served once the network is repaired", async () => {
  const before = await cluster.ownerRow();
  const count = await queued();
  link.cut();
  const unsent = produceAtOther({ timeout: "100ms" });
  const [unkeyed, keyed] = [produceAtOther({}), produceAtOther({ key: "cut" })];
  // A cut connection is not closed, and only detected when nothing arrives.
  expect(await unkeyed).toBe(504);
  expect([503, 504]).toContain(await unsent);
  expect(await produceAtOther({ timeout: "100ms" })).toBe(503);
  link.heal();
  expect(await keyed).toBe(200);
  expect(await produceAtOther({ key: "cut" })).toBe(200);
  // Calls that were sent arrive late; a call that failed with 503 never does.
  expect([count + 2, count + 3, count + 4]).toContain(await queued());
  expect(await cluster.ownerRow()).toEqual(before);
});

test("a call that may have taken effect is not reported as without effect", async () => {
  const count = await queued();
  link.cut();
  const keyed = produceAtOther({ key: "late", timeout: "1s" });
  expect(await keyed).toBe(504);
  link.heal();
  expect(await produceAtOther({ key: "late" })).toBe(200);
  expect(await queued()).toBe(count + 1);
});

test("a broken connection between nodes is replaced", async () => {
  const count = await queued();
  for (let round = 0; round < 5; round += 1) {
    const keyed = produceAtOther({ key: `broken-${round}` });
    link.snap();
    expect(await keyed).toBe(200);
  }
  expect(await queued()).toBe(count + 5);
});

test("a slow database slows calls down, and neither fails them nor moves the shards", async () => {
  const before = await cluster.ownerRow();
  const { faults, answers } = await underLoad(cluster, async (progress) => {
    for (const wire of [ownerDatabase, otherDatabase]) wire.delay(100);
    await progress(300);
    for (const wire of [ownerDatabase, otherDatabase]) wire.delay(0);
    await progress(100);
  });
  expect(faults).toEqual([]);
  // Leases of one second may lapse before their complete arrives: 453.
  expect(unexpected(answers, [200, 429, 453, 454])).toEqual([]);
  expect(await cluster.ownerRow()).toEqual(before);
});
