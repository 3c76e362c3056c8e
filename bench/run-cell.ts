// One run of one cell: a fresh server, a warm-up, the phases with what they cost,
// the check that each item was delivered exactly once, and the floors right after.

import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Backlogs } from "./backlogs.ts";
import { createQueue, itemsLeft } from "./calls.ts";
import { checkDelivery } from "./delivery.ts";
import { httpFloor, sqliteFloor } from "./floors.ts";
import { Connection } from "./http-client.ts";
import { LoadProcess } from "./load-process.ts";
import type { Phase, PhaseResult, Work } from "./orders.ts";
import { forgetPeak, usageOf } from "./process-usage.ts";
import { type ServerProcess, startServer } from "./server-process.ts";
import type { CallTimes } from "./statistics.ts";
import type { Cell } from "./workload.ts";

/** Figures of one run by name, such as `produce.itemsPerSecond`. */
export type Figures = Record<string, number>;

export interface RunOptions {
  /** A scratch folder on the disk that is measured. */
  readonly directory: string;
  readonly backlogs: Backlogs;
  /** The disk's own syncs per second in this round. */
  readonly diskSyncsPerSecond: number;
}

/** That all of it goes through. */
export const queue = "bench";
/**
 * Share of the items that go through another queue before the clock starts, here and on the floors:
 * what a server does in its first second is mostly compiling.
 */
const warmUpShare = 0.6;

export function workOf(cell: Cell): { work: Work; warmUp: Work } {
  const { items, itemsPerCall, payloadBytes, connections, backlog } = cell;
  const work = { queue, items, itemsPerCall, payloadBytes, connections, backlog };
  const calls = Math.max(1, Math.round((items * warmUpShare) / itemsPerCall));
  return { work, warmUp: { ...work, queue: "warm-up", items: calls * itemsPerCall, backlog: 0 } };
}

export async function runCell(cell: Cell, options: RunOptions): Promise<Figures> {
  const data = join(options.directory, "data");
  const { payloadBytes, partitions, backlog } = cell;
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  if (backlog > 0) {
    await options.backlogs.copyTo(data, { queue, items: backlog, payloadBytes, partitions });
  }
  const begin = performance.now();
  const server = await startServer({ data, flags: ["--log-level", "error"] });
  const figures: Figures = { readyMs: performance.now() - begin };
  try {
    Object.assign(figures, await measureCell(cell, server));
    const usage = usageOf(server.pid);
    figures["memoryBytes"] = usage.memoryBytes;
    figures["peakBytes"] = usage.peakBytes;
    figures["diskBytes"] = folderBytes(data);
  } finally {
    await server.stop();
    rmSync(data, { recursive: true, force: true });
  }
  await addFloors(figures, cell, options);
  return figures;
}

/** Of a server that runs: its phases, and what they cost it. */
export async function measureCell(cell: Cell, server: ServerProcess): Promise<Figures> {
  const phases = await measure(cell, server);
  const figures: Figures = {};
  for (const measured of phases) Object.assign(figures, phaseFigures(cell, measured));
  figures["all.itemsPerSecond"] = cell.items / sum(phases.map(({ result }) => result.seconds));
  return figures;
}

interface Measured {
  readonly phase: Phase;
  readonly result: PhaseResult;
  readonly cost: Cost;
}

async function measure(cell: Cell, server: ServerProcess): Promise<Measured[]> {
  const load = await LoadProcess.start();
  try {
    const { work, warmUp } = workOf(cell);
    const { partitions } = cell;
    await onConnection(server, async (connection) => {
      await createQueue(connection, { queue: warmUp.queue, partitions });
      if (cell.backlog === 0) await createQueue(connection, { queue, partitions });
    });
    await load.prepare(server.port, warmUp);
    await load.run("produce");
    await load.run("consume");

    await load.prepare(server.port, work);
    forgetPeak(server.pid);
    const measured: Measured[] = [];
    const phases: Phase[] = cell.flow === "together" ? ["together"] : ["produce", "consume"];
    for (const phase of phases) {
      const before = await costSoFar(server);
      const result = await load.run(phase);
      const after = await costSoFar(server);
      measured.push({ phase, result, cost: difference(after, before) });
    }
    const { delivered } = (measured.at(-1) as Measured).result;
    const leftFound = await onConnection(server, (connection) => itemsLeft(connection, queue));
    checkDelivery(delivered, { items: cell.items, left: cell.backlog, leftFound });
    return measured;
  } finally {
    await load.stop();
  }
}

