// Resource usage of processes, from Linux's /proc.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

/** Ticks per second of /proc/<pid>/stat; 100 on every Linux that Bun runs on. */
const ticksPerSecond = 100;

export interface ProcessUsage {
  readonly cpuSeconds: number;
  /** Bytes written to disk for it. */
  readonly writtenBytes: number;
  readonly memoryBytes: number;
  /** Peak memory since the start, or since `forgetPeak`. */
  readonly peakBytes: number;
}

export function usageOf(pid: number): ProcessUsage {
  const read = (file: string): string => readFileSync(`/proc/${pid}/${file}`, "utf8");
  const status = read("status");
  const kilobytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1_024;
  return {
    cpuSeconds: secondsIn(statOf(pid) ?? []),
    writtenBytes: Number(/^write_bytes: (\d+)/m.exec(read("io"))?.[1]),
    memoryBytes: kilobytes("VmRSS"),
    peakBytes: kilobytes("VmHWM"),
  };
}

/** Processor seconds of a process's first thread, to the nanosecond. */
export function firstThreadSecondsOf(pid: number): number {
  return threadSecondsOf(pid, pid) ?? 0;
}

/** Processor seconds of each thread of a process by thread id, to the nanosecond. */
export function secondsByThread(pid: number): Map<number, number> {
  const found = new Map<number, number>();
  for (const id of readdirSync(`/proc/${pid}/task`).map(Number)) {
    const seconds = threadSecondsOf(pid, id);
    if (seconds !== null) found.set(id, seconds);
  }
  return found;
}

/** `null` = the thread has just ended. */
function threadSecondsOf(pid: number, id: number): number | null {
  try {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ");
    return Number(nanoseconds) / 1e9;
  } catch {
    return null;
  }
}

function secondsIn(stat: readonly string[]): number {
  return (Number(stat[11]) + Number(stat[12])) / ticksPerSecond;
}

/**
 * Processor seconds of all descendants of this process and of their reaped children, without its
 * own. 0 if there is no /proc.
 */
export function cpuSecondsBelow(pid: number): number {
  const ticks = new Map<number, { readonly parent: number; readonly own: number }>();
  for (const name of existsSync("/proc/self/stat") ? readdirSync("/proc") : []) {
    const stat = /^\d+$/.test(name) ? statOf(name) : null;
    if (stat === null) continue;
    const own = stat.slice(11, 15).reduce((sum, text) => sum + Number(text), 0);
    ticks.set(Number(name), { parent: Number(stat[1]), own });
  }
  const isBelow = (id: number): boolean => {
    const parent = ticks.get(id)?.parent ?? 0;
    return parent === pid || (parent > 1 && isBelow(parent));
  };
  const below = [...ticks].filter(([id]) => isBelow(id));
  return below.reduce((sum, [, { own }]) => sum + own, 0) / ticksPerSecond;
}

/** Processor seconds of the whole machine, including time that its host gave to other machines. */
export function machineCpuSeconds(): number {
  const [all = ""] = readFileSync("/proc/stat", "utf8").split("\n");
  const [user, nice, system, , , irq, softirq, steal] = all.split(/\s+/).slice(1).map(Number);
  const ticks = [user, nice, system, irq, softirq, steal].reduce<number>(
    (sum, part) => sum + (part ?? 0),
    0,
  );
  return ticks / ticksPerSecond;
}

/** `null` = the process has just ended. */
function statOf(pid: number | string): string[] | null {
  try {
    // The program's name is in parentheses and may contain any character.
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    return null;
  }
}

/** Resets the memory peak to the current usage. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}
