// `holdfast reshard`: moves the queues of a data folder or database to another number of shards,
// while no server runs on it.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { manifestName } from "../../engine/backup.ts";
import { DataFolderError } from "../../server/storage/data-folder.ts";
import { countShards, reshardData, shardsMax } from "../../server/storage/reshard.ts";
import { StoreError } from "../../stores/store.ts";
import { UsageError } from "../exit-codes.ts";
import { interruption } from "../interrupt.ts";
import { wholeNumber } from "../option-parsers.ts";
import { counted, openOutput } from "../output.ts";

interface Options {
  readonly data?: string;
  readonly databaseUrl?: string;
  readonly databaseSchema: string;
  readonly shards: number;
}

/** The store to reshard, its name for people, and the flags of a server on it. */
interface Target {
  readonly store: Parameters<typeof countShards>[0];
  readonly name: string;
  readonly flags: string;
}

export function addReshard(program: Command): void {
  program
    .command("reshard")
    .description("change the number of shards, while no server runs on the data")
    .option("--data <folder>", "the data folder")
    .option("--database-url <url>", "the database, instead of a data folder", oneDatabase)
    .option("--database-schema <name>", "prefix of the schemas in the database", "holdfast")
    .requiredOption(
      "--shards <number>",
      `new number of shards, from 1 to ${shardsMax}`,
      wholeNumber(1, shardsMax),
    )
    .addHelpText(
      "after",
      `
Items keep their ids, leases continue, and calls with an idempotency key can still be repeated.
The new stores are written next to the old ones: the disk needs free space for a second copy of
the data, and 8 MiB for each new shard. If the command is stopped or killed, the data is either
unchanged or moved completely. Run it as the owner of the data folder, or as root.`,
    )
    .action(async (options: Options, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      try {
        await reshard(options, json === true);
      } catch (error) {
        const reason = reasonOf(error);
        if (reason === null) throw error;
        throw new UsageError(`${reason}; '${targetOf(options).name}'`);
      }
    });
}

/** Throws `UsageError` if several are given: queues cannot be moved between databases. */
function oneDatabase(url: string, before: string | undefined): string {
  if (before === undefined && !/\s/.test(url.trim())) return url.trim();
  throw new UsageError(
    "--database-url is invalid; expected one database, as a cluster with several cannot be resharded",
  );
}

function targetOf({ data, databaseUrl, databaseSchema: schema }: Options): Target {
  if (databaseUrl !== undefined && data === undefined) {
    // The URL may hold a password.
    const flags = `--store postgres --database-schema ${schema}`;
    const store = { kind: "postgres", url: databaseUrl, schema } as const;
    return { store, name: `database schema ${schema}`, flags };
  }
  if (data !== undefined && databaseUrl === undefined) {
    return { store: { kind: "sqlite", directory: data }, name: data, flags: `--data ${data}` };
  }
  throw new UsageError("expected either --data or --database-url");
}

async function reshard(options: Options, isJson: boolean): Promise<void> {
  const { shards } = options;
  const { store, name, flags } = targetOf(options);
  const output = openOutput(isJson);
  const before = await shardsBefore(options);
  const signal = interruption();
  const bar = output.progress("items");
  const progress = (items: number, all: number) => bar.update(items, all === 0 ? 1 : items / all);
  const moved = await reshardData({ store, shards, signal, progress });
  bar.end();
  const { items, delivered, queues, damaged } = moved;
  output.result({ data: name, shards, shards_before: before, ...moved }, () =>
    [
      `${name}: ${counted(items + delivered, "item")} in ${counted(queues, "queue")}, from ${counted(before, "shard")} to ${shards}`,
      ...(damaged === 0 ? [] : [`${counted(damaged, "damaged item")} set aside`]),
      `holdfast serve ${flags}`,
    ].join("\n"),
  );
}

/** How many shards the data have; throws `UsageError` if they cannot be resharded. */
async function shardsBefore(options: Options): Promise<number> {
  const { store, name } = targetOf(options);
  const flag = store.kind === "sqlite" ? "--data" : "--database-schema";
  const invalid = `${flag} is invalid; expected data of a server`;
  if (store.kind === "sqlite" && existsSync(join(store.directory, manifestName))) {
    throw new UsageError(`${invalid}, got a backup, which restore copies into a data folder`);
  }
  const before = await countShards(store);
  if (before === 0) throw new UsageError(`${invalid}, got '${name}'`);
  if (before !== options.shards) return before;
  const expected = "expected a number other than the current one";
  throw new UsageError(`--shards is invalid; ${expected}, got ${before}`);
}

/** `null`: a bug, or an error that needs no further text. */
function reasonOf(error: unknown): string | null {
  if (error instanceof DataFolderError) return error.message;
  if (!(error instanceof StoreError)) return null;
  const { message, fault, cause } = error;
  const hasDetail = fault === "failed" && cause instanceof Error && cause.message !== "";
  return hasDetail ? `${message}; ${cause.message}` : message;
}
