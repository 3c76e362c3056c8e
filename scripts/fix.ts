// `bun run fix`: formats every file and applies the linter's safe fixes.

import { join } from "node:path";
import { root, setUp } from "./setup.ts";

setUp("check");
const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
const command = [process.execPath, biome, "check", "--write"];
process.exitCode = Bun.spawnSync(command, { cwd: root, stdio: ["ignore", 1, 2] }).exitCode;
