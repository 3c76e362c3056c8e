// `holdfast overview`: the state of all queues, worst first.

import type { Command } from "commander";
import { Option } from "commander";
import type { ServerOverviewReply } from "../../client/wire.ts";
import { formatDuration } from "../../engine/model/duration.ts";
import { type Context, contextOf } from "../context.ts";
import { severityOf } from "../health.ts";
import { intervalMs, wholeNumber } from "../option-parsers.ts";
import { type Cell, counted, escaped } from "../output.ts";
import { noteUnreached } from "../unreached.ts";
import { watchOutput } from "../watch-mode.ts";

const watchEveryMsDefault = 2_000;
const rowsDefault = 40;
const rowsMax = 10_000;

interface Options {
  readonly watch?: number | true;
  readonly rows: number;
}

export function addOverview(program: Command): void {
  program
    .command("overview")
    .description("show the state of all queues, worst first")
    .option("-w, --watch [interval]", "refresh and show rates, by default every 2s", intervalMs)
    .addOption(
      new Option("-n, --rows <count>", "maximum number of queues")
        .default(rowsDefault)
        .argParser(wholeNumber(1, rowsMax)),
    )
    .action(overview);
}

async function overview(_: Options, command: Command): Promise<void> {
  const { watch, rows } = command.opts<Options>();
  const context = contextOf(command);
  const look = () => context.client.overview();
  if (watch === undefined) {
    const seen = await look();
    context.result(seen, () => formatOverview(context, { seen, before: null, rows }));
    noteUnreached(context, seen.unreached, "queues");
    return;
  }
  let before: ServerOverviewReply | null = null;
  await watchOutput(context, watch === true ? watchEveryMsDefault : watch, async () => {
    const seen = await look();
    const shown = { seen, before, rows };
    before = seen;
    return () => context.result(seen, () => formatOverview(context, shown));
  });
}

interface Shown {
  readonly seen: ServerOverviewReply;
  /** The previous sample, to compute rates; `null` = none yet. */
  readonly before: ServerOverviewReply | null;
  readonly rows: number;
}

function formatOverview(context: Context, shown: Shown): string {
  const { alarms, tasks, queues, totals, machine, shards } = shown.seen;
  const parts = [
    ...alarms.map(({ text, queue_name }) =>
      context.paint.red(escaped(`${prefix(queue_name)}${text}`)),
    ),
    tableOf(context, shown),
    ...tasks.map(
      ({ action, queue_name, moved, matched }) =>
        `${action} of ${escaped(queue_name)} runs: ${moved} of ${counted(matched, "item")}`,
    ),
    ...(queues.queue_name.length > shown.rows
      ? [`and ${queues.queue_name.length - shown.rows} more; --rows shows them`]
      : []),
    [
      `${counted(totals.queues, "queue")}: ${totals.ready} ready, ${totals.leased} leased, ${totals.scheduled} scheduled`,
      `${shards.filter(({ state }) => state === "up").length} of ${counted(shards.length, "shard")} up`,
      ...(machine.disk_bytes > 0 ? [`${gigabytes(machine.disk_free_bytes)} of disk free`] : []),
      `${machine.name}, ${machine.version}`,
    ].join("; "),
  ];
  return parts.join("\n");
}

const prefix = (queue_name: string): string => (queue_name === "" ? "" : `${queue_name}: `);

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

function tableOf({ table }: Context, { seen, before, rows }: Shown): string {
  const { queues } = seen;
  const rateOf = rates(seen, before);
  const head = ["queue", "health", "for", "ready", "leased", "scheduled", "waiting", "oldest"];
  const rateHead = rateOf === null ? [] : ["in/s", "done/s"];
  const order = queues.queue_name.map((_, index) => index);
  const at = (column: readonly number[], index: number): number => column[index] ?? 0;
  const severity = (index: number) => severityOf(queues.health[index] ?? "");
  order.sort((a, b) => severity(a) - severity(b) || at(queues.ready, b) - at(queues.ready, a));
  const cells = order
    .slice(0, rows)
    .map((index): Cell[] => [
      queues.queue_name[index] ?? "",
      queues.health[index] ?? "",
      age(seen, at(queues.health_since_ms, index)),
      at(queues.ready, index),
      at(queues.leased, index),
      at(queues.scheduled, index),
      at(queues.waiting_leases, index),
      age(seen, at(queues.oldest_ready_at_ms, index)),
      ...(rateOf?.(index) ?? []),
    ]);
  return cells.length === 0 ? "there are no queues" : table([...head, ...rateHead], cells);
}

/** Formats an age in whole seconds; `""` if the instant is 0. */
function age({ now }: ServerOverviewReply, instantMs: number): string {
  if (instantMs === 0) return "";
  return formatDuration(Math.max(0, Math.floor((Date.parse(now) - instantMs) / 1_000)) * 1_000);
}

/** Computes the rates of a queue from two samples; `""` if a counter was reset. */
function rates(
  seen: ServerOverviewReply,
  before: ServerOverviewReply | null,
): ((index: number) => Cell[]) | null {
  if (before === null) return null;
  const seconds = (Date.parse(seen.as_of) - Date.parse(before.as_of)) / 1_000;
  if (seconds <= 0) return null;
  const places = new Map(before.queues.queue_name.map((name, index) => [name, index]));
  const columns = [["produced_total", "arrived_total"], ["completed_total"]] as const;
  return (index) =>
    columns.map((names) => {
      const place = places.get(seen.queues.queue_name[index] ?? "");
      if (place === undefined) return "";
      const total = ({ queues }: ServerOverviewReply, at: number) =>
        names.reduce((sum, name) => sum + (queues[name][at] ?? 0), 0);
      const count = total(seen, index) - total(before, place);
      return count < 0 ? "" : Math.round(count / seconds);
    });
}
