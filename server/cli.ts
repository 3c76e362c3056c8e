// What the command line asks for, and the texts that answer it. Settings are
// read by `config.ts`; this file only finds the command.

import { configReference } from "./config.ts";
import { didYouMean } from "./did-you-mean.ts";

/** With what code the process ends, and when. */
export const exitCodes = {
  ok: { code: 0, when: "stopped as asked, or the text that was asked for is printed" },
  usage: { code: 2, when: "the command line, the configuration or the data folder is at fault" },
  taken: { code: 3, when: "another server has the data folder or the port" },
  bug: { code: 70, when: "a bug; the log has it, and stored items are safe" },
  disk: { code: 74, when: "the disk failed at the start; nothing was served" },
} as const;

export type Command =
  | { readonly name: "serve"; readonly argv: readonly string[] }
  | { readonly name: "help" }
  | { readonly name: "version" }
  | { readonly name: "unknown"; readonly fault: string };

/** `--help` and `--version` count wherever they stand; without a command, it is `serve`. */
export function readCommand(argv: readonly string[]): Command {
  if (argv.includes("--help") || argv.includes("-h")) {
    return { name: "help" };
  }
  if (argv.includes("--version")) {
    return { name: "version" };
  }
  const [first, ...rest] = argv;
  if (first === undefined || first.startsWith("-")) {
    return { name: "serve", argv };
  }
  if (first === "serve") {
    return { name: "serve", argv: rest };
  }
  const got = JSON.stringify(first) + didYouMean(first, ["serve"]);
  return {
    name: "unknown",
    fault: `unknown command; expected serve, --help or --version, got ${got}`,
  };
}

/** `program`: how the server is started, where it is not by `bun start`. */
export function usage(program?: string): string {
  const flags = configReference().flatMap((row) => [
    `  ${row.flag}  (${row.env})`,
    `      ${row.meaning}`,
    `      ${row.values}${row.default === "" ? "" : `; default ${row.default}`}`,
  ]);
  const codes = Object.values(exitCodes).map(
    ({ code, when }) => `  ${String(code).padStart(2)}  ${when}`,
  );
  return [
    `Usage: ${program ?? "bun start [serve]"} [flags]`,
    `       ${program ?? "bun start"} --help${program === undefined ? " | --version" : ""}`,
    "",
    "Serves durable queues over HTTP. A setting is taken from its flag, else from its",
    "environment variable, else from the file that --config names, where its key is the",
    "flag's name in camelCase; else it has its default.",
    "",
    "Flags:",
    ...flags,
    "",
    "Exit codes:",
    ...codes,
    "",
  ].join("\n");
}
