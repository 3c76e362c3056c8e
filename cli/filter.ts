// The options that select items by their fields.

import { type Command, Option } from "commander";
import type { Client } from "../client/client.ts";
import type { ItemFilter } from "../client/wire.ts";
import { dateTimeOf, pastInstant, type When, wholeNumber } from "./option-parsers.ts";

export interface FilterOptions {
  readonly kind?: string;
  readonly reference?: string;
  readonly origin?: string;
  readonly from?: string;
  readonly death?: string;
  readonly reason?: string;
  readonly attemptsMin?: number;
  readonly before?: When;
  readonly redrivenMax?: number;
  readonly contains?: string;
  readonly group?: string;
}

const many = 1_000_000;

/** Adds the options to a command. */
export function filtered(command: Command): Command {
  return command
    .option("--reason <text>", "retried with this reason; numbers and ids in it are ignored")
    .option("--kind <text>", "of this kind")
    .option("--reference <text>", "with this reference")
    .option("--origin <id>", "produced under this id")
    .option("--from <queue>", "that died in this queue")
    .addOption(
      new Option("--death <why>", "why they died").choices(["failed", "expired", "rejected"]),
    )
    .addOption(
      new Option("--attempts-min <count>", "leased at least this many times").argParser(
        wholeNumber(0, many),
      ),
    )
    .option("--before <when>", "produced before; a date-time, or how long ago", pastInstant)
    .addOption(
      new Option("--redriven-max <count>", "redriven at most this many times").argParser(
        wholeNumber(0, many),
      ),
    )
    .option("--contains <text>", "with this text in the payload")
    .option("--group <name>", 'of this group; "" = the group without a name');
}

export async function filterOf(
  options: FilterOptions,
  client: Pick<Client, "overview">,
): Promise<ItemFilter> {
  const { kind, reference, origin, from, death, reason } = options;
  const { attemptsMin, before, redrivenMax, contains, group } = options;
  return {
    ...(kind !== undefined && { kind }),
    ...(reference !== undefined && { reference }),
    ...(origin !== undefined && { origin_id: origin }),
    ...(from !== undefined && { origin_queue: from }),
    ...(death !== undefined && { death }),
    ...(reason !== undefined && { reason }),
    ...(attemptsMin !== undefined && { attempts_min: attemptsMin }),
    ...(before !== undefined && { created_before: await dateTimeOf(before, client) }),
    ...(redrivenMax !== undefined && { redriven_max: redrivenMax }),
    ...(contains !== undefined && { payload_contains: contains }),
    ...(group !== undefined && { group }),
  };
}
