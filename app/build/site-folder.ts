// Where the build keeps what, and its files in an order that is always the same.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export const folders = {
  root,
  /** As the router leaves it. */
  rendered: join(root, "build/router/client"),
  /** As Vite leaves the console. */
  console: join(root, "build/console"),
  draft: join(root, "build/site-draft"),
  site: join(root, "build/site"),
  /** What the server has to know of the pages; not itself served. */
  manifest: join(root, "build/site.json"),
  cache: join(root, "node_modules/.cache/holdfast-site"),
} as const;

/** Paths below the folder, sorted. */
export function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** Of every page of the site, but the one of unknown addresses. */
export function pagePaths(folder: string = folders.site): readonly string[] {
  return listFiles(folder)
    .filter((file) => file.endsWith("index.html") && file !== "404/index.html")
    .filter((file) => !file.startsWith("console/"))
    .map((file) => `/${file.replace(/\/?index\.html$/, "")}`);
}

export function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Writes a file of the site that is being made, by the path it will have. */
export function writeDraft(path: string, content: string | Uint8Array): void {
  write(join(folders.draft, path), content);
}

export function hashOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}
