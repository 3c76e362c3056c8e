// `holdfast groups`: lists the groups of a queue, and changes what a group has of its own.

import { type Command, Option } from "commander";
import type { GroupInfo, GroupsSetRequest } from "../../client/wire.ts";
import { bounds } from "../../openapi/bounds.ts";
import { type Context, contextOf } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { wholeNumber } from "../option-parsers.ts";
import { neededColumns, tableOf } from "../output.ts";

export function addGroups(program: Command): void {
  const groups = program
    .command("groups")
    .description("look at the groups of a queue, and change single ones");

  groups
    .command("list")
    .description("list the groups of a queue by name, and why they are blocked")
    .argument("<queue>", "name of the queue")
    .option("--blocked", "only groups with waiting items of which none may be leased")
    .addOption(
      new Option("-n, --limit <count>", "maximum number of groups")
        .argParser(wholeNumber(bounds.groupsListMin, bounds.groupsListMax))
        .default(100),
    )
    .option("--pivot <group>", "start with this group, or the next after it")
    .action(list);

  groups
    .command("set")
    .description("change what a group has of its own")
    .argument("<queue>", "name of the queue")
    .argument("<group>", 'name of the group; "" = the group without a name')
    .addOption(
      new Option(
        "--leased-max <count>",
        "maximum number of its items leased at one time; 0 = as the queue has it",
      ).argParser(wholeNumber(bounds.leasedMaxMin, bounds.leasedMaxMax)),
    )
    .option(
      "--rate <rate>",
      'maximum number of its items leased per interval, such as 10/1s; "" = as the queue has it',
    )
    .addOption(
      new Option("--weight <count>", "items that are leased at its turn").argParser(
        wholeNumber(bounds.groupWeightMin, bounds.groupWeightMax),
      ),
    )
    .addOption(new Option("--paused", "leases none of its items").conflicts("resume").preset(true))
    .option("--resume", "ends its pause")
    .option("--unblock", "opens it after a dead letter has closed it")
    .action(set);
}

interface Listing {
  readonly blocked?: boolean;
  readonly limit: number;
  readonly pivot?: string;
}

async function list(queue_name: string, options: Listing, command: Command): Promise<void> {
  const { blocked = false, limit, pivot = "" } = options;
  const context = contextOf(command);
  const reply = await context.client.listGroups({ queue_name, blocked, limit, pivot });
  const { items, next_pivot } = reply;
  context.result(reply, () =>
    items.length === 0
      ? `${queue_name} has no ${blocked ? "blocked " : ""}groups`
      : formatGroups(context, items),
  );
  if (next_pivot !== "") context.note(`more groups follow; --pivot '${next_pivot}'`);
}

interface Changes {
  readonly leasedMax?: number;
  readonly rate?: string;
  readonly weight?: number;
  readonly paused?: true;
  readonly resume?: true;
  readonly unblock?: true;
}

async function set(
  queue_name: string,
  group: string,
  options: Changes,
  command: Command,
): Promise<void> {
  const { leasedMax, rate, weight, paused, resume, unblock } = options;
  const changes: Omit<GroupsSetRequest, "queue_name" | "group"> = {
    ...(leasedMax === undefined ? {} : { leased_max: leasedMax }),
    ...(rate === undefined ? {} : { rate }),
    ...(weight === undefined ? {} : { weight }),
    ...(paused === undefined && resume === undefined ? {} : { paused: paused === true }),
    ...(unblock === undefined ? {} : { unblock }),
  };
  if (Object.keys(changes).length === 0) {
    throw new UsageError(
      "there is nothing to change; expected --leased-max, --rate, --weight, --paused, --resume or --unblock",
    );
  }
  const context = contextOf(command);
  const info = await context.client.setGroup({ queue_name, group, ...changes });
  context.result(info, () => formatGroups(context, [info]));
}

function formatGroups(context: Context, groups: readonly GroupInfo[]): string {
  return tableOf(context, groups, [
    ["group", ({ group }) => group || "(none)"],
    ["waiting", ({ waiting }) => waiting],
    ["leased", ({ leased }) => leased],
    ["weight", ({ weight }) => weight],
    ...neededColumns<GroupInfo>(groups, [
      ["scheduled", ({ scheduled }) => scheduled],
      ["retried", ({ retried }) => retried],
      ["blocked by", ({ blocked_by }) => blocked_by],
      ["item", ({ blocked_id }) => blocked_id],
      ["opens at", ({ next_at }) => next_at ?? ""],
      ["oldest", ({ oldest_at }) => oldest_at ?? ""],
      ["leased max", ({ leased_max }) => leased_max],
      ["rate", ({ rate }) => rate],
      ["paused", ({ paused }) => (paused ? "yes" : "")],
    ]),
  ]);
}
