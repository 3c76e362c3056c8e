// `holdfast retry`: returns leased items to their queue, or sends them to the dead queue.

import type { Command } from "commander";
import { contextOf } from "../context.ts";
import { forEachLease, leasedCommand } from "../leased.ts";
import { instant, type When } from "../option-parsers.ts";

interface Options {
  readonly partition?: number;
  readonly at?: When;
  readonly dead?: boolean;
  readonly because?: string;
}

export function addRetry(program: Command): void {
  leasedCommand(program, "retry", "return leased items to their queue, to be offered again")
    .option("--at <when>", "earliest time to offer them; date-time, or duration from now", instant)
    .option("--dead", "send them to the dead queue, even if attempts remain")
    .option("--because <text>", "why they are returned or rejected; stored with the items")
    .action(async (queue_name: string, ids: string[], options: Options, command: Command) => {
      const { client, result } = contextOf(command);
      const { at, dead = false, because: reason, partition: given } = options;
      const due =
        typeof at === "number"
          ? { retry_after: `${at}ms` }
          : { retry_at: at?.toISOString() ?? null };
      await forEachLease({ queue: queue_name, ids, partition: given }, command, {
        send: ({ partition, ids: leased }) => {
          const items = leased.map((id) => ({ id, ...due, dead, ...(reason && { reason }) }));
          return client.retry({ queue_name, partition, items });
        },
        report: (retried) =>
          result({ queue_name, retried }, () => `gave back ${retried} of ${queue_name}`),
      });
    });
}
