// `holdfast serve`, as the help and the completions know it. What it does is in `../serve.ts`:
// the server reads its own flags, so they have to stand alone, behind the word.

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

/** The text that is asked for instead of a server, wherever among the flags; `null` = none is. */
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
    "Serves durable queues over HTTP. A setting is taken from its flag, else from its",
    "environment variable, else from the file that --config names, where its name is the",
    "flag's name in camelCase; else it has its default.",
    "",
    "Flags:",
    ...flags,
    "",
    exitCodesText(serveExitCodes),
    "",
  ].join("\n");
}
