// `holdfast serve`: the server, in this process. Its flags are those of its configuration.

import type { Command } from "commander";
import { usage } from "../../server/cli.ts";
import { configReference } from "../../server/config.ts";
import { UsageError } from "../exit-codes.ts";

const help = ["--help", "-h"];

/** Its own command line then follows; the help is this program's. */
export function wantsToServe(argv: readonly string[]): boolean {
  return argv[0] === "serve" && !argv.some((word) => help.includes(word));
}

export function addServe(program: Command): void {
  const serve = program
    .command("serve")
    .description("serve queues over HTTP, with their data in ./data")
    .usage("[flags]")
    .action(() => {
      throw new UsageError("serve is the first word; expected its own flags alone, behind it");
    });
  serve.helpInformation = () => usage("holdfast serve");
  for (const { flag, meaning, key } of configReference()) {
    serve.option(key === "acceptWalLoss" ? flag : `${flag} <value>`, meaning);
  }
}
