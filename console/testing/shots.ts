// `bun run console:shots [FOLDER]`: the pictures of the console that the docs show, of a server with
// made traffic. Time is the test clock's, so that fifteen minutes take a few seconds.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { ensureBuilt } from "../../app/build/ensure-built.ts";
import { type Client, createClient } from "../../client/client.ts";
import { launchChromium } from "../../scripts/chromium.ts";
import { groupTraffic } from "./shots-groups.ts";
import { keyLines, keyTraffic } from "./shots-keys.ts";
import { lastTraffic, secondOfTraffic, traffic } from "./shots-traffic.ts";

const root = join(import.meta.dir, "../..");
const [folder = join(root, "content/pictures")] = process.argv.slice(2);
const wide = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };
const themes = ["dark", "light"] as const;
/** Time to draw after an answer. */
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

/** A server in a certain state, and the pictures taken of it. */
interface Scene {
  readonly words?: readonly string[];
  readonly key?: string;
  readonly play: (client: Client, url: string) => Promise<void>;
  /** While the picture is taken. */
  readonly goOn?: (client: Client) => Promise<void>;
  readonly views: readonly View[];
}

const at = (path: string) => async () => path;
const queueRows = "table[aria-label=Queues] tbody th";

const data = mkdtempSync(join(tmpdir(), "holdfast-shots-"));
const keyFile = join(data, "keys");

const scenes: readonly Scene[] = [
  {
    words: ["--test-clock"],
    play: async (client) => {
      await traffic(client);
      await lastTraffic(client);
    },
    goOn: secondOfTraffic,
    views: [
      // First, because single seconds are many commits for a store that advanced ten seconds at once.
      { name: "shards", path: at("/console/shards"), ready: ".shard-table tbody td" },
      { name: "overview", path: at("/console"), ready: queueRows },
      { name: "queue", path: at("/console/queue?name=orders&shade=leased"), ready: "canvas" },
      { name: "items", path: leasedItem, ready: "[role=row], tbody tr" },
      { name: "dead", path: deadQueue, ready: ".summaries tbody input", act: chooseReasons },
      { name: "phone", path: at("/console"), ready: queueRows, size: phone },
    ],
  },
  {
    words: ["--api-keys-file", keyFile],
    key: keyOf("ops"),
    play: (_, url) => keyTraffic((name) => createClient({ url, apiKey: keyOf(name) })),
    views: [{ name: "keys", path: at("/console/keys"), ready: ".key-table tbody td" }],
  },
  {
    words: ["--test-clock"],
    play: groupTraffic,
    views: [
      {
        name: "groups",
        path: at("/console/groups?name=imports"),
        ready: "table[aria-label=Groups] tbody th",
      },
    ],
  },
  {
    play: async () => undefined,
    views: [{ name: "empty", path: withoutQueues, ready: "pre" }],
  },
];

async function leasedItem(client: Client): Promise<string> {
  const page = { queue_name: "webhooks", state: "leased", limit: 1 };
  const [item] = (await client.findItems(page)).items;
  const query = { name: "webhooks", state: "leased", item: item?.id ?? "" };
  return `/console/items?${new URLSearchParams(query)}`;
}

/** One reason is redriven while the next is open. */
async function deadQueue(client: Client): Promise<string> {
  const queue_name = "orders-dead";
  const filter = { reason: "gateway timeout 504 after <n> ms" };
  await client.redrive({ queue_name, filter, per_second: 2 });
  return `/console/dead?name=${queue_name}`;
}

async function chooseReasons(page: Page): Promise<void> {
  for (const name of [/card_declined/, /no such account/]) {
    await page.getByRole("row", { name }).getByRole("checkbox").check();
  }
  await page.getByRole("button", { name: "Redrive…" }).click();
  await page.getByLabel("Per second").fill("50");
}

async function withoutQueues(client: Client): Promise<string> {
  for (const { queue_name } of (await client.listQueues({ pivot: "", limit: 100 })).items) {
    await client.deleteQueue({ queue_name, force: true });
  }
  return "/console";
}

await ensureBuilt();
mkdirSync(folder, { recursive: true });
writeFileSync(keyFile, keyLines(keyOf));
const browser = await launchChromium();
try {
  for (const [index, scene] of scenes.entries()) await playScene(scene, join(data, String(index)));
} finally {
  await browser.close();
  rmSync(data, { recursive: true });
}

async function playScene(scene: Scene, store: string): Promise<void> {
  const { words = [], key, play, views } = scene;
  const server = await startServer([...words, "--data", store]);
  try {
    const { url } = server;
    const client = createClient({ url, ...(key && { apiKey: key }) });
    await play(client, url);
    for (const view of views) {
      for (const theme of themes) await shoot({ scene, view, theme, client, url });
    }
  } finally {
    await server.stop();
  }
  console.log(`${views.map(({ name }) => name).join(", ")} in ${folder}`);
}

function keyOf(name: string): string {
  return `holdfast_${name.padEnd(43, "0")}`;
}

async function startServer(more: readonly string[]) {
  const words = [
    "serve",
    "--port",
    "0",
    ...more,
    ...["--name", "queue-1", "--shards", "4"],
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

interface Shot {
  readonly scene: Scene;
  readonly view: View;
  readonly theme: (typeof themes)[number];
  readonly client: Client;
  readonly url: string;
}

async function shoot({ scene, view, theme, client, url }: Shot): Promise<void> {
  const context = await browser.newContext({
    viewport: view.size ?? wide,
    reducedMotion: "reduce",
  });
  await context.addInitScript(
    ([choice, key]) => {
      localStorage.setItem("theme", choice);
      if (key !== "") sessionStorage.setItem("holdfast.console.key", key);
    },
    [theme, scene.key ?? ""] as const,
  );
  const page = await context.newPage();
  await page.goto(url + (await view.path(client)));
  await page.locator(".console[data-state=live]").waitFor();
  await page.locator(view.ready).first().waitFor();
  await view.act?.(page);
  // A rate takes two looks.
  for (let looks = 0; looks < 3; looks += 1) {
    await scene.goOn?.(client);
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
