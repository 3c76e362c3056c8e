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

export const partitionOption = (): Option =>
  new Option("-p, --partition <number>", "partition that the lease came from").argParser(
    wholeNumber(0, 1_000_000),
  );

export const leasedHelp = `
Without ids, what 'holdfast lease --json' printed is read from standard input.`;

/** One entry for each lease. */
export async function leasedOf(
  ids: readonly string[],
  partition: number | undefined,
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
      leased.push(leaseOf(parsedLine(line, "the reply of a lease"), line.number));
    }
  }
  if (leased.length > 0) return leased;
  throw new UsageError(
    `there is nothing to ${command.name()}; expected ids, or leases on standard input`,
  );
}

function leaseOf(value: unknown, line: number): Leased {
  if (typeof value === "object" && value !== null && "partition" in value && "items" in value) {
    const { partition, items } = value;
    if (typeof partition === "number" && Array.isArray(items)) {
      return { partition, ids: items.map(({ id }) => String(id)) };
    }
  }
  throw new UsageError(`line ${line} is invalid; expected the reply of a lease`);
}
