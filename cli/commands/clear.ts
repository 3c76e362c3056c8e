// `holdfast clear`: removes items of a queue, of the kinds that are named.

import type { Command } from "commander";
import { contextOf } from "../context.ts";
import { UsageError } from "../exit-codes.ts";

interface Options {
  readonly ready?: boolean;
  readonly scheduled?: boolean;
  readonly retried?: boolean;
  readonly leased?: boolean;
}

export function addClear(program: Command): void {
  program
    .command("clear")
    .description("remove items of a queue; they do not go to the dead queue")
    .argument("<queue>", "name of the queue")
    .option("--ready", "those ready to be leased")
    .option("--scheduled", "those that a producer scheduled")
    .option("--retried", "those that wait for a retry")
    .option("--leased", "with --ready: leased ones too, whose holders can then not complete them")
    .action(async (queue_name: string, options: Options, command: Command) => {
      const { ready = false, scheduled = false, retried = false, leased = false } = options;
      if (!ready && !scheduled && !retried) {
        throw new UsageError(
          "there is nothing to clear; expected --ready, --scheduled or --retried",
        );
      }
      if (leased && !ready) throw new UsageError("--leased is invalid; expected --ready with it");
      const context = contextOf(command);
      const kinds = { queue: ready, scheduled, retry: retried, destructive: leased };
      const reply = await context.client.clear({ queue_name, ...kinds });
      context.result(reply, () => `cleared ${queue_name}`);
    });
}
