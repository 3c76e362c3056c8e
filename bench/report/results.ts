// Results files: what was measured, where and how. The latest file of each kind is kept in git, so
// that the figures in README and on the site can be traced.

import { Database } from "bun:sqlite";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { dirname, join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import type { Cell } from "../cells/cells.ts";
import { type Spread, spreadOf } from "./statistics.ts";

/** Figures of one run by name, such as `produce.itemsPerSecond`. */
export type Figures = Record<string, number>;

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly kernel: string;
  readonly fileSystem: string;
}

export interface Measurement {
  readonly name: string;
  /** Absent for a probe, whose name describes it. */
  readonly cell?: Cell;
  /** The spread of each figure over the rounds, by name. */
  readonly figures: Readonly<Record<string, Spread>>;
}

export interface Results {
  readonly format: 1;
  readonly madeAt: string;
  readonly commit: string;
  /** The command that repeats the run. */
  readonly command: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string | number>>;
  readonly measurements: readonly Measurement[];
}

type Kind =
  | "console"
  | "find"
  | "gather"
  | "groups"
  | "keys"
  | "peers"
  | "proof"
  | "snapshot"
  | "soak"
  | "stages"
  | "threads";
/** The end of a results file's name; without a kind, it is that of the whole benchmark. */
type Ending = ".json" | `-${Kind}.json`;

export const resultsFolder = join(import.meta.dir, "../results");

/** Reduces the rounds of one measurement to medians with their spread. */
export function summarize(rounds: readonly Figures[]): Record<string, Spread> {
  const names = [...new Set(rounds.flatMap(Object.keys))];
  return Object.fromEntries(
    names.map((name) => {
      const values = rounds.flatMap((round) => round[name] ?? []);
      return [name, spreadOf(values.map(shorten))];
    }),
  );
}

/** Rounds to six digits, more than the precision of a measurement. */
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

/** The short hash of the commit, with `-changed` appended if the tree has uncommitted changes. */
export async function commitOf(): Promise<string> {
  const git = Bun.$.cwd(import.meta.dir);
  const hash = (await git`git rev-parse --short HEAD`.text()).trim();
  const changes = (await git`git status --porcelain --untracked-files=no`.text()).trim();
  return changes === "" ? hash : `${hash}-changed`;
}

/** The common first fields of every file. `directory`: on the measured disk. */
export async function headOf(
  command: string,
  directory: string,
): Promise<Omit<Results, "settings" | "measurements">> {
  const [commit, machine] = await Promise.all([commitOf(), machineOf(directory)]);
  const madeAt = new Date().toISOString();
  return { format: 1, madeAt, commit, command, machine, versions: versions() };
}

/** JSON with one line per member, and per entry of a list, so that diffs are readable. */
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

/** Date and commit, and an ending for the kind. */
const named = /^\d{4}-\d\d-\d\d-[0-9a-f]+(?:-changed)?(?<ending>(?:-[a-z]+)?\.json)$/;

/** `-peers.json`, for example, or `.json` for the whole benchmark; `null` for any other name. */
export function endingOf(file: string): string | null {
  return named.exec(file)?.groups?.["ending"] ?? null;
}

/**
 * Writes the results and returns their path. Without a given path they replace the results of their
 * kind; git keeps the older ones.
 */
export function writeResults(
  results: { readonly madeAt: string; readonly commit: string },
  to: { readonly ending: Ending; readonly path: string | null },
): string {
  const { madeAt, commit } = results;
  const path = to.path ?? join(resultsFolder, `${madeAt.slice(0, 10)}-${commit}${to.ending}`);
  if (to.path === null) for (const file of filesOf(to.ending)) rmSync(file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, resultsText(results));
  return path;
}

/** Writes measurements with the common fields, and prints the path. */
export async function writeMeasurements(
  measured: Pick<Results, "command" | "settings" | "measurements"> & { readonly directory: string },
  to: { readonly ending: Ending; readonly path: string | undefined },
): Promise<void> {
  const { command, directory, settings, measurements } = measured;
  const results = { ...(await headOf(command, directory)), settings, measurements };
  console.log(`written to ${writeResults(results, { ...to, path: to.path ?? null })}`);
}

export function readResults(path: string): Results {
  return JSON.parse(readFileSync(path, "utf8")) as Results;
}

/** The latest file of the whole benchmark, or of another kind. */
export function latestResults(ending: Ending = ".json"): string {
  const [file] = filesOf(ending);
  if (file === undefined)
    throw new Error("there are no results; expected a file from bun run bench");
  return file;
}

function filesOf(ending: Ending): string[] {
  return readdirSync(resultsFolder)
    .filter((file) => endingOf(file) === ending)
    .map((file) => join(resultsFolder, file));
}
