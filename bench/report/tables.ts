// Formats results as Markdown tables for the terminal. Pure.

import type { Figures, Measurement, Results } from "./results.ts";
import type { Spread } from "./statistics.ts";

type Row = readonly string[];

/** Aligns all columns except the first to the right. */
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

export function rate(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

/**
 * One row per figure, with a column per part of a run and the ratio of the last part to the first.
 */
export function partsTable(title: string, parts: readonly Figures[]): string {
  const rows = Object.keys(parts[0] ?? {}).map((name) => {
    const values = parts.map((figures) => figures[name] ?? Number.NaN);
    const ratio = (values.at(-1) ?? Number.NaN) / (values[0] ?? Number.NaN);
    return [name, ...values.map(rate), ratio.toFixed(2)];
  });
  const head = [title, ...parts.map((_, part) => String(part + 1)), "last of first"];
  return markdownTable(head, rows);
}

type Format = (spread: Spread) => string;

const spread: Format = ({ median, min, max }) => `${rate(median)} (${rate(min)}–${rate(max)})`;
const ratio: Format = ({ median, min, max }) =>
  `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
const milliseconds: Format = ({ median }) => median.toFixed(2);

/** A title, the figure below it, and its format. */
type Column = readonly [title: string, figure: string, format: Format];

const rates: readonly Column[] = [
  ["produce", "produce.itemsPerSecond", spread],
  ["of E", "produce.overE", ratio],
  ["of S", "produce.overS", ratio],
  ["lease + complete", "consume.itemsPerSecond", spread],
  ["of E", "consume.overE", ratio],
  ["of S", "consume.overS", ratio],
  ["all three", "all.itemsPerSecond", spread],
  ["of S", "all.overS", ratio],
];

const times = ["produce", "lease", "complete"].flatMap((verb): Column[] => [
  [`${verb} p50`, `${verb}.p50Ms`, milliseconds],
  ["p99", `${verb}.p99Ms`, milliseconds],
  ["max", `${verb}.maxMs`, milliseconds],
]);

/** Columns of cells compared with another cell that differs in one setting. */
const compared = (suffix: string): readonly Column[] => [
  ["produce", `produce.over${suffix}`, ratio],
  ["lease + complete", `consume.over${suffix}`, ratio],
  ["all three", `all.over${suffix}`, ratio],
];

/** A table of the measurements with one of the figures; none if there are no such measurements. */
function tableOf(
  title: string,
  columns: readonly Column[],
  measurements: readonly Measurement[],
): string[] {
  const rows = measurements
    .filter(({ figures }) => columns.some(([, figure]) => figure in figures))
    .map(({ name, figures }) => [
      name,
      ...columns.map(([, figure, format]) => {
        const found = figures[figure];
        return found === undefined ? "–" : format(found);
      }),
    ]);
  if (rows.length === 0) return [];
  return [markdownTable([title, ...columns.map(([head]) => head)], rows)];
}

export function renderResults({ measurements, machine, settings, commit }: Results): string {
  const cells = measurements.filter(({ cell }) => cell !== undefined);
  const probes = measurements.flatMap(({ name, cell, figures }) =>
    cell === undefined
      ? Object.entries(figures).map(([figure, found]) => [name, figure, spread(found)])
      : [],
  );
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.fileSystem}; commit ${commit}; medians of ${settings["rounds"]} rounds; durability ${settings["durability"]}`,
    ...tableOf("items/s: median (min–max)", rates, cells),
    ...tableOf("ms per call", times, cells),
    ...tableOf("items/s against the empty queue", compared("Empty"), cells),
    ...tableOf("items/s against one partition", compared("OnePartition"), cells),
    ...(probes.length === 0
      ? []
      : [markdownTable(["probe", "figure", "median (min–max)"], probes)]),
  ].join("\n\n");
}
