// Measures the gain of several shard threads, and the extra cost of a call that crosses between
// threads: the same calls on a server with one shard and on one with two, in turn. With two shards,
// all calls are for the shard of their connection's thread, or all are for the other shard. Each
// thread has as many connections as the single thread of one shard, so that turns and commits are
// equally large.

import { shardOf } from "../../engine/model/placement.ts";
import {
  cpuSecondsBelow,
  machineCpuSeconds,
  secondsByThread,
  usageOf,
} from "../../testing/process-usage.ts";
import type { RunOptions } from "../cells/run-cell.ts";
import { createQueue, itemsLeft } from "../load/calls.ts";
import type { ByThread, ThreadedWork } from "../load/commands.ts";
import { checkDelivery } from "../load/delivery.ts";
import { type Loaded, withServer } from "../load/loaded-server.ts";
import type { Figures } from "../report/results.ts";
import { median } from "../report/statistics.ts";

const threadConnections = 32;

type Shards = 1 | 2;
const phases = ["produce", "consume"] as const;
/** Warm-up runs of each load; the first runs of a server are mostly compilation. */
const warmUps = 2;
const runs = 9;
/** Counted runs: those in which other programs used the least processor time. */
const quietRuns = 5;
/** Short runs, so that compared loads find the machine equally busy. */
const producesPerRun = 5_000;
const queuesPerShard = 4;

/** Queue names by shard, of two; a server with one shard has both in it. */
const [firstNames, secondNames] = [namesIn(0), namesIn(1)];
const single = firstNames.slice(0, 1);

/** Queues by the thread of the connections that call them. */
interface Load {
  readonly shards: Shards;
  readonly queues: ByThread<readonly string[]>;
}

export const loads = {
  "one shard": { shards: 1, queues: { first: firstNames, other: [] } },
  "two shards, local": { shards: 2, queues: { first: firstNames, other: secondNames } },
  "two shards, crossing": { shards: 2, queues: { first: secondNames, other: firstNames } },
  "one queue": { shards: 1, queues: { first: single, other: [] } },
  "one queue, crossing": { shards: 2, queues: { first: [], other: single } },
} as const satisfies Record<string, Load>;
export type LoadName = keyof typeof loads;
const loadNames = Object.keys(loads) as LoadName[];

/**
 * The rate and the processor time per call, by load and phase, and the share that a crossing adds.
 */
export function shardThreads(itemsPerCall: number, { directory }: RunOptions): Promise<Figures> {
  return withShards(directory, 1, (one) =>
    withShards(directory, 2, (two) => measureBoth(itemsPerCall, { 1: one, 2: two })),
  );
}

function withShards(
  directory: string,
  shards: Shards,
  use: (loaded: Loaded) => Promise<Figures>,
): Promise<Figures> {
  const flags = ["--shards", String(shards), "--threads", String(shards)];
  return withServer({ directory, flags }, async (loaded) => {
    for (const queue of [...firstNames, ...secondNames]) await createQueue(loaded.port, queue);
    return await use(loaded);
  });
}

async function measureBoth(
  itemsPerCall: number,
  servers: Readonly<Record<Shards, Loaded>>,
): Promise<Figures> {
  const found: Figures[] = [];
  for (let run = 0; run < warmUps + runs; run += 1) {
    const names = run % 2 === 0 ? loadNames : loadNames.toReversed();
    const figures = await runAll(names, (name) => {
      const loaded = servers[loads[name].shards];
      return measure(loaded, workOf(loads[name], itemsPerCall, loaded.server.pid));
    });
    for (const [shards, { server }] of Object.entries(servers)) {
      figures[`${shards} shards.memoryBytes`] = usageOf(server.pid).memoryBytes;
    }
    if (run >= warmUps) found.push(figures);
  }
  const others = (run: Figures) => run["otherCores"] ?? 0;
  const quiet = found.toSorted((a, b) => others(a) - others(b)).slice(0, quietRuns);
  return Object.fromEntries(
    Object.keys(quiet[0] ?? {}).map((name) => [name, median(quiet.map((run) => run[name] ?? 0))]),
  );
}

/** Measures the loads one after the other. */
async function runAll(
  names: readonly LoadName[],
  measureOne: (name: LoadName) => Promise<Figures>,
): Promise<Figures> {
  const figures: Figures = {};
  const [begin, before] = [performance.now(), otherCpuSeconds()];
  for (const name of names) {
    for (const [figure, value] of Object.entries(await measureOne(name))) {
      figures[`${name}.${figure}`] = value;
    }
  }
  addCrossing(figures);
  figures["otherCores"] = (otherCpuSeconds() - before) / ((performance.now() - begin) / 1_000);
  return figures;
}

/** Processor time of everything on this machine outside the benchmark. */
function otherCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return machineCpuSeconds() - cpuSecondsBelow(process.pid) - (user + system) / 1e6;
}

/** Computed within one run, because the speed of the machine changes between runs. */
function addCrossing(figures: Figures): void {
  for (const phase of phases) {
    const [local = Number.NaN, crossing = Number.NaN] = (
      ["two shards, local", "two shards, crossing"] as const satisfies LoadName[]
    ).map((name) => figures[`${name}.${phase}.cpuMicrosecondsPerCall`]);
    figures[`crossing.${phase}.cpuMicrosecondsPerCall`] = crossing - local;
  }
}

async function measure(
  { port, load, server: { pid } }: Loaded,
  work: ThreadedWork,
): Promise<Figures> {
  await load.prepare(port, work);
  const figures: Figures = {};
  for (const phase of phases) {
    const before = secondsByThread(pid);
    const result = await load.run(phase);
    const { all, main } = secondsSince(before, pid);
    const calls = result.produce.calls + result.lease.calls + result.complete.calls;
    Object.assign(figures, {
      [`${phase}.callsPerSecond`]: calls / result.seconds,
      [`${phase}.cpuMicrosecondsPerCall`]: (1e6 * all) / calls,
      [`${phase}.mainThreadMicrosecondsPerCall`]: (1e6 * main) / calls,
      [`${phase}.serverCores`]: all / result.seconds,
      [`${phase}.clientCores`]: result.clientCpuSeconds / result.seconds,
    });
    if (phase === "consume") {
      const leftFound = await leftIn(port, [...work.queues.first, ...work.queues.other]);
      checkDelivery(result.delivered, { items: work.items, left: 0, leftFound });
    }
  }
  return figures;
}

async function leftIn(port: number, queues: readonly string[]): Promise<number> {
  let left = 0;
  for (const queue of queues) left += await itemsLeft(port, queue);
  return left;
}

function workOf({ queues }: Load, itemsPerCall: number, pid: number): ThreadedWork {
  const items = itemsPerCall * producesPerRun;
  return { pid, queues, connections: threadConnections, items, itemsPerCall };
}

function namesIn(shard: number): string[] {
  const names = Array.from({ length: 100 }, (_, index) => `queue-${index}`);
  return names.filter((name) => shardOf(name, 2) === shard).slice(0, queuesPerShard);
}

/**
 * Processor seconds of a process and of its first thread, which has the first shard. Threads that
 * ended meanwhile are left out; Bun's helper threads end only after seconds without work.
 */
function secondsSince(before: ReadonlyMap<number, number>, pid: number) {
  let all = 0;
  const now = secondsByThread(pid);
  for (const [id, seconds] of now) all += seconds - (before.get(id) ?? 0);
  return { all, main: (now.get(pid) ?? 0) - (before.get(pid) ?? 0) };
}
