// `bun start`, after `prestart` has installed missing packages: the command line, with `serve` as
// the default command. The server runs in this process, so it receives the signals and sets the
// exit code. A missing site is built beside it, so the API need not wait.

import { runCommandLine, withDefaultCommand } from "../cli/command-line.ts";
import { serveText } from "../cli/commands/serve.ts";
import { stopWhenOrphaned } from "./orphan.ts";
import { buildMissingSite } from "./site.ts";

stopWhenOrphaned();
const words = withDefaultCommand(process.argv.slice(2), (word) => word.startsWith("-"));
if (words[0] === "serve" && serveText(words) === null) void buildMissingSite();
await runCommandLine(words);
