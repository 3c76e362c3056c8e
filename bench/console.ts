// `bun bench/console.ts [--seconds 10] [--queues 500] [--rounds 10] [--items 10000000] [--out
// FILE]`: the cost of an open console in the browser and in the server, while a separate process
// produces to one queue after the other. The server's cost is its increase over the load right
// before, without an open page. The browser's cost is the processor time of the page's process,
// with all its threads. Then it measures a search through `--items` items for a few of them; 0
// skips it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser, CDPSession, Page } from "playwright-core";
import { ensureBuilt } from "../app/build/ensure-built.ts";
import { launchChromium, shellPath } from "../scripts/chromium.ts";
import { Connection } from "../testing/http-client.ts";
import { usageOf } from "../testing/process-usage.ts";
import type { ServerProcess } from "../testing/server-process.ts";
import { createQueue } from "./load/calls.ts";
import { withServer } from "./load/loaded-server.ts";
import { measureLook, prepareLook, rendererProcesses } from "./looks/long-look.ts";
import { type Figures, summarize, writeMeasurements } from "./report/results.ts";

const { values: words } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    queues: { type: "string", default: "500" },
    rounds: { type: "string", default: "10" },
    items: { type: "string", default: "10000000" },
    /** The results file; by default it replaces the last one. */
    out: { type: "string" },
    /** The port of a server: this process is the load. */
    load: { type: "string" },
  },
});
const [seconds = 0, queues = 0, rounds = 0, items = 0] = [
  words.seconds,
  words.queues,
  words.rounds,
  words.items,
].map(Number);
const producesPerSecond = 100;
/** Until the charts are drawn and the initial requests are done. */
const settleMs = 5_000;
/** Of the load alone; the first seconds of a server are mostly compilation. */
const warmUpMs = 60_000;

const pages = {
  overview: "/console",
  queue: `/console/queue?name=${nameOf(7)}`,
  "dead items": `/console/dead?name=${nameOf(0)}`,
} as const satisfies Record<string, string>;

if (words.load === undefined) await main();
else await load(Number(words.load));

function nameOf(index: number): string {
  return `queue-${String(index).padStart(5, "0")}`;
}

/** Runs until the process is ended. */
async function load(port: number): Promise<void> {
  const connection = await Connection.open(port);
  const begun = performance.now();
  for (let count = 0; ; count += 1) {
    const body = { queue_name: nameOf(count % queues), request_timeout: "1m" };
    await connection.call("/v1/queue.produce", { ...body, items: [{ utf8: "seen" }] });
    await Bun.sleep(Math.max(0, begun + (count * 1_000) / producesPerSecond - performance.now()));
  }
}

async function main(): Promise<void> {
  await ensureBuilt();
  const directory = mkdtempSync(join(tmpdir(), "holdfast-console-"));
  const browser = await launchChromium([], shellPath());
  try {
    const figures = await withServer({ directory }, ({ server }) => measurePages(server, browser));
    if (items > 0) figures.set("a look", [await costOfLook(directory, browser)]);
    const told = `--seconds ${seconds} --queues ${queues} --rounds ${rounds} --items ${items}`;
    const results = {
      command: `bun bench/console.ts ${told}`,
      directory,
      settings: { seconds, queues, rounds, items, producesPerSecond },
      measurements: [...figures].map(([name, of]) => ({ name, figures: summarize(of) })),
    };
    await writeMeasurements(results, { ending: "-console.json", path: words.out });
  } finally {
    await browser.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measurePages(
  server: ServerProcess,
  browser: Browser,
): Promise<Map<string, Figures[]>> {
  for (let index = 0; index < queues; index += 1) await createQueue(server.port, nameOf(index));
  const loading = Bun.spawn(
    [process.execPath, import.meta.path, "--load", String(server.port), "--queues", words.queues],
    { stdout: "inherit", stderr: "inherit" },
  );
  const figures = new Map<string, Figures[]>();
  try {
    await Bun.sleep(warmUpMs);
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, path] of Object.entries(pages)) {
        const { server: alone = 0 } = await costDuring(server, null);
        const page = await browser.newPage();
        const opened = await costOf(server, page, path);
        await page.close();
        const more = (opened["server"] ?? 0) - alone;
        const found = { ...opened, serverAlone: alone, serverMore: more };
        figures.getOrInsertComputed(name, () => []).push(found);
        console.log(name.padEnd(14), textOf(found));
      }
    }
    return figures;
  } finally {
    loading.kill();
  }
}

function costOfLook(directory: string, browser: Browser): Promise<Figures> {
  return withServer({ directory, flags: ["--shards", "1"] }, async ({ port }) => {
    const options = { port, items, browser };
    await prepareLook(options);
    const figures = await measureLook(options);
    for (const [name, value] of Object.entries(figures)) console.log(name.padEnd(24), value);
    return figures;
  });
}

async function costOf(server: ServerProcess, page: Page, path: string): Promise<Figures> {
  await page.goto(`http://127.0.0.1:${server.port}${path}`);
  await page.locator(".console[data-state=live]").waitFor();
  await Bun.sleep(settleMs);
  return await costDuring(server, page);
}

/** Costs as shares of one core. */
async function costDuring(server: ServerProcess, page: Page | null): Promise<Figures> {
  const inPage = page && (await page.context().newCDPSession(page));
  await inPage?.send("Performance.enable", { timeDomain: "threadTicks" });
  const before = await readingsOf(server, page, inPage);
  const begun = performance.now();
  await Bun.sleep(seconds * 1_000);
  const after = await readingsOf(server, page, inPage);
  const passed = (performance.now() - begun) / 1_000;
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, (value - (before[name] ?? 0)) / passed]),
  );
}

/** Processor time so far, in seconds. */
async function readingsOf(server: ServerProcess, page: Page | null, inPage: CDPSession | null) {
  const readings: Figures = { server: usageOf(server.pid).cpuSeconds };
  if (page === null || inPage === null) return readings;
  // An idle process may be reserved for the next page.
  const rendering = await rendererProcesses(page);
  readings["page"] = rendering.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  const { metrics } = await inPage.send("Performance.getMetrics");
  const named = {
    task: "TaskDuration",
    script: "ScriptDuration",
    layout: "LayoutDuration",
    style: "RecalcStyleDuration",
  };
  for (const [name, of] of Object.entries(named)) {
    readings[name] = metrics.find((metric) => metric.name === of)?.value ?? 0;
  }
  return readings;
}

function textOf(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, share]) => `${name} ${(100 * share).toFixed(2)} %`)
    .join(", ");
}
