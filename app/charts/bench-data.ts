// What the site says about speed, from the results files of the benchmark: for each
// figure the newest file that has it. Pure; a figure that no file has is an error of
// the build, because a text speaks of it.

import type { PeerRow, PeersResult } from "../../bench/peers/peers.ts";
import type { Measurement, Results } from "../../bench/results.ts";
import type { Spread } from "../../bench/statistics.ts";

export type Range = Pick<Spread, "median" | "min" | "max">;

/** A run of `bun bench/peers/peers.ts --json`; it may say when and where it was made. */
export type PeersFile = PeersResult & Partial<Pick<Results, "madeAt" | "commit" | "command">>;

export type ResultsFile = Results | PeersFile;

/** Where a figure comes from. */
export interface Source {
  readonly commit: string;
  readonly command: string;
  readonly madeAt: string;
}

export interface Figure extends Source {
  readonly measurement: string;
  readonly name: string;
  readonly range: Range;
}

export interface Peers {
  readonly rows: readonly PeerRow[];
  readonly source: Source;
}

export interface BenchData {
  /** By `<measurement>: <figure>`. */
  readonly find: (name: string) => Figure | null;
  readonly require: (name: string) => Figure;
  /** The newest file that has all measurements of the kind that is asked for. */
  readonly newest: (has: (measurement: Measurement) => boolean) => Results | null;
  /** Measured beside each other by one run, or `null` where there is no such file. */
  readonly peers: Peers | null;
}

function isPeers(file: ResultsFile): file is PeersFile {
  return "rows" in file;
}

/** Of the form that sorts by its text. */
const dateOf = (file: ResultsFile): string => file.madeAt ?? "";

/** The newest first. */
function byAge(a: ResultsFile, b: ResultsFile): number {
  if (dateOf(a) === dateOf(b)) return 0;
  return dateOf(a) < dateOf(b) ? 1 : -1;
}

export function benchData(files: Readonly<Record<string, ResultsFile>>): BenchData {
  const all = Object.values(files).toSorted(byAge);
  const results = all.filter((file): file is Results => !isPeers(file));
  const find = (name: string): Figure | null => findFigure(results, name);
  return {
    find,
    require: (name) => {
      const figure = find(name);
      if (figure === null) {
        throw new Error(
          `no file in bench/results has '${name}'; expected '<measurement>: <figure>' of one of them`,
        );
      }
      return figure;
    },
    newest: (has) => results.find(({ measurements }) => measurements.some(has)) ?? null,
    peers: peersOf(all.find(isPeers)),
  };
}

function findFigure(results: readonly Results[], name: string): Figure | null {
  const split = name.lastIndexOf(": ");
  const [measurement, figure] = [name.slice(0, split), name.slice(split + 2)];
  for (const { measurements, commit, command, madeAt } of results) {
    const range = measurements.find((other) => other.name === measurement)?.figures[figure];
    if (range !== undefined) {
      return { measurement, name: figure, range, commit, command, madeAt };
    }
  }
  return null;
}

function peersOf(file: PeersFile | undefined): Peers | null {
  if (file === undefined || file.rows.length === 0) return null;
  const { rows, commit = "", command = "bun run bench --peers", madeAt = "" } = file;
  return { rows, source: { commit, command, madeAt } };
}

export function sourceText({ commit, command }: Source): string {
  return commit === "" ? command : `commit ${commit}: ${command}`;
}
