// Three nodes with two databases, of which the first is a primary with a synchronous standby: the
// nodes continue with the promoted standby, and the shards of the other database are unaffected.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../../client/client.ts";
import { nameIn } from "../../engine/simulation/bundle.ts";
import { isReplicatedThere, Replicated } from "../../stores/postgres/testing/replicated.ts";
import { Cluster, type NodeProcess, queueOf, settings } from "../../testing/cluster.ts";
import { underLoad } from "./testing/load.ts";

const shards = 4;
/** A queue in a shard of the second database. */
const unaffected = nameIn(1, shards, "unaffected");
let folder: string;
let database: Replicated;
let cluster: Cluster;

beforeAll(async () => {
  if (!isReplicatedThere) return;
  folder = mkdtempSync(join(tmpdir(), "holdfast-failover-"));
  database = await Replicated.start(folder);
  cluster = new Cluster({ shards, databases: 2 });
  cluster.look(database.primary.url);
  await cluster.query("CREATE ROLE holdfast SUPERUSER LOGIN");
  await cluster.startDatabase(1);
  const hosts = [database.standby.port, database.primary.port];
  const databases = [hosts, ...cluster.databasePorts.slice(1)];
  // Longer than the test takes on a slow machine.
  await Promise.all([1, 2, 3].map(() => cluster.start({ databases, lease: "30s" })));
  await database.waitForStandby();
});
afterAll(async () => {
  if (!isReplicatedThere) return;
  await cluster.end();
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Produces, leases and completes at a node until the signal is aborted; the number of cycles. */
async function cycles({ url }: NodeProcess, signal: AbortSignal): Promise<number> {
  const queue = createClient({ url, attemptsMax: 1 }).queue(unaffected);
  let count = 0;
  for (; !signal.aborted; count += 1) {
    await queue.produce("a");
    // Each loop produces an item before it leases one, so no lease waits.
    await (await queue.lease({ timeoutMs: 5_000 }))?.complete();
  }
  return count;
}

test.skipIf(!isReplicatedThere)(
  "failover of one of two databases: nothing acknowledged is lost, and no call to the other fails",
  async () => {
    const [node] = cluster.nodes as readonly [NodeProcess];
    await queueOf(node, unaffected).create(settings);
    const ofSecond = async () => (await cluster.ownerRows()).filter((_, shard) => shard % 2 === 1);
    // Shards are handed over until no node has two of this database.
    const owners = async () => new Set((await ofSecond()).map(({ url }) => url));
    while ((await owners()).size < 2 || (await owners()).has(null)) await Bun.sleep(50);
    const before = await ofSecond();
    const { faults } = await underLoad(cluster, async (progress) => {
      const over = new AbortController();
      const running = Promise.all(cluster.nodes.map((one) => cycles(one, over.signal)));
      await database.killPrimary();
      for (let call = 0; call < 20; call += 1) await queueOf(node, unaffected).produce("b");
      await database.promote();
      cluster.look(database.standby.url);
      await progress(200);
      over.abort();
      for (const count of await running) expect(count).toBeGreaterThan(0);
    });
    expect(faults).toEqual([]);
    expect(await ofSecond()).toEqual(before);
  },
);
