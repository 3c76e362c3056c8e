// `bun start`, once `prestart` has installed what was missing: the command line, with `serve`
// where no command is named. The server runs in this process, so that signals reach it and its
// exit code is this one's. A site that is not there yet is built beside it: the API need not wait.

import { orServe, runCommandLine } from "../cli/command-line.ts";
import { serveText } from "../cli/commands/serve.ts";
import { stopWhenOrphaned } from "./orphan.ts";
import { buildMissingSite } from "./site.ts";

stopWhenOrphaned();
const words = orServe(process.argv.slice(2), (word) => word.startsWith("-"));
if (words[0] === "serve" && serveText(words) === null) void buildMissingSite();
await runCommandLine(words);
