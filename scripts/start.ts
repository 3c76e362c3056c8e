// `bun start`, once `prestart` has installed what was missing. The server runs
// in this process, so that signals reach it and its exit code is this one's.

import { stopWhenOrphaned } from "./orphan.ts";

stopWhenOrphaned();
await import("../server/main.ts");
