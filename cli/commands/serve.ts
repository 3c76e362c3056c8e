// `holdfast serve` for help and completions; `../serve.ts` runs it. The server parses its own
// flags, so no other options may precede or follow the word.

import type { Command } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { configReference } from "../../server/config/settings.ts";
import { exitCodesText, serveExitCodes, UsageError } from "../exit-codes.ts";

export function addServe(program: Command): void {
  const serve = program
    .command("serve")
    .description("serve queues over HTTP, with their data in ./data")
    .usage("[flags]")
    .action(() => {
      throw new UsageError("serve is the first word; expected its own flags alone, behind it");
    });
  serve.helpInformation = usage;
  for (const { flag, meaning, values } of configReference()) {
    serve.option(values === "true or false" ? flag : `${flag} <value>`, meaning);
  }
}

/** The text for `--help` or `--version` at any position; `null` = neither is present. */
export function serveText(flags: readonly string[]): string | null {
  if (flags.includes("--help") || flags.includes("-h")) return usage();
  return flags.includes("--version") ? `holdfast ${manifest.version}\n` : null;
}

function usage(): string {
  const flags = configReference().flatMap((row) => [
    `  ${row.flag}  (${row.env})`,
    `      ${row.meaning}`,
    `      ${row.values}${row.default === "" ? "" : `; default ${row.default}`}`,
  ]);
  return [
    "Usage: holdfast serve [flags]",
    "       bun start [flags]              in a clone",
    "       holdfast serve --help | --version",
    "",
    "Serves durable queues over HTTP. A setting is read from its flag, its environment variable",
    "or the file that --config names, in this order; otherwise it has its default. In the file,",
    "a setting has the name of its flag in camelCase.",
    "",
    "Flags:",
    ...flags,
    "",
    exitCodesText(serveExitCodes),
    "",
  ].join("\n");
}
