// `holdfast redrive`: moves dead items back to the queues that they came from.

import type { Command } from "commander";
import type { RedriveRequest } from "../../client/wire.ts";
import { contextOf } from "../context.ts";
import { filterOf } from "../filter.ts";
import { begin, beginning, paceOf, type TaskOptions } from "./tasks.ts";

export function addRedrive(program: Command): void {
  beginning(
    program
      .command("redrive")
      .description("move dead items back to the queues that they came from")
      .argument("<queue>", "name of the dead queue")
      .argument("[id...]", "ids of the items; by default all items that match the options")
      .option("--to <queue>", "move all items to this queue"),
  ).action(redrive);
}

async function redrive(
  queue_name: string,
  ids: string[],
  options: TaskOptions & { readonly to?: string },
  command: Command,
): Promise<void> {
  const { to } = options;
  const context = contextOf(command);
  const filter = await filterOf(options, context.client);
  const request: RedriveRequest = {
    queue_name,
    ...(to !== undefined && { to_queue: to }),
    ...(ids.length > 0 ? { ids } : { filter }),
    ...paceOf(options),
  };
  const where = to === undefined ? "where they came from" : to;
  await begin(context, options, {
    queue_name,
    ask: (guard) => context.client.redrive({ ...request, ...guard }),
    deed: `go to ${where}`,
  });
}
