// Calls about all shards while a node that owns some of them is stopped: they are answered without
// these shards, long before its leases end, and with them once it continues.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createClient } from "../../client/client.ts";
import { shardOf } from "../../engine/model/placement.ts";
import { Cluster, type NodeProcess, settings, wholeReply } from "../../testing/cluster.ts";

const shards = 6;
const nodeCount = 3;
const leaseMs = 30_000;
const cluster = new Cluster({ shards });

/** Several queues per shard, in the order of lists. */
const names = Array.from({ length: 24 }, (_, at) => `queue-${at}`).sort();

beforeAll(async () => {
  await cluster.startDatabase();
  for (let count = 0; count < nodeCount; count += 1) {
    await cluster.start({ lease: `${leaseMs / 1_000}s` });
  }
  while (cluster.nodes.some(({ nodeUrl }) => countOf(nodeUrl) < shards / nodeCount)) {
    await Bun.sleep(100);
    owners = (await cluster.ownerRows()).map(({ url }) => url);
  }
}, 120_000);
afterAll(() => cluster.end());

/** The URL of each shard's owner. */
let owners: readonly (string | null)[] = [];

function countOf(nodeUrl: string): number {
  return owners.filter((url) => url === nodeUrl).length;
}

/** Returns the answer, and checks that the call did not wait for another owner. */
async function ask({ url }: NodeProcess, operation: string, body: object) {
  const startedAt = performance.now();
  const response = await fetch(`${url}/v1/${operation}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const reply = await response.json();
  expect(performance.now() - startedAt).toBeLessThan(leaseMs / 2);
  return { status: response.status, reply };
}

test("calls to all shards are answered without the shards of a suspended node", async () => {
  const [asked, stopped] = cluster.nodes as [NodeProcess, NodeProcess];
  const client = createClient({ url: asked.url });
  for (const name of names) await client.queue(name).create(settings);
  const missing = owners.flatMap((url, shard) => (url === stopped.nodeUrl ? [shard] : []));
  const isMissing = (name: string) => missing.includes(shardOf(name, shards));
  const present = names.filter((name) => !isMissing(name));
  expect([missing, present].map(({ length }) => length > 0)).toEqual([true, true]);

  const list = () => ask(asked, "queues.list", { pivot: "", limit: 100 });
  const namesIn = (items: readonly { readonly queue_name: string }[]) =>
    items.map(({ queue_name }) => queue_name);
  const all = await wholeReply(async () => (await list()).reply);
  expect(namesIn(all.items)).toEqual(names);
  const { since } = await wholeReply(() => client.overview());

  void stopped.stop("SIGSTOP");
  try {
    const { reply } = await list();
    expect([namesIn(reply.items), reply.unreached]).toEqual([present, missing]);
    const changes = await ask(asked, "server.overview", { since });
    expect(changes.reply).toMatchObject({ whole: false, unreached: missing, removed: [] });
    const fresh = await ask(asked, "server.overview", {});
    expect(fresh.reply).toMatchObject({ whole: true, unreached: missing });
    expect(fresh.reply.queues.queue_name.toSorted()).toEqual(present);
    expect((await ask(asked, "tasks.list", {})).reply.unreached).toEqual(missing);
    expect((await ask(asked, "actions.list", { limit: 10 })).reply.unreached).toEqual(missing);
    const sum = await ask(asked, "server.series", { names: ["produced"] });
    expect([sum.status, sum.reply.reason]).toEqual([503, "not_ready"]);
    const lookUp = await ask(asked, "storage/items.get", { id: "1".repeat(27) });
    expect([lookUp.status, lookUp.reply.reason]).toEqual([503, "not_ready"]);
    expect(lookUp.reply.message).toContain("the item may be there");
  } finally {
    void stopped.stop("SIGCONT");
  }
  const { items } = await wholeReply(async () => (await list()).reply);
  expect(namesIn(items)).toEqual(names);
  const { queues } = await wholeReply(() => client.overview());
  expect(queues.queue_name.toSorted()).toEqual(names);
}, 120_000);
