// Measures the cost of forwarding: the same calls to the owner of a shard, and to another node.

import { Cluster, queueOf, settings } from "../../testing/cluster.ts";
import { usageOf } from "../../testing/process-usage.ts";
import { createQueue } from "../load/calls.ts";
import { inTurn, medianRatio } from "../load/in-turn.ts";
import { LoadProcess } from "../load/load-process.ts";
import type { Figures } from "../report/results.ts";
import { median } from "../report/statistics.ts";

const nodesCount = 3;
const clusterShards = 16;

async function withNodes(use: (cluster: Cluster) => Promise<Figures>): Promise<Figures> {
  const cluster = new Cluster({ shards: clusterShards });
  try {
    await cluster.startDatabase();
    const options = { lease: "5s", flags: ["--log-level", "error"] };
    await Promise.all(Array.from({ length: nodesCount }, () => cluster.start(options)));
    await queueOf(await cluster.owner()).create(settings);
    await untilShared(cluster);
    return await use(cluster);
  } finally {
    await cluster.end();
  }
}

/** The same calls to the owner and to another node, in turn. */
export function forwarded(itemsPerCall: number): Promise<Figures> {
  return withNodes(async (cluster) => {
    const owner = await cluster.owner();
    const other = cluster.nodes.find((node) => node !== owner) ?? owner;
    await using load = await LoadProcess.start();
    const spent = (): Figures => ({
      ownerMicros: 1e6 * usageOf(owner.pid).cpuSeconds,
      forwarderMicros: 1e6 * usageOf(other.pid).cpuSeconds,
      databaseMicros: 1e6 * cluster.databaseSeconds,
    });
    const items = itemsPerCall * Math.round(10_000 / itemsPerCall ** 0.4);
    const sides = ["local", "forwarded"] as const;
    const found = await inTurn(sides, { warmUps: 2, turns: 5 }, async (side, turn) => {
      // The braces place it in the shard of "orders".
      const queue = `{orders}${side}-${turn}`;
      await createQueue(owner.port, queue, 2);
      const { port } = side === "local" ? owner : other;
      await load.prepare(port, { queue, items, itemsPerCall, connections: 64 });
      const before = spent();
      const { seconds, produce } = await load.run("produce");
      const figures: Figures = { itemsPerSecond: items / seconds, p50Ms: produce.p50Ms };
      for (const [name, micros] of Object.entries(spent())) {
        figures[name] = (micros - (before[name] ?? 0)) / (items / itemsPerCall);
      }
      return figures;
    });
    const valuesOf = (side: (typeof sides)[number], figure: string): number[] =>
      found[side].map((figures) => figures[figure] ?? Number.NaN);
    const ratio = (figure: string): number =>
      medianRatio(valuesOf("forwarded", figure), valuesOf("local", figure));
    const medians = sides.flatMap((side) =>
      Object.keys(found[side][0] ?? {}).map((figure) => [
        `${side}.${figure}`,
        median(valuesOf(side, figure)),
      ]),
    );
    return {
      ...Object.fromEntries(medians),
      "forwarded.overLocal": ratio("itemsPerSecond"),
      "forwarded.p50OverLocal": ratio("p50Ms"),
    };
  });
}

/**
 * Waits until no node has two shards more than another, so that no shard is handed over any more.
 */
async function untilShared(cluster: Cluster): Promise<void> {
  for (;;) {
    const rows = await cluster.ownerRows();
    const counts = cluster.nodes.map(
      ({ nodeUrl }) => rows.filter(({ url }) => url === nodeUrl).length,
    );
    const isFree = rows.some(({ url }) => url === null);
    if (!isFree && Math.max(...counts) - Math.min(...counts) <= 1) return;
    await Bun.sleep(50);
  }
}
