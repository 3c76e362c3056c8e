// Adds up the series of all shards, point by point. Percentiles exist only per shard, so they do
// not occur here.

import { parseDuration } from "../../engine/model/duration.ts";
import type { ServerSeriesReply } from "../../openapi/schemas.ts";

/** Ages are not summed: the highest one is that of the oldest item. */
const highest: ReadonlySet<string> = new Set(["oldest_ready_seconds"]);

/** The longest step of the replies, in canonical form. */
export function longestStep(replies: readonly ServerSeriesReply[]): string {
  return replies.map(({ step }) => step).reduce((a, b) => (stepMs(b) > stepMs(a) ? b : a));
}

/**
 * `replies`: at least one, with the same names in the same order and the same step. Returns only
 * the points that all replies have, because a sum over some of them would look like a drop.
 */
export function mergeSeries(replies: readonly ServerSeriesReply[]): ServerSeriesReply {
  const ms = stepMs(longestStep(replies));
  const spans = replies.map((reply) => {
    const from = Date.parse(reply.from);
    return { reply, from, end: from + (reply.series[0]?.values.length ?? 0) * ms };
  });
  const from = Math.max(...spans.map((span) => span.from));
  const end = Math.max(from, Math.min(...spans.map((span) => span.end)));
  const [first, ...others] = spans.map((span) =>
    span.reply.series.map(({ name, values }) => {
      const skipped = (from - span.from) / ms;
      return { name, values: values.slice(skipped, skipped + (end - from) / ms) };
    }),
  );
  const series = (first ?? []).map(({ name, values }, index) => {
    const rows = others.map((one) => one[index]?.values ?? []);
    const combine = highest.has(name) ? Math.max : (a: number, b: number) => a + b;
    return {
      name,
      values: values.map((value, at) =>
        rows.reduce((sum, row) => combine(sum, row[at] ?? 0), value),
      ),
    };
  });
  const since = replies.map((reply) => reply.since).reduce(laterKept);
  const step = longestStep(replies);
  return { queue_name: "", shard: -1, since, from: new Date(from).toISOString(), step, series };
}

/** `null`: one of the shards keeps no points, so there are no sums. */
function laterKept(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return null;
  return a > b ? a : b;
}

function stepMs(step: string): number {
  const parsed = parseDuration(step);
  return parsed.ok ? parsed.ms : 0;
}