/** Not kept while the load runs: a server closes one on which nothing is asked for long. */
async function onConnection<T>(
  server: ServerProcess,
  act: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await Connection.open(server.port);
  try {
    return await act(connection);
  } finally {
    connection.close();
  }
}

interface Cost {
  readonly cpuSeconds: number;
  readonly writtenBytes: number;
  /** Each with one sync; those of SQLite's checkpoints come on top. */
  readonly commits: number;
}

async function costSoFar(server: ServerProcess): Promise<Cost> {
  const { cpuSeconds, writtenBytes } = usageOf(server.pid);
  return { cpuSeconds, writtenBytes, commits: await commitsOf(server.port) };
}

/** Of all shards. */
async function commitsOf(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const lines = text.matchAll(/^holdfast_commits_total\S* (\S+)$/gm);
  return sum([...lines].map(([, value]) => Number(value)));
}

function difference(after: Cost, before: Cost): Cost {
  return {
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    writtenBytes: after.writtenBytes - before.writtenBytes,
    commits: after.commits - before.commits,
  };
}

function phaseFigures(cell: Cell, { phase, result, cost }: Measured): Figures {
  const per1000 = 1_000 / cell.items;
  const figures: Figures = {
    [`${phase}.itemsPerSecond`]: cell.items / result.seconds,
    [`${phase}.cpuSecondsPer1000`]: cost.cpuSeconds * per1000,
    [`${phase}.commitsPer1000`]: cost.commits * per1000,
    [`${phase}.bytesWrittenPer1000`]: cost.writtenBytes * per1000,
    [`${phase}.itemsPerCommit`]: cell.items / Math.max(1, cost.commits),
    [`${phase}.commitsPerSecond`]: cost.commits / result.seconds,
    [`${phase}.clientCpuShare`]: result.clientCpuSeconds / result.seconds,
    [`${phase}.clientCpuOverServer`]: result.clientCpuSeconds / cost.cpuSeconds,
  };
  for (const verb of ["produce", "lease", "complete"] as const) {
    if (result[verb].calls > 0) addTimes(figures, verb, result[verb]);
  }
  return figures;
}

export function addTimes(figures: Figures, name: string, times: CallTimes): void {
  figures[`${name}.p50Ms`] = times.p50Ms;
  figures[`${name}.p99Ms`] = times.p99Ms;
  figures[`${name}.maxMs`] = times.maxMs;
}

/** Floors are figures too, under `E.` and `S.`; and each figure's ratio to them, under `overE` and so on. */
async function addFloors(figures: Figures, cell: Cell, options: RunOptions): Promise<void> {
  const { items, payloadBytes, flow, backlog } = cell;
  const rate = (phase: Phase): number => figures[`${phase}.itemsPerSecond`] ?? 0;
  const phases: Phase[] = flow === "together" ? ["together"] : ["produce", "consume"];
  // A server that keeps nothing knows no backlog, and its consumers have nothing to wait for.
  if (flow === "phases" && backlog === 0) {
    const { work, warmUp } = workOf(cell);
    const floor = await httpFloor(work, warmUp);
    for (const phase of ["produce", "consume"] as const) {
      figures[`E.${phase}.itemsPerSecond`] = items / floor[phase].seconds;
      figures[`E.${phase}.cpuSecondsPer1000`] = (floor[phase].serverCpuSeconds * 1_000) / items;
      figures[`E.${phase}.clientCpuShare`] = floor[phase].clientCpuSeconds / floor[phase].seconds;
      figures[`${phase}.overE`] = rate(phase) / (items / floor[phase].seconds);
    }
  }
  const seconds = sqliteFloor(
    { directory: options.directory, items, payloadBytes },
    phases.map((phase) => ({ phase, itemsPerCommit: figures[`${phase}.itemsPerCommit`] ?? 1 })),
  );
  for (const [index, phase] of phases.entries()) {
    const floor = items / (seconds[index] ?? 1);
    figures[`S.${phase}.itemsPerSecond`] = floor;
    figures[`${phase}.overS`] = rate(phase) / floor;
    figures[`${phase}.syncsOverD`] =
      (figures[`${phase}.commitsPerSecond`] ?? 0) / options.diskSyncsPerSecond;
  }
  figures["S.all.itemsPerSecond"] = items / sum(seconds);
  figures["all.overS"] = ((figures["all.itemsPerSecond"] ?? 0) * sum(seconds)) / items;
}

/** Bytes that the files of a folder take on disk. */
export function folderBytes(folder: string): number {
  return sum(readdirSync(folder).map((file) => statSync(join(folder, file)).blocks * 512));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
