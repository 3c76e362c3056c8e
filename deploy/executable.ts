// The entry point of the single executable (`bun run compile`): the command line with server and
// site, or the health check of a running server.

import { runCommandLine, withDefaultCommand } from "../cli/command-line.ts";
import { configReference } from "../server/config/settings.ts";
import { checkHealth } from "./healthcheck.ts";

const words = process.argv.slice(2);
if (words[0] === "healthcheck") {
  process.exitCode = await checkHealth(words.slice(1), process.env);
} else {
  await runCommandLine(words.length === 0 ? words : withDefaultCommand(words, isSetting));
}

/** A flag without a command is a setting of the server, as with `bun start`. */
function isSetting(word: string): boolean {
  return configReference().some(({ flag }) => flag === word.split("=")[0]);
}
