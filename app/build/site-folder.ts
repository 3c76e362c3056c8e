// The folders of the build, and their files in a stable order.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export const folders = {
  root,
  /** The router's output. */
  rendered: join(root, "build/router/client"),
  /** Vite's output for the console. */
  console: join(root, "build/console"),
  draft: join(root, "build/site-draft"),
  site: join(root, "build/site"),
  /** Facts about the pages for the server; not itself served. */
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

/** The path of every page except the 404 page. */
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

/** Writes a file of the new site, by its final path. */
export function writeDraft(path: string, content: string | Uint8Array): void {
  write(join(folders.draft, path), content);
}

export function hashOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}
