// A line chart as SVG: one line per series, a bar at each point from the lowest
// to the highest round, and each line named where it ends. Knows nothing of
// queues.

import type { Spread } from "./statistics.ts";

export interface Series {
  readonly name: string;
  readonly style: "first" | "second" | "third" | "floor";
  /** One for each place on the x axis; `null` = not measured. */
  readonly points: readonly (Spread | null)[];
}

export interface LineChart {
  readonly title: string;
  readonly subtitle: string;
  /** Where and when it was measured. */
  readonly source: string;
  readonly xTitle: string;
  readonly xLabels: readonly string[];
  readonly yTitle: string;
  readonly scale: "linear" | "logarithmic";
  readonly series: readonly Series[];
}

const width = 760;
const height = 440;
/** Of the area that the lines are in; to its right is room for their names. */
const plot = { left: 64, right: 600, top: 96, bottom: 360 };
const labelLineHeight = 17;
/** Points of different lines over one place stand beside each other, so that no bar hides another. */
const dodge = 5;

// Named by what they are for, so that one place decides how they look in the dark.
const style = `
svg { --ink: #1c2128; --dim: #59636e; --grid: #d8dee4; --first: #0a66c2; --second: #b35900; --third: #2a7d3f; --floor: #7d8590; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e6edf3; --dim: #9aa4af; --grid: #333b44; --first: #6cb2ff; --second: #f0a35e; --third: #6fcf8a; --floor: #8b949e; }
}
text { font: 13px system-ui, sans-serif; fill: var(--dim); }
.title { font-size: 17px; font-weight: 600; fill: var(--ink); }
.source { font-size: 11px; }
.grid { stroke: var(--grid); }
.line { fill: none; stroke-width: 2.5; }
.bar { stroke-width: 1.5; opacity: 0.7; }
.name { font-weight: 600; }
${["first", "second", "third", "floor"]
  .map(
    (name) =>
      `.line.${name}, .bar.${name} { stroke: var(--${name}); } .dot.${name}, text.${name} { fill: var(--${name}); }`,
  )
  .join("\n")}
.line.floor { stroke-dasharray: 5 5; stroke-width: 1.8; }`;

export function lineChart(chart: LineChart): string {
  const axis = yAxis(chart);
  const description = `${chart.title}. ${chart.series.map(describe).join("; ")}.`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(description)}">`,
    `<style>${style}\n</style>`,
    text({ x: 16, y: 28, class: "title" }, chart.title),
    text({ x: 16, y: 48 }, chart.subtitle),
    text({ x: 16, y: height - 14, class: "source" }, chart.source),
    ...axis.ticks.flatMap((tick) => [
      `<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${axis.y(tick)}" y2="${axis.y(tick)}"/>`,
      text({ x: plot.left - 8, y: axis.y(tick) + 4, anchor: "end" }, compact(tick)),
    ]),
    text({ x: 16, y: plot.top - 16 }, chart.yTitle),
    ...chart.xLabels.map((label, index) =>
      text({ x: xOf(chart, index), y: plot.bottom + 20, anchor: "middle" }, label),
    ),
    text({ x: (plot.left + plot.right) / 2, y: plot.bottom + 42, anchor: "middle" }, chart.xTitle),
    ...chart.series.map((series, index) => {
      const shift = (index - (chart.series.length - 1) / 2) * dodge;
      return drawSeries(series, { x: (place) => xOf(chart, place) + shift, y: axis.y });
    }),
    ...names(chart, axis.y),
    "</svg>\n",
  ].join("\n");
}

/** For who cannot see the lines. */
function describe({ name, points }: Series): string {
  const values = points.map((point) => (point === null ? "not measured" : compact(point.median)));
  return `${name}: ${values.join(", ")}`;
}

/** At most three digits: `630`, `63k`, `6.3`. */
export function compact(value: number): string {
  const short = (number: number): string => String(Number(number.toPrecision(3)));
  if (value >= 1e6) return `${short(value / 1e6)}M`;
  if (value >= 1e3) return `${short(value / 1e3)}k`;
  return short(value);
}

interface Axis {
  readonly ticks: readonly number[];
  readonly y: (value: number) => number;
}

function yAxis({ series, scale }: LineChart): Axis {
  const spreads = series.flatMap(({ points }) => points.filter((point) => point !== null));
  const highest = Math.max(...spreads.map(({ max }) => max));
  const span = plot.bottom - plot.top;
  if (scale === "linear") {
    const step = roundStep(highest / 5);
    const ticks = Array.from({ length: Math.ceil(highest / step) + 1 }, (_, index) => index * step);
    const top = ticks.at(-1) ?? 1;
    return { ticks, y: (value) => round(plot.bottom - (value / top) * span) };
  }
  const lowest = Math.min(...spreads.map(({ min }) => min));
  const from = Math.floor(Math.log10(lowest));
  const to = Math.max(from + 1, Math.ceil(Math.log10(highest)));
  const ticks = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  const share = (value: number): number => (Math.log10(value) - from) / (to - from);
  return { ticks, y: (value) => round(plot.bottom - share(value) * span) };
}

/** 1, 2 or 5 times a power of ten, at least this much. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
}

function xOf({ xLabels }: LineChart, index: number): number {
  const inset = 36;
  const steps = Math.max(1, xLabels.length - 1);
  return round(plot.left + inset + (index / steps) * (plot.right - plot.left - 2 * inset));
}

function drawSeries(
  { style: look, points }: Series,
  { x: place, y }: { x: (index: number) => number; y: (value: number) => number },
): string {
  const placed = points.flatMap((point, index) =>
    point === null ? [] : [{ x: place(index), point }],
  );
  const path = placed.map(({ x, point }) => `${x},${y(point.median)}`).join(" ");
  const marks = placed.map(
    ({ x, point }) =>
      `<line class="bar ${look}" x1="${x}" x2="${x}" y1="${y(point.min)}" y2="${y(point.max)}"/>` +
      `<circle class="dot ${look}" cx="${x}" cy="${y(point.median)}" r="4"/>`,
  );
  return [`<polyline class="line ${look}" points="${path}"/>`, ...marks].join("\n");
}

/** Each beside the end of its line, moved down as far as the one above needs. */
function names(chart: LineChart, y: (value: number) => number): string[] {
  const ends = chart.series.flatMap((series) => {
    const last = series.points.findLast((point) => point !== null);
    return last === undefined || last === null ? [] : [{ series, last, at: y(last.median) }];
  });
  let free = Number.NEGATIVE_INFINITY;
  return ends
    .sort((a, b) => a.at - b.at)
    .map(({ series, last, at }) => {
      const place = Math.max(at, free);
      free = place + labelLineHeight;
      const label = `${series.name} ${compact(last.median)}`;
      return text({ x: plot.right - 20, y: place + 4, class: `name ${series.style}` }, label);
    });
}

function text(
  place: { x: number; y: number; class?: string; anchor?: "middle" | "end" },
  content: string,
): string {
  const look = place.class === undefined ? "" : ` class="${place.class}"`;
  const anchor = place.anchor === undefined ? "" : ` text-anchor="${place.anchor}"`;
  return `<text x="${place.x}" y="${round(place.y)}"${look}${anchor}>${escapeXml(content)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(content: string): string {
  return content
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
