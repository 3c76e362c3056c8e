// How a queue went: what came and went, and on a scale of its own what went wrong, with marks
// where somebody paused it.

import { type ReactNode, useMemo, useState } from "react";
import { Chart, type ChartLine } from "../../components/chart/chart.tsx";
import { RangeChoice, useRange } from "../../components/chart/range-choice.tsx";
import { type RangeId, ranges } from "../../components/chart/ranges.ts";
import { Fault } from "../../components/refusal.tsx";
import { rateText } from "../../format.ts";
import { serverNow } from "../../state/server-time.ts";
import { Marks, marksOf } from "./chart-marks.tsx";
import { noSeries, type QueueSeries, type SeriesName } from "./queue-series.ts";
import type { QueueState } from "./queue-state.ts";
import { useSeries } from "./use-series.ts";

interface Line extends Pick<ChartLine, "color" | "dash"> {
  readonly name: SeriesName;
}

const flow: readonly Line[] = [
  { name: "produced", color: "--s-in" },
  { name: "completed", color: "--s-out" },
  { name: "leased", color: "--s-lease", dash: "dashed" },
];
const wrong: readonly Line[] = [
  { name: "retried", color: "--s-retry" },
  { name: "lapsed", color: "--s-lapse", dash: "dashed" },
  { name: "dead", color: "--s-dead", dash: "dotted" },
];

export function QueueCharts({ state }: { readonly state: QueueState }): ReactNode {
  const { range, choose } = useRange();
  const [point, setPoint] = useState<number | null>(null);
  const isWanted = state.info.data !== undefined;
  const { data = noSeries, error, refetch } = useSeries(state.name, range, isWanted);
  if (error !== null && data.times.length === 0) {
    return (
      <figure className="charts" aria-label="How it went">
        <Fault of={error} what="The series could not be read." onRetry={() => void refetch()} />
      </figure>
    );
  }
  const shared = { data, range, point, onPoint: setPoint, state };
  return (
    <figure className="charts" aria-label="How it went">
      <Drawn {...shared} title="items a second" lines={flow} isBetween>
        <span className="muted wide-only bands">
          <i className="warn">▪</i> it grows <i className="acc">▪</i> it drains
        </span>
        <RangeChoice range={range} onChoose={choose} />
      </Drawn>
      <Drawn {...shared} title="what went wrong, a second" lines={wrong} />
    </figure>
  );
}

interface DrawnProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly data: QueueSeries;
  readonly range: RangeId;
  readonly state: QueueState;
  readonly isBetween?: boolean;
  readonly point: number | null;
  readonly onPoint: (point: number | null) => void;
  readonly children?: ReactNode;
}

function Drawn(props: DrawnProps): ReactNode {
  const { title, lines, data, range, state, isBetween = false, point, onPoint, children } = props;
  const [hidden, setHidden] = useState<readonly SeriesName[]>([]);
  const end = data.times.at(-1) ?? Math.floor(serverNow() / 1_000);
  const fromSeconds = end - ranges[range].seconds;
  const shown = useMemo<readonly ChartLine[]>(
    () =>
      lines
        .filter(({ name }) => !hidden.includes(name))
        .map(({ name, ...look }) => ({ ...look, label: name, values: data.values[name] })),
    [lines, hidden, data],
  );
  const told = (name: SeriesName) =>
    rateText((point === null ? data.values[name].at(-1) : data.values[name][point]) ?? null);
  const toggle = (name: SeriesName) =>
    setHidden(hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name]);
  const said = lines.map(({ name }) => `${name} ${told(name)}`).join(", ");
  const marks = marksOf(state.actions.data?.items ?? [], fromSeconds, end);
  return (
    <div className={isBetween ? "drawn flow" : "drawn"}>
      <div className="ph">
        <h2>{title}</h2>
        {lines.map(({ name }) => (
          <button
            type="button"
            key={name}
            className={`key key-${name}`}
            aria-pressed={!hidden.includes(name)}
            onClick={() => toggle(name)}
          >
            {name} <b>{told(name)}</b>
          </button>
        ))}
        {children}
      </div>
      <div className="marked">
        <Chart
          label={`${title} over ${ranges[range].label}: ${said} at the end. Arrow keys read single values.`}
          times={data.times}
          fromSeconds={fromSeconds}
          toSeconds={end}
          lines={shown}
          isBetween={isBetween && !hidden.includes("produced") && !hidden.includes("completed")}
          point={point}
          onPoint={onPoint}
        />
        <Marks marks={marks} isNamed={isBetween} />
      </div>
    </div>
  );
}
