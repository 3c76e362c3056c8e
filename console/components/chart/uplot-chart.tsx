// The drawing of a chart. It is a file of its own because it is loaded after the page.

import { type ReactNode, useEffect, useRef } from "react";
import uPlot from "uplot";
import { clockText, type Zone } from "../../format.ts";
import { useZone } from "../../state/preferences.ts";
import type { ChartLine, ChartProps } from "./chart-props.ts";

/** Pixels drawn and left out. */
const dashes = { dashed: [4, 3], dotted: [2, 3] };
/** Pixels beside the drawing, and of an instant below it. */
const valuesWidth = 48;
const labelWidth = 40;

export function UplotChart(props: ChartProps): ReactNode {
  const { times, lines, fromSeconds, toSeconds, isBetween = false, point, onPoint } = props;
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const zone = useZone();
  const tell = useRef(onPoint);
  tell.current = onPoint;
  const looks = lines.map(({ label, color, dash }) => `${label} ${color} ${dash}`).join();

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const chart = new uPlot(
      optionsOf({ element, lines, isBetween, zone, tell: (index) => tell.current(index) }),
      [[], ...lines.map(() => [])],
      element,
    );
    drawn.current = chart;
    const fit = new ResizeObserver(() => chart.setSize(sizeOf(element)));
    fit.observe(element);
    const theme = new MutationObserver(() => chart.redraw(false));
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      fit.disconnect();
      theme.disconnect();
      chart.destroy();
    };
  }, [looks, isBetween, zone]);

  useEffect(() => {
    drawn.current?.batch(() => {
      drawn.current?.setData([[...times], ...lines.map(({ values }) => [...values])], false);
      drawn.current?.setScale("x", { min: fromSeconds, max: toSeconds });
    });
  }, [times, lines, fromSeconds, toSeconds, looks, isBetween, zone]);

  useEffect(() => {
    const chart = drawn.current;
    if (chart === null || point === null || chart.cursor.idx === point) return;
    chart.setCursor({ left: chart.valToPos(times[point] ?? 0, "x"), top: 0 }, false);
  }, [point, times]);

  return <div className="plot-place" ref={place} />;
}

interface Drawn {
  readonly element: HTMLElement;
  readonly lines: readonly ChartLine[];
  readonly isBetween: boolean;
  readonly zone: Zone;
  readonly tell: (index: number | null) => void;
}

function optionsOf({ element, lines, isBetween, zone, tell }: Drawn): uPlot.Options {
  // A canvas knows no `light-dark()`: it is given the colour that an element would have.
  const paint = (name: string) => {
    element.style.color = `var(${name})`;
    return getComputedStyle(element).color;
  };
  const font = `11px ${getComputedStyle(element).getPropertyValue("--font-mono")}`;
  const axis = { stroke: () => paint("--text-muted"), font, ticks: { show: false } };
  const grid = { stroke: () => paint("--line"), width: 1 };
  return {
    ...sizeOf(element),
    padding: [8, 0, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: { x: { time: true }, y: { range: (_, __, max) => [0, niceTop(max)] } },
    axes: [
      {
        ...axis,
        size: 22,
        space: 90,
        grid: { show: false },
        values: (chart, at) =>
          at.map((time) => (isInside(chart, time) ? timeText(time, zone) : "")),
      },
      {
        ...axis,
        size: valuesWidth,
        splits: (_, __, ___, max) => [0, max / 2, max],
        grid,
        values: (_, at) => at.map((value) => (value === 0 ? "" : shortText(value))),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, color, dash }) => ({
        label,
        stroke: () => paint(color),
        width: 1.5,
        points: { show: false },
        ...(dash && { dash: dashes[dash] }),
      })),
    ],
    // The queue grows while the first line is above the second, and drains while it is below.
    ...(isBetween && {
      bands: [
        { series: [1, 2], fill: () => paint("--band-up") },
        { series: [2, 1], fill: () => paint("--band-down") },
      ],
    }),
    hooks: { setCursor: [({ cursor }) => tell(cursor.idx ?? null)] },
  };
}

/** A label at an edge would be cut. */
function isInside({ scales, width }: uPlot, time: number): boolean {
  const { min = 0, max = 0 } = scales["x"] ?? {};
  const edge = (((max ?? 0) - (min ?? 0)) * labelWidth) / 2 / Math.max(1, width - valuesWidth);
  return time >= (min ?? 0) + edge && time <= (max ?? 0) - edge;
}

function timeText(seconds: number, zone: Zone): string {
  return clockText(seconds * 1_000, zone, { seconds: false });
}

function sizeOf({ clientWidth, clientHeight }: HTMLElement) {
  return { width: Math.max(80, clientWidth), height: Math.max(60, clientHeight) };
}

function niceTop(max: number | null): number {
  if (max === null || !(max > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(max * 1.05));
  const top = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((step) => step * unit >= max * 1.05) ?? 10;
  return top * unit;
}

function shortText(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`;
  return value >= 1_000 ? `${value / 1_000} k` : String(Number(value.toPrecision(3)));
}
