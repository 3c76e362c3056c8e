// `holdfast clock`: the clock of a server that was started for tests.

import type { Command } from "commander";
import { contextOf } from "../context.ts";

export function addClock(program: Command): void {
  program
    .command("clock")
    .description("the clock of a server with --test-clock")
    .command("advance")
    .description("advance it, until everything due by then is done")
    .argument("<duration>", "such as 30s, 10m or 7d")
    .action(async (by: string, _, command: Command) => {
      const context = contextOf(command);
      const reply = await context.client.advance({ by });
      context.result(reply, () => reply.now);
    });
}
