// `holdfast reload`: recounts the items of a queue.

import type { Command } from "commander";
import { contextOf } from "../context.ts";

export function addReload(program: Command): void {
  program
    .command("reload")
    .description("recount the items of a queue from its store")
    .argument("<queue>", "name of the queue")
    .addHelpText(
      "after",
      "\nCounts are correct without it. Use it to verify them, or after other changes of the store.",
    )
    .action(async (queue_name: string, _, command: Command) => {
      const context = contextOf(command);
      const reply = await context.client.reload({ queue_name });
      context.result(reply, () => `recounted ${queue_name}`);
    });
}
