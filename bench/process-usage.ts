// What a process has used so far, from Linux's /proc.

import { readFileSync, writeFileSync } from "node:fs";

/** Ticks per second of /proc/<pid>/stat; 100 on every Linux that Bun runs on. */
const ticksPerSecond = 100;

export interface ProcessUsage {
  readonly cpuSeconds: number;
  /** Bytes it caused to be sent to the disk. */
  readonly writtenBytes: number;
  readonly memoryBytes: number;
  /** The most memory since the start, or since `forgetPeak`. */
  readonly peakBytes: number;
}

export function usageOf(pid: number): ProcessUsage {
  const read = (file: string): string => readFileSync(`/proc/${pid}/${file}`, "utf8");
  const status = read("status");
  const kilobytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1_024;
  return {
    cpuSeconds: cpuSecondsIn(read("stat")),
    writtenBytes: Number(/^write_bytes: (\d+)/m.exec(read("io"))?.[1]),
    memoryBytes: kilobytes("VmRSS"),
    peakBytes: kilobytes("VmHWM"),
  };
}

/** Processor seconds of the thread that a process began with. */
export function firstThreadSecondsOf(pid: number): number {
  return cpuSecondsIn(readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8"));
}

function cpuSecondsIn(text: string): number {
  // The name of the program stands in parentheses and may hold anything.
  const stat = text.replace(/^.*\) /s, "").split(" ");
  return (Number(stat[11]) + Number(stat[12])) / ticksPerSecond;
}

/** The peak of memory starts anew from what is in use now. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}
