// Runs one cell once: a fresh server, a warm-up, the phases with their costs, the check that each
// item was delivered exactly once, and then the floors.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { forgetPeak, usageOf } from "../../testing/process-usage.ts";
import type { ServerProcess } from "../../testing/server-process.ts";
import { createQueue, itemsLeft } from "../load/calls.ts";
import type { Phase, PhaseResult, Work } from "../load/commands.ts";
import { checkDelivery } from "../load/delivery.ts";
import { type Loaded, withServer } from "../load/loaded-server.ts";
import type { Figures } from "../report/results.ts";
import type { CallTimes } from "../report/statistics.ts";
import { copyBacklog } from "./backlogs.ts";
import { type Cell, queue } from "./cells.ts";
import { httpFloor, sqliteFloor } from "./floors.ts";

export interface RunOptions {
  /** A scratch folder on the measured disk. */
  readonly directory: string;
  /** Syncs per second of the bare disk in this round. */
  readonly diskSyncsPerSecond: number;
}

/**
 * Share of the items that pass through another queue before the measurement, here and on the
 * floors: the first second of a server is mostly compilation.
 */
const warmUpShare = 0.6;

export function workOf(cell: Cell): { work: Work; warmUp: Work } {
  const { items, itemsPerCall, connections, backlog } = cell;
  const work = { queue, items, itemsPerCall, connections, backlog };
  const calls = Math.max(1, Math.round((items * warmUpShare) / itemsPerCall));
  return { work, warmUp: { ...work, queue: "warm-up", items: calls * itemsPerCall, backlog: 0 } };
}

export function phasesOf({ flow }: Cell): Phase[] {
  return flow === "together" ? ["together"] : ["produce", "consume"];
}

export async function runCell(cell: Cell, options: RunOptions): Promise<Figures> {
  const { directory } = options;
  const { backlog } = cell;
  const prepare = async (data: string): Promise<void> => {
    if (backlog > 0) await copyBacklog(directory, data, backlog);
  };
  const figures = await withServer({ directory, prepare }, async (loaded) => {
    const { server, data, readyMs } = loaded;
    const measured = await measure(cell, loaded);
    const { memoryBytes, peakBytes } = usageOf(server.pid);
    const seconds = sum(measured.map(({ result }) => result.seconds));
    const found: Figures = { readyMs, memoryBytes, peakBytes, diskBytes: folderBytes(data) };
    for (const phase of measured) Object.assign(found, phaseFigures(cell, phase));
    return { ...found, "all.itemsPerSecond": cell.items / seconds };
  });
  await addFloors(figures, cell, options);
  return figures;
}

interface Measured {
  readonly phase: Phase;
  readonly result: PhaseResult;
  readonly cost: Cost;
}

async function measure(cell: Cell, { server, port, load }: Loaded): Promise<Measured[]> {
  const { work, warmUp } = workOf(cell);
  const { items, partitions, backlog } = cell;
  const settings = { requested_partitions: partitions };
  await createQueue(port, warmUp.queue, settings);
  if (backlog === 0) await createQueue(port, queue, settings);
  await load.prepare(port, warmUp);
  await load.run("produce");
  await load.run("consume");

  await load.prepare(port, work);
  forgetPeak(server.pid);
  const measured: Measured[] = [];
  for (const phase of phasesOf(cell)) {
    const before = await costSoFar(server);
    const result = await load.run(phase);
    const after = await costSoFar(server);
    measured.push({ phase, result, cost: difference(after, before) });
  }
  const { delivered } = (measured.at(-1) as Measured).result;
  checkDelivery(delivered, { items, left: backlog, leftFound: await itemsLeft(port, queue) });
  return measured;
}

interface Cost {
  readonly cpuSeconds: number;
  readonly writtenBytes: number;
  /** Each has one sync; SQLite's checkpoints add further syncs. */
  readonly commits: number;
}

async function costSoFar(server: ServerProcess): Promise<Cost> {
  const { cpuSeconds, writtenBytes } = usageOf(server.pid);
  return { cpuSeconds, writtenBytes, commits: await commitsOf(server.port) };
}

/** Commits of all shards. */
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

/**
 * Adds the floors as figures, under `E.` and `S.`, and each figure's ratio to them, under `overE`
 * and so on.
 */
async function addFloors(figures: Figures, cell: Cell, options: RunOptions): Promise<void> {
  const { items, flow, backlog } = cell;
  const rate = (phase: Phase): number => figures[`${phase}.itemsPerSecond`] ?? 0;
  const phases = phasesOf(cell);
  // A server that stores nothing has no backlog, and its consumers never wait.
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
    { directory: options.directory, items },
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

/** Disk usage of a folder's files in bytes. */
export function folderBytes(folder: string): number {
  return sum(readdirSync(folder).map((file) => statSync(join(folder, file)).blocks * 512));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
