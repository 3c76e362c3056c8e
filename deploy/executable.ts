// What the single executable starts with (`bun run compile`): the command line, with server and
// site inside; or a look at how the server is, for whoever watches over it.

import { orServe, runCommandLine } from "../cli/command-line.ts";
import { configReference } from "../server/config/settings.ts";
import { checkHealth } from "./healthcheck.ts";

const words = process.argv.slice(2);
if (words[0] === "healthcheck") {
  process.exitCode = await checkHealth(words.slice(1), process.env);
} else {
  await runCommandLine(words.length === 0 ? words : orServe(words, isSetting));
}

/** Flags alone are the server's, as behind `bun start`. */
function isSetting(word: string): boolean {
  return configReference().some(({ flag }) => flag === word.split("=")[0]);
}
