// `holdfast actions`: recent administrative calls.

import { type Command, Option } from "commander";
import { bounds } from "../../openapi/bounds.ts";
import { contextOf } from "../context.ts";
import { wholeNumber } from "../option-parsers.ts";
import { noteUnreached } from "../unreached.ts";

const head = ["at", "key", "operation", "queue", "to", "items", "code"];

export function addActions(program: Command): void {
  program
    .command("actions")
    .description("list recent administrative calls and their API keys, newest first")
    .argument("[queue]", "only actions on this queue")
    .addOption(
      new Option("-n, --limit <count>", "maximum number of actions")
        .argParser(wholeNumber(1, bounds.actionsMax))
        .default(20),
    )
    .action(async (queue: string | undefined, { limit }: Options, command: Command) => {
      const context = contextOf(command);
      const reply = await context.client.listActions({ limit, queue_name: queue ?? "" });
      context.result(reply, () => {
        const { items, since } = reply;
        if (items.length === 0) return `no actions since ${since}`;
        const rows = items.map((action) => [
          ...[action.at, action.key_name, action.operation, action.queue_name],
          ...[action.to_queues.join(" "), action.items, action.code],
        ]);
        return `${context.table(head, rows)}\nrecorded since ${since}; the server's log has earlier ones`;
      });
      noteUnreached(context, reply.unreached, "actions");
    });
}

interface Options {
  readonly limit: number;
}
