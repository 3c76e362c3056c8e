// The sizes that a build may not exceed, as they travel: brotli, for inline scripts gzip.

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { listFiles } from "./site-folder.ts";

const kilo = 1_000;

interface PageBudget {
  /** HTML with its styles. */
  readonly html: number;
  /** All that is asked for once the page is read. */
  readonly scripts: number;
  /** Of the HTML; `budgets.stylesBytesMax` where it is not named. */
  readonly styles?: number;
}

/**
 * What a page fits into unless it is named below: HTML that comes with TCP's first window, and
 * the code of the shell and a layout. The text of a page brings none along.
 */
const standard: PageBudget = { html: 14.3 * kilo, scripts: 107 * kilo };

/** Pages whose content needs more; what they have now, and two in a hundred at most. */
const largePages: Readonly<Record<string, PageBudget>> = {
  // A simulator, the first steps in four languages, a chart and a comparison.
  "/": { html: 15.9 * kilo, scripts: 121 * kilo },
  // Four drawings, two charts and the longest text of the docs.
  "/docs/architecture": { html: 18.6 * kilo, scripts: 107 * kilo },
  // Every method, option and error of the client, and a program for each.
  "/docs/client": { html: 15.5 * kilo, scripts: 107 * kilo },
  // Every flag with its meaning, every limit, and who may call.
  "/docs/configuration": { html: 17.2 * kilo, scripts: 107 * kilo },
  // Every metric, alert and line of the log, where keys go, and the drill.
  "/docs/operations": { html: 17.7 * kilo, scripts: 107 * kilo },
  // 48 blocks of code: the first steps, each call in curl, and whole programs in three languages.
  "/docs/quick-start": { html: 18.8 * kilo, scripts: 107 * kilo },
  // Ten methods with their figures, every planted bug, and every fault that was found.
  "/docs/testing": { html: 16 * kilo, scripts: 107 * kilo },
  // Charts, tables and drawings in the longest article.
  "/blog/long-blog-post": { html: 20.7 * kilo, scripts: 107 * kilo },
  // A simulator that is played with, so its text is hydrated.
  "/blog/mdx-blog-post": { html: 14 * kilo, scripts: 115 * kilo },
  // Every operation of the API, readable before any code of it runs.
  "/api": { html: 51 * kilo, scripts: 105.5 * kilo, styles: 19.3 * kilo },
};

export const budgets = {
  stylesBytesMax: 10 * kilo,
  searchBytesMax: 26.8 * kilo,
  fontBytesMax: 30 * kilo,
  inlineScriptBytesMax: 2 * kilo,
} as const;

function wireBytes(file: string, folder: string): number {
  const path = join(folder, file);
  const compressed = `${path}.br`;
  return statSync(existsSync(compressed) ? compressed : path).size;
}

/** Modules that a page asks for once it is read. */
function scriptsOf(html: string): readonly string[] {
  return [...new Set([...html.matchAll(/"(\/assets\/[^"]+\.js)"/g)].map(([, file = ""]) => file))];
}

function inner(html: string, element: "script" | "style"): string {
  const found = html.matchAll(new RegExp(`<${element}[^>]*>([\\s\\S]*?)</${element}>`, "g"));
  return [...found].map(([, text = ""]) => text).join("\n");
}

interface PageSize extends Required<PageBudget> {
  readonly path: string;
  readonly inlineScripts: number;
}

export function pageSizes(folder: string): readonly PageSize[] {
  const pages = listFiles(folder).filter((file) => file.endsWith("index.html"));
  return pages.map((file) => {
    const html = readFileSync(join(folder, file), "utf8");
    const scripts = scriptsOf(html).map((script) => wireBytes(script, folder));
    return {
      path: `/${file.replace(/\/?index\.html$/, "")}`,
      html: wireBytes(file, folder),
      scripts: scripts.reduce((sum, size) => sum + size, 0),
      styles: brotliCompressSync(inner(html, "style")).length,
      inlineScripts: Bun.gzipSync(inner(html, "script")).length,
    };
  });
}

function pageFaults(size: PageSize): readonly string[] {
  const { path } = size;
  const { html, scripts, styles = budgets.stylesBytesMax } = largePages[path] ?? standard;
  return [
    ...over(`the page ${path}`, size.html, html),
    ...over(`the code of ${path}`, size.scripts, scripts),
    ...over(`the styles of ${path}`, size.styles, styles),
    ...over(`the inline scripts of ${path}`, size.inlineScripts, budgets.inlineScriptBytesMax),
  ];
}

function over(what: string, bytes: number, max: number): readonly string[] {
  return bytes > max ? [`${what}: too large; expected at most ${max} bytes, got ${bytes}`] : [];
}

/** What of a built site is larger than it may be. */
export function budgetFaults(folder: string): readonly string[] {
  const assets = listFiles(folder).filter((file) => file.startsWith("assets/"));
  const fonts = assets.filter((file) => file.endsWith(".woff2"));
  const search = assets.filter((file) => /search-dialog[^/]*\.(js|css)$/.test(file));
  const searchBytes = ["search.json", ...search].map((file) => wireBytes(file, folder));
  return [
    ...pageSizes(folder).flatMap(pageFaults),
    ...fonts.flatMap((file) => over(file, wireBytes(file, folder), budgets.fontBytesMax)),
    ...over(
      "the search",
      searchBytes.reduce((sum, size) => sum + size, 0),
      budgets.searchBytesMax,
    ),
  ];
}
