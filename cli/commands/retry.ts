// `holdfast retry`: leased items to be offered again, or given up.

import type { Command } from "commander";
import { contextOf } from "../context.ts";
import { leasedHelp, leasedOf, partitionOption } from "../leased.ts";
import { instant } from "../values.ts";

interface Options {
  readonly partition?: number;
  readonly at?: Date;
  readonly dead?: boolean;
}

export function addRetry(program: Command): void {
  program
    .command("retry")
    .description("give leased items back, to be offered again")
    .argument("<queue>", "name of the queue")
    .argument("[id...]", "ids that a lease gave")
    .addOption(partitionOption())
    .option("--at <when>", "offer them no sooner; a date-time, or a duration from now", instant)
    .option("--dead", "send them to the dead queue, whatever attempts remain")
    .addHelpText("after", leasedHelp)
    .action(
      async (queue_name: string, ids: readonly string[], options: Options, command: Command) => {
        const context = contextOf(command);
        const { at, dead = false } = options;
        const retry_at = at?.toISOString() ?? null;
        const { partition: given } = options;
        const leases = await leasedOf({ queue: queue_name, ids, partition: given }, command);
        let retried = 0;
        const tell = (): void =>
          context.result({ queue_name, retried }, () => `gave back ${retried} of ${queue_name}`);
        try {
          for (const { partition, ids: leased } of leases) {
            const items = leased.map((id) => ({ id, retry_at, dead }));
            await context.client.retry({ queue_name, partition, items });
            retried += items.length;
          }
        } catch (error) {
          // These leases are done, whatever became of the next one.
          if (retried > 0) tell();
          throw error;
        }
        tell();
      },
    );
}
