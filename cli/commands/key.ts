// `holdfast key`: makes an API key and prints it once, with the line that lets it in; or puts
// that line into the server's file of keys. It asks no server.

import { type Command, InvalidArgumentError, Option } from "commander";
import { type Role, roleNames } from "../../openapi/roles.ts";
import { newApiKey } from "../../server/api-keys.ts";
import { addKeyLine, KeyFileError } from "../../server/key-file.ts";
import { allQueues, everything, isRole, type Rights } from "../../server/key-rights.ts";
import type { GlobalOptions } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { openOutput } from "../output.ts";

export function addKey(program: Command): void {
  program
    .command("key")
    .description("make an API key, which is shown only once")
    .argument("<name...>", "whose it is; written to the file of keys")
    .addOption(
      new Option(
        "--role <role>",
        `what it is for: ${roleNames.join(", ")}; may be given several times; everything unless told`,
      ).argParser(rolesOf),
    )
    .addOption(
      new Option(
        "--queues <patterns>",
        "names of the queues that it is for, such as 'orders*,billing'; all by default",
      ).argParser(patternsOf),
    )
    .option("--api-keys-file <file>", "add its line to this file, which is created if missing")
    .addHelpText(
      "after",
      `
The file holds digests only: the key itself is for the client and kept nowhere. A server that
was started with the same --api-keys-file lets it in within a second, without a restart.
A key without --role is for everything.`,
    )
    .action((words: readonly string[], options: Options, command: Command) => {
      const { apiKeysFile: file } = options;
      const name = words.join(" ").trim();
      if (name === "" || name.includes("=")) {
        throw new UsageError(
          `name is invalid; expected who gets the key, without '=', got ${JSON.stringify(name)}`,
        );
      }
      const { key, line } = newApiKey(name, rightsOf(options));
      if (file !== undefined) add(file, line);
      const output = openOutput(command.optsWithGlobals<GlobalOptions>().json === true);
      output.result({ key, line, file: file ?? null }, () => told(key, line, file));
    });
}

interface Options {
  readonly role?: readonly Role[];
  readonly queues?: readonly string[];
  readonly apiKeysFile?: string;
}

function rightsOf({ role, queues }: Options): Rights {
  if (role === undefined && queues === undefined) return everything;
  if (role === undefined) throw new UsageError("--role is missing; expected one with --queues");
  return { roles: [...new Set(role)], queues: queues ?? [allQueues] };
}

function rolesOf(text: string, before: readonly Role[] = []): readonly Role[] {
  const words = text.split(",");
  if (words.every(isRole)) return [...before, ...words];
  throw new InvalidArgumentError(`expected roles out of ${roleNames.join(", ")}, got '${text}'`);
}

function patternsOf(text: string, before: readonly string[] = []): readonly string[] {
  const patterns = text.split(",");
  if (!/\s/.test(text) && !patterns.includes("")) return [...before, ...patterns];
  throw new InvalidArgumentError(`expected names of queues, with commas, got '${text}'`);
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
