// What it costs to be one of several nodes: how long nobody is served when the owner of the shards
// is killed or stopped, which calls fail meanwhile, and what a call costs that another node forwards.

import { createQueue } from "./calls.ts";
import { Cluster, type NodeProcess, queueOf, settings } from "./cluster.ts";
import { Connection } from "./http-client.ts";
import { LoadProcess } from "./load-process.ts";
import { NodesLoad } from "./nodes-load.ts";
import type { Work } from "./orders.ts";
import type { Figures } from "./run-cell.ts";
import { median, Samples } from "./statistics.ts";

const nodesCount = 3;
const takeovers = 50;
const drains = 5;
/** Between what happens to nodes, so that they know each other again. */
const pauseMs = 1_000;

async function withNodes(use: (cluster: Cluster) => Promise<Figures>): Promise<Figures> {
  const cluster = new Cluster();
  try {
    await cluster.startDatabase();
    const options = { lease: "5s", flags: ["--log-level", "error"] };
    await Promise.all(Array.from({ length: nodesCount }, () => cluster.start(options)));
    await queueOf(await cluster.owner()).create(settings);
    return await use(cluster);
  } finally {
    await cluster.end();
  }
}

async function startAgain(cluster: Cluster, { port }: NodeProcess): Promise<void> {
  await cluster.start({ port, lease: "5s", flags: ["--log-level", "error"] });
  await Bun.sleep(pauseMs);
}

/** From the SIGKILL of the owner until another node has leased an item. */
export function takeover(): Promise<Figures> {
  return withNodes(async (cluster) => {
    const times = new Samples();
    for (let round = 0; round < takeovers; round += 1) {
      const owner = await cluster.owner();
      const other = cluster.nodes.find((node) => node !== owner);
      if (other === undefined) throw new Error("no other node is there");
      await queueOf(owner).produce("kept");
      // Somewhere between two signs of life.
      await Bun.sleep((round * 500) / takeovers);
      const begin = performance.now();
      void owner.stop("SIGKILL");
      const held = await queueOf(other).lease({ batch: 1, timeoutMs: 60_000 });
      times.add(performance.now() - begin);
      if (held === null) throw new Error("nothing was leased after the owner was killed");
      await held.complete();
      await startAgain(cluster, owner);
    }
    const { calls, ...found } = times.times();
    return { takeovers: calls, ...found };
  });
}

/** Under steady calls by the other nodes. */
export function drain(): Promise<Figures> {
  return withNodes(async (cluster) => {
    const pauses: number[] = [];
    let failed = 0;
    let calls = 0;
    for (let round = 0; round < drains; round += 1) {
      const owner = await cluster.owner();
      const load = new NodesLoad(() => cluster.nodes.filter((node) => node !== owner));
      await Bun.sleep(pauseMs);
      await owner.stop();
      await Bun.sleep(pauseMs);
      const figures = await load.stop();
      pauses.push(figures.longestMs);
      failed += figures.failed;
      calls += figures.calls;
      await startAgain(cluster, owner);
    }
    return { drains, calls, failed, longestMs: Math.max(...pauses), medianMs: median(pauses) };
  });
}

/** Every node is stopped and started again, under calls by all of them. */
export function rolling(): Promise<Figures> {
  return withNodes(async (cluster) => {
    const load = new NodesLoad(() => cluster.nodes);
    await Bun.sleep(pauseMs);
    for (const node of cluster.nodes) {
      await node.stop();
      await startAgain(cluster, node);
    }
    return { ...(await load.stop()) };
  });
}

const warmUps = 2;
const runs = 5;

/** The same calls by the owner and by another node, in turn. */
export function forwarded(itemsPerCall: number): Promise<Figures> {
  return withNodes(async (cluster) => {
    const owner = await cluster.owner();
    const other = cluster.nodes.find((node) => node !== owner) ?? owner;
    const connection = await Connection.open(owner.port);
    const load = await LoadProcess.start();
    const rates: Record<"local" | "forwarded", number[]> = { local: [], forwarded: [] };
    const times: Record<"local" | "forwarded", number[]> = { local: [], forwarded: [] };
    try {
      for (let run = 0; run < warmUps + runs; run += 1) {
        for (const side of run % 2 === 0
          ? (["local", "forwarded"] as const)
          : (["forwarded", "local"] as const)) {
          const items = itemsPerCall * Math.round(10_000 / itemsPerCall ** 0.4);
          const queue = `${side}-${run}`;
          const work: Work = {
            queue,
            items,
            itemsPerCall,
            payloadBytes: 100,
            connections: 64,
            backlog: 0,
          };
          await createQueue(connection, { queue, partitions: 2 });
          await load.prepare(side === "local" ? owner.port : other.port, work);
          const { seconds, produce } = await load.run("produce");
          if (run < warmUps) continue;
          rates[side].push(items / seconds);
          times[side].push(produce.p50Ms);
        }
      }
    } finally {
      connection.close();
      await load.stop();
    }
    const ratios = (of: typeof rates): number =>
      median(of.forwarded.map((figure, index) => figure / (of.local[index] ?? 1)));
    return {
      "local.itemsPerSecond": median(rates.local),
      "forwarded.itemsPerSecond": median(rates.forwarded),
      "forwarded.overLocal": ratios(rates),
      "local.p50Ms": median(times.local),
      "forwarded.p50Ms": median(times.forwarded),
      "forwarded.p50OverLocal": ratios(times),
    };
  });
}
