import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { ask } from "../../api/call.ts";
import { isForSome } from "../../api/permissions.ts";
import { useMayOn, useWhoAmI } from "../../api/query-client.ts";
import { session } from "../../api/session.ts";
import { Chart, type ChartLine } from "../../components/chart/chart.tsx";
import { RangeChoice, useRange } from "../../components/chart/range-choice.tsx";
import { type RangeId, ranges } from "../../components/chart/ranges.ts";
import { Fault } from "../../components/refusal.tsx";
import { rateText } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { seen, useAsksAgain } from "../../state/overview-poll.ts";
import { ratesOf } from "../../state/overview-state.ts";
import { serverNow } from "../../state/server-time.ts";
import { continued, type FlowSeries, fromOf } from "./flow-series.ts";

const nothing: FlowSeries = { times: [], in: [], out: [] };

export function FlowChart(): ReactNode {
  const { range, choose } = useRange();
  const [point, setPoint] = useState<number | null>(null);
  const me = useWhoAmI();
  const { data = nothing, error, refetch } = useSeries(range);
  const { overview } = useObserved(seen);
  const rates = overview ? ratesOf(overview.totals, overview.asOfMs) : { in: null, out: null };
  const told = (line: "in" | "out") =>
    rateText(point === null ? rates[line] : (data[line][point] ?? null));
  return (
    <figure aria-labelledby="flow">
      <div className="ph">
        <h2 id="flow">items a second</h2>
        <span className="key key-in">
          in <b>{told("in")}</b>
        </span>
        <span className="key key-out">
          out <b>{told("out")}</b>
        </span>
        {me !== undefined && isForSome(me, "read") ? (
          <span className="end muted cut">the past is for keys of all queues</span>
        ) : (
          <RangeChoice range={range} onChoose={choose} />
        )}
      </div>
      {error === null || data !== nothing ? (
        <FlowDrawing range={range} data={data} point={point} onPoint={setPoint} />
      ) : (
        <Fault of={error} what="The series could not be read." onRetry={() => void refetch()} />
      )}
    </figure>
  );
}

function useSeries(range: RangeId) {
  const { visit, asksKey } = useObserved(session);
  // Of no queue by name, so of all.
  const mayRead = useMayOn("read", null);
  const isAsking = useAsksAgain();
  const client = useQueryClient();
  const queryKey = ["series", visit, range];
  const { step, stepSeconds } = ranges[range];
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const before = client.getQueryData<FlowSeries>(queryKey);
      const nowSeconds = serverNow() / 1_000;
      const from = fromOf(before, range, nowSeconds);
      const names = ["produced", "completed"];
      const reply = await ask("series", { names, from, step }, { signal });
      return continued({ before, reply, range, nowSeconds });
    },
    enabled: !asksKey && mayRead,
    refetchInterval: isAsking && stepSeconds * 1_000,
  });
}

interface FlowDrawingProps {
  readonly range: RangeId;
  readonly data: FlowSeries;
  readonly point: number | null;
  readonly onPoint: (point: number | null) => void;
}

function FlowDrawing({ range, data, point, onPoint }: FlowDrawingProps): ReactNode {
  const { label, seconds } = ranges[range];
  const end = data.times.at(-1) ?? Math.floor(serverNow() / 1_000);
  const lines = useMemo<readonly ChartLine[]>(
    () => [
      { label: "in", color: "--s-in", values: data.in },
      { label: "out", color: "--s-out", values: data.out },
    ],
    [data],
  );
  const last = (values: readonly number[]) => rateText(values.at(-1) ?? null);
  const said = `in ${last(data.in)}, out ${last(data.out)} at the end`;
  return (
    <Chart
      label={`Items a second over ${label}: ${said}. Arrow keys read single values.`}
      times={data.times}
      fromSeconds={end - seconds}
      toSeconds={end}
      lines={lines}
      isBetween
      point={point}
      onPoint={onPoint}
    />
  );
}
