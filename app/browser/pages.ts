// What holds for pages of every type.

import { describe, expect, test } from "bun:test";
import { folders, listFiles } from "../build/site-folder.ts";
import { axeFaults } from "./axe.ts";
import { layoutShift, narrow, type SiteBrowser, wide } from "./site-browser.ts";
import { smallTargets, targetPxMin } from "./targets.ts";
import { serveTrickling } from "./trickle.ts";

interface PageType {
  readonly path: string;
  /** Whether axe looks at it: not at lists that are like another, and the API has its own tests. */
  readonly hasAxe: boolean;
}

const isQuick = process.env["HOLDFAST_QUICK"] === "1";
const few = ["/", "/docs/intro", "/blog/welcome", "/no/such/page?x=1"];
/** One of each type. */
const types: readonly PageType[] = [
  { path: "/", hasAxe: true },
  { path: "/api", hasAxe: false },
  { path: "/docs/intro", hasAxe: true },
  { path: "/docs/quick-start", hasAxe: true },
  { path: "/docs/architecture", hasAxe: true },
  { path: "/docs/configuration", hasAxe: true },
  { path: "/docs/testing", hasAxe: true },
  { path: "/blog", hasAxe: true },
  { path: "/blog/archive", hasAxe: false },
  { path: "/blog/authors", hasAxe: true },
  { path: "/blog/authors/engine", hasAxe: false },
  { path: "/blog/authors/all-engine-articles", hasAxe: false },
  { path: "/blog/tags", hasAxe: true },
  { path: "/blog/tags/hello", hasAxe: false },
  { path: "/blog/welcome", hasAxe: false },
  { path: "/blog/long-blog-post", hasAxe: true },
  { path: "/blog/mdx-blog-post", hasAxe: true },
  { path: "/markdown-page", hasAxe: true },
  { path: "/no/such/page?x=1", hasAxe: true },
];

/** One of each layout. */
const arriving = ["/", "/api", "/docs/intro", "/blog", "/blog/long-blog-post", "/no/such/page"];

