// Results as tables for the terminal, in Markdown; pure.

import type { Measurement, Results } from "./results.ts";
import type { Spread } from "./statistics.ts";

type Row = readonly string[];

/** Columns to the right, but the first. */
export function markdownTable(head: Row, rows: readonly Row[]): string {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: Row): string => {
    const cells = row.map((text, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? text.padEnd(width) : text.padStart(width);
    });
    return `| ${cells.join(" | ")} |`;
  };
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

const absent = "–";

export function rate(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

function withSpread(spread: Spread | undefined): string {
  if (spread === undefined) return absent;
  const { median, min, max } = spread;
  return `${rate(median)} (${rate(min)}–${rate(max)})`;
}

function ratio(spread: Spread | undefined): string {
  return spread === undefined
    ? absent
    : `${spread.median.toFixed(2)} (${spread.min.toFixed(2)}–${spread.max.toFixed(2)})`;
}

function median(spread: Spread | undefined, digits: number, scale = 1): string {
  return spread === undefined ? absent : (spread.median / scale).toFixed(digits);
}

function ratesTable(cells: readonly Measurement[]): string {
  const head = [
    "items/s: median (min–max)",
    "produce",
    "of E",
    "of S",
    "lease + complete",
    "of E",
    "of S",
    "all three",
    "of S",
  ];
  return markdownTable(
    head,
    cells.map((cell) => [
      cell.name,
      withSpread(cell.figures["produce.itemsPerSecond"]),
      ratio(cell.figures["produce.overE"]),
      ratio(cell.figures["produce.overS"]),
      withSpread(cell.figures["consume.itemsPerSecond"]),
      ratio(cell.figures["consume.overE"]),
      ratio(cell.figures["consume.overS"]),
      withSpread(cell.figures["all.itemsPerSecond"]),
      ratio(cell.figures["all.overS"]),
    ]),
  );
}

function timesTable(cells: readonly Measurement[]): string {
  const times = (cell: Measurement, verb: string): string =>
    ["p50Ms", "p99Ms", "maxMs"]
      .map((name) => median(cell.figures[`${verb}.${name}`], 2))
      .join(" / ");
  return markdownTable(
    ["ms a call: p50 / p99 / max", "produce", "lease", "complete"],
    cells.map((cell) => [
      cell.name,
      times(cell, "produce"),
      times(cell, "lease"),
      times(cell, "complete"),
    ]),
  );
}

/** One phase per line: a produce costs other things than a lease and a complete. */
function costTable(cells: readonly Measurement[]): string {
  const head = [
    "per 1,000 items",
    "server CPU ms",
    "syncs",
    "kB written",
    "items a sync",
    "syncs of D",
    "load CPU",
    "of the server's",
    "peak MB",
    "disk MB",
    "ready ms",
  ];
  const rows = cells.flatMap((cell) =>
    ["produce", "consume", "together"]
      .filter((phase) => cell.figures[`${phase}.itemsPerCommit`] !== undefined)
      .map((phase) => [
        `${cell.name} ${phase}`,
        median(cell.figures[`${phase}.cpuSecondsPer1000`], 2, 0.001),
        median(cell.figures[`${phase}.commitsPer1000`], 2),
        median(cell.figures[`${phase}.bytesWrittenPer1000`], 0, 1_000),
        median(cell.figures[`${phase}.itemsPerCommit`], 0),
        median(cell.figures[`${phase}.syncsOverD`], 2),
        `${median(cell.figures[`${phase}.clientCpuShare`], 0, 0.01)} %`,
        median(cell.figures[`${phase}.clientCpuOverServer`], 2),
        median(cell.figures["peakBytes"], 0, 1e6),
        median(cell.figures["diskBytes"], 0, 1e6),
        median(cell.figures["readyMs"], 0),
      ]),
  );
  return markdownTable(head, rows);
}

/** Cells that were measured beside another one, from which they differ in one thing. */
function comparedTable(cells: readonly Measurement[]): string | null {
  const rows = cells.flatMap((cell) =>
    [
      ["the empty queue", "Empty"],
      ["one partition", "OnePartition"],
    ].flatMap(([other = "", suffix]) => {
      const over = (phase: string): Spread | undefined => cell.figures[`${phase}.over${suffix}`];
      if (over("all") === undefined) return [];
      const ratios = ["produce", "consume", "all"].map((phase) => ratio(over(phase)));
      return [[`${cell.name} against ${other}`, ...ratios]];
    }),
  );
  if (rows.length === 0) return null;
  return markdownTable(["items/s as a ratio", "produce", "lease + complete", "all three"], rows);
}

function probeLines(probes: readonly Measurement[]): string {
  const rows = probes.flatMap(({ name, figures }) =>
    Object.entries(figures).map(([figure, spread]) => [name, figure, withSpread(spread)]),
  );
  return markdownTable(["probe", "figure", "median (min–max)"], rows);
}

export function renderResults({ measurements, machine, settings, commit }: Results): string {
  const cells = measurements.filter(({ cell }) => cell !== undefined);
  const probes = measurements.filter(({ cell }) => cell === undefined);
  const where = `${machine.cpu}, ${machine.cores} cores, ${machine.fileSystem}; commit ${commit}; medians of ${settings["rounds"]} rounds; durability ${settings["durability"]}`;
  const parts = [where];
  if (cells.length > 0) parts.push(ratesTable(cells), timesTable(cells), costTable(cells));
  const compared = comparedTable(cells);
  if (compared !== null) parts.push(compared);
  if (probes.length > 0) parts.push(probeLines(probes));
  return parts.join("\n\n");
}
