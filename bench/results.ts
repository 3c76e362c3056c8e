// A results file: what was measured, where and how, in a form that outlives the
// terminal. Kept in git, so that figures in README and site can be traced.

import { Database } from "bun:sqlite";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import type { Figures } from "./run-cell.ts";
import { type Spread, spreadOf } from "./statistics.ts";
import type { Cell } from "./workload.ts";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly kernel: string;
  readonly fileSystem: string;
}

export interface Measurement {
  readonly name: string;
  /** What was done; absent for a probe, whose name says it. */
  readonly cell?: Cell;
  /** Each figure over the rounds, by name. */
  readonly figures: Readonly<Record<string, Spread>>;
}

export interface Results {
  readonly format: 1;
  readonly madeAt: string;
  readonly commit: string;
  /** What makes them again. */
  readonly command: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string | number>>;
  readonly measurements: readonly Measurement[];
}

export const resultsFolder = join(import.meta.dir, "results");

/** Turns the rounds of one measurement into medians with their spread. */
export function summarize(rounds: readonly Figures[]): Record<string, Spread> {
  const names = [...new Set(rounds.flatMap(Object.keys))];
  return Object.fromEntries(
    names.map((name) => {
      const values = rounds.flatMap((round) => round[name] ?? []);
      return [name, spreadOf(values.map(shorten))];
    }),
  );
}

/** Six digits are more than a measurement has. */
function shorten(value: number): number {
  return Number(value.toPrecision(6));
}

export async function machineOf(directory: string): Promise<Machine> {
  const [first] = cpus();
  return {
    cpu: first?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
    kernel: release(),
    fileSystem: (await Bun.$`df --output=fstype ${directory}`.text()).split("\n")[1] ?? "unknown",
  };
}

export function versions(): Record<string, string> {
  const database = new Database(":memory:");
  const [[sqlite] = []] = database.query("SELECT sqlite_version()").values();
  database.close();
  const { version, devDependencies } = manifest;
  return {
    holdfast: version,
    bun: Bun.version,
    sqlite: String(sqlite),
    elysia: devDependencies.elysia,
  };
}

/** The short hash; with `-changed` behind it when the tree is not what was committed. */
export async function commitOf(): Promise<string> {
  const git = Bun.$.cwd(import.meta.dir);
  const hash = (await git`git rev-parse --short HEAD`.text()).trim();
  const changes = (await git`git status --porcelain --untracked-files=no`.text()).trim();
  return changes === "" ? hash : `${hash}-changed`;
}

/** The path of the file. */
export function writeResults(results: Results, path?: string): string {
  mkdirSync(resultsFolder, { recursive: true });
  const file = path ?? join(resultsFolder, `${results.madeAt.slice(0, 10)}-${results.commit}.json`);
  writeFileSync(file, `${JSON.stringify(results, null, 1)}\n`);
  return file;
}

export function readResults(path: string): Results {
  return JSON.parse(readFileSync(path, "utf8")) as Results;
}

/** The results file that was made last. */
export function latestResults(): string {
  const found = readdirSync(resultsFolder)
    .filter((file) => /^\d{4}-\d\d-\d\d-\w+(-changed)?\.json$/.test(file))
    .map((file) => join(resultsFolder, file))
    .toSorted((a, b) => readResults(a).madeAt.localeCompare(readResults(b).madeAt));
  const last = found.at(-1);
  if (last === undefined)
    throw new Error("there are no results; expected a file from bun run bench");
  return last;
}
