// What of the results files goes to a reader's browser: the figures that a chart, a goal
// or a text names, without the single rounds. Pure.

import type { ResultsFile } from "./bench-data.ts";
import { goals } from "./goals.ts";

const ofCharts = /^canonical .*: ([ES]\.)?(produce|consume|all)\.itemsPerSecond$/;

/** The names that `<BenchFigure name="…" />` has in a text. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(/<BenchFigure\s+name="([^"]+)"/g)].flatMap(([, name]) => name ?? []);
}

export function compact(file: ResultsFile, named: ReadonlySet<string>): ResultsFile {
  if ("rows" in file) return { ...file, failures: [], rows: file.rows.map(withoutSettings) };
  const ofGoals = new Set(goals.flatMap(({ of }) => (typeof of === "string" ? [of] : [])));
  const isKept = (name: string): boolean =>
    ofCharts.test(name) || ofGoals.has(name) || named.has(name);
  const measurements = file.measurements.flatMap((measurement) => {
    const figures = Object.entries(measurement.figures)
      .filter(([figure]) => isKept(`${measurement.name}: ${figure}`))
      .map(([figure, { median, min, max }]) => [figure, { median, min, max, values: [] }]);
    return figures.length === 0
      ? []
      : [{ ...measurement, figures: Object.fromEntries(figures) as typeof measurement.figures }];
  });
  return { ...file, measurements };
}

type Row = Extract<ResultsFile, { rows: unknown }>["rows"][number];

function withoutSettings(row: Row): Row {
  return { ...row, settings: "", caveat: "", items: [] };
}
