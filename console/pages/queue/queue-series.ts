// The points of both charts of a queue: those that the server kept, once, then those that came.

import type { ServerSeriesReply } from "../../../openapi/schemas.ts";
import { type RangeId, ranges } from "../../components/chart/ranges.ts";

export const seriesNames = [
  "produced",
  "completed",
  "leased",
  "retried",
  "lapsed",
  "dead",
] as const;
export type SeriesName = (typeof seriesNames)[number];

export interface QueueSeries {
  /** Seconds since 1970 at which each point ends. */
  readonly times: readonly number[];
  /** A second. */
  readonly values: Readonly<Record<SeriesName, readonly number[]>>;
  /** From when on the server has points; `null`: it has none. */
  readonly since: string | null;
}

export const noSeries: QueueSeries = {
  times: [],
  values: { produced: [], completed: [], leased: [], retried: [], lapsed: [], dead: [] },
  since: null,
};

interface Continued {
  readonly before: QueueSeries | undefined;
  readonly reply: ServerSeriesReply;
  readonly range: RangeId;
  readonly nowSeconds: number;
}

export function withPoints({
  before = noSeries,
  reply,
  range,
  nowSeconds,
}: Continued): QueueSeries {
  const { stepSeconds, seconds } = ranges[range];
  const start = Date.parse(reply.from) / 1_000;
  const count = reply.series[0]?.values.length ?? 0;
  const isKept = (at: number) => at > nowSeconds - seconds && at <= start;
  const from = before.times.findIndex(isKept);
  const kept = from === -1 ? [] : before.times.slice(from).filter(isKept);
  const valuesOf = (name: SeriesName): readonly number[] => [
    ...before.values[name].slice(from, from + kept.length),
    ...(reply.series.find((each) => each.name === name)?.values ?? []).map(
      (value) => value / stepSeconds,
    ),
  ];
  return {
    times: [...kept, ...Array.from({ length: count }, (_, at) => start + (at + 1) * stepSeconds)],
    values: Object.fromEntries(
      seriesNames.map((name) => [name, valuesOf(name)]),
    ) as unknown as QueueSeries["values"],
    since: reply.since,
  };
}
