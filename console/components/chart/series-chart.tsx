// A chart with its heading: a button for each line, which has its value and hides it.

import { type ReactNode, useMemo, useState } from "react";
import { rateText } from "../../format.ts";
import { serverNow } from "../../state/server-time.ts";
import { QueryFault } from "../refusal.tsx";
import { Chart } from "./chart.tsx";
import type { ChartLine } from "./chart-props.ts";
import { type RangeId, ranges } from "./range-choice.tsx";
import { noSeries, type SeriesQuery } from "./series.ts";

export interface Line extends Pick<ChartLine, "color" | "dash"> {
  /** The name of a series of the server. */
  readonly name: string;
  readonly label?: string;
}

interface SeriesChartProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly series: SeriesQuery;
  /** Shown while no point is chosen, by the name of the line; default: the last point. */
  readonly latest?: Readonly<Record<string, number | null>>;
  readonly range: RangeId;
  /** Colours the area between the first two lines. */
  readonly isBetween?: boolean;
  readonly point: number | null;
  readonly onPoint: (point: number | null) => void;
  /** Drawn over the chart, by its range. */
  readonly marks?: (fromSeconds: number, toSeconds: number) => ReactNode;
  readonly children?: ReactNode;
}

export function SeriesChart(props: SeriesChartProps): ReactNode {
  const { title, lines, series, latest, range, isBetween = false, point, onPoint } = props;
  const { data = noSeries } = series;
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const end = data.times.at(-1) ?? Math.floor(serverNow() / 1_000);
  const fromSeconds = end - ranges[range].seconds;
  const shown = useMemo<readonly ChartLine[]>(
    () =>
      lines
        .filter(({ name }) => !hidden.includes(name))
        .map(({ name, label = name, ...look }) => ({
          ...look,
          label,
          values: data.values[name] ?? [],
        })),
    [lines, hidden, data],
  );
  const valueAt = (name: string, at: number) => data.values[name]?.at(at) ?? null;
  const textOf = (name: string) =>
    rateText((point === null ? latest?.[name] : null) ?? valueAt(name, point ?? -1));
  const toggle = (name: string) =>
    setHidden(hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name]);
  const values = lines
    .map(({ name, label = name }) => `${label} ${rateText(valueAt(name, -1))}`)
    .join(", ");
  const areBoth = lines.slice(0, 2).every(({ name }) => !hidden.includes(name));
  return (
    <div className={isBetween ? "drawn flow" : "drawn"}>
      <div className="ph">
        <h2>{title}</h2>
        {lines.map(({ name, label = name }) => (
          <button
            type="button"
            key={name}
            className={`key key-${name}`}
            aria-pressed={!hidden.includes(name)}
            onClick={() => toggle(name)}
          >
            {label} <b>{textOf(name)}</b>
          </button>
        ))}
        {props.children}
      </div>
      {series.error !== null && series.data === undefined ? (
        <div className="plot">
          <QueryFault of={series} what={`The ${title} could not be read.`} />
        </div>
      ) : (
        <div className="marked">
          <Chart
            label={`${title} over ${ranges[range].label}: ${values} at the end. Arrow keys read single values.`}
            times={data.times}
            fromSeconds={fromSeconds}
            toSeconds={end}
            lines={shown}
            isBetween={isBetween && areBoth}
            point={point}
            onPoint={onPoint}
          />
          {props.marks?.(fromSeconds, end)}
        </div>
      )}
    </div>
  );
}
