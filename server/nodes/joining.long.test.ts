// A fourth node joins while clients use the other three.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Cluster, type NodeProcess } from "../../testing/cluster.ts";
import { underLoad, unexpected } from "./testing/load.ts";

const shards = 8;
const cluster = new Cluster({ shards });

beforeAll(async () => {
  await cluster.startDatabase();
  await Promise.all([1, 2, 3].map(() => cluster.start()));
  await shared([2, 3, 3]);
});
afterAll(() => cluster.end());

/** Resolves once the nodes own these numbers of shards, and no shard is free. */
async function shared(counts: readonly number[]): Promise<void> {
  for (;;) {
    const owners = (await cluster.ownerRows()).map(({ url }) => url);
    const countOf = ({ nodeUrl }: NodeProcess) => owners.filter((url) => url === nodeUrl).length;
    if (cluster.nodes.map(countOf).sort().join() === counts.join()) return;
    await Bun.sleep(20);
  }
}

test("a joining node gets its share by hand-overs, and no call fails", async () => {
  const before = await cluster.ownerRows();
  const { faults, answers } = await underLoad(cluster, async (progress) => {
    await cluster.start();
    await shared([2, 2, 2, 2]);
    await progress(300);
  });
  expect(faults).toEqual([]);
  // Leases of one second may lapse before their complete arrives: 453.
  expect(unexpected(answers, [200, 453, 454])).toEqual([]);
  const after = await cluster.ownerRows();
  const moved = after.filter(({ url }, shard) => url !== before[shard]?.url);
  const takeovers = after.map(({ epoch }, shard) => epoch - (before[shard]?.epoch ?? 0));
  expect(moved).toHaveLength(2);
  expect(takeovers.toSorted()).toEqual([0, 0, 0, 0, 0, 0, 1, 1]);
});