export function testPages(browser: () => SiteBrowser): void {
  test.each(types.filter(({ path }) => !isQuick || few.includes(path)))(
    "$path comes to life: no error, nothing forbidden, no other origin, no shift, nothing wider than its window, nothing too small to press, nothing that axe finds",
    async ({ path, hasAxe }) => {
      const { page, errors, requests, visit } = await browser().fresh();
      await visit(path);
      await page.waitForLoadState("load");
      const isUnknown = path.startsWith("/no/");
      expect(errors.filter((text) => !(isUnknown && text.includes("404")))).toEqual([]);
      const others = requests.filter((url) => !/^(data:|blob:)/.test(url));
      expect(others.filter((url) => !url.startsWith(browser().url))).toEqual([]);
      expect(await layoutShift(page)).toBe(0);
      const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(await overflow()).toBeLessThanOrEqual(0);
      expect(await smallTargets(page, targetPxMin.wide)).toEqual([]);
      if (hasAxe) expect(await axeFaults(page, path)).toEqual([]);
      await page.setViewportSize(narrow);
      expect(await overflow()).toBeLessThanOrEqual(0);
      expect(await smallTargets(page, targetPxMin.narrow)).toEqual([]);
    },
  );

  test("nothing shifts while a page arrives in pieces", async () => {
    await using pieces = serveTrickling(browser().url);
    const { page } = await browser().fresh();
    for (const viewport of [wide, narrow]) {
      await page.setViewportSize(viewport);
      for (const path of arriving) {
        await page.goto(pieces.url + path, { waitUntil: "load" });
        expect([path, viewport.width, await layoutShift(page)]).toEqual([path, viewport.width, 0]);
      }
    }
  });

  test("nothing shifts when the announcement is closed or a tab is chosen", async () => {
    const { page, visit } = await browser().fresh();
    await visit("/docs/quick-start");
    await page.getByRole("button", { name: "Close announcement" }).click();
    await page.getByRole("tab").nth(1).click();
    expect(await layoutShift(page)).toBe(0);
  });

  test("the stored mode is there at the first paint, and stays when the code comes", async () => {
    for (const [stored, background] of [
      [{}, "rgb(11, 14, 19)"],
      [{ theme: "light" }, "rgb(251, 252, 253)"],
    ] as const) {
      const { page, mounted } = await browser().fresh({ stored });
      const code = Promise.withResolvers<void>();
      await page.route("**/*.js", async (route) => {
        await code.promise;
        await route.continue();
      });
      await page.goto(`${browser().url}/docs/intro`, { waitUntil: "commit" });
      await page.waitForFunction(() => performance.getEntriesByName("first-paint").length > 0);
      const color = () =>
        page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      expect(await color()).toBe(background);
      const toggle = page.locator(".navbar-right .color-mode-toggle");
      expect(await toggle.isDisabled()).toBe(true);
      code.resolve();
      await mounted();
      expect(await toggle.isDisabled()).toBe(false);
      expect(await color()).toBe(background);
    }
  });

  describe("without JavaScript", () => {
    const paths = () =>
      listFiles(folders.site)
        .filter((file) => file.endsWith("index.html") && file !== "404/index.html")
        .map((file) => `/${file.replace(/\/?index\.html$/, "")}`);

    test("every page can be read: its heading, its text, all its tabs, and links", async () => {
      await using visitor = await browser().own({ javaScriptEnabled: false, viewport: narrow });
      const { page } = visitor;
      // The reference of the API folds its replies; it has tests of its own.
      for (const path of [...paths().filter((one) => one !== "/api"), "/no/such/page"]) {
        await page.goto(browser().url + path, { waitUntil: "domcontentloaded" });
        const hidden = await page.evaluate(() => {
          const isShown = (element: Element) => element.checkVisibility({ checkOpacity: true });
          const wanted = document.querySelectorAll(
            "h1, main h2, main p, .tabs-panel, main pre, main table, main figure, footer a",
          );
          return [...wanted]
            .filter((element) => !isShown(element) && element.closest("svg, details") === null)
            .map((element) => element.outerHTML.slice(0, 120));
        });
        expect([path, hidden]).toEqual([path, []]);
      }
    });

    test("the menu opens, leads on, and what does nothing is not shown", async () => {
      await using visitor = await browser().own({ javaScriptEnabled: false, viewport: narrow });
      const { page } = visitor;
      await page.goto(`${browser().url}/docs/intro`);
      expect(await page.locator(".search-open").isVisible()).toBe(false);
      expect(await page.getByRole("button", { name: "Close announcement" }).isVisible()).toBe(
        false,
      );
      const menu = page.getByRole("navigation", { name: "Menu" });
      expect(await menu.isVisible()).toBe(false);
      await page.locator("summary[aria-label=Menu]").click();
      expect(await menu.getByRole("link", { name: "Blog", exact: true }).isVisible()).toBe(true);
      await menu.getByRole("link", { name: "Questions" }).click();
      await page.waitForURL("**/docs/faq");
    });
  });

  describe("before the page has come to life", () => {
    test("what was pressed happens once it has; an open menu becomes the drawer", async () => {
      const { page, mounted } = await browser().fresh();
      const code = Promise.withResolvers<void>();
      await page.route("**/*.js", async (route) => {
        await code.promise;
        await route.continue();
      });
      await page.goto(`${browser().url}/docs/intro`, { waitUntil: "commit" });
      await page.locator(".search-button").click();
      expect(await page.getByRole("dialog").count()).toBe(0);
      code.resolve();
      await page.getByRole("dialog", { name: "Search" }).waitFor();

      const held = Promise.withResolvers<void>();
      await page.unrouteAll();
      await page.route("**/*.js", async (route) => {
        await held.promise;
        await route.continue();
      });
      await page.setViewportSize(narrow);
      await page.goto(`${browser().url}/blog`, { waitUntil: "commit" });
      await page.locator("summary[aria-label=Menu]").click();
      await page.getByRole("navigation", { name: "Menu" }).waitFor();
      held.resolve();
      await mounted();
      await page.getByRole("dialog", { name: "Menu" }).waitFor();
    });
  });
}
