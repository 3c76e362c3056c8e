// Measures several nodes: how long a queue is unavailable after its owner was killed, the cost of a
// forwarded call, and the gain of more nodes.

import { nameIn } from "../../engine/simulation/bundle.ts";
import { Cluster, type NodeProcess, queueOf, settings } from "../../testing/cluster.ts";
import { Connection } from "../../testing/http-client.ts";
import { usageOf } from "../../testing/process-usage.ts";
import { Wire } from "../../testing/wire.ts";
import { createQueue } from "../load/calls.ts";
import { inTurn, medianRatio } from "../load/in-turn.ts";
import { LoadProcess } from "../load/load-process.ts";
import type { Figures } from "../report/results.ts";
import { median, Samples } from "../report/statistics.ts";

const nodesCount = 3;
const clusterShards = 16;
const takeovers = 50;
/** Pause between events, so that the nodes see each other again. */
const pauseMs = 1_000;

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

async function startAgain(cluster: Cluster, { port }: NodeProcess): Promise<void> {
  await cluster.start({ port, lease: "5s", flags: ["--log-level", "error"] });
  await Bun.sleep(pauseMs);
}

/**
 * Time from the SIGKILL of the owner until another node has leased an item, and the latency of
 * calls to a queue of that other node meanwhile and just before.
 */
export function takeover(): Promise<Figures> {
  return withNodes(async (cluster) => {
    const times = new Samples();
    const [before, meanwhile] = [new Samples(), new Samples()];
    await createEverywhere(cluster);
    for (let round = 0; round < takeovers; round += 1) {
      const owner = await cluster.owner();
      const [other, unharmed] = await elsewhere(cluster, owner);
      await queueOf(owner).produce("kept");
      const steady = new Steady(queueOf(other, unharmed), before);
      // At some point between two renewals of ownership.
      await Bun.sleep(pauseMs / 2 + (round * 500) / takeovers);
      steady.samples = meanwhile;
      const begin = performance.now();
      void owner.stop("SIGKILL");
      const held = await queueOf(other).lease({ batch: 1, timeoutMs: 60_000 });
      times.add(performance.now() - begin);
      await steady.stop();
      if (held === null) throw new Error("nothing was leased after the owner was killed");
      await held.complete();
      await startAgain(cluster, owner);
    }
    const { calls, ...found } = times.times();
    const [calm, troubled] = [before.times(), meanwhile.times()];
    return {
      ...{ takeovers: calls, ...found },
      "elsewhere.p99Ms": troubled.p99Ms,
      "elsewhere.p99OverBefore": troubled.p99Ms / calm.p99Ms,
    };
  });
}

const elsewhereIn = (shard: number): string => nameIn(shard, clusterShards, "elsewhere");

/** Creates a queue in each shard. */
async function createEverywhere(cluster: Cluster): Promise<void> {
  const node = await cluster.owner();
  for (let shard = 0; shard < clusterShards; shard += 1) {
    await queueOf(node, elsewhereIn(shard)).create(settings);
  }
}

/** Another node, and a queue whose shard it owns. */
async function elsewhere(cluster: Cluster, node: NodeProcess): Promise<[NodeProcess, string]> {
  for (;;) {
    for (const [shard, { url }] of (await cluster.ownerRows()).entries()) {
      const other = cluster.nodes.find(({ nodeUrl }) => nodeUrl === url);
      if (other !== undefined && other !== node) return [other, elsewhereIn(shard)];
    }
    await Bun.sleep(pauseMs);
  }
}

/** Produces sequentially. */
class Steady {
  samples: Samples;
  #isOver = false;
  readonly #working: Promise<void>;

  constructor(queue: ReturnType<typeof queueOf>, samples: Samples) {
    this.samples = samples;
    this.#working = this.#work(queue);
  }

  async #work(queue: ReturnType<typeof queueOf>): Promise<void> {
    while (!this.#isOver) {
      const begin = performance.now();
      await queue.produce("steady");
      this.samples.add(performance.now() - begin);
      await Bun.sleep(2);
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#working;
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
      await createQueue(owner.port, queue, { requested_partitions: 2 });
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

const spreads = [1, 2, 4];
const commitDelayMs = 5;
const clientsPerShard = 4;
const spreadMs = 5_000;

/**
 * One shard per node, and a database 5 ms away. The number of committing shards limits the rate,
 * and so, with a shard each, does the number of nodes. Calls go to all nodes in turn, so most are
 * forwarded.
 */
export async function spread(): Promise<Figures> {
  const figures: Figures = {};
  for (const nodes of spreads) {
    const cluster = new Cluster({ shards: nodes });
    try {
      await cluster.startDatabase();
      const wires = Array.from({ length: nodes }, () => Wire.to(cluster.databasePort));
      const flags = ["--log-level", "error"];
      await Promise.all(wires.map(({ port }) => cluster.start({ database: port, flags })));
      await untilShared(cluster);
      for (const wire of wires) wire.delay(commitDelayMs / 2);
      figures[`nodes${nodes}.callsPerSecond`] = await spreadRate(cluster);
    } finally {
      await cluster.end();
    }
  }
  const one = figures["nodes1.callsPerSecond"] ?? 0;
  for (const nodes of spreads.slice(1)) {
    figures[`nodes${nodes}.overLinear`] =
      (figures[`nodes${nodes}.callsPerSecond`] ?? 0) / (nodes * one);
  }
  return figures;
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

async function spreadRate({ nodes }: Cluster): Promise<number> {
  const ports = nodes.map(({ port }) => port);
  const queues = ports.map((_, shard) => nameIn(shard, ports.length));
  for (const queue of queues) await createQueue(ports[0] ?? 0, queue);
  let calls = 0;
  let isOver = false;
  const clients = queues.flatMap((queue, shard) =>
    Array.from({ length: clientsPerShard }, async (_, client) => {
      const connection = await Connection.open(ports[(shard + client) % ports.length] ?? 0);
      const body = { queue_name: queue, request_timeout: "1m", items: [{ utf8: "steady" }] };
      while (!isOver) {
        await connection.call("/v1/queue.produce", body);
        calls += 1;
      }
      connection.close();
    }),
  );
  await Bun.sleep(spreadMs / 5);
  const [before, begun] = [calls, performance.now()];
  await Bun.sleep(spreadMs);
  const rate = (1_000 * (calls - before)) / (performance.now() - begun);
  isOver = true;
  await Promise.all(clients);
  return rate;
}
