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
        const { partition: given } = options;
        const leases = await leasedOf({ queue: queue_name, ids, partition: given }, command);
        let completed = 0;
        const tell = (): void =>
          context.result(
            { queue_name, completed },
            () => `completed ${completed} of ${queue_name}`,
          );
        try {
          for (const { partition, ids: leased } of leases) {
            await context.client.complete({ queue_name, partition, ids: [...leased] });
            completed += leased.length;
          }
        } catch (error) {
          // These leases are done, whatever became of the next one.
          if (completed > 0) tell();
          throw error;
        }
        tell();
      },
    );
}
