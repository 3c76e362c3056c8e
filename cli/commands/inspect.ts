// `holdfast inspect`: counts the items of a queue by state.

import type { Command } from "commander";
import { contextOf } from "../context.ts";

export function addInspect(program: Command): void {
  program
    .command("inspect")
    .description("count the ready, leased, retried, scheduled and dead items of a queue")
    .argument("<queue>", "name of the queue")
    .action(async (queue_name: string, _, command: Command) => {
      const context = contextOf(command);
      const counts = await context.client.inspect({ queue_name });
      context.result(counts, () => context.table(["", "count"], Object.entries(counts).slice(1)));
    });
}
