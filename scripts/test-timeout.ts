// The timeout of a test and its hooks, long enough for slow machines. `bunfig.toml` loads this
// before each test file if files are isolated (`--isolate`, `--parallel`), and otherwise before the
// first file only.

import { setDefaultTimeout } from "bun:test";

setDefaultTimeout(600_000);
