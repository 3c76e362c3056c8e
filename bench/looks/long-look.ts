// Measures a search of the console through a backlog for a few items: the time to the first match
// and to the end, the cost in the page's thread and memory, and the latency of other views
// meanwhile.

import type { Browser, Page } from "playwright-core";
import { Connection } from "../../testing/http-client.ts";
import { usageOf } from "../../testing/process-usage.ts";
import type { Figures } from "../report/results.ts";
import { Samples } from "../report/statistics.ts";
import { fillDeadItems } from "./dead-items.ts";

/** One item in this many matches; the first one comes after half of this number. */
const rareIn = 2_000_000;
const rows = ".items tbody tr:not(.drop, .ghost)";
const others = ["", "/queue?name=orders", "/dead", "/shards"];

interface LookOptions {
  readonly port: number;
  readonly items: number;
  readonly browser: Browser;
}

export async function prepareLook({ port, items }: LookOptions): Promise<void> {
  const connection = await Connection.open(port);
  const settings = { lease_timeout: "1m", expire_timeout: "24h" };
  await connection.call("/v1/queues.create", { queue_name: "dead", ...settings });
  const orders = { queue_name: "orders", dead_queue: "dead", ...settings };
  await connection.call("/v1/queues.create", orders);
  connection.close();
  await fillDeadItems(port, {
    items,
    kindOf: (at) => (at % rareIn === rareIn / 2 ? "rare" : "common"),
  });
}

/** Milliseconds and bytes. */
export async function measureLook({ port, items, browser }: LookOptions): Promise<Figures> {
  const console = `http://127.0.0.1:${port}/console`;
  const other = await browser.newPage();
  const quiet = await openingMs(other, console, () => false);
  const page = await browser.newPage();
  await page.addInitScript(noteLongTasks);
  const begun = performance.now();
  await page.goto(`${console}/items?name=orders&state=dead&kind=rare`);
  const since = () => performance.now() - begun;
  const first = page
    .locator(rows)
    .first()
    .waitFor({ timeout: 0 })
    .then(() => since());
  let isThrough = false;
  const through = page
    .locator(".scan [role=status][aria-busy=false] b:not(:text('+'))")
    .waitFor({ timeout: 0 })
    .then(() => {
      isThrough = true;
      return since();
    });
  const beside = await openingMs(other, console, () => !isThrough);
  const [firstMs, throughMs] = await Promise.all([first, through]);
  const found = await page.locator(rows).count();
  const expected = Math.floor((items + rareIn / 2) / rareIn);
  if (found !== expected) throw new Error(`the look found ${found}; expected ${expected}`);
  await other.close();
  const figures = {
    "first.ms": firstMs,
    "through.ms": throughMs,
    "looked.itemsPerSecond": items / (throughMs / 1_000),
    ...(await paidBy(page)),
    "others.quietP50Ms": quiet.p50Ms,
    "others.quietMaxMs": quiet.maxMs,
    "others.besideP50Ms": beside.p50Ms,
    "others.besideMaxMs": beside.maxMs,
  };
  await page.close();
  return figures;
}

/** Time until each of the other views shows its figures; each is opened at least once. */
async function openingMs(page: Page, console: string, goesOn: () => boolean) {
  const samples = new Samples();
  do {
    for (const path of others) {
      const begun = performance.now();
      await page.goto(console + path);
      await page.locator(".console[data-state=live]").waitFor();
      samples.add(performance.now() - begun);
    }
  } while (goesOn());
  return samples.times();
}

function noteLongTasks(): void {
  const noted: number[] = [];
  Object.assign(window, { noted });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) noted.push(duration);
  }).observe({ type: "longtask", buffered: true });
}

/** The browser's processes that run pages. */
export async function rendererProcesses(page: Page) {
  const inBrowser = await page.context().browser()?.newBrowserCDPSession();
  const { processInfo = [] } = (await inBrowser?.send("SystemInfo.getProcessInfo")) ?? {};
  await inBrowser?.detach();
  return processInfo.filter(({ type }) => type === "renderer");
}

/** The browser reports only tasks of 50 ms or more; 0 = none. */
async function paidBy(page: Page): Promise<Figures> {
  const noted = await page.evaluate(() => (window as unknown as { noted: number[] }).noted);
  const inPage = await page.context().newCDPSession(page);
  await inPage.send("HeapProfiler.collectGarbage");
  await inPage.send("Performance.enable");
  const { metrics } = await inPage.send("Performance.getMetrics");
  const rendering = await rendererProcesses(page);
  const resident = rendering.map(({ id }) => usageOf(id).memoryBytes);
  return {
    "page.longTasks": noted.length,
    "page.longestTaskMs": Math.max(0, ...noted),
    "page.heapBytes": metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0,
    // An idle process may be reserved for the next page, and uses less.
    "page.memoryBytes": Math.max(0, ...resident),
  };
}
