// `holdfast release`: returns leased items without counting the attempt.

import type { Command } from "commander";
import { contextOf } from "../context.ts";
import { forEachLease, leasedCommand } from "../leased.ts";

export function addRelease(program: Command): void {
  leasedCommand(
    program,
    "release",
    "return leased items to their queue; the attempt does not count",
  ).action(
    async (
      queue_name: string,
      ids: string[],
      { partition }: { readonly partition?: number },
      command: Command,
    ) => {
      const { client, result } = contextOf(command);
      await forEachLease({ queue: queue_name, ids, partition }, command, {
        send: (lease) => client.release({ queue_name, ...lease }),
        report: (released) =>
          result({ queue_name, released }, () => `released ${released} of ${queue_name}`),
      });
    },
  );
}
