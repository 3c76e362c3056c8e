// What it costs to be one of several nodes: how long a queue is not served when the owner of its shard
// is killed or stopped, which calls fail meanwhile, what a call costs that another node forwards, and
// what more nodes give.

import { nameIn } from "../engine/simulation/bundle.ts";
import { call, createQueue } from "./calls.ts";
import { Cluster, type NodeProcess, queueOf, settings } from "./cluster.ts";
import { Connection } from "./http-client.ts";
import { LoadProcess } from "./load-process.ts";
import { NodesLoad } from "./nodes-load.ts";
import type { Work } from "./orders.ts";
import { usageOf } from "./process-usage.ts";
import type { Figures } from "./run-cell.ts";
import { median, Samples } from "./statistics.ts";
import { Wire } from "./wire.ts";

const nodesCount = 3;
const clusterShards = 16;
const takeovers = 50;
const drains = 5;
/** Between what happens to nodes, so that they know each other again. */
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
 * From the SIGKILL of the owner until another node has leased an item; and how long calls to a queue of
 * that other node take meanwhile, and just before.
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
      // Somewhere between two signs of life.
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

/** A queue in each shard. */
async function createEverywhere(cluster: Cluster): Promise<void> {
  const node = await cluster.owner();
  for (let shard = 0; shard < clusterShards; shard += 1) {
    await queueOf(node, elsewhereIn(shard)).create(settings);
  }
}

/** Another node, and a queue of which it has the shard. */
async function elsewhere(cluster: Cluster, node: NodeProcess): Promise<[NodeProcess, string]> {
  for (;;) {
    for (const [shard, { url }] of (await cluster.ownerRows()).entries()) {
      const other = cluster.nodes.find(({ nodeUrl }) => nodeUrl === url);
      if (other !== undefined && other !== node) return [other, elsewhereIn(shard)];
    }
    await Bun.sleep(pauseMs);
  }
}

/** Produces, one call after the other. */
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
    const rates: Record<Side, number[]> = { local: [], forwarded: [] };
    const times: Record<Side, number[]> = { local: [], forwarded: [] };
    const micros: Record<Side, Spent[]> = { local: [], forwarded: [] };
    const spent = (): Spent => ({
      owner: usageOf(owner.pid).cpuSeconds,
      forwarder: usageOf(other.pid).cpuSeconds,
      database: cluster.databaseSeconds,
    });
    try {
      for (let run = 0; run < warmUps + runs; run += 1) {
        for (const side of run % 2 === 0
          ? (["local", "forwarded"] as const)
          : (["forwarded", "local"] as const)) {
          const items = itemsPerCall * Math.round(10_000 / itemsPerCall ** 0.4);
          // In the shard of "orders".
          const queue = `{orders}${side}-${run}`;
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
          const before = spent();
          const { seconds, produce } = await load.run("produce");
          if (run < warmUps) continue;
          micros[side].push(perCall(before, spent(), items / itemsPerCall));
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
      ...microsOf("local", micros.local),
      ...microsOf("forwarded", micros.forwarded),
    };
  });
}

type Side = "local" | "forwarded";

/** Processor time, by who takes it. */
interface Spent {
  readonly owner: number;
  readonly forwarder: number;
  readonly database: number;
}

const spenders = ["owner", "forwarder", "database"] as const;

/** From seconds to microseconds a call. */
function perCall(before: Spent, after: Spent, calls: number): Spent {
  const micros = (one: keyof Spent): number => (1e6 * (after[one] - before[one])) / calls;
  return { owner: micros("owner"), forwarder: micros("forwarder"), database: micros("database") };
}

function microsOf(side: Side, all: readonly Spent[]): Figures {
  return Object.fromEntries(
    spenders.map((one) => [`${side}.${one}Micros`, median(all.map((spent) => spent[one]))]),
  );
}

const spreads = [1, 2, 4];
const commitDelayMs = 5;
const clientsPerShard = 4;
const spreadMs = 5_000;

/**
 * One shard for each node, and a database that is 5 ms away: the rate is bounded by how many shards
 * commit, and so, with a shard each, by how many nodes there are. Calls go to all nodes in turn, so
 * most take a hop.
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

/** No node has two shards more than another, so that none is handed over any more. */
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
  const first = await Connection.open(ports[0] ?? 0);
  for (const queue of queues) await createQueue(first, { queue, partitions: 1 });
  first.close();
  let calls = 0;
  let isOver = false;
  const clients = queues.flatMap((queue, shard) =>
    Array.from({ length: clientsPerShard }, async (_, client) => {
      const connection = await Connection.open(ports[(shard + client) % ports.length] ?? 0);
      const body = { queue_name: queue, request_timeout: "1m", items: [{ utf8: "steady" }] };
      while (!isOver) {
        await call(connection, "/v1/queue.produce", body);
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
