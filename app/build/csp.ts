// The scripts that each page may run: files of this origin, and its inline scripts by hash.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { speculationRules } from "../behaviours/speculation-rules.ts";
import { siteConfig } from "../site-config.ts";
import { folders, listFiles } from "./site-folder.ts";

const inlineScript = /<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** The sources of `script-src`, by page file. */
export function pagePolicies(): Readonly<Record<string, readonly string[]>> {
  const pages = listFiles(folders.draft).filter((file) => file.endsWith(".html"));
  return Object.fromEntries(
    pages.map((file) => [`/${file}`, hashesOf(readFileSync(join(folders.draft, file), "utf8"))]),
  );
}

/** Origins that pages may call besides their own and an API on the reader's machine. */
export function otherOrigins(): readonly string[] {
  const { analytics } = siteConfig;
  return analytics === null ? [] : [new URL(analytics.apiUrl).origin];
}

export function hashesOf(html: string): readonly string[] {
  const scripts = [...html.matchAll(inlineScript)].map(([, code = ""]) => code);
  // The page's own script adds it.
  scripts.push(speculationRules);
  const hashes = scripts.map((code) =>
    new Bun.CryptoHasher("sha256").update(code).digest("base64"),
  );
  return [...new Set(hashes)].map((hash) => `'sha256-${hash}'`);
}
