// `holdfast stats`: counts and ages of a queue, printed once or refreshed.

import type { Command } from "commander";
import type { QueueStatsReply } from "../../client/wire.ts";
import { type Context, contextOf } from "../context.ts";
import { intervalMs } from "../option-parsers.ts";
import { type Sample as RateSample, rateOf, rateText } from "../rates.ts";
import { watchOutput } from "../watch-mode.ts";

const watchEveryMsDefault = 2_000;

export function addStats(program: Command): void {
  program
    .command("stats")
    .description("show counts and ages of a queue by partition; with --watch also its rates")
    .argument("<queue>", "name of the queue")
    .option("-w, --watch [interval]", "refresh and show rates, by default every 2s", intervalMs)
    .action(async (queue_name: string, options: { watch?: number | true }, command: Command) => {
      const context = contextOf(command);
      const { watch } = options;
      if (watch === undefined) {
        const stats = await context.client.stats({ queue_name });
        context.result(stats, () => formatStats(context, stats));
        return;
      }
      let before: StatsSample | null = null;
      await watchOutput(context, watch === true ? watchEveryMsDefault : watch, async () => {
        const stats = await context.client.stats({ queue_name });
        const sample = sampleOf(stats);
        const rates = ratesLine(before, sample);
        before = sample;
        const lines = () => [queue_name, formatStats(context, stats), rates].join("\n");
        return () => context.result(stats, lines);
      });
    });
}

const rated = ["produced", "arrived", "leased", "completed", "lapsed", "dead"] as const;
type StatsSample = RateSample<(typeof rated)[number]>;

function sampleOf({ logical_queues }: QueueStatsReply): StatsSample {
  const sums = rated.map((name) => [
    name,
    logical_queues.reduce((sum, { counters }) => sum + counters[name], 0),
  ]);
  return { at: performance.now(), counters: Object.fromEntries(sums) };
}

function ratesLine(before: StatsSample | null, now: StatsSample): string {
  const rates = rated.map((name) => `${rateText(rateOf(name, before, now))} ${name}`);
  return `per second: ${rates.join(", ")}`;
}

const head = [
  ...["partition", "total", "leased", "scheduled", "failures", "age", "leased for"],
  ...["oldest ready", "next due"],
];

function formatStats({ table }: Context, { logical_queues }: QueueStatsReply): string {
  return logical_queues
    .map((queue) => {
      const { produce_waiting, lease_waiting, complete_waiting, in_flight, partitions } = queue;
      const rows = partitions.map((row) => [
        row.partition,
        row.total,
        row.total_leased,
        row.scheduled,
        row.failures,
        row.average_age,
        row.average_leased_age,
        row.oldest_ready_at ?? "",
        row.next_due_at ?? "",
      ]);
      const waiting = `waiting: ${lease_waiting} lease, ${produce_waiting} produce, ${complete_waiting} complete; in flight: ${in_flight}`;
      return `${table(head, rows)}\n${waiting}`;
    })
    .join("\n");
}
