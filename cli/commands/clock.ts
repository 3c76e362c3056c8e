// `holdfast clock`: advances the clock of a server with `--test-clock`.

import type { Command } from "commander";
import { contextOf } from "../context.ts";

interface Options {
  readonly handlerTimeout?: string;
}

export function addClock(program: Command): void {
  program
    .command("clock")
    .description("control the clock of a server with --test-clock")
    .command("advance")
    .description("advance the clock, and wait until everything due by then is done")
    .argument("<duration>", "a duration such as 30s, 10m or 7d")
    .option(
      "--handler-timeout <duration>",
      "how long to wait for workers at each instant; default none",
    )
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
