// `holdfast series`: the recent activity of a queue or a shard as a time series.

import { type Command, Option } from "commander";
import type { ServerSeriesReply } from "../../client/wire.ts";
import { parseDuration } from "../../engine/model/duration.ts";
import { type Context, contextOf } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { dateTimeOf, list, pastInstant, type When, wholeNumber } from "../option-parsers.ts";
import { counted } from "../output.ts";

const ofQueues = ["produced", "arrived", "leased", "completed", "lapsed", "dead", "ready", "held"];
const ofShards = ["commits", "items_committed", "commit_p50_us", "commit_p99_us"];
const rowsDefault = 30;
/** A day at one point per minute. */
const rowsMax = 1_440;
const shardsMax = 64;

interface Options {
  readonly name?: readonly string[];
  readonly shard?: number;
  readonly step?: string;
  readonly from?: When;
  readonly rows: number;
}

export function addSeries(program: Command): void {
  program
    .command("series")
    .description("show the recent activity of a queue or a shard, point by point")
    .argument("[queue]", "name of the queue; by default all queues together")
    .option(
      "--name <name>",
      `series such as retried; may be repeated (default: ${ofQueues.join(", ")})`,
      list,
    )
    .addOption(
      new Option("--shard <number>", "a shard instead of a queue").argParser(
        wholeNumber(0, shardsMax - 1),
      ),
    )
    .addOption(new Option("--step <duration>", "time between points").choices(["10s", "1m"]))
    .option("--from <when>", "time of the first point; a date-time, or how long ago", pastInstant)
    .addOption(
      new Option("-n, --rows <count>", "maximum number of points; the latest are shown")
        .default(rowsDefault)
        .argParser(wholeNumber(1, rowsMax)),
    )
    .action(series);
}

async function series(
  queue_name: string | undefined,
  { name, shard, step, from, rows }: Options,
  command: Command,
): Promise<void> {
  if (queue_name !== undefined && shard !== undefined) {
    throw new UsageError("series shows a queue or --shard, not both");
  }
  const context = contextOf(command);
  const seen = await context.client.series({
    ...(queue_name !== undefined && { queue_name }),
    ...(shard !== undefined && { shard }),
    names: [...(name ?? (shard === undefined ? ofQueues : ofShards))],
    ...(step !== undefined && { step }),
    ...(from !== undefined && { from: await dateTimeOf(from, context.client) }),
  });
  context.result(seen, () => formatSeries(context, seen, rows));
}

function formatSeries({ table }: Context, seen: ServerSeriesReply, rows: number): string {
  const { since, from, step, series: all } = seen;
  if (since === null)
    return "no points are recorded for it: --series-bytes is 0, or other queues are busier";
  const count = all[0]?.values.length ?? 0;
  if (count === 0) return `no point since ${from} is complete yet`;
  const stepMs = msOf(step);
  const first = Math.max(0, count - rows);
  const cells = Array.from({ length: count - first }, (_, row) => [
    new Date(Date.parse(from) + (first + row) * stepMs).toISOString(),
    ...all.map(({ values }) => values[first + row] ?? 0),
  ]);
  const about = `${counted(cells.length, "point")} of ${count}, each of ${step}, recorded since ${since}`;
  return `${table(["from", ...all.map(({ name }) => name)], cells)}\n${about}`;
}

function msOf(step: string): number {
  const parsed = parseDuration(step);
  if (!parsed.ok) throw new Error(`the server returned a step of '${step}'`);
  return parsed.ms;
}
