// `bun bench/console.ts [--seconds 10] [--queues 500] [--rounds 10] [--items 10000000] [--out FILE]`: what it
// costs to have the console open, in the browser and in the server, while a process of its own produces
// to one queue after the other. Of the server it is what it takes more than right before, when nobody
// looked; of the browser the processor time of the page's process, of all its threads. Then what a look
// through so many items for a few of them takes; with 0 there is none.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser, CDPSession, Page } from "playwright-core";
import { ensureBuilt } from "../app/build/ensure-built.ts";
import { launchChromium, shellPath } from "../scripts/chromium.ts";
import { createQueue } from "./calls.ts";
import { Connection } from "./http-client.ts";
import { measureLook, prepareLook } from "./long-look.ts";
import { usageOf } from "./process-usage.ts";
import { consoleEnding, headOf, summarize, writeResults } from "./results.ts";
import type { Figures } from "./run-cell.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

const { values: words } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    queues: { type: "string", default: "500" },
    rounds: { type: "string", default: "10" },
    items: { type: "string", default: "10000000" },
    /** Where the results go; without it they take the place of the last. */
    out: { type: "string" },
    /** Of a server: this process is the load. */
    load: { type: "string" },
  },
});
const seconds = Number(words.seconds);
const queues = Number(words.queues);
const producesPerSecond = 100;
const rounds = Number(words.rounds);
const items = Number(words.items);
/** Until charts are drawn, and what is only read at the beginning is read. */
const settleMs = 5_000;
/** Of the load alone; what a server does first is mostly compiling. */
const warmUpMs = 60_000;

const pages = {
  overview: "/console",
  queue: `/console/queue?name=${nameOf(7)}`,
  "dead items": `/console/dead?name=${nameOf(0)}`,
} as const satisfies Record<string, string>;

if (words.load === undefined) await measure();
else await load(Number(words.load));

function nameOf(index: number): string {
  return `queue-${String(index).padStart(5, "0")}`;
}

/** Until it is ended. */
async function load(port: number): Promise<void> {
  const connection = await Connection.open(port);
  const begun = performance.now();
  for (let count = 0; ; count += 1) {
    const items = [{ utf8: "seen" }];
    const body = { queue_name: nameOf(count % queues), request_timeout: "1m", items };
    const { status } = await connection.post("/v1/queue.produce", JSON.stringify(body));
    if (status !== 200) throw new Error(`a produce was answered ${status}`);
    await Bun.sleep(Math.max(0, begun + (count * 1_000) / producesPerSecond - performance.now()));
  }
}

async function measure(): Promise<void> {
  await ensureBuilt();
  const directory = mkdtempSync(join(tmpdir(), "holdfast-console-"));
  const flags = ["--log-level", "error"];
  const server = await startServer({ data: join(directory, "data"), flags });
  const browser = await launchChromium([], shellPath());
  const connection = await Connection.open(server.port);
  for (let index = 0; index < queues; index += 1) {
    await createQueue(connection, { queue: nameOf(index), partitions: 1 });
  }
  const loading = Bun.spawn(
    [process.execPath, import.meta.path, "--load", String(server.port), "--queues", words.queues],
    { stdout: "inherit", stderr: "inherit" },
  );
  const figures = new Map<string, Figures[]>();
  try {
    await Bun.sleep(warmUpMs);
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, path] of Object.entries(pages)) {
        const alone = await costDuring(server, null);
        const page = await browser.newPage();
        const opened = await costOf(server, page, path);
        await page.close();
        const more = (opened["server"] ?? 0) - (alone["server"] ?? 0);
        const found = { ...opened, serverAlone: alone["server"] ?? 0, serverMore: more };
        figures.set(name, [...(figures.get(name) ?? []), found]);
        console.log(name.padEnd(14), textOf(found));
      }
    }
    loading.kill();
    await server.stop();
    if (items > 0) figures.set("a look", [await costOfLook(browser, join(directory, "backlog"))]);
    await write(directory, figures);
  } finally {
    loading.kill();
    await browser.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function costOfLook(browser: Browser, data: string): Promise<Figures> {
  const flags = ["--log-level", "error", "--shards", "1"];
  const server = await startServer({ data, flags });
  try {
    const options = { port: server.port, items, browser };
    await prepareLook(options);
    const figures = await measureLook(options);
    for (const [name, value] of Object.entries(figures)) console.log(name.padEnd(24), value);
    return figures;
  } finally {
    await server.stop();
  }
}

async function costOf(server: ServerProcess, page: Page, path: string): Promise<Figures> {
  await page.goto(`http://127.0.0.1:${server.port}${path}`);
  await page.locator(".console[data-state=live]").waitFor();
  await Bun.sleep(settleMs);
  return await costDuring(server, page);
}

/** Shares of one core. */
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

/** Seconds of processor time so far. */
async function readingsOf(server: ServerProcess, page: Page | null, inPage: CDPSession | null) {
  const readings: Record<string, number> = { server: usageOf(server.pid).cpuSeconds };
  const browser = page?.context().browser();
  if (!browser || inPage === null) return readings;
  const inBrowser = await browser.newBrowserCDPSession();
  const { processInfo } = await inBrowser.send("SystemInfo.getProcessInfo");
  await inBrowser.detach();
  // One may wait for the next page; it does nothing.
  const rendering = processInfo.filter(({ type }) => type === "renderer");
  readings["page"] = rendering.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  const { metrics } = await inPage.send("Performance.getMetrics");
  const named = {
    script: "ScriptDuration",
    layout: "LayoutDuration",
    style: "RecalcStyleDuration",
  };
  for (const [name, of] of Object.entries({ task: "TaskDuration", ...named })) {
    readings[name] = metrics.find((metric) => metric.name === of)?.value ?? 0;
  }
  return readings;
}

function textOf(figures: Figures): string {
  const told = Object.entries(figures).map(([name, share]) => `${name} ${percent(share)}`);
  return told.join(", ");
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`;
}

async function write(directory: string, figures: ReadonlyMap<string, Figures[]>): Promise<void> {
  const told = `--seconds ${seconds} --queues ${queues} --rounds ${rounds} --items ${items}`;
  const results = {
    ...(await headOf(`bun bench/console.ts ${told}`, directory)),
    settings: { seconds, queues, rounds, items, producesPerSecond },
    measurements: [...figures].map(([name, of]) => ({ name, figures: summarize(of) })),
  };
  console.log(writeResults(results, { ending: consoleEnding, path: words.out ?? null }));
}
