// `holdfast complete`: removes leased items whose work is done.

import type { Command } from "commander";
import { contextOf } from "../context.ts";
import { leasedCommand, sayOf } from "../leased.ts";

export function addComplete(program: Command): void {
  leasedCommand(program, "complete", "remove leased items whose work is done").action(
    async (
      queue_name: string,
      ids: string[],
      { partition }: { readonly partition?: number },
      command: Command,
    ) => {
      const { client, result } = contextOf(command);
      await sayOf({ queue: queue_name, ids, partition }, command, {
        say: (lease) => client.complete({ queue_name, ...lease }),
        tell: (completed) =>
          result({ queue_name, completed }, () => `completed ${completed} of ${queue_name}`),
      });
    },
  );
}
