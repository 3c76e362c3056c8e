// `holdfast key`: makes an API key and prints it once, with the line that lets it in on standard
// error; or puts that line into the server's file of keys. It asks no server.

import { type Command, InvalidArgumentError, Option } from "commander";
import { type Role, roleNames } from "../../openapi/roles.ts";
import { newApiKey } from "../../server/auth/api-keys.ts";
import { addKeyLine, KeyFileError } from "../../server/auth/key-file.ts";
import { allQueues, isRole, type Rights } from "../../server/auth/key-rights.ts";
import type { GlobalOptions } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { openOutput } from "../output.ts";

/** What is said of the queues of some roles, in the order in which it is said. */
interface Part {
  readonly roles: Set<Role>;
  readonly queues: string[];
}

export function addKey(program: Command): void {
  const parts: Part[] = [];
  program
    .command("key")
    .description("make an API key, which is shown only once")
    .argument("<name...>", "whose it is; written to the file of keys")
    .addOption(
      new Option(
        "--role <role>",
        `what it is for: ${roleNames.join(", ")}; may be given several times; everything unless told`,
      ).argParser(rolesTo(parts)),
    )
    .addOption(
      new Option(
        "--queues <patterns>",
        "names of the queues that the roles before it are for, such as 'orders*,billing'; all by default",
      ).argParser(patternsTo(parts)),
    )
    .option("--api-keys-file <file>", "add its line to this file, which is created if missing")
    .addHelpText(
      "after",
      `
Standard output is the key alone. The file holds digests only: the key itself is for the client and kept nowhere. A server that
was started with the same --api-keys-file lets it in within a second, without a restart.
A key without --role is for everything. A --role behind --queues begins anew:
'--role consume --queues orders --role produce --queues invoices' is for the two, each for its own.`,
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
      // What a file or another program gets is the key alone.
      output.result({ key, line, file: file ?? null }, () => key);
      output.note(told(line, file));
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

/** The part that an option belongs to. */
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

function told(line: string, file: string | undefined): string {
  const shown = "The key is for the client, and is shown this once.";
  return file === undefined
    ? `${shown}\nThe line for the file that --api-keys-file names:\n\n${line}`
    : `${shown} Its line is in ${file}.`;
}
