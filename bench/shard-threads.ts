// What a thread for each shard gives, and what it costs that calls cross from one to another: the same
// load on servers with one shard and with two, in turn. "Many": every connection takes turns among
// queues that are spread evenly over the shards, so that with N shards (N - 1) of N calls cross,
// whichever thread a connection is in. "One": a single queue, in the shard of the main thread.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { shardOf } from "../engine/model/placement.ts";
import { createQueue, itemsLeft } from "./calls.ts";
import { checkDelivery } from "./delivery.ts";
import { Connection } from "./http-client.ts";
import { LoadProcess } from "./load-process.ts";
import type { Work } from "./orders.ts";
import { firstThreadSecondsOf, usageOf } from "./process-usage.ts";
import type { Figures, RunOptions } from "./run-cell.ts";
import { type ServerProcess, startServer } from "./server-process.ts";
import { median } from "./statistics.ts";

export const measuredShards = [1, 2] as const;
export const loads = ["many", "one"] as const;
type Load = (typeof loads)[number];

const phases = ["produce", "consume"] as const;
const callsPerItem = { produce: 1, consume: 2 } as const;
/** Runs of each load on each server; what a server does in its first run is mostly compiling. */
const warmUps = 1;
const runs = 3;

/** Even for two shards and for four. */
const many = [0, 1, 2, 3].flatMap((shard) => namesIn(shard, 4));
const queuesOf: Readonly<Record<Load, readonly string[]>> = { many, one: many.slice(0, 1) };

interface Side {
  readonly shards: number;
  readonly server: ServerProcess;
}

/** By number of shards, load and phase: the rate, and processor time by call. */
export async function shardThreads(
  itemsPerCall: number,
  { directory }: RunOptions,
): Promise<Figures> {
  const found = new Map<string, number[]>();
  const load = await LoadProcess.start();
  const sides: Side[] = [];
  try {
    for (const shards of measuredShards) sides.push(await start(directory, shards));
    for (let run = 0; run < warmUps + runs; run += 1) {
      for (const { shards, server } of run % 2 === 0 ? sides : sides.toReversed()) {
        for (const name of loads) {
          const figures = await measure(load, server, workOf(name, itemsPerCall));
          if (run < warmUps) continue;
          for (const [figure, value] of Object.entries(figures)) {
            found.getOrInsertComputed(`${shards} shards.${name}.${figure}`, () => []).push(value);
          }
        }
      }
    }
    for (const { shards, server } of sides) {
      found.set(`${shards} shards.memoryBytes`, [usageOf(server.pid).memoryBytes]);
    }
  } finally {
    await load.stop();
    await Promise.all(sides.map(({ server }) => server.stop()));
    for (const { shards } of sides) rmSync(dataOf(directory, shards), { recursive: true });
  }
  return Object.fromEntries([...found].map(([name, values]) => [name, median(values)]));
}

async function start(directory: string, shards: number): Promise<Side> {
  const data = dataOf(directory, shards);
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  const flags = ["--log-level", "error", "--shards", String(shards)];
  const server = await startServer({ data, flags });
  const connection = await Connection.open(server.port);
  for (const queue of many) await createQueue(connection, { queue, partitions: 1 });
  connection.close();
  return { shards, server };
}

async function measure(
  load: LoadProcess,
  { port, pid }: ServerProcess,
  work: Work,
): Promise<Figures> {
  await load.prepare(port, work);
  const figures: Figures = {};
  const { items, itemsPerCall } = work;
  for (const phase of phases) {
    const before = usages(pid);
    const { seconds, clientCpuSeconds, delivered } = await load.run(phase);
    const after = usages(pid);
    const [all, main] = [after.all - before.all, after.main - before.main];
    const calls = (callsPerItem[phase] * items) / itemsPerCall;
    Object.assign(figures, {
      [`${phase}.itemsPerSecond`]: items / seconds,
      [`${phase}.cpuMicrosecondsPerCall`]: (1e6 * all) / calls,
      [`${phase}.mainThreadMicrosecondsPerCall`]: (1e6 * main) / calls,
      [`${phase}.serverCores`]: all / seconds,
      [`${phase}.clientCores`]: clientCpuSeconds / seconds,
    });
    if (phase === "produce") continue;
    // Not kept while the load runs: a server closes a connection that is silent for long.
    const connection = await Connection.open(port);
    let leftFound = 0;
    for (const queue of [work.queue, ...(work.others ?? [])]) {
      leftFound += await itemsLeft(connection, queue);
    }
    connection.close();
    checkDelivery(delivered, { items, left: 0, leftFound });
  }
  return figures;
}

function workOf(load: Load, itemsPerCall: number): Work {
  const [queue = "", ...others] = queuesOf[load];
  const items = itemsPerCall * Math.round(24_000 / itemsPerCall ** 0.4);
  const shape = { itemsPerCall, payloadBytes: 100, connections: 64, backlog: 0 };
  return { queue, items, ...shape, ...(others.length > 0 && { others }) };
}

/** Four names of queues. */
function namesIn(shard: number, shardCount: number): string[] {
  const names = Array.from({ length: 100 }, (_, index) => `queue-${index}`);
  return names.filter((name) => shardOf(name, shardCount) === shard).slice(0, 4);
}

function dataOf(directory: string, shards: number): string {
  return join(directory, `data-${shards}`);
}

/** Processor seconds of a process, and of its first thread, which has the first shard. */
function usages(pid: number) {
  return { all: usageOf(pid).cpuSeconds, main: firstThreadSecondsOf(pid) };
}
