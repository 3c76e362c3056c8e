// What the single executable starts with (`bun run compile`): the server, with shards and
// site inside; the commands of `holdfast`; or a look at how the server is, for whoever watches
// over it.

import { configReference } from "../server/config.ts";
import { checkHealth } from "./healthcheck.ts";

const [command, ...words] = process.argv.slice(2);
if (command === "healthcheck") {
  process.exitCode = await checkHealth(words, process.env);
} else if (command === undefined || isSetting(command)) {
  await import("../server/main.ts");
} else {
  await import("../cli/main.ts");
}

/** Flags alone are the server's, as behind `bun start`. */
function isSetting(word: string): boolean {
  return configReference().some(({ flag }) => flag === word.split("=")[0]);
}
