// Size limits of a build as transferred: brotli, but gzip for inline scripts.

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { listFiles } from "./site-folder.ts";

const kilo = 1_000;

/** HTML with its inline styles: the content of TCP's first window. */
const htmlBytesMax = 14.3 * kilo;

/** Pages whose content needs more: their current size plus at most 2 %. */
const largePages: Readonly<Record<string, number>> = {
  // A simulator, a picture, the first steps in four languages, a chart and a comparison.
  "/": 16.4 * kilo,
  // Four drawings, two charts and the longest text of the docs.
  "/docs/architecture": 19.1 * kilo,
  // Every method, option and error of the client, and a program for each.
  "/docs/client": 18.6 * kilo,
  // Every kind of call on the command line, each with its output.
  "/docs/command-line": 14.9 * kilo,
  // Every command with its options.
  "/docs/command-reference": 14.6 * kilo,
  // Every flag with its meaning, every limit, and who may call.
  "/docs/configuration": 19.6 * kilo,
  // Every file of `deploy/`, whole.
  "/docs/deployment-files": 14.7 * kilo,
  // Every method of the library, its defaults and types, and a program for each.
  "/docs/embedded": 16 * kilo,
  // The callers' view, failures and remedies, and monitoring.
  "/docs/nodes": 17 * kilo,
  // Every metric, alert and line of the log, where keys go, and the drill.
  "/docs/operations": 24.2 * kilo,
  // 48 blocks of code: the first steps, each call in curl, and whole programs in three languages.
  "/docs/quick-start": 18.8 * kilo,
  // Every method with its figures, every planted bug, and every fault that was found.
  "/docs/testing": 18.5 * kilo,
  // Charts, tables and drawings in the longest article.
  "/blog/long-blog-post": 20.7 * kilo,
  // The list of all operations, and what they have in common: first calls, rules, replies, schemas.
  "/api": 20.4 * kilo,
};

const budgets = {
  /** Scripts that a page loads after it is shown. */
  scriptsBytesMax: 5 * kilo,
  /** The same with the simulator, including React. */
  islandBytesMax: 70 * kilo,
  stylesBytesMax: 10 * kilo,
  /** The search code and the whole text of the site, loaded when a reader opens the search. */
  searchBytesMax: 134 * kilo,
  /** Scalar's client, loaded when Test Request is pressed. */
  apiClientBytesMax: 770 * kilo,
  fontBytesMax: 30 * kilo,
  /**
   * The script that opens the search takes 0.3 of it, so that no key is lost before other code is
   * loaded.
   */
  inlineScriptBytesMax: 2.2 * kilo,
  /** The search dialog is in every page, in addition to the page's own content. */
  searchDialogBytesMax: 0.6 * kilo,
} as const;

/** The total of the files. */
function wireBytes(files: readonly string[], folder: string): number {
  const sizes = files.map((file) => {
    const compressed = join(folder, `${file}.br`);
    return statSync(existsSync(compressed) ? compressed : join(folder, file)).size;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

function inner(html: string, element: "script" | "style"): string {
  const found = html.matchAll(new RegExp(`<${element}[^>]*>([\\s\\S]*?)</${element}>`, "g"));
  return [...found].map(([, text = ""]) => text).join("\n");
}

function pageFaults(file: string, assets: readonly string[], folder: string): readonly string[] {
  const html = readFileSync(join(folder, file), "utf8");
  const path = `/${file.replace(/\/?index\.html$/, "")}`;
  const isAlive = html.includes("data-island=");
  const isIsland = /^assets\/(react|hydrate-island|simulator|rolldown-runtime)-.*\.js$/;
  const scripts = assets.filter((asset) =>
    isIsland.test(asset) ? isAlive : html.includes(`data-entry="/${asset}"`),
  );
  const htmlMax = (largePages[path] ?? htmlBytesMax) + budgets.searchDialogBytesMax;
  const scriptsMax = isAlive ? budgets.islandBytesMax : budgets.scriptsBytesMax;
  const styles = brotliCompressSync(inner(html, "style")).length;
  const inlineScripts = Bun.gzipSync(inner(html, "script")).length;
  return [
    ...over(`the page ${path}`, wireBytes([file], folder), htmlMax),
    ...over(`the code of ${path}`, wireBytes(scripts, folder), scriptsMax),
    ...over(`the styles of ${path}`, styles, budgets.stylesBytesMax),
    ...over(`the inline scripts of ${path}`, inlineScripts, budgets.inlineScriptBytesMax),
  ];
}

export function over(what: string, bytes: number, max: number): readonly string[] {
  return bytes > max ? [`${what}: too large; expected at most ${max} bytes, got ${bytes}`] : [];
}

/** The parts of a built site that exceed their limit. */
export function budgetFaults(folder: string): readonly string[] {
  const files = listFiles(folder);
  const pages = files.filter((file) => file.endsWith("index.html") && !file.startsWith("console/"));
  const assets = files.filter((file) => file.startsWith("assets/"));
  const fonts = assets.filter((file) => file.endsWith(".woff2"));
  const search = assets.filter((file) => /search-results[^/]*\.(js|css)$/.test(file));
  const client = assets.filter((file) => /(api-client|esm-bundler)[^/]*\.(js|css)$/.test(file));
  return [
    ...pages.flatMap((page) => pageFaults(page, assets, folder)),
    ...fonts.flatMap((file) => over(file, wireBytes([file], folder), budgets.fontBytesMax)),
    ...over("the search", wireBytes(["search.json", ...search], folder), budgets.searchBytesMax),
    ...over("the client of the API", wireBytes(client, folder), budgets.apiClientBytesMax),
  ];
}
