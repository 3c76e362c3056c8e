// `bun bench/console.ts [--seconds 10] [--queues 500] [--rounds 10] [--out FILE]`: the cost of an open
// console in the browser and in the server, as shares of a core, while a separate process produces to
// one queue after the other. "no page open" is the server's cost of that load alone, measured right
// before each page. The browser's cost is the processor time of the page's process, with all its
// threads.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { ensureBuilt } from "../app/build/ensure-built.ts";
import { launchChromium, shellPath } from "../scripts/chromium.ts";
import { Connection } from "../testing/http-client.ts";
import { usageOf } from "../testing/process-usage.ts";
import type { ServerProcess } from "../testing/server-process.ts";
import { createQueue } from "./load/calls.ts";
import { withServer } from "./load/loaded-server.ts";
import { type Figures, summarize, writeMeasurements } from "./report/results.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    queues: { type: "string", default: "500" },
    rounds: { type: "string", default: "10" },
    /** The results file; by default it replaces the last one. */
    out: { type: "string" },
    /** The port of a server: this process is the load. */
    load: { type: "string" },
  },
});
const [seconds = 0, queues = 0, rounds = 0] = [values.seconds, values.queues, values.rounds].map(
  Number,
);
const producesPerSecond = 100;
/** Until the charts are drawn and the initial requests are done. */
const settleMs = 5_000;
/** The load runs alone first; the first seconds of a server are mostly compilation. */
const warmUpMs = 60_000;

const pages = {
  overview: "/console",
  queue: `/console/queue?name=${nameOf(7)}`,
  "dead items": `/console/dead?name=${nameOf(0)}`,
} as const satisfies Record<string, string>;

if (values.load === undefined) await main();
else await load(Number(values.load));

function nameOf(index: number): string {
  return `queue-${String(index).padStart(5, "0")}`;
}

/** Runs until the process is ended. */
async function load(port: number): Promise<void> {
  const connection = await Connection.open(port);
  const begun = performance.now();
  for (let count = 0; ; count += 1) {
    const body = { queue_name: nameOf(count % queues), request_timeout: "1m" };
    await connection.call("/v1/queue.produce", { ...body, items: [{ utf8: "an item" }] });
    await Bun.sleep(Math.max(0, begun + (count * 1_000) / producesPerSecond - performance.now()));
  }
}

async function main(): Promise<void> {
  await ensureBuilt();
  const directory = mkdtempSync(join(tmpdir(), "holdfast-console-"));
  const browser = await launchChromium([], shellPath());
  try {
    const figures = await withServer({ directory }, ({ server }) => measurePages(server, browser));
    const results = {
      command: `bun bench/console.ts --seconds ${seconds} --queues ${queues} --rounds ${rounds}`,
      directory,
      settings: { seconds, queues, rounds, producesPerSecond },
      measurements: [...figures].map(([name, of]) => ({ name, figures: summarize(of) })),
    };
    await writeMeasurements(results, { ending: "-console.json", path: values.out });
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
    [process.execPath, import.meta.path, "--load", String(server.port), "--queues", values.queues],
    { stdout: "inherit", stderr: "inherit" },
  );
  const figures = new Map<string, Figures[]>();
  const note = (name: string, found: Figures) => {
    figures.getOrInsertComputed(name, () => []).push(found);
    console.log(name.padEnd(14), textOf(found));
  };
  try {
    await Bun.sleep(warmUpMs);
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, path] of Object.entries(pages)) {
        note("no page open", await costDuring(server, null));
        const page = await browser.newPage();
        note(name, await costOf(server, page, path));
        await page.close();
      }
    }
    return figures;
  } finally {
    loading.kill();
  }
}

async function costOf(server: ServerProcess, page: Page, path: string): Promise<Figures> {
  await page.goto(`http://127.0.0.1:${server.port}${path}`);
  await page.locator(".console[data-state=live]").waitFor();
  await Bun.sleep(settleMs);
  return await costDuring(server, page);
}

/** Costs as shares of one core. */
async function costDuring(server: ServerProcess, page: Page | null): Promise<Figures> {
  const before = await readingsOf(server, page);
  const begun = performance.now();
  await Bun.sleep(seconds * 1_000);
  const after = await readingsOf(server, page);
  const passed = (performance.now() - begun) / 1_000;
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, (value - (before[name] ?? 0)) / passed]),
  );
}

/** Processor time so far, in seconds. */
async function readingsOf(server: ServerProcess, page: Page | null): Promise<Figures> {
  const readings: Figures = { server: usageOf(server.pid).cpuSeconds };
  if (page === null) return readings;
  const inBrowser = await page.context().browser()?.newBrowserCDPSession();
  const { processInfo = [] } = (await inBrowser?.send("SystemInfo.getProcessInfo")) ?? {};
  await inBrowser?.detach();
  // An idle process may be reserved for the next page.
  const rendering = processInfo.filter(({ type }) => type === "renderer");
  return { ...readings, page: rendering.reduce((sum, { cpuTime }) => sum + cpuTime, 0) };
}

function textOf(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, share]) => `${name} ${(100 * share).toFixed(2)} %`)
    .join(", ");
}
