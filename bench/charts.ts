// Charts from a results file, as SVG texts; pure. They follow the reader's light
// or dark setting by themselves, and their background is that of the page.

import { lineChart, type Series } from "./line-chart.ts";
import type { Measurement, Results } from "./results.ts";
import type { Spread } from "./statistics.ts";
import { shortCount } from "./workload.ts";

type CellMeasurement = Measurement & { readonly cell: NonNullable<Measurement["cell"]> };

/** SVG by file name. Throws when the results do not hold what a chart shows. */
export function chartsOf(results: Results): Record<string, string> {
  return { throughput: throughputChart(results), latency: latencyChart(results) };
}

/** Canonical cells come first in a results file, so the first of a kind is the one to show. */
function plainCells({ measurements }: Results): CellMeasurement[] {
  return measurements.filter(
    (measurement): measurement is CellMeasurement =>
      measurement.cell?.flow === "phases" &&
      measurement.cell.payloadBytes === 100 &&
      measurement.cell.partitions === 1,
  );
}

function source({ machine, commit, madeAt, settings }: Results): string {
  return `${machine.cpu}, ${machine.cores} cores; ${madeAt.slice(0, 10)}, commit ${commit}; medians of ${settings["rounds"]} rounds, bars from lowest to highest`;
}

function throughputChart(results: Results): string {
  const cells = plainCells(results).filter(({ cell }) => cell.backlog === 0);
  const sizes = [...new Set(cells.map(({ cell }) => cell.itemsPerCall))].sort((a, b) => a - b);
  if (sizes.length === 0) throw new Error("the results hold no cells without a backlog");
  const points = (figure: string): (Spread | null)[] =>
    sizes.map(
      (size) => cells.find(({ cell }) => cell.itemsPerCall === size)?.figures[figure] ?? null,
    );
  const series: Series[] = [
    { name: "HTTP alone", style: "floor", points: points("E.produce.itemsPerSecond") },
    { name: "SQLite alone", style: "floor", points: points("S.produce.itemsPerSecond") },
    { name: "produce", style: "first", points: points("produce.itemsPerSecond") },
    { name: "lease + complete", style: "second", points: points("consume.itemsPerSecond") },
  ];
  return lineChart({
    title: "Items per second, every one synced before its 200",
    subtitle:
      "100-byte items over HTTP, SQLite, durability full; dashed: produce, if only HTTP or SQLite had to be paid",
    source: source(results),
    xTitle: "items a call",
    xLabels: sizes.map((size) => size.toLocaleString("en")),
    yTitle: "items/s, logarithmic",
    scale: "logarithmic",
    series,
  });
}

function latencyChart(results: Results): string {
  const cells = bestBacklogs(plainCells(results));
  const [first] = cells;
  if (first === undefined || cells.length < 2) {
    throw new Error("the results hold no cells with different backlogs");
  }
  const series = (["produce", "lease", "complete"] as const).map(
    (verb, index): Series => ({
      name: verb,
      style: (["first", "second", "third"] as const)[index] ?? "first",
      points: cells.map(({ figures }) => figures[`${verb}.p99Ms`] ?? null),
    }),
  );
  return lineChart({
    title: "99th percentile of a call, by the items that wait",
    subtitle: `100-byte items, ${first.cell.itemsPerCall} a call, ${first.cell.connections} connections, as fast as they go`,
    source: source(results),
    xTitle: "items waiting",
    xLabels: cells.map(({ cell }) => shortCount(cell.backlog)),
    yTitle: "ms a call, p99",
    scale: "linear",
    series,
  });
}

/** Of cells that differ only in their backlog, the group with the most; with 100 items a call if it may be. */
function bestBacklogs(cells: readonly CellMeasurement[]): CellMeasurement[] {
  const groups = new Map<string, Map<number, CellMeasurement>>();
  for (const measurement of cells) {
    const { itemsPerCall, connections, backlog } = measurement.cell;
    const key = `${itemsPerCall}x${connections}`;
    const group = groups.get(key) ?? new Map<number, CellMeasurement>();
    if (!group.has(backlog)) group.set(backlog, measurement);
    groups.set(key, group);
  }
  const rank = ([key, group]: [string, Map<number, CellMeasurement>]): number =>
    group.size * 2 + (key.startsWith("100x") ? 1 : 0);
  const [best] = [...groups].toSorted((a, b) => rank(b) - rank(a));
  return [...(best?.[1].values() ?? [])].sort((a, b) => a.cell.backlog - b.cell.backlog);
}
