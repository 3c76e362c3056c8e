// A results file: what was measured, where and how, in a form that outlives the
// terminal. The latest of each kind is kept in git, so that figures in README and site can
// be traced.

import { Database } from "bun:sqlite";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { dirname, join } from "node:path";
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

/** How the name of a file of the whole benchmark ends. */
export const wholeEnding = ".json";
/** And those of other queues, of each stage of a call, of an hour, of the console and of the site. */
export const peersEnding = "-peers.json";
export const stagesEnding = "-stages.json";
export const soakEnding = "-soak.json";
export const gatherEnding = "-gather.json";
export const keysEnding = "-keys.json";
export const shardThreadsEnding = "-threads.json";
export const consoleEnding = "-console.json";
/** Of queues in PostgreSQL beside a session that holds a snapshot. */
export const snapshotEnding = "-snapshot.json";
export const siteEnding = "-site.json";
export const watchedEnding = "-watched.json";
export const findEnding = "-find.json";

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

async function machineOf(directory: string): Promise<Machine> {
  const [first] = cpus();
  return {
    cpu: first?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
    kernel: release(),
    fileSystem: (await Bun.$`df --output=fstype ${directory}`.text()).split("\n")[1] ?? "unknown",
  };
}

function versions(): Record<string, string> {
  const database = new Database(":memory:");
  const [[sqlite] = []] = database.query("SELECT sqlite_version()").values();
  database.close();
  const { version, dependencies } = manifest;
  return {
    holdfast: version,
    bun: Bun.version,
    sqlite: String(sqlite),
    elysia: dependencies.elysia,
  };
}

/** The short hash; with `-changed` behind it when the tree is not what was committed. */
export async function commitOf(): Promise<string> {
  const git = Bun.$.cwd(import.meta.dir);
  const hash = (await git`git rev-parse --short HEAD`.text()).trim();
  const changes = (await git`git status --porcelain --untracked-files=no`.text()).trim();
  return changes === "" ? hash : `${hash}-changed`;
}

/** What every file begins with. `directory`: on the disk that was used. */
export async function headOf(
  command: string,
  directory: string,
): Promise<Omit<Results, "settings" | "measurements">> {
  const [commit, machine] = await Promise.all([commitOf(), machineOf(directory)]);
  const madeAt = new Date().toISOString();
  return { format: 1, madeAt, commit, command, machine, versions: versions() };
}

/** JSON with a line for each member, and where that is a list for each entry: it can be compared. */
export function resultsText(results: object): string {
  const members = Object.entries(results)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const isList = Array.isArray(value) && value.length > 0;
      const text = isList
        ? `[\n${value.map((entry) => JSON.stringify(entry)).join(",\n")}\n]`
        : JSON.stringify(value);
      return `${JSON.stringify(name)}:${text}`;
    });
  return `{\n${members.join(",\n")}\n}\n`;
}

/** Date and commit, and an ending that says the kind. */
const named = /^\d{4}-\d\d-\d\d-[0-9a-f]+(?:-changed)?(?<ending>(?:-[a-z]+)?\.json)$/;

/** `-peers.json`, or `.json` of the whole benchmark; `null` where the file is no such file. */
export function endingOf(file: string): string | null {
  return named.exec(file)?.groups?.["ending"] ?? null;
}

/**
 * Writes the results and returns their path. Where none is given they take the place of those of
 * their kind: git has the older ones.
 */
export function writeResults(
  results: { readonly madeAt: string; readonly commit: string },
  to: { readonly ending: string; readonly path: string | null },
): string {
  const { madeAt, commit } = results;
  const path = to.path ?? join(resultsFolder, `${madeAt.slice(0, 10)}-${commit}${to.ending}`);
  if (to.path === null) for (const file of filesOf(to.ending)) rmSync(file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, resultsText(results));
  return path;
}

export function readResults(path: string): Results {
  return JSON.parse(readFileSync(path, "utf8")) as Results;
}

/** The file of the whole benchmark, or of another kind. */
export function latestResults(ending = wholeEnding): string {
  const [file] = filesOf(ending);
  if (file === undefined)
    throw new Error("there are no results; expected a file from bun run bench");
  return file;
}

function filesOf(ending: string): string[] {
  return readdirSync(resultsFolder)
    .filter((file) => endingOf(file) === ending)
    .map((file) => join(resultsFolder, file));
}
