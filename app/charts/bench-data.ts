// Benchmark figures on the site come from results files: each figure from the newest file that
// contains it. Pure.

import type { PeerRow, PeersResult } from "../../bench/peers/peers.ts";
import type { Measurement, Results } from "../../bench/report/results.ts";
import type { Spread } from "../../bench/report/statistics.ts";

export type Range = Pick<Spread, "median" | "min" | "max">;
export type ResultsFile = Results | PeersResult;
export type Source = Pick<Results, "commit" | "command" | "madeAt">;

export type BenchData = ReturnType<typeof benchData>;

export function benchData(files: readonly ResultsFile[]) {
  const all = files.toSorted((a, b) => b.madeAt.localeCompare(a.madeAt));
  const results = all.filter((file): file is Results => "measurements" in file);
  return {
    /** Finds a figure by `<measurement>: <figure>`. */
    find: (name: string) => findFigure(results, name),
    /** The newest file with a matching measurement. */
    newest: (has: (measurement: Measurement) => boolean) =>
      results.find(({ measurements }) => measurements.some(has)) ?? null,
    /** Holdfast with other queues: some files compare only the others. */
    peers: all.find((file): file is PeersResult => "rows" in file && file.rows.some(isOwn)) ?? null,
  };
}

function findFigure(results: readonly Results[], name: string) {
  const split = name.lastIndexOf(": ");
  const [measurement, figure] = [name.slice(0, split), name.slice(split + 2)];
  for (const { measurements, commit, command, madeAt } of results) {
    const range = measurements.find((other) => other.name === measurement)?.figures[figure];
    if (range !== undefined) return { name: figure, range, commit, command, madeAt };
  }
  return null;
}

/** Systems with the default guarantee of Holdfast: they sync before they answer. */
export function syncingRows({ rows }: Pick<PeersResult, "rows">): readonly PeerRow[] {
  return rows.filter(({ durabilityClass }) => durabilityClass === "D2");
}

export function isOwn({ peer }: Pick<PeerRow, "peer">): boolean {
  return peer === "Holdfast";
}

/** The ratio of Holdfast to the fastest of the given queues, through all three calls. */
export function overPeers(
  { peers }: Pick<BenchData, "peers">,
  { itemsPerCall, among = /./ }: { readonly itemsPerCall: number; readonly among?: RegExp },
) {
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
