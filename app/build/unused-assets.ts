// The router's build also makes modules for every route, to hydrate its pages. These pages do not
// use them: only files reachable from the pages' one script, and files other than code, are kept.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "vite";
import { folders, listFiles } from "./site-folder.ts";

export function dropUnusedAssets(): void {
  const file = join(folders.rendered, ".vite/manifest.json");
  const manifest: Manifest = JSON.parse(readFileSync(file, "utf8"));
  const used = new Set<string>();
  // The list grows during the loop, by all modules reachable now or later.
  const names = ["entry.client.tsx"];
  for (const name of names) {
    const chunk = manifest[name];
    if (chunk === undefined || used.has(chunk.file)) continue;
    for (const asset of [chunk.file, ...(chunk.css ?? [])]) used.add(asset);
    names.push(...(chunk.imports ?? []), ...(chunk.dynamicImports ?? []));
  }
  for (const asset of listFiles(folders.draft)) {
    if (/^assets\/.*\.(js|css)$/.test(asset) && !used.has(asset))
      rmSync(join(folders.draft, asset));
  }
}
