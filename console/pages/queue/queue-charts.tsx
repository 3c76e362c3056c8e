// How the queue went: produced and completed items, and on a scale of its own the trouble. Marks
// are the changes that an operator made.

import { type ReactNode, useState } from "react";
import { RangeChoice, useRange } from "../../components/chart/range-choice.tsx";
import { useSeries } from "../../components/chart/series.ts";
import { type Line, SeriesChart } from "../../components/chart/series-chart.tsx";
import { Marks } from "./chart-marks.tsx";
import type { QueueState } from "./queue-state.ts";

const flow: readonly Line[] = [
  { name: "produced", color: "--s-in" },
  { name: "completed", color: "--s-out" },
  { name: "leased", color: "--s-lease", dash: "dashed" },
];
const trouble: readonly Line[] = [
  { name: "retried", color: "--s-retry" },
  { name: "lapsed", color: "--s-lapse", dash: "dashed" },
  { name: "dead", color: "--s-dead", dash: "dotted" },
];
const names = [...flow, ...trouble].map(({ name }) => name);

export function QueueCharts({ state }: { readonly state: QueueState }): ReactNode {
  const { range, choose } = useRange();
  const [point, setPoint] = useState<number | null>(null);
  const of = { queue_name: state.name, names };
  const series = useSeries({ of, range, isEnabled: state.info.data !== undefined });
  const shared = { series, range, point, onPoint: setPoint };
  const actions = state.actions.data?.items ?? [];
  return (
    <figure className="charts" aria-label="How it went">
      <SeriesChart
        {...shared}
        title="items per second"
        lines={flow}
        isBetween
        marks={(from, to) => <Marks actions={actions} from={from} to={to} isNamed />}
      >
        <span className="muted wide-only bands">
          <i className="warn">▪</i> it grows <i className="acc">▪</i> it drains
        </span>
        <RangeChoice range={range} onChoose={choose} />
      </SeriesChart>
      <SeriesChart
        {...shared}
        title="trouble per second"
        lines={trouble}
        marks={(from, to) => <Marks actions={actions} from={from} to={to} />}
      />
    </figure>
  );
}
