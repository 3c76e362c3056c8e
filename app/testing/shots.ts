// `bun run site:shots [FOLDER] [PATH…]`: takes pictures of the pages in both modes and at all
// widths, with menus and dialogs open, for review by people. They are not committed.

import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../../scripts/chromium.ts";
import { serveSite } from "../build/serve-site.ts";

const [folder = join(tmpdir(), "holdfast-shots"), ...only] = process.argv.slice(2);
const pages = [
  "/",
  "/docs/intro",
  "/docs/quick-start",
  "/docs/architecture",
  "/docs/configuration",
  "/docs/testing",
  "/api",
  "/api/lease",
  "/blog",
  "/blog/long-blog-post",
  "/blog/mdx-blog-post",
  "/blog/archive",
  "/blog/authors",
  "/blog/tags",
  "/markdown-page",
  "/no/such/page",
];
const widths = (process.env["WIDTHS"] ?? "390,768,996,1280,1920").split(",").map(Number);
const themes = ["dark", "light"] as const;

const shown = only.length > 0 ? only : pages;
await using server = await serveSite();
const browser = await launchChromium();
for (const theme of themes) {
  for (const width of widths) await shootAll(browser, { theme, width });
}
await browser.close();
console.log(`${shown.length} pages in ${folder}`);

interface Setting {
  readonly theme: (typeof themes)[number];
  readonly width: number;
}

async function shootAll(browser: Browser, { theme, width }: Setting): Promise<void> {
  const context = await browser.newContext({
    viewport: { width, height: width < 800 ? 844 : 900 },
    reducedMotion: "reduce",
  });
  await context.addInitScript((choice) => localStorage.setItem("theme", choice), theme);
  const page = await context.newPage();
  const save = (name: string, fullPage: boolean) =>
    page.screenshot({ path: join(folder, `${name}-${width}-${theme}.png`), fullPage });
  for (const path of shown) {
    await visit(page, server.url + path);
    await save(path === "/" ? "home" : path.slice(1).replaceAll("/", "-"), true);
  }
  await visit(page, `${server.url}/docs/intro`);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("lease");
  await page.getByRole("option").first().waitFor();
  await save("with-search", false);
  await page.keyboard.press("Escape");
  if (width <= 996) {
    await page.getByRole("button", { name: "Menu", exact: true }).click();
    await save("with-drawer", false);
    await page.getByRole("button", { name: "Back to main menu" }).click();
    await save("with-drawer-main", false);
  } else {
    await page.locator(".dropdown summary").first().click();
    await save("with-dropdown", false);
  }
  await context.close();
}

async function visit(page: Page, url: string): Promise<void> {
  await page.goto(url, { waitUntil: "load" });
  await page.locator("html[data-mounted]").waitFor({ state: "attached" });
}
