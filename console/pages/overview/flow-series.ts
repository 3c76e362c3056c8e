// The points of a chart: those that the server kept, once, and then those that came since.

import type { ServerSeriesReply } from "../../../openapi/schemas.ts";
import { type RangeId, ranges } from "../../components/chart/ranges.ts";

export interface FlowSeries {
  /** Seconds since 1970 at which each point ends. */
  readonly times: readonly number[];
  readonly in: readonly number[];
  readonly out: readonly number[];
}

interface Continued {
  readonly before: FlowSeries | undefined;
  readonly reply: ServerSeriesReply;
  readonly range: RangeId;
  readonly nowSeconds: number;
}

export function continued({ before, reply, range, nowSeconds }: Continued): FlowSeries {
  const { stepSeconds, seconds } = ranges[range];
  const [produced = [], completed = []] = reply.series.map(({ values }) => values);
  const start = Date.parse(reply.from) / 1_000;
  const times = produced.map((_, index) => start + (index + 1) * stepSeconds);
  const kept = before?.times.filter((at) => at > nowSeconds - seconds && at <= start) ?? [];
  const skipped = kept.length === 0 ? 0 : (before?.times.indexOf(kept[0] ?? 0) ?? 0);
  const old = (values: readonly number[] = []) => values.slice(skipped, skipped + kept.length);
  const perSecond = (values: readonly number[]) => values.map((value) => value / stepSeconds);
  return {
    times: [...kept, ...times],
    in: [...old(before?.in), ...perSecond(produced)],
    out: [...old(before?.out), ...perSecond(completed)],
  };
}

/** From where to ask on. */
export function fromOf(before: FlowSeries | undefined, range: RangeId, nowSeconds: number): string {
  const oldest = nowSeconds - ranges[range].seconds;
  return new Date(Math.max(before?.times.at(-1) ?? 0, oldest) * 1_000).toISOString();
}
