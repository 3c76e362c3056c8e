// `holdfast lease`: leases items and prints them, and with `--complete` completes them.

import { type Command, Option } from "commander";
import { leasedItem } from "../../client/items.ts";
import type { LeaseReply } from "../../client/wire.ts";
import { bounds } from "../../openapi/bounds.ts";
import { type Context, contextOf } from "../context.ts";
import {
  durationMs,
  leaseTimeoutOption,
  priorityMinOption,
  wholeNumber,
} from "../option-parsers.ts";
import { type Column, neededColumns, oneLine, shortened, tableOf } from "../output.ts";

interface Options {
  readonly batch: number;
  readonly wait: number;
  readonly clientId: string;
  readonly leaseTimeout?: string;
  readonly priorityMin?: number;
  readonly groupRuns?: boolean;
  readonly complete?: boolean;
}

export function addLease(program: Command): void {
  program
    .command("lease")
    .description("lease items, waiting for one if none is ready")
    .argument("<queue>", "name of the queue")
    .addOption(
      new Option("-n, --batch <count>", "maximum number of items")
        .argParser(wholeNumber(bounds.leaseBatchMin, bounds.leaseBatchMax))
        .default(1),
    )
    .addOption(
      new Option("--wait <duration>", "how long to wait for an item")
        .argParser(durationMs)
        .default(60_000, "1m"),
    )
    .addOption(
      new Option(
        "--client-id <name>",
        "name of the consumer, unique among waiting clients of the queue",
      ).default(`cli-${process.pid}`, "derived from the process id"),
    )
    .addOption(leaseTimeoutOption())
    .addOption(priorityMinOption())
    .option("--group-runs", "take several items in order of a group with a limit of one")
    .option("--complete", "complete the items after printing them")
    .addHelpText(
      "after",
      `
Items are held until they are completed, retried or released, or their lease lapses:
  holdfast lease orders --json | holdfast complete orders`,
    )
    .action(async (queue: string, options: Options, command: Command) => {
      const context = contextOf(command);
      const { client } = context;
      const reply = await client.lease(
        {
          queue_name: queue,
          client_id: options.clientId,
          batch_size: options.batch,
          lease_timeout: options.leaseTimeout ?? null,
          ...(options.priorityMin === undefined ? {} : { priority_min: options.priorityMin }),
          ...(options.groupRuns === true && { group_runs: true }),
        },
        { timeoutMs: options.wait },
      );
      context.result(reply, () => formatLease(context, reply));
      if (options.complete !== true) return;
      const { queue_name, partition } = reply;
      await client.complete({ queue_name, partition, ids: reply.items.map(({ id }) => id) });
      context.note(`completed ${reply.items.length} of ${queue}`);
    });
}

function formatLease(context: Context, { partition, items }: LeaseReply): string {
  const columns: readonly Column<LeaseReply["items"][number]>[] = [
    ["id", ({ id }) => id],
    ["attempts", ({ attempts }) => attempts],
    ["kind", ({ kind }) => kind],
    ["reference", ({ reference }) => reference],
    ["lease until", ({ lease_deadline }) => lease_deadline],
    ...neededColumns(items, [
      ["priority", ({ priority }) => priority],
      ["headers", ({ headers }) => Object.keys(headers ?? {}).length],
      ["reason", ({ reason }) => oneLine(reason ?? "")],
    ]),
    ["payload", (item) => shortened(leasedItem(item).text())],
  ];
  return `partition ${partition}\n${tableOf(context, items, columns)}`;
}
