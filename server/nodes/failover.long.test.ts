// Three nodes whose database is a primary with a standby: the primary is killed, the standby is
// promoted, and the nodes continue with it.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../../client/client.ts";
import { queueNames } from "../../proof/clients/clients.ts";
import { isReplicatedThere, Replicated } from "../../stores/postgres/testing/replicated.ts";
import { Cluster, type NodeProcess, queueOf, settings } from "../../testing/cluster.ts";
import { underLoad } from "./testing/load.ts";

let folder: string;
let database: Replicated;
let cluster: Cluster;

beforeEach(async () => {
  if (!isReplicatedThere) return;
  folder = mkdtempSync(join(tmpdir(), "holdfast-failover-"));
  database = await Replicated.start(folder);
  cluster = new Cluster();
  cluster.look(database.primary.url);
  await cluster.query("CREATE ROLE holdfast SUPERUSER LOGIN");
  const hosts = [database.standby.port, database.primary.port];
  // Longer than these tests take on a slow machine.
  const options = { database: hosts, lease: "30s" };
  await Promise.all([1, 2, 3].map(() => cluster.start(options)));
});
afterEach(async () => {
  if (!isReplicatedThere) return;
  await cluster.end();
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function failOver(): Promise<void> {
  await database.killPrimary();
  await database.promote();
  cluster.look(database.standby.url);
}

/** The lost commits that each node has detected, in the order in which the nodes were started. */
function lostCommits(): Promise<number[]> {
  return Promise.all(
    cluster.nodes.map(async ({ url }) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(/^holdfast_lost_commits_total (\d+)/m.exec(text)?.[1]);
    }),
  );
}

function nodeAt(index: number): NodeProcess {
  return cluster.nodes[index] as NodeProcess;
}

/** The health status once all shards are served: until then, one may be handed over or opened. */
async function statusOf({ url }: NodeProcess): Promise<string> {
  for (;;) {
    const health = (await (await fetch(`${url}/health`)).json()) as { readonly status?: string };
    const { status = "refused" } = health;
    if (!["refused", "degraded"].includes(status)) return status;
    await Bun.sleep(20);
  }
}

/** The nodes that own the shards of these queues now. */
async function ownersOf(...queues: readonly string[]): Promise<ReadonlySet<NodeProcess>> {
  return new Set(await Promise.all(queues.map((queue) => cluster.owner(queue))));
}

/** The nodes that own a shard now. */
async function shardOwners(): Promise<ReadonlySet<NodeProcess>> {
  const urls = (await cluster.ownerRows()).map(({ url }) => url);
  return new Set(cluster.nodes.filter(({ nodeUrl }) => urls.includes(nodeUrl)));
}

test.skipIf(!isReplicatedThere)(
  "failover to a synchronous standby under load: nothing that was acknowledged is lost",
  async () => {
    await database.waitForStandby();
    const { faults } = await underLoad(cluster, async (progress) => {
      await failOver();
      await progress(200);
    });
    expect(faults).toEqual([]);
    expect(await lostCommits()).toEqual([0, 0, 0]);
    for (const node of cluster.nodes) expect(await statusOf(node)).toBe("ok");
  },
);

test.skipIf(!isReplicatedThere)(
  "failover to a standby that was behind: losses are reported, and no lost id is issued again",
  async () => {
    const queues = cluster.nodes.map((node) => queueOf(node, "behind"));
    const [first] = queues as [(typeof queues)[0]];
    await first.create(settings);
    const produce = async (queue: typeof first, name: string): Promise<readonly string[]> => {
      const items = Array.from({ length: 20 }, (_, index) => `${name} ${index}`);
      return (await queue.produce(items, { returnIds: true })).ids ?? [];
    };
    const kept = (await Promise.all(queues.map((queue) => produce(queue, "kept")))).flat();
    await database.caughtUp();
    await database.stopStandby();
    const lost = (await Promise.all(queues.map((queue) => produce(queue, "lost")))).flat();
    // Some of the lost items are leased, and some of the others were completed.
    for (const queue of queues) await (await queue.lease({ batch: 30 }))?.complete();
    for (const queue of queues) await queue.lease({ batch: 10 });
    const owners = await ownersOf("behind");
    await database.killPrimary();
    await database.startStandby();
    await database.promote();
    cluster.look(database.standby.url);
    const later = (await Promise.all(queues.map((queue) => produce(queue, "later")))).flat();
    expect(later.filter((id) => lost.includes(id))).toEqual([]);
    await expectLossTold(owners);
    await expectGone(lost);
    expect((await drain(queues)).toSorted()).toEqual([...kept, ...later].toSorted());
  },
);

test.skipIf(!isReplicatedThere)(
  "failover under load to a standby that was behind: only reported commits are lost, and all other promises hold",
  async () => {
    let owners: ReadonlySet<NodeProcess> = new Set();
    let others: ReadonlySet<NodeProcess> = new Set();
    const { faults, gone } = await underLoad(cluster, async (progress) => {
      await progress(100);
      const keptUntil = performance.now();
      await database.caughtUp();
      await database.stopStandby();
      const lostFrom = performance.now();
      const before = await shardOwners();
      await progress(300);
      owners = await ownersOf(...queueNames);
      others = new Set(cluster.nodes).difference(before.union(await shardOwners()));
      await database.killPrimary();
      await database.startStandby();
      // By now, the last answers of the primary have arrived.
      const resumedAt = performance.now();
      await database.promote();
      cluster.look(database.standby.url);
      await progress(300);
      return { keptUntil, lostFrom, resumedAt };
    });
    expect(faults).toEqual([]);
    await expectLossTold(owners);
    const counts = await lostCommits();
    expect(counts.filter((count, index) => count > 0 && others.has(nodeAt(index)))).toEqual([]);
    const { complete } = createClient({ url: nodeAt(0).url });
    for (const { queue, partition, id } of gone) {
      const work = complete({ queue_name: queue, partition, ids: [id] });
      expect(await work.catch(({ status }) => status)).toBe(453);
    }
  },
);

/** Each of these nodes reports the commits that it has acknowledged itself. */
async function expectLossTold(owners: ReadonlySet<NodeProcess>): Promise<void> {
  const counts = await lostCommits();
  for (const [index, node] of cluster.nodes.entries()) {
    if (!owners.has(node)) continue;
    expect(counts[index]).toBeGreaterThan(0);
    expect(await statusOf(node)).toBe("commits_lost");
    while (!/the database has lost .+ that had been acknowledged/.test(node.log())) {
      await Bun.sleep(10);
    }
  }
}

/** A complete of a lost item is refused with the loss, at every node. */
async function expectGone(ids: readonly string[]): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const { complete } = createClient({ url: nodeAt(index % cluster.nodes.length).url });
    for (const partition of [0, 1]) {
      const work = complete({ queue_name: "behind", partition, ids: [id] });
      expect(await work.catch(({ status }) => status)).toBe(453);
    }
  }
}

/** Leases and completes all items, at each node in turn; returns their ids. */
async function drain(queues: readonly ReturnType<typeof queueOf>[]): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    for (const queue of queues) {
      if ((await queue.inspect()).queued === 0) return found;
      const lease = await queue.lease({ batch: 10 });
      found.push(...(lease?.items.map(({ id }) => id) ?? []));
      await lease?.complete();
    }
  }
}
