// Draws the chart of bench/SCALING.md from a results file, as SVG text: items per second by items
// per call, with a bar at each point from the lowest to the highest round. It follows the reader's
// light or dark setting.

import type { Measurement, Results } from "./results.ts";
import type { Spread } from "./statistics.ts";

interface Series {
  readonly name: string;
  readonly style: "first" | "second" | "floor";
  /** One for each position on the x axis; `null` = not measured. */
  readonly points: readonly (Spread | null)[];
}

const titles = {
  title: "Items per second, every one synced before its 200",
  subtitle:
    "100-byte items over HTTP, SQLite, durability full; dashed: produce, if only HTTP or SQLite had to be paid",
  x: "items a call",
  y: "items/s, logarithmic",
} as const;

const width = 760;
const height = 440;
/** The plot area; the names are to its right. */
const plot = { left: 64, right: 600, top: 96, bottom: 360 };
const labelLineHeight = 17;
/** Horizontal offset between lines, so that no bar hides another. */
const dodge = 5;
const inset = 36;

// Variables are named by use, so dark colours are defined in one place.
const style = `
svg { --ink: #1c2128; --dim: #59636e; --grid: #d8dee4; --first: #0a66c2; --second: #b35900; --floor: #7d8590; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e6edf3; --dim: #9aa4af; --grid: #333b44; --first: #6cb2ff; --second: #f0a35e; --floor: #8b949e; }
}
text { font: 13px system-ui, sans-serif; fill: var(--dim); }
.title { font-size: 17px; font-weight: 600; fill: var(--ink); }
.source { font-size: 11px; }
.grid { stroke: var(--grid); }
.line { fill: none; stroke-width: 2.5; }
.bar { stroke-width: 1.5; opacity: 0.7; }
.name { font-weight: 600; }
${["first", "second", "floor"]
  .map(
    (name) =>
      `.line.${name}, .bar.${name} { stroke: var(--${name}); } .dot.${name}, text.${name} { fill: var(--${name}); }`,
  )
  .join("\n")}
.line.floor { stroke-dasharray: 5 5; stroke-width: 1.8; }`;

/** Throws if the results have no cells without a backlog. */
export function throughputChart(results: Results): string {
  const cells = results.measurements.filter(
    ({ cell }) => cell?.flow === "phases" && cell.partitions === 1 && cell.backlog === 0,
  );
  const sizes = [...new Set(cells.flatMap(({ cell }) => cell?.itemsPerCall ?? []))];
  sizes.sort((a, b) => a - b);
  if (sizes.length === 0) throw new Error("the results have no cells without a backlog");
  const series = seriesOf(cells, sizes);
  const y = yAxis(series);
  const x = (index: number): number => {
    const step = (plot.right - plot.left - 2 * inset) / Math.max(1, sizes.length - 1);
    return round(plot.left + inset + index * step);
  };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${Bun.escapeHTML(describe(series))}">`,
    `<style>${style}\n</style>`,
    text({ x: 16, y: 28, class: "title" }, titles.title),
    text({ x: 16, y: 48 }, titles.subtitle),
    text({ x: 16, y: height - 14, class: "source" }, sourceOf(results)),
    ...y.ticks.flatMap((tick) => [
      `<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${y.at(tick)}" y2="${y.at(tick)}"/>`,
      text({ x: plot.left - 8, y: y.at(tick) + 4, anchor: "end" }, compact(tick)),
    ]),
    text({ x: 16, y: plot.top - 16 }, titles.y),
    ...sizes.map((size, index) =>
      text({ x: x(index), y: plot.bottom + 20, anchor: "middle" }, size.toLocaleString("en")),
    ),
    text({ x: (plot.left + plot.right) / 2, y: plot.bottom + 42, anchor: "middle" }, titles.x),
    ...series.map((one, index) => {
      const shift = (index - (series.length - 1) / 2) * dodge;
      return drawn(one, { x: (place) => x(place) + shift, y: y.at });
    }),
    ...names(series, y.at),
    "</svg>\n",
  ].join("\n");
}

