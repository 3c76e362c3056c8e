// What each page may run: files of this origin, and its own inline scripts by hash.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { speculationRules } from "../behaviours/speculation-rules.ts";
import { siteConfig } from "../site-config.ts";
import { folders, listFiles } from "./site-folder.ts";

const inlineScript = /<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** From a page's file to the sources of its `script-src`. */
export function pagePolicies(): Readonly<Record<string, readonly string[]>> {
  const pages = listFiles(folders.draft).filter((file) => file.endsWith(".html"));
  return Object.fromEntries(
    pages.map((file) => [`/${file}`, hashesOf(readFileSync(join(folders.draft, file), "utf8"))]),
  );
}

/** What pages may ask beside their own origin and an API on the reader's machine. */
export function otherOrigins(): readonly string[] {
  const { analytics } = siteConfig;
  return analytics === null ? [] : [new URL(analytics.apiUrl).origin];
}

export function hashesOf(html: string): readonly string[] {
  const scripts = [...html.matchAll(inlineScript)].map(([, code = ""]) => code);
  // Added by the page's own script.
  scripts.push(speculationRules);
  const hashes = scripts.map((code) =>
    new Bun.CryptoHasher("sha256").update(code).digest("base64"),
  );
  return [...new Set(hashes)].map((hash) => `'sha256-${hash}'`);
}
