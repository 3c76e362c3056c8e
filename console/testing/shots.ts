// `bun run console:shots [FOLDER]`: the pictures of the console that the docs show, of a server with
// made traffic. Time is the test clock's, so that fifteen minutes take a few seconds.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../../app/build/chromium.ts";
import { ensureBuilt } from "../../app/build/ensure-built.ts";
import { type Client, createClient } from "../../client/client.ts";
import { lastTraffic, secondOfTraffic, traffic } from "./shots-traffic.ts";

const root = join(import.meta.dir, "../..");
const [folder = join(root, "content/pictures")] = process.argv.slice(2);
const wide = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };
const themes = ["dark", "light"] as const;
/** For what a page draws after an answer. */
const settleMs = 1_500;
/** Chromium's measure of a lossy picture in which small text stays sharp. */
const quality = 82;

interface View {
  readonly name: string;
  readonly path: (client: Client) => Promise<string>;
  readonly ready: string;
  readonly size?: typeof wide;
  /** What its reader does first. */
  readonly act?: (page: Page) => Promise<void>;
}

const views: readonly View[] = [
  { name: "overview", path: async () => "/console", ready: "table[aria-label=Queues] tbody th" },
  { name: "queue", path: async () => "/console/queue?name=orders", ready: "canvas" },
  { name: "items", path: leasedItem, ready: "[role=row], tbody tr" },
  { name: "dead", path: deadQueue, ready: ".groups tbody input", act: chooseGroups },
  { name: "shards", path: async () => "/console/shards", ready: ".shard-table tbody td" },
  {
    ...{ name: "phone", path: async () => "/console", ready: "table[aria-label=Queues] tbody th" },
    size: phone,
  },
];

async function leasedItem(client: Client): Promise<string> {
  const page = { queue_name: "webhooks", state: "leased", limit: 1 };
  const [item] = (await client.findItems(page)).items;
  const query = { name: "webhooks", state: "leased", item: item?.id ?? "" };
  return `/console/items?${new URLSearchParams(query)}`;
}

/** One group goes back while the next is looked at. */
async function deadQueue(client: Client): Promise<string> {
  const queue_name = "orders-dead";
  const filter = { reason: "gateway timeout 504 after <n> ms" };
  await client.redrive({ queue_name, filter, per_second: 2 });
  return `/console/dead?name=${queue_name}`;
}

async function chooseGroups(page: Page): Promise<void> {
  for (const name of [/card_declined/, /no such account/]) {
    await page.getByRole("row", { name }).getByRole("checkbox").check();
  }
  await page.getByLabel("At most").fill("50");
}

await ensureBuilt();
mkdirSync(folder, { recursive: true });
const data = mkdtempSync(join(tmpdir(), "holdfast-shots-"));
const server = await startServer();
try {
  const client = createClient({ url: server.url });
  await traffic(client);
  await lastTraffic(client);
  const browser = await launchChromium();
  for (const theme of themes) {
    for (const view of views) await shoot(browser, client, { view, theme });
  }
  await browser.close();
  console.log(`${views.length * themes.length} pictures in ${folder}`);
} finally {
  await server.stop();
  rmSync(data, { recursive: true });
}

async function startServer() {
  const words = [
    "serve",
    "--port",
    "0",
    "--data",
    data,
    ...["--name", "queue-1", "--shards", "4"],
    "--test-clock",
    "--log-level",
    "error",
  ];
  const child = Bun.spawn([process.execPath, join(root, "cli/main.ts"), ...words], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const stop = async () => {
    child.kill();
    await child.exited;
  };
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    const [, url] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(text) ?? [];
    if (url !== undefined) return { url, stop };
  }
  await stop();
  throw new Error(`the server said nothing of its address; it said ${text}`);
}

async function shoot(
  browser: Browser,
  client: Client,
  { view, theme }: { readonly view: View; readonly theme: (typeof themes)[number] },
): Promise<void> {
  const context = await browser.newContext({
    viewport: view.size ?? wide,
    reducedMotion: "reduce",
  });
  await context.addInitScript((choice) => localStorage.setItem("theme", choice), theme);
  const page = await context.newPage();
  await page.goto(server.url + (await view.path(client)));
  await page.locator(".console[data-state=live]").waitFor();
  await page.locator(view.ready).first().waitFor();
  await view.act?.(page);
  // A rate takes two looks.
  for (let looks = 0; looks < 3; looks += 1) {
    await secondOfTraffic(client);
    await page.waitForResponse((response) => response.url().endsWith("/v1/server.overview"));
  }
  await page.waitForTimeout(settleMs);
  writeFileSync(join(folder, `console-${view.name}-${theme}.webp`), await webpOf(page));
  await context.close();
  for (const { task_id, state } of (await client.listTasks({})).tasks) {
    if (state === "running") await client.cancelTask({ task_id });
  }
}

/** Playwright itself knows no WebP. */
async function webpOf(page: Page): Promise<Uint8Array> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality });
  return Buffer.from(data, "base64");
}
