// What the single executable starts with (`bun run compile`): the server, with shards and
// site inside, or a look at how it is, for whoever watches over it.

import { checkHealth } from "./healthcheck.ts";

if (process.argv[2] === "healthcheck") {
  process.exitCode = await checkHealth(process.argv.slice(3), process.env);
} else {
  await import("../server/main.ts");
}
