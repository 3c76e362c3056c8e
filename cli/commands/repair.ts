// `holdfast repair`: promotes, rejects, prioritizes or deletes items that are not leased, and takes
// back leased items.

import { Argument, type Command, Option } from "commander";
import type { RepairRequest } from "../../client/wire.ts";
import { contextOf } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { filterOf } from "../filter.ts";
import { priorityOption } from "../option-parsers.ts";
import { begin, beginning, paceOf, type TaskOptions } from "./tasks.ts";

interface Options extends TaskOptions {
  readonly state?: string;
  readonly holder?: string;
  readonly because?: string;
  readonly priority?: number;
  readonly all?: boolean;
}

const deeds = {
  promote: "be ready at once",
  reject: "go to the dead queue",
  retry: "be retried",
  prioritize: "get the priority",
  delete: "be removed",
} as const;

const actions = Object.keys(deeds) as (keyof typeof deeds)[];

export function addRepair(program: Command): void {
  beginning(
    program
      .command("repair")
      .description(
        "promote, reject, prioritize or delete items that are not leased, or retry leased items",
      )
      .argument("<queue>", "name of the queue")
      .addArgument(new Argument("<action>", "the change").choices(actions))
      .argument("[id...]", "ids of the items; by default all items that match the options")
      .addOption(new Option("--state <state>", "in this state").choices(["ready", "scheduled"]))
      .option("--holder <client>", "for retry: held by this client")
      .option("--because <text>", "why the items are rejected or returned; stored with the items")
      .addOption(priorityOption("--priority <number>", "for prioritize: the new priority, 0 to 9"))
      .option("--all", "all items, if no other option selects them"),
  ).action(repair);
}

async function repair(
  queue_name: string,
  action: keyof typeof deeds,
  ids: string[],
  options: Options,
  command: Command,
): Promise<void> {
  const { state, holder, because, priority, all = false } = options;
  const context = contextOf(command);
  const filter = await filterOf(options, context.client);
  const isMeant = ids.length > 0 || Object.keys(filter).length > 0 || all;
  if (!isMeant && state === undefined && holder === undefined) {
    throw new UsageError("no items are named; expected ids, a filter, --state, --holder or --all");
  }
  const request: RepairRequest = {
    ...{ queue_name, action },
    ...(state !== undefined && { state }),
    ...(holder !== undefined && { holder }),
    ...(because !== undefined && { reason: because }),
    ...(priority !== undefined && { priority }),
    ...(ids.length > 0 ? { ids } : { filter }),
    ...paceOf(options),
  };
  await begin(context, options, {
    queue_name,
    ask: (guard) => context.client.repair({ ...request, ...guard }),
    deed: `${deeds[action]} ${priority ?? ""}`.trimEnd(),
  });
}
