import { type ReactNode, useState } from "react";
import { isForSome, useMayOn, useWhoAmI } from "../../api/permissions.ts";
import { RangeChoice, useRange } from "../../components/chart/range-choice.tsx";
import { useSeries } from "../../components/chart/series.ts";
import { type Line, SeriesChart } from "../../components/chart/series-chart.tsx";
import { useOverview } from "../../state/overview-poll.ts";
import { ratesOf } from "../../state/overview-state.ts";

const lines: readonly Line[] = [
  { name: "produced", label: "in", color: "--s-in" },
  { name: "completed", label: "out", color: "--s-out" },
];
const of = { names: lines.map(({ name }) => name) };

export function FlowChart(): ReactNode {
  const { range, choose } = useRange();
  const [point, setPoint] = useState<number | null>(null);
  const me = useWhoAmI();
  const overview = useOverview();
  // A key for some queues has these alone.
  const rates = overview && ratesOf(overview.totals, overview.asOfMs);
  const latest = { produced: rates?.in ?? null, completed: rates?.out ?? null };
  const series = useSeries({ of, range, isEnabled: useMayOn("read", null) });
  return (
    <figure aria-label="items per second">
      <SeriesChart
        title="items per second"
        lines={lines}
        series={series}
        latest={latest}
        range={range}
        isBetween
        point={point}
        onPoint={setPoint}
      >
        {me !== undefined && isForSome(me, "read") ? (
          <span className="end muted cut">history needs a key for all queues</span>
        ) : (
          <RangeChoice range={range} onChoose={choose} />
        )}
      </SeriesChart>
    </figure>
  );
}