/** Canonical cells come first in a results file, so the first cell of each size is shown. */
function seriesOf(cells: readonly Measurement[], sizes: readonly number[]): Series[] {
  const points = (figure: string): (Spread | null)[] =>
    sizes.map(
      (size) => cells.find(({ cell }) => cell?.itemsPerCall === size)?.figures[figure] ?? null,
    );
  return [
    { name: "HTTP alone", style: "floor", points: points("E.produce.itemsPerSecond") },
    { name: "SQLite alone", style: "floor", points: points("S.produce.itemsPerSecond") },
    { name: "produce", style: "first", points: points("produce.itemsPerSecond") },
    { name: "lease + complete", style: "second", points: points("consume.itemsPerSecond") },
  ];
}

function sourceOf({ machine, commit, madeAt, settings }: Results): string {
  return `${machine.cpu}, ${machine.cores} cores; ${madeAt.slice(0, 10)}, commit ${commit}; medians of ${settings["rounds"]} rounds, bars from lowest to highest`;
}

/** A text alternative for readers who cannot see the chart. */
function describe(series: readonly Series[]): string {
  const lines = series.map(({ name, points }) => {
    const values = points.map((point) => (point === null ? "not measured" : compact(point.median)));
    return `${name}: ${values.join(", ")}`;
  });
  return `${titles.title}. ${lines.join("; ")}.`;
}

/** At most three digits: `630`, `63k`, `6.3`. */
export function compact(value: number): string {
  const short = (number: number): string => String(Number(number.toPrecision(3)));
  if (value >= 1e6) return `${short(value / 1e6)}M`;
  if (value >= 1e3) return `${short(value / 1e3)}k`;
  return short(value);
}

/** The y axis, with a grid line for each power of ten. */
function yAxis(series: readonly Series[]) {
  const spreads = series.flatMap(({ points }) => points.filter((point) => point !== null));
  const from = Math.floor(Math.log10(Math.min(...spreads.map(({ min }) => min))));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...spreads.map(({ max }) => max)))));
  const share = (value: number): number => (Math.log10(value) - from) / (to - from);
  return {
    ticks: Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index)),
    at: (value: number) => round(plot.bottom - share(value) * (plot.bottom - plot.top)),
  };
}

function drawn(
  { style: look, points }: Series,
  at: { x: (index: number) => number; y: (value: number) => number },
): string {
  const placed = points.flatMap((point, index) =>
    point === null ? [] : [{ x: at.x(index), point }],
  );
  const path = placed.map(({ x, point }) => `${x},${at.y(point.median)}`).join(" ");
  const marks = placed.map(
    ({ x, point }) =>
      `<line class="bar ${look}" x1="${x}" x2="${x}" y1="${at.y(point.min)}" y2="${at.y(point.max)}"/>` +
      `<circle class="dot ${look}" cx="${x}" cy="${at.y(point.median)}" r="4"/>`,
  );
  return [`<polyline class="line ${look}" points="${path}"/>`, ...marks].join("\n");
}

/** Names at the ends of the lines, moved down if they would overlap. */
function names(series: readonly Series[], y: (value: number) => number): string[] {
  const ends = series.flatMap(({ name, style: look, points }) => {
    const last = points.findLast((point) => point !== null);
    if (last === undefined || last === null) return [];
    return [{ label: `${name} ${compact(last.median)}`, look, at: y(last.median) }];
  });
  let free = Number.NEGATIVE_INFINITY;
  return ends
    .sort((a, b) => a.at - b.at)
    .map(({ label, look, at }) => {
      const place = Math.max(at, free);
      free = place + labelLineHeight;
      return text({ x: plot.right - 20, y: place + 4, class: `name ${look}` }, label);
    });
}

function text(
  place: { x: number; y: number; class?: string; anchor?: "middle" | "end" },
  content: string,
): string {
  const look = place.class === undefined ? "" : ` class="${place.class}"`;
  const anchor = place.anchor === undefined ? "" : ` text-anchor="${place.anchor}"`;
  return `<text x="${place.x}" y="${round(place.y)}"${look}${anchor}>${Bun.escapeHTML(content)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
