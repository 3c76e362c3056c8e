// `holdfast key`: makes an API key without a server. It prints the key, and on standard error its
// line for the server's file of keys, or adds the line to that file.

import { type Command, InvalidArgumentError, Option } from "commander";
import { type Role, roleNames } from "../../openapi/roles.ts";
import { newApiKey } from "../../server/auth/api-keys.ts";
import { addKeyLine, KeyFileError } from "../../server/auth/key-file.ts";
import { allQueues, isRole, type Rights } from "../../server/auth/key-rights.ts";
import type { GlobalOptions } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { openOutput } from "../output.ts";

/** Roles and the queues for which they are given, in the order of the options. */
interface Part {
  readonly roles: Set<Role>;
  readonly queues: string[];
}

export function addKey(program: Command): void {
  const parts: Part[] = [];
  program
    .command("key")
    .description("make an API key, which is shown only once")
    .argument("<name...>", "name of the key, which is written to the file of keys")
    .addOption(
      new Option(
        "--role <role>",
        `role of the key: ${roleNames.join(", ")}; may be repeated; by default everything`,
      ).argParser(rolesTo(parts)),
    )
    .addOption(
      new Option(
        "--queues <patterns>",
        "queues for the preceding roles, such as 'orders*,billing'; by default all",
      ).argParser(patternsTo(parts)),
    )
    .option("--api-keys-file <file>", "add its line to this file, which is created if missing")
    .addHelpText(
      "after",
      `
Standard output is the key only. The file contains digests only: the key itself is not stored.
A server that was started with the same --api-keys-file accepts the key within one second, without
a restart. A key without --role may do everything. A --role after --queues starts a new group:
with '--role consume --queues orders --role produce --queues invoices' the key may only consume
from orders and only produce into invoices.`,
    )
    .action((words: readonly string[], options: Options, command: Command) => {
      const { apiKeysFile: file } = options;
      const name = words.join(" ").trim();
      if (name === "" || name.includes("=")) {
        throw new UsageError(
          `name is invalid; expected who gets the key, without '=', got ${JSON.stringify(name)}`,
        );
      }
      const { key, line } = newApiKey(name, ...rightsOf(parts));
      if (file !== undefined) add(file, line);
      const output = openOutput(command.optsWithGlobals<GlobalOptions>().json === true);
      // Only the key goes to standard output, for files and other programs.
      output.result({ key, line, file: file ?? null }, () => key);
      output.note(noteText(line, file));
    });
}

interface Options {
  readonly apiKeysFile?: string;
}

function rightsOf(parts: readonly Part[]): readonly Rights[] {
  return parts.map(({ roles, queues }) => {
    if (roles.size === 0) throw new UsageError("--role is missing; expected one with --queues");
    if (queues.length === 0 && parts.length > 1) {
      throw new UsageError("--queues is missing; expected them behind each --role");
    }
    return { roles: [...roles], queues: queues.length === 0 ? [allQueues] : queues };
  });
}

/** The last part, or a new one if the last is complete. */
function partFor(parts: Part[], isWhole: (part: Part) => boolean): Part {
  const last = parts.at(-1);
  if (last !== undefined && !isWhole(last)) return last;
  const part: Part = { roles: new Set(), queues: [] };
  parts.push(part);
  return part;
}

function rolesTo(parts: Part[]): (text: string) => void {
  return (text) => {
    const words = text.split(",");
    if (!words.every(isRole)) {
      throw new InvalidArgumentError(
        `expected roles out of ${roleNames.join(", ")}, got '${text}'`,
      );
    }
    const part = partFor(parts, ({ roles, queues }) => roles.size > 0 && queues.length > 0);
    for (const word of words) part.roles.add(word);
  };
}

function patternsTo(parts: Part[]): (text: string) => void {
  return (text) => {
    const patterns = text.split(",");
    if (/\s/.test(text) || patterns.includes("")) {
      throw new InvalidArgumentError(`expected names of queues, with commas, got '${text}'`);
    }
    partFor(parts, () => false).queues.push(...patterns);
  };
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

function noteText(line: string, file: string | undefined): string {
  const shown = "The key is for the client, and is shown this once.";
  return file === undefined
    ? `${shown}\nThe line for the file that --api-keys-file names:\n\n${line}`
    : `${shown} Its line is in ${file}.`;
}
