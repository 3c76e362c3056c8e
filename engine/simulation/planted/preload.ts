// Plants a bug while the sources are loaded: replaces the file of the path HOLDFAST_PLANTED_FOR by
// the changed one of the path HOLDFAST_PLANTED. `hunt.ts` passes this file to `bun --preload`.

import { readFileSync } from "node:fs";
import { plugin } from "bun";

const { HOLDFAST_PLANTED: changed = "", HOLDFAST_PLANTED_FOR: path = "" } = process.env;

plugin({
  name: "planted bug",
  setup(build) {
    const only = new RegExp(`^${path.replaceAll(/[.\\/]/g, "\\$&")}$`);
    build.onLoad({ filter: only }, () => ({
      contents: readFileSync(changed, "utf8"),
      loader: "ts",
    }));
  },
});
