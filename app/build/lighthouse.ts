// `bun run site:lighthouse [PATH…]`: Lighthouse's figures of each page type, the median
// of three runs, for a phone and for a desk. A run that failed is done again.

import lighthouse, { desktopConfig } from "lighthouse";
import { launchChromium } from "./chromium.ts";
import { chromiumPath } from "./chromium-path.ts";
import { freePort, serveSite } from "./serve-site.ts";

const runs = 3;
const attemptsMax = 6;
const given = process.argv.slice(2);
/** One of each type that is answered with 200: Lighthouse takes no other page. */
const types = [
  "/",
  "/docs/intro",
  "/docs/architecture",
  "/blog",
  "/blog/welcome",
  "/blog/mdx-blog-post",
  "/blog/tags",
  "/markdown-page",
  "/api",
  "/api/lease",
];
const paths = given.length > 0 ? given : types;
const categories = ["performance", "accessibility", "best-practices", "seo"] as const;

interface Figures {
  readonly scores: readonly number[];
  readonly fcpMs: number;
  readonly lcpMs: number;
  readonly tbtMs: number;
  readonly cls: number;
  readonly kilobytes: number;
}

await using server = await serveSite();
console.log(
  "page | performance | accessibility | best practices | SEO | FCP | LCP | TBT | CLS | kB",
);
for (const device of ["mobile", "desktop"] as const) {
  for (const path of paths) {
    const figures: Figures[] = [];
    for (let attempt = 0; figures.length < runs && attempt < attemptsMax; attempt += 1) {
      const result = await measure(server.url + path, device);
      if (result !== null) figures.push(result);
    }
    console.log(`${path} (${device}) | ${lineOf(figures)}`);
  }
}

async function measure(url: string, device: "mobile" | "desktop"): Promise<Figures | null> {
  const port = await freePort();
  // A browser of its own for each run, or the first would warm its caches for the next.
  const browser = await launchChromium([`--remote-debugging-port=${port}`], chromiumPath(), {
    // It is asked whether a page may rest in the back and forward cache.
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
  });
  try {
    const options = { port, onlyCategories: [...categories], logLevel: "error" as const };
    const result = await lighthouse(url, options, device === "desktop" ? desktopConfig : undefined);
    if (result === undefined || result.lhr.runtimeError !== undefined) return null;
    const { lhr } = result;
    const audit = (name: string) => lhr.audits[name]?.numericValue ?? Number.NaN;
    return {
      scores: categories.map((name) => Math.round((lhr.categories[name]?.score ?? 0) * 100)),
      fcpMs: audit("first-contentful-paint"),
      lcpMs: audit("largest-contentful-paint"),
      tbtMs: audit("total-blocking-time"),
      cls: audit("cumulative-layout-shift"),
      kilobytes: audit("total-byte-weight") / 1_000,
    };
  } finally {
    await browser.close();
  }
}

function lineOf(figures: readonly Figures[]): string {
  const of = (read: (one: Figures) => number) => median(figures.map(read));
  return [
    ...categories.map((_, index) => of(({ scores }) => scores[index] ?? 0)),
    `${(of(({ fcpMs }) => fcpMs) / 1_000).toFixed(2)} s`,
    `${(of(({ lcpMs }) => lcpMs) / 1_000).toFixed(2)} s`,
    `${Math.round(of(({ tbtMs }) => tbtMs))} ms`,
    of(({ cls }) => cls).toFixed(3),
    Math.round(of(({ kilobytes }) => kilobytes)),
  ].join(" | ");
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
