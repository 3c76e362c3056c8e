// What the single executable starts with (`bun run compile`): the server, with shards and
// site inside; a look at how it is, for whoever watches over it; or a new API key.

import { printNewKey } from "../scripts/key.ts";
import { checkHealth } from "./healthcheck.ts";

const [command, ...words] = process.argv.slice(2);
if (command === "healthcheck") {
  process.exitCode = await checkHealth(words, process.env);
} else if (command === "key") {
  printNewKey(words);
} else {
  await import("../server/main.ts");
}
