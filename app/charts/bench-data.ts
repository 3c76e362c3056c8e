// What the site says about speed comes from the results files of the benchmark: for each
// figure from the newest file that has it. Pure.

import type { PeerRow, PeersResult } from "../../bench/peers/peers.ts";
import type { Measurement, Results } from "../../bench/results.ts";
import type { Spread } from "../../bench/statistics.ts";

export type Range = Pick<Spread, "median" | "min" | "max">;
export type ResultsFile = Results | PeersResult;
export type Source = Pick<Results, "commit" | "command" | "madeAt">;

export interface Figure extends Source {
  /** Without the name of its measurement. */
  readonly name: string;
  readonly range: Range;
}

export interface BenchData {
  /** By `<measurement>: <figure>`. */
  readonly find: (name: string) => Figure | null;
  /** The newest file with a measurement of the kind that is asked for. */
  readonly newest: (has: (measurement: Measurement) => boolean) => Results | null;
  /** What the newest run measured of Holdfast and of other queues. */
  readonly peers: PeersResult | null;
}

export function benchData(files: readonly ResultsFile[]): BenchData {
  const all = files.toSorted((a, b) => b.madeAt.localeCompare(a.madeAt));
  const results = all.filter((file): file is Results => "measurements" in file);
  return {
    find: (name) => findFigure(results, name),
    newest: (has) => results.find(({ measurements }) => measurements.some(has)) ?? null,
    // Others compare some of the queues among themselves.
    peers: all.find((file): file is PeersResult => "rows" in file && file.rows.some(isOwn)) ?? null,
  };
}

function findFigure(results: readonly Results[], name: string): Figure | null {
  const split = name.lastIndexOf(": ");
  const [measurement, figure] = [name.slice(0, split), name.slice(split + 2)];
  for (const { measurements, commit, command, madeAt } of results) {
    const range = measurements.find((other) => other.name === measurement)?.figures[figure];
    if (range !== undefined) return { name: figure, range, commit, command, madeAt };
  }
  return null;
}

/** A text speaks of this figure, so it has to be in a file. */
export function requireFigure(data: Pick<BenchData, "find">, name: string): Figure {
  const figure = data.find(name);
  if (figure !== null) return figure;
  throw new Error(
    `no file in bench/results has '${name}'; expected '<measurement>: <figure>' of one of them`,
  );
}

/** Systems that promise as much as Holdfast by default: they sync before they answer. */
export function syncingRows({ rows }: Pick<PeersResult, "rows">): readonly PeerRow[] {
  return rows.filter(({ durabilityClass }) => durabilityClass === "D2");
}

export function isOwn({ peer }: Pick<PeerRow, "peer">): boolean {
  return peer === "Holdfast";
}

export interface PeerRatio {
  readonly range: Range;
  /** The fastest of the others. */
  readonly peer: string;
}

/** Holdfast over the fastest of the others that are named, through all three calls. */
export function overPeers(
  { peers }: Pick<BenchData, "peers">,
  { itemsPerCall, among = /./ }: { readonly itemsPerCall: number; readonly among?: RegExp },
): PeerRatio | null {
  const rows = (peers === null ? [] : syncingRows(peers))
    .filter((row) => row.itemsPerCall === itemsPerCall)
    .toSorted((a, b) => b.total.median - a.total.median);
  const own = rows.find(isOwn);
  const best = rows.find((row) => !isOwn(row) && among.test(row.peer));
  if (own === undefined || best === undefined) return null;
  const range = {
    median: own.total.median / best.total.median,
    min: own.total.min / best.total.max,
    max: own.total.max / best.total.min,
  };
  return { range, peer: best.peer };
}

export function sourceText({ commit, command }: Source): string {
  return `commit ${commit}: ${command}`;
}
