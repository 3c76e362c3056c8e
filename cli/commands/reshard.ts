// `holdfast reshard`: moves the queues of a data folder to another number of shards, while no server
// runs on it.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { manifestName } from "../../engine/backup.ts";
import { reshardData, shardsIn, shardsMax } from "../../server/reshard.ts";
import { StoreError } from "../../stores/store.ts";
import { UsageError } from "../exit-codes.ts";
import { interruption } from "../interrupt.ts";
import { counted, openOutput } from "../output.ts";
import { wholeNumber } from "../values.ts";

interface Options {
  readonly data: string;
  readonly shards: number;
}

export function addReshard(program: Command): void {
  program
    .command("reshard")
    .description("move all queues to another number of shards, while no server runs on the data")
    .requiredOption("--data <folder>", "the data folder")
    .requiredOption(
      "--shards <number>",
      `how many shards it is to have, from 1 to ${shardsMax}`,
      wholeNumber(1, shardsMax),
    )
    .addHelpText(
      "after",
      `
Items keep their ids, leases continue, and calls with a key can still be repeated. The new
stores grow beside the old ones, so the disk needs as much free room as the data take. If the
command is stopped or killed, the data are as they were, or moved as a whole.`,
    )
    .action(async (options: Options, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      try {
        await reshard(options, json === true);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        throw new UsageError(`${reasonOf(error)}; '${options.data}'`);
      }
    });
}

async function reshard({ data, shards }: Options, isJson: boolean): Promise<void> {
  const output = openOutput(isJson);
  const before = shardsBefore(data, shards);
  const signal = interruption();
  const bar = output.progress("items");
  const progress = (items: number, all: number) => bar.update(items, all === 0 ? 1 : items / all);
  const moved = await reshardData({ folder: data, shards, signal, progress });
  bar.end();
  const { items, delivered, queues, damaged } = moved;
  output.result({ data, shards, shards_before: before, ...moved }, () =>
    [
      `${data}: ${counted(items + delivered, "item")} in ${counted(queues, "queue")}, from ${counted(before, "shard")} to ${shards}`,
      ...(damaged === 0 ? [] : [`${counted(damaged, "damaged item")} set aside`]),
      `holdfast serve --data ${data}`,
    ].join("\n"),
  );
}

/** How many shards the folder has; throws `UsageError` if it cannot be resharded. */
function shardsBefore(data: string, shards: number): number {
  const expected = "expected a data folder with stores";
  if (existsSync(join(data, manifestName))) {
    throw new UsageError(
      `--data is invalid; ${expected}, got a backup, which restore copies into one`,
    );
  }
  const before = shardsIn(data);
  if (before === 0) throw new UsageError(`--data is invalid; ${expected}, got '${data}'`);
  if (before !== shards) return before;
  throw new UsageError(
    `--shards is invalid; expected another number than the data have, got ${shards}`,
  );
}

function reasonOf({ message, fault, cause }: StoreError): string {
  const isTold = fault === "failed" && cause instanceof Error && cause.message !== "";
  return isTold ? `${message}; ${cause.message}` : message;
}
