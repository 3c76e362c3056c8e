// The points of a chart: those that the server has kept, then those added since the last answer.

import { useRef } from "react";
import type { RequestOf } from "../../../openapi/operations.ts";
import type { ServerSeriesReply } from "../../../openapi/schemas.ts";
import { ask } from "../../api/call.ts";
import { useFetched } from "../../api/use-query.ts";
import { serverNow } from "../../state/server-time.ts";
import { type RangeId, ranges } from "./range-choice.tsx";

export interface Series {
  /** Seconds since 1970 at the end of each point. */
  readonly times: readonly number[];
  /** Per second, by the name of the line. */
  readonly values: Readonly<Record<string, readonly number[]>>;
}

export const noSeries: Series = { times: [], values: {} };

interface Points {
  readonly before: Series | undefined;
  readonly reply: ServerSeriesReply;
  readonly range: RangeId;
  readonly nowSeconds: number;
}

export function withPoints({ before = noSeries, reply, range, nowSeconds }: Points): Series {
  const { stepSeconds, seconds } = ranges[range];
  const start = Date.parse(reply.from) / 1_000;
  const isKept = (at: number) => at > nowSeconds - seconds && at <= start;
  const from = before.times.findIndex(isKept);
  const kept = from === -1 ? [] : before.times.slice(from).filter(isKept);
  const added = reply.series[0]?.values.map((_, at) => start + (at + 1) * stepSeconds) ?? [];
  return {
    times: [...kept, ...added],
    values: Object.fromEntries(
      reply.series.map(({ name, values }) => [
        name,
        [
          ...(before.values[name]?.slice(from, from + kept.length) ?? []),
          ...values.map((value) => value / stepSeconds),
        ],
      ]),
    ),
  };
}

/** The start of the next request. */
export function startOf(before: Series | undefined, range: RangeId, nowSeconds: number): string {
  const oldest = nowSeconds - ranges[range].seconds;
  return new Date(Math.max(before?.times.at(-1) ?? 0, oldest) * 1_000).toISOString();
}

interface SeriesOptions {
  /** The lines, and whose they are. */
  readonly of: RequestOf<"series">;
  readonly range: RangeId;
  readonly isEnabled: boolean;
}

export interface SeriesQuery {
  readonly data: Series | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
}

/** The whole range once, then the new points of each step. */
export function useSeries({ of, range, isEnabled }: SeriesOptions) {
  const { step, stepSeconds } = ranges[range];
  const last = useRef<{ readonly range: RangeId; readonly series: Series }>(undefined);
  const read = async (signal: AbortSignal) => {
    const before = last.current?.range === range ? last.current.series : undefined;
    const nowSeconds = serverNow() / 1_000;
    const from = startOf(before, range, nowSeconds);
    const reply = await ask("series", { ...of, from, step }, { signal });
    const series = withPoints({ before, reply, range, nowSeconds });
    last.current = { range, series };
    return series;
  };
  return useFetched(["series", range, of], read, { everyMs: stepSeconds * 1_000, isEnabled });
}
