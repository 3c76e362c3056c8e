// `bun run site:lighthouse [--runs N] [--devices mobile,desktop] [PATH…]`: Lighthouse scores of one
// page of each type, on a phone and on a desktop.
//
// Scores are out of 100. Other load on the machine slows the page too, so compare only scores of a
// quiet machine. Lighthouse measures `benchmarkIndex`, the speed of the machine, with each visit;
// below 1,000 the machine is slower than the throttling expects.

import { parseArgs } from "node:util";
import lighthouse, { desktopConfig } from "lighthouse";
import { serveSite } from "../app/build/serve-site.ts";
import { chromiumPath, launchChromium } from "../scripts/chromium.ts";
import { freePort } from "../testing/child-server.ts";
import { type Figures, summarize } from "./report/results.ts";

const { values: words, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: "string", default: "3" },
    devices: { type: "string", default: "mobile,desktop" },
  },
});
const runs = Number(words.runs);
/** Failed runs are repeated. */
const attemptsMax = 2 * runs;
/**
 * One page of each type with status 200, because Lighthouse accepts no other; and the heaviest
 * page.
 */
const types = [
  "/",
  "/docs/intro",
  "/docs/quick-start",
  "/docs/architecture",
  "/docs/configuration",
  "/blog",
  "/blog/archive",
  "/blog/authors",
  "/blog/tags",
  "/blog/welcome",
  "/blog/long-blog-post",
  "/blog/mdx-blog-post",
  "/markdown-page",
  "/api",
  "/api/lease",
];
const categories = ["performance", "accessibility", "best-practices", "seo"] as const;
const audits = {
  fcpMs: "first-contentful-paint",
  lcpMs: "largest-contentful-paint",
  tbtMs: "total-blocking-time",
  cls: "cumulative-layout-shift",
  pageBytes: "total-byte-weight",
} as const;

await using server = await serveSite();
for (const device of words.devices.split(",")) {
  for (const path of positionals.length > 0 ? positionals : types) {
    const rounds: Figures[] = [];
    for (let attempt = 0; rounds.length < runs && attempt < attemptsMax; attempt += 1) {
      const figures = await measure(server.url + path, device === "desktop").catch(report);
      if (figures !== null) rounds.push(figures);
    }
    if (rounds.length < runs) throw new Error(`${path} could not be measured ${runs} times`);
    const medians = Object.entries(summarize(rounds));
    const text = medians.map(([name, { median }]) => `${name} ${median}`).join(", ");
    console.log(`${path} (${device}): ${text}`);
  }
}

/** Lighthouse throws if the browser exits meanwhile. */
function report(cause: unknown): null {
  console.error(cause instanceof Error ? cause.message : cause);
  return null;
}

/** Measures one visit with a new browser: an earlier visit would warm the caches. */
async function measure(url: string, isDesktop: boolean): Promise<Figures | null> {
  const port = freePort();
  const browser = await launchChromium([`--remote-debugging-port=${port}`], chromiumPath(), {
    // Lighthouse checks whether a page can enter the back/forward cache.
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
  });
  try {
    const options = { port, onlyCategories: [...categories], logLevel: "error" as const };
    const result = await lighthouse(url, options, isDesktop ? desktopConfig : undefined);
    if (result === undefined || result.lhr.runtimeError !== undefined) return null;
    const { lhr } = result;
    for (const [name, { score, scoreDisplayMode }] of Object.entries(lhr.audits)) {
      if (score === 0 && scoreDisplayMode === "binary") console.error(`${url}: ${name}`);
    }
    return Object.fromEntries([
      ...categories.map((name) => [name, Math.round((lhr.categories[name]?.score ?? 0) * 100)]),
      ...Object.entries(audits).map(([name, id]) => [name, lhr.audits[id]?.numericValue ?? 0]),
      ["benchmarkIndex", lhr.environment.benchmarkIndex],
    ]) as Figures;
  } finally {
    await browser.close();
  }
}
