// The sizes that a build may not exceed, as they travel: brotli, for inline scripts gzip.

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { listFiles } from "./site-folder.ts";

const kilo = 1_000;

interface PageBudget {
  /** HTML with its styles. */
  readonly html: number;
  /** What the page asks for once it is read, and the reader near an island. */
  readonly scripts: number;
}

/** What a page fits into unless it is named below: HTML that comes with TCP's first window. */
const standard: PageBudget = { html: 14.3 * kilo, scripts: 5 * kilo };
/** With the simulator, and React for it. */
const island = 70 * kilo;

/** Pages whose content needs more; what they have now, and two in a hundred at most. */
const largePages: Readonly<Record<string, PageBudget>> = {
  // A simulator, the first steps in four languages, a chart and a comparison.
  "/": { html: 15.9 * kilo, scripts: island },
  // Four drawings, two charts and the longest text of the docs.
  "/docs/architecture": { ...standard, html: 18.6 * kilo },
  // The whole of CHANGELOG.md, which grows with every release.
  "/docs/changelog": { ...standard, html: 19.5 * kilo },
  // Every method, option and error of the client, and a program for each.
  "/docs/client": { ...standard, html: 16.5 * kilo },
  // Every flag with its meaning, every limit, and who may call.
  "/docs/configuration": { ...standard, html: 19 * kilo },
  // What callers see, what fails and what to do, what to watch.
  "/docs/nodes": { ...standard, html: 15.6 * kilo },
  // Every metric, alert and line of the log, where keys go, and the drill.
  "/docs/operations": { ...standard, html: 21 * kilo },
  // 48 blocks of code: the first steps, each call in curl, and whole programs in three languages.
  "/docs/quick-start": { ...standard, html: 18.8 * kilo },
  // Every method with its figures, every planted bug, and every fault that was found.
  "/docs/testing": { ...standard, html: 18.5 * kilo },
  // Charts, tables and drawings in the longest article.
  "/blog/long-blog-post": { ...standard, html: 20.7 * kilo },
  // A simulator that is played with.
  "/blog/mdx-blog-post": { html: 14 * kilo, scripts: island },
  // The list of all operations, and what they have in common: first calls, rules, replies, schemas.
  "/api": { ...standard, html: 19 * kilo },
};

export const budgets = {
  stylesBytesMax: 10 * kilo,
  /** Its code, and the whole prose of the site; asked for when a reader goes for the search. */
  searchBytesMax: 120 * kilo,
  /** Scalar's client, once Test Request is pressed. */
  apiClientBytesMax: 770 * kilo,
  fontBytesMax: 30 * kilo,
  /** What opens the search is 0.3 of it: no key is lost before other code is there. */
  inlineScriptBytesMax: 2.2 * kilo,
  /** Its dialog stands in every page, beside what a page has of its own. */
  searchDialogBytesMax: 0.6 * kilo,
} as const;

function wireBytes(file: string, folder: string): number {
  const path = join(folder, file);
  const compressed = `${path}.br`;
  return statSync(existsSync(compressed) ? compressed : path).size;
}

/** The page's own script, and where something on it is alive, React. */
function scriptsOf(html: string, assets: readonly string[]): readonly string[] {
  const isAlive = html.includes("data-island=");
  return assets.filter((file) =>
    /^assets\/(react|hydrate-island|simulator|rolldown-runtime)-.*\.js$/.test(file)
      ? isAlive
      : html.includes(`data-entry="/${file}"`),
  );
}

function inner(html: string, element: "script" | "style"): string {
  const found = html.matchAll(new RegExp(`<${element}[^>]*>([\\s\\S]*?)</${element}>`, "g"));
  return [...found].map(([, text = ""]) => text).join("\n");
}

interface PageSize extends PageBudget {
  readonly path: string;
  readonly styles: number;
  readonly inlineScripts: number;
}

export function pageSizes(folder: string): readonly PageSize[] {
  const files = listFiles(folder);
  const pages = files.filter((file) => file.endsWith("index.html") && !file.startsWith("console/"));
  return pages.map((file) => {
    const html = readFileSync(join(folder, file), "utf8");
    const scripts = scriptsOf(html, files).map((script) => wireBytes(script, folder));
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
  const { html, scripts } = largePages[path] ?? standard;
  return [
    ...over(`the page ${path}`, size.html, html + budgets.searchDialogBytesMax),
    ...over(`the code of ${path}`, size.scripts, scripts),
    ...over(`the styles of ${path}`, size.styles, budgets.stylesBytesMax),
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
  const search = assets.filter((file) => /search-results[^/]*\.(js|css)$/.test(file));
  const client = assets.filter((file) => /(api-client|esm-bundler)[^/]*\.(js|css)$/.test(file));
  const sum = (files: readonly string[]) =>
    files.reduce((bytes, file) => bytes + wireBytes(file, folder), 0);
  return [
    ...pageSizes(folder).flatMap(pageFaults),
    ...fonts.flatMap((file) => over(file, wireBytes(file, folder), budgets.fontBytesMax)),
    ...over("the search", sum(["search.json", ...search]), budgets.searchBytesMax),
    ...over("the client of the API", sum(client), budgets.apiClientBytesMax),
  ];
}
