// `holdfast stats`: counts and ages of a queue, once or as a table that lives.

import type { Command } from "commander";
import type { QueueStatsReply } from "../../client/wire.ts";
import { type Context, contextOf } from "../context.ts";
import { intervalMs } from "../values.ts";
import { watching } from "../watching.ts";

const watchEveryMsDefault = 2_000;

export function addStats(program: Command): void {
  program
    .command("stats")
    .description("counts and ages of a queue, by partition")
    .argument("<queue>", "name of the queue")
    .option("-w, --watch [interval]", "again and again, every 2s unless told", intervalMs)
    .action(async (queue_name: string, options: { watch?: number | true }, command: Command) => {
      const context = contextOf(command);
      const { watch } = options;
      if (watch === undefined) {
        const stats = await context.client.stats({ queue_name });
        context.result(stats, () => told(context, stats));
        return;
      }
      await watching(context, watch === true ? watchEveryMsDefault : watch, async () => {
        const stats = await context.client.stats({ queue_name });
        return () => context.result(stats, () => `${queue_name}\n${told(context, stats)}`);
      });
    });
}

const head = ["partition", "total", "leased", "scheduled", "failures", "age", "leased for"];

function told({ table }: Context, { logical_queues }: QueueStatsReply): string {
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
      ]);
      const waiting = `waiting: ${lease_waiting} lease, ${produce_waiting} produce, ${complete_waiting} complete; in flight: ${in_flight}`;
      return `${table(head, rows)}\n${waiting}`;
    })
    .join("\n");
}
