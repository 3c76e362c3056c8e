// Hashes the sources of the site, so that tests and `bun start` can detect an outdated build.

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { siteConfig } from "../site-config.ts";
import { folders, hashOf, listFiles } from "./site-folder.ts";

const inputs = [
  "app",
  "console",
  "content",
  "bench/results",
  "proof/faults.json",
  "openapi",
  "deploy",
  "engine/model/limits.ts",
  "server/config/settings.ts",
  "scripts/site.ts",
  "package.json",
  "bun.lock",
];
const notInput = /\.test\.tsx?$|^\.react-router\/|(^|\/)testing\/|^secrets\/|queries\.json$/;

export function inputsHash(): string {
  const files = inputs.flatMap((input) => {
    const path = join(folders.root, input);
    if (!existsSync(path)) return [];
    if (statSync(path).isFile()) return [input];
    return listFiles(path)
      .filter((file) => !notInput.test(file))
      .map((file) => `${input}/${file}`);
  });
  return hashOf(
    JSON.stringify(siteConfig),
    ...files.flatMap((file) => [file, readFileSync(join(folders.root, file))]),
  );
}
