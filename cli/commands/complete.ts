// `holdfast complete`: leased items whose work is done.

import type { Command } from "commander";
import { contextOf } from "../context.ts";
import { leasedHelp, leasedOf, partitionOption } from "../leased.ts";

export function addComplete(program: Command): void {
  program
    .command("complete")
    .description("remove leased items whose work is done")
    .argument("<queue>", "name of the queue")
    .argument("[id...]", "ids that a lease gave")
    .addOption(partitionOption())
    .addHelpText("after", leasedHelp)
    .action(
      async (
        queue_name: string,
        ids: readonly string[],
        options: { readonly partition?: number },
        command: Command,
      ) => {
        const context = contextOf(command);
        let completed = 0;
        for (const leased of await leasedOf(ids, options.partition, command)) {
          const { partition } = leased;
          await context.client.complete({ queue_name, partition, ids: [...leased.ids] });
          completed += leased.ids.length;
        }
        context.result({ queue_name, completed }, () => `completed ${completed} of ${queue_name}`);
      },
    );
}
