// Plants one bug into the sources as they are loaded: `bun --preload <this file>`, with the name of
// the bug in HOLDFAST_PLANTED. Nothing else loads this file.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { plugin } from "bun";
import { plantedBugs } from "./bugs.ts";

const name = process.env["HOLDFAST_PLANTED"];
const bug = plantedBugs.find((one) => one.name === name);
if (bug === undefined) throw new Error(`no bug is planted under the name; got '${name}'`);
const path = join(import.meta.dir, "..", "..", bug.file);

plugin({
  name: "planted bug",
  setup(build) {
    const only = new RegExp(`^${path.replaceAll(/[.\\/]/g, "\\$&")}$`);
    build.onLoad({ filter: only }, () => {
      const source = readFileSync(path, "utf8");
      return { contents: source.replace(bug.from, () => bug.to), loader: "ts" };
    });
  },
});
