// Reads the leased items of a command: ids as arguments, or the reply of a lease on standard input.

import { type Command, Option } from "commander";
import { UsageError } from "./exit-codes.ts";
import { parsedLine, pipedInput, textLinesOf } from "./input.ts";
import { wholeNumber } from "./option-parsers.ts";

interface Leased {
  readonly partition: number;
  readonly ids: string[];
}

export const partitionOption = (meaning = "partition of the lease"): Option =>
  new Option("-p, --partition <number>", meaning).argParser(wholeNumber(0, 1_000_000));

const leasedHelp = `
Without ids, the output of 'holdfast lease --json' is read from standard input.`;

/** Adds a command whose arguments are leased items. */
export function leasedCommand(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .argument("<queue>", "name of the queue")
    .argument("[id...]", "ids of leased items")
    .addOption(partitionOption())
    .addHelpText("after", leasedHelp);
}

interface LeaseArguments {
  readonly queue: string;
  readonly ids: string[];
  readonly partition: number | undefined;
}

interface LeaseCalls {
  /** Called once for each lease. */
  readonly send: (lease: Leased) => Promise<unknown>;
  /** Called once with the number of items, even if a later call failed. */
  readonly report: (count: number) => void;
}

export async function forEachLease(
  given: LeaseArguments,
  command: Command,
  { send, report }: LeaseCalls,
): Promise<void> {
  const leases = await leasedOf(given, command);
  let count = 0;
  try {
    for (const lease of leases) {
      await send(lease);
      count += lease.ids.length;
    }
  } catch (error) {
    // The calls before the failed one have taken effect.
    if (count > 0) report(count);
    throw error;
  }
  report(count);
}

/** One entry for each lease. */
async function leasedOf(
  { queue, ids, partition }: LeaseArguments,
  command: Command,
): Promise<readonly Leased[]> {
  if (ids.length > 0) {
    if (partition !== undefined) return [{ partition, ids }];
    throw new UsageError("--partition is required; expected the one that the lease came from");
  }
  const input = pipedInput();
  const leased: Leased[] = [];
  if (input !== null) {
    for await (const line of textLinesOf(input, expected)) {
      leased.push(leaseOf(parsedLine(line, expected), { queue, line: line.number }));
    }
  }
  if (leased.length > 0) return leased;
  throw new UsageError(
    `there is nothing to ${command.name()}; expected ids, or leases on standard input`,
  );
}

const expected = "the reply of a lease";

function leaseOf(value: unknown, at: { readonly queue: string; readonly line: number }): Leased {
  if (typeof value === "object" && value !== null && "partition" in value && "items" in value) {
    const { partition, items } = value;
    const name = "queue_name" in value ? value.queue_name : at.queue;
    if (name !== at.queue) {
      throw new UsageError(
        `line ${at.line} is invalid; expected a lease of '${at.queue}', got '${name}'`,
      );
    }
    if (typeof partition === "number" && Array.isArray(items) && items.every(hasId)) {
      return { partition, ids: items.map(({ id }) => id) };
    }
  }
  throw new UsageError(`line ${at.line} is invalid; expected ${expected}`);
}

function hasId(item: unknown): item is { readonly id: string } {
  return typeof item === "object" && item !== null && "id" in item && typeof item.id === "string";
}
