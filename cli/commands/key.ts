// `holdfast key`: makes an API key and prints it once, with the line that lets it in; or puts
// that line into the server's file of keys. It asks no server.

import type { Command } from "commander";
import { newApiKey } from "../../server/api-keys.ts";
import { addKeyLine, KeyFileError } from "../../server/key-file.ts";
import type { GlobalOptions } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { openOutput } from "../output.ts";

export function addKey(program: Command): void {
  program
    .command("key")
    .description("make an API key, which is shown this once")
    .argument("<name...>", "who gets it; it stands in the file of keys")
    .option("--api-keys-file <file>", "add its line to this file, which is made when missing")
    .addHelpText(
      "after",
      `
The file holds digests only: the key itself is for the client and kept nowhere. A server that
was started with the same --api-keys-file lets it in within a second, without a restart.`,
    )
    .action((words: readonly string[], { apiKeysFile: file }: Options, command: Command) => {
      const name = words.join(" ").trim();
      if (name === "") throw new UsageError('name is invalid; expected who gets the key, got ""');
      const { key, line } = newApiKey(name);
      if (file !== undefined) add(file, line);
      const output = openOutput(command.optsWithGlobals<GlobalOptions>().json === true);
      output.result({ key, line, file: file ?? null }, () => told(key, line, file));
    });
}

interface Options {
  readonly apiKeysFile?: string;
}

function add(file: string, line: string): void {
  try {
    addKeyLine(file, line);
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error;
    throw new UsageError(
      `--api-keys-file is invalid; expected a file of API keys' digests, got '${file}': ${error.message}`,
    );
  }
}

function told(key: string, line: string, file: string | undefined): string {
  const where =
    file === undefined
      ? `The line for the file that --api-keys-file names:\n\n${line}`
      : `Its line is in ${file}.`;
  return `The key, for the client; it is shown this once:\n\n${key}\n\n${where}`;
}
