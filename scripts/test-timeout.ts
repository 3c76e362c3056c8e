// How long a test, and what goes before and after it, may take: a slow machine may take its time,
// only what hangs is ended. `bunfig.toml` has this loaded before each test file, where files are
// run apart from each other (`--isolate`, `--parallel`), else before the first.

import { setDefaultTimeout } from "bun:test";

setDefaultTimeout(600_000);
