// `holdfast inspect`: where the items of a queue are.

import type { Command } from "commander";
import { contextOf } from "../context.ts";

export function addInspect(program: Command): void {
  program
    .command("inspect")
    .description("how many items are ready, leased, retried, scheduled and dead")
    .argument("<queue>", "name of the queue")
    .action(async (queue_name: string, _, command: Command) => {
      const context = contextOf(command);
      const counts = await context.client.inspect({ queue_name });
      context.result(counts, () => context.table(["", "count"], Object.entries(counts).slice(1)));
    });
}
