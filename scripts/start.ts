// `bun start`, once `prestart` has installed what was missing. The server runs
// in this process, so that signals reach it and its exit code is this one's. A site
// that is not there yet is built beside it: the API need not wait.

import { stopWhenOrphaned } from "./orphan.ts";
import { buildMissingSite } from "./site.ts";

stopWhenOrphaned();
const words = process.argv.slice(2);
if (!words.some((word) => /^(--help|-h|help|--version|-v|version)$/.test(word))) {
  void buildMissingSite();
}
await import("../server/main.ts");
