// `holdfast clock`: the clock of a server that was started for tests.

import type { Command } from "commander";
import { contextOf } from "../context.ts";

interface Options {
  readonly handlerTimeout?: string;
}

export function addClock(program: Command): void {
  program
    .command("clock")
    .description("the clock of a server with --test-clock")
    .command("advance")
    .description("advance it, until everything due by then is done")
    .argument("<duration>", "such as 30s, 10m or 7d")
    .option("--handler-timeout <duration>", "how long workers have at each instant; default none")
    .action(async (by: string, options: Options, command: Command) => {
      const context = contextOf(command);
      const { handlerTimeout: handler_timeout } = options;
      const reply = await context.client.advance({
        by,
        ...(handler_timeout && { handler_timeout }),
      });
      context.result(reply, () => reply.now);
    });
}
