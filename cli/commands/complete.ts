// `holdfast complete`: removes leased items whose work is done.

import type { Command } from "commander";
import { contextOf } from "../context.ts";
import { forEachLease, leasedCommand } from "../leased.ts";

export function addComplete(program: Command): void {
  leasedCommand(program, "complete", "remove leased items whose work is done").action(
    async (
      queue_name: string,
      ids: string[],
      { partition }: { readonly partition?: number },
      command: Command,
    ) => {
      const { client, result } = contextOf(command);
      await forEachLease({ queue: queue_name, ids, partition }, command, {
        send: (lease) => client.complete({ queue_name, ...lease }),
        report: (completed) =>
          result({ queue_name, completed }, () => `completed ${completed} of ${queue_name}`),
      });
    },
  );
}
