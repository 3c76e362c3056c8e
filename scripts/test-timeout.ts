// How long a test, and what goes before and after it, may take: a slow machine may take its time,
// only what hangs is ended. `bunfig.toml` loads this before each test file.

import { setDefaultTimeout } from "bun:test";

setDefaultTimeout(600_000);
