// The router's build also makes modules of every route, by which its own pages come to life. The
// pages here do not ask for them: what the one script of the pages leads to is kept, and what is
// not code.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "vite";
import { folders, listFiles } from "./site-folder.ts";

const entry = "entry.client.tsx";

export function dropUnusedAssets(): void {
  const manifest = JSON.parse(
    readFileSync(join(folders.rendered, ".vite/manifest.json"), "utf8"),
  ) as Manifest;
  const used = filesFrom(manifest, entry);
  for (const file of listFiles(folders.draft)) {
    if (/^assets\/.*\.(js|css)$/.test(file) && !used.has(file)) rmSync(join(folders.draft, file));
  }
}

/** All that a module leads to, now or later. */
export function filesFrom(manifest: Manifest, start: string): ReadonlySet<string> {
  const files = new Set<string>();
  const seen = new Set<string>();
  const open = [start];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const chunk = manifest[name];
    if (chunk === undefined || seen.has(name)) continue;
    seen.add(name);
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
    open.push(...(chunk.imports ?? []), ...(chunk.dynamicImports ?? []));
  }
  return files;
}
