// Which leased items a command is about: named one by one, or the reply of a lease that
// is piped in.

import { type Command, Option } from "commander";
import { UsageError } from "./exit-codes.ts";
import { linesOf, parsedLine, pipedInput } from "./input.ts";
import { wholeNumber } from "./values.ts";

export interface Leased {
  readonly partition: number;
  readonly ids: readonly string[];
}

export const partitionOption = (meaning = "partition that the lease came from"): Option =>
  new Option("-p, --partition <number>", meaning).argParser(wholeNumber(0, 1_000_000));

export const leasedHelp = `
Without ids, what 'holdfast lease --json' printed is read from standard input.`;

interface Naming {
  readonly queue: string;
  readonly ids: readonly string[];
  readonly partition: number | undefined;
}

/** One entry for each lease. */
export async function leasedOf(
  { queue, ids, partition }: Naming,
  command: Command,
): Promise<readonly Leased[]> {
  if (ids.length > 0) {
    if (partition !== undefined) return [{ partition, ids }];
    throw new UsageError("--partition is required; expected the one that the lease came from");
  }
  const input = pipedInput();
  const leased: Leased[] = [];
  if (input !== null) {
    for await (const line of linesOf(input)) {
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
