// Plants one bug into the sources as they are loaded: `bun --preload <this file>` with the changed file in
// HOLDFAST_PLANTED, and the path of the one that it replaces in HOLDFAST_PLANTED_FOR. Only `hunt.ts` names
// this file.

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
