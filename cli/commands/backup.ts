// `holdfast backup` makes a running server write a backup, and checks it. `holdfast restore` copies
// a backup into a data folder.

import {
  closeSync,
  copyFileSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { type BackupContents, checkBackup, manifestName } from "../../engine/backup.ts";
import { openStore } from "../../stores/open.ts";
import { StoreError } from "../../stores/store.ts";
import { contextOf } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { interruption } from "../interrupt.ts";
import { counted, openOutput } from "../output.ts";

export function addBackup(program: Command): void {
  program
    .command("backup")
    .description("make the server write a backup, and check it")
    .option("--no-check", "skip the check, which reads every item")
    .action(async ({ check }: { readonly check: boolean }, command: Command) => {
      const context = contextOf(command);
      const made = await context.client.backup();
      // The server may run on another machine.
      const isHere = existsSync(made.folder);
      const contents = check && isHere ? await checked(made.folder) : null;
      context.result({ ...made, items: contents?.items ?? null }, () =>
        [
          made.folder,
          contents === null
            ? `not checked${check ? "; its folder is not on this machine" : ""}`
            : `checked: ${contentsText(contents)}`,
        ].join("\n"),
      );
    });
}

export function addRestore(program: Command): void {
  program
    .command("restore")
    .description("restore a backup into a new data folder, ready for a server to start")
    .argument("<backup>", "folder of the backup")
    .requiredOption("--data <folder>", "the data folder; must be empty or not exist")
    .action(async (backup: string, { data }: { readonly data: string }, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      const output = openOutput(json === true);
      if (existsSync(data) && readdirSync(data).some((name) => name !== unfinished)) {
        throw new UsageError(`--data is invalid; expected a folder that is empty, got '${data}'`);
      }
      if (!existsSync(join(backup, manifestName))) {
        throw new UsageError(
          `the folder is no backup; expected ${manifestName} in it, got '${backup}'`,
        );
      }
      const signal = interruption();
      const copy = join(data, unfinished);
      rmSync(copy, { recursive: true, force: true });
      mkdirSync(copy, { recursive: true, mode: 0o700 });
      try {
        for (const name of readdirSync(backup)) {
          if (name !== manifestName && !storeFile.test(name)) continue;
          copySynced(join(backup, name), join(copy, name));
          await Bun.sleep(0);
          signal.throwIfAborted();
        }
        // Check the copy: opening a store may change its file, and the backup must not change.
        const contents = await checked(copy);
        signal.throwIfAborted();
        // Renamed only when all are copied: a server would accept a part as the whole.
        for (const { file: name } of contents.manifest.shards)
          renameSync(join(copy, name), join(data, name));
        output.result(
          { data, items: contents.items, queues: contents.queues },
          () => `${data}: ${contentsText(contents)}\nholdfast serve --data ${data}`,
        );
      } finally {
        rmSync(copy, { recursive: true, force: true });
      }
    });
}

/** A subfolder of the data folder, so that renames stay on one disk. */
const unfinished = "restoring";
const storeFile = /^shard-\d+\.db$/;

function copySynced(from: string, to: string): void {
  copyFileSync(from, to);
  const file = openSync(to, "r");
  try {
    fchmodSync(file, 0o600);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Throws `UsageError` for an invalid backup, as for invalid input. */
async function checked(folder: string): Promise<BackupContents> {
  try {
    return await checkBackup(folder, (directory, shard, newTag) =>
      openStore({ kind: "sqlite", directory, ballastBytes: 0, testClock: null }, shard, newTag),
    );
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new UsageError(`the backup is incomplete; ${error.message}`);
  }
}

function contentsText({ items, queues, manifest }: BackupContents): string {
  return `${counted(items, "item")} in ${counted(queues, "queue")}, as of ${manifest.made_at}`;
}
