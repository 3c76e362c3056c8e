// `holdfast backup` and `holdfast restore`: the stores' files of one moment, made by
// the server while it runs; checked here, and put in the place of a data folder.

import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { type BackupContents, checkBackup } from "../../engine/backup.ts";
import { openStore } from "../../stores/open.ts";
import { StoreError } from "../../stores/store.ts";
import { contextOf } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { counted, openOutput } from "../output.ts";

export function addBackup(program: Command): void {
  program
    .command("backup")
    .description("have the server write a backup, and check it")
    .option("--no-check", "leave out the check, which reads every item")
    .action(async ({ check }: { readonly check: boolean }, command: Command) => {
      const context = contextOf(command);
      const made = await context.client.backup();
      // The server's folder may be another machine's.
      const isHere = existsSync(made.folder);
      const contents = check && isHere ? await checked(made.folder) : null;
      context.result({ ...made, items: contents?.items ?? null }, () =>
        [
          made.folder,
          contents === null
            ? `not checked${check ? "; its folder is not on this machine" : ""}`
            : `checked: ${told(contents)}`,
        ].join("\n"),
      );
    });
}

export function addRestore(program: Command): void {
  program
    .command("restore")
    .description("put a backup into a new data folder, for a server that is then started on it")
    .argument("<backup>", "folder of the backup")
    .requiredOption("--data <folder>", "the data folder; must not exist, or be empty")
    .action(async (backup: string, { data }: { readonly data: string }, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      const output = openOutput(json === true);
      if (existsSync(data) && readdirSync(data).length > 0) {
        throw new UsageError(`--data is invalid; expected a folder that is empty, got '${data}'`);
      }
      const { manifest } = await checked(backup);
      mkdirSync(data, { recursive: true });
      const names = [...manifest.shards.map(({ file }) => file), "backup.json"];
      try {
        for (const name of names) copyFileSync(join(backup, name), join(data, name));
        const contents = await checked(data);
        rmSync(join(data, "backup.json"));
        output.result(
          { data, items: contents.items, queues: contents.queues },
          () => `${data}: ${told(contents)}\nholdfast serve --data ${data}`,
        );
      } catch (error) {
        for (const name of names) rmSync(join(data, name), { force: true });
        throw error;
      }
    });
}

/** What is wrong with a backup is for its user to mend, so it is told like wrong input. */
async function checked(folder: string): Promise<BackupContents> {
  try {
    return await checkBackup(folder, (directory, shard, newTag) =>
      openStore({ kind: "sqlite", directory, ballastBytes: 0 }, shard, newTag),
    );
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new UsageError(`the backup is not whole; ${error.message}`);
  }
}

function told({ items, queues, manifest }: BackupContents): string {
  return `${counted(items, "item")} in ${counted(queues, "queue")}, as of ${manifest.made_at}`;
}
