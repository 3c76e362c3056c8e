// Tests of every page, and of one page of each type.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pagePaths } from "../build/site-folder.ts";
import { operationPath, operations } from "../reference/operations.ts";
import { axeFaultsAt } from "./axe.ts";
import { misfits } from "./misfits.ts";
import { drawn, everyShift, layoutShift, narrow, type SiteBrowser, wide } from "./site-browser.ts";
import { serveTrickling } from "./trickle.ts";

const unknownAddress = "/no/such/page?x=1";
/** One page of each type. */
const layouts = [
  "/",
  "/api",
  "/api/produce",
  "/api/health",
  "/docs/intro",
  "/docs/quick-start",
  "/docs/architecture",
  "/docs/configuration",
  "/docs/testing",
  "/blog",
  "/blog/archive",
  "/blog/authors",
  "/blog/authors/engine",
  "/blog/authors/all-engine-articles",
  "/blog/tags",
  "/blog/tags/hello",
  "/blog/welcome",
  "/blog/long-blog-post",
  "/blog/mdx-blog-post",
  "/markdown-page",
  unknownAddress,
];

/**
 * Operations' pages have the same template: one with a body and one without represent the others.
 */
const alike = operations
  .map(operationPath)
  .filter((path) => !["/api/produce", "/api/health"].includes(path));

/** Skipped pages: others with the same template, and the second address of the introduction. */
const notWalked = [...alike, "/docs"];

/** All pages, distributed to concurrent visitors. */
const walks = [0, 1, 2];

/** One page of each layout. */
const arriving = [
  "/",
  "/api",
  "/api/produce",
  "/docs/intro",
  "/blog",
  "/blog/long-blog-post",
  "/no/such/page",
];

export function testPages(browser: () => SiteBrowser): void {
  test.each(walks)(
    "every page, part %i: no error, shift or other origin, nothing too wide, too small to press, or found by axe",
    async (part) => {
      await using visitor = await browser().fresh();
      const { page, errors, requests, visit } = visitor;
      const mine = [unknownAddress, ...pagePaths()]
        .filter((path) => !notWalked.includes(path))
        .filter((_, index) => index % walks.length === part);
      const found: string[] = [];
      const seen = new Set<string>();
      for (const path of mine) {
        await page.setViewportSize(wide);
        await visit(path);
        await page.waitForLoadState("load");
        expect([path, await layoutShift(page)]).toEqual([path, 0]);
        const isLayout = layouts.includes(path);
        const faults = [
          ...(await misfits(page)),
          ...(await axeFaultsAt(page, { path, isLayout, seen })),
        ];
        found.push(...faults.map((fault) => `${path}: ${fault}`));
      }
      expect(found).toEqual([]);
      expect(errors.filter((text) => !text.includes("404"))).toEqual([]);
      const others = requests.filter((url) => !/^(data:|blob:)/.test(url));
      expect(others.filter((url) => !url.startsWith(browser().url))).toEqual([]);
    },
  );

  test("every operation's page: nothing is wider than its window or too small to press", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    const found: string[] = [];
    for (const path of alike) {
      await visit(path);
      found.push(...(await misfits(page)).map((fault) => `${path}: ${fault}`));
    }
    expect(found).toEqual([]);
  });

  describe("nothing shifts while a page arrives in pieces, at both widths", () => {
    let pieces: ReturnType<typeof serveTrickling> | null = null;
    beforeAll(() => {
      pieces = serveTrickling(browser().url);
    });
    afterAll(() => pieces?.[Symbol.asyncDispose]());

    test.each(arriving)("%s", async (path) => {
      await using visitor = await browser().fresh();
      const { page } = visitor;
      for (const viewport of [wide, narrow]) {
        await page.setViewportSize(viewport);
        await page.goto(`${pieces?.url}${path}`, { waitUntil: "load" });
        expect([viewport.width, await layoutShift(page)]).toEqual([viewport.width, 0]);
      }
    });
  });

  test.each([
    ["/no/such/page", narrow],
    ["/no/such/page", { width: 768, height: 1400 }],
    ["/blog/archive", { width: 1280, height: 1400 }],
  ])(
    "%s: the footer begins where it does when none of it has come yet (%p)",
    async (path, viewport) => {
      await using visitor = await browser().fresh({ viewport });
      const { page, visit } = visitor;
      await visit(path);
      const tops = await page.locator(".footer").evaluate((footer) => {
        const before = footer.getBoundingClientRect();
        footer.firstElementChild?.remove();
        const after = footer.getBoundingClientRect();
        return { before: before.top, after: after.top, isSmaller: after.height < before.height };
      });
      expect(tops).toEqual({ before: tops.after, after: tops.after, isSmaller: true });
    },
  );

  test("a table that is wider than its frame has a shadow on the side where it goes on", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    /** The pixels at the left and right edge, which contain only a shadow. */
    const painted = async (width: string, scrollLeft: number) => {
      const frame = page.locator(".table-frame").first();
      await frame.evaluate(
        (one, [minWidth, left]) => {
          Object.assign((one.firstElementChild as HTMLElement).style, {
            visibility: "hidden",
            minWidth,
          });
          one.scrollIntoView();
          one.scrollLeft = left;
        },
        [width, scrollLeft] as const,
      );
      const box = await frame.boundingBox();
      if (box === null) throw new Error("the table is not shown");
      const strip = (x: number) =>
        page.screenshot({ clip: { x, y: box.y + 20, width: 4, height: 20 } });
      const plain = await strip(box.x - 6);
      const left = await strip(box.x);
      const right = await strip(box.x + box.width - 4);
      return { left: !left.equals(plain), right: !right.equals(plain) };
    };
    await visit("/docs/operations");
    expect(await painted("0", 0)).toEqual({ left: false, right: false });
    expect(await painted("200%", 0)).toEqual({ left: false, right: true });
    expect(await painted("200%", 60)).toEqual({ left: true, right: true });
    expect(await painted("200%", 9_999)).toEqual({ left: true, right: false });
  });

  test("what a command prints stays in its columns: no row goes on below", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    await visit("/docs/find-and-redrive");
    const heights = await page
      .locator(".code[data-lang=text] .line")
      .evaluateAll((lines) => lines.map((line) => line.getBoundingClientRect().height));
    expect(heights.length).toBeGreaterThan(10);
    expect(Math.max(...heights)).toBe(Math.min(...heights));
  });

  test("on a phone a row of a documentation's table stands whole, each cell with its heading", async () => {
    await using visitor = await browser().fresh({ viewport: narrow });
    const { page, visit } = visitor;
    await visit("/docs/client");
    const classes = page.locator(".prose table", { hasText: "LeaseEmpty" });
    await page.setViewportSize(wide);
    const headings = await classes.locator("th").allTextContents();
    expect(headings).toHaveLength(4);
    await page.setViewportSize(narrow);
    const row = classes.locator("tr", { hasText: "LeaseEmpty" });
    const cells = await row.locator("td").evaluateAll((all) =>
      all.map((cell) => {
        const label = getComputedStyle(cell, "::before").content;
        const { left, right } = cell.getBoundingClientRect();
        return { label, isInside: left >= 0 && right <= innerWidth };
      }),
    );
    const labels = ["none", ...headings.slice(1).map((heading) => JSON.stringify(heading))];
    expect(cells).toEqual(labels.map((label) => ({ label, isInside: true })));
  });

  test("nothing shifts any more once a closed announcement or a chosen tab is drawn", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    await visit("/docs/quick-start");
    for (const pressed of [
      page.getByRole("button", { name: "Close announcement" }),
      page.getByRole("tab").nth(1),
    ]) {
      await pressed.click();
      // A browser ignores shifts within half a second of an input, which a slow machine exceeds.
      const from = await drawn(page);
      await drawn(page);
      expect(await everyShift(page, from, await drawn(page))).toBe(0);
    }
  });

  test("nothing shifts while the simulator plays", async () => {
    await using visitor = await browser().fresh({ reducedMotion: "no-preference" });
    const { page, visit } = visitor;
    await visit("/blog/mdx-blog-post");
    // Runs in the page: the simulation continues meanwhile, and its shifts add up.
    const until = await page.locator(".sim-log").evaluate(
      (log) =>
        new Promise<number>((done) => {
          const linesBefore = log.querySelectorAll("li").length;
          new MutationObserver((_, observer) => {
            if (log.querySelectorAll("li").length < linesBefore + 4) return;
            observer.disconnect();
            done(performance.now());
          }).observe(log, { childList: true, subtree: true });
          log.scrollIntoView();
        }),
    );
    await drawn(page);
    // Centred texts of changing width contribute almost nothing.
    expect(await everyShift(page, 0, until)).toBeLessThanOrEqual(0.001);
  });

  test("the stored mode is there at the first paint, and stays when the code comes", async () => {
    for (const [stored, background] of [
      [{}, "rgb(11, 14, 19)"],
      [{ theme: "light" }, "rgb(251, 252, 253)"],
    ] as const) {
      await using visitor = await browser().fresh({ stored });
      const { page, mounted } = visitor;
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
    test("every page can be read: its heading, its text, all its tabs, and links", async () => {
      await using visitor = await browser().fresh({ javaScriptEnabled: false, viewport: narrow });
      const { page } = visitor;
      const paths = pagePaths().filter((path) => !alike.includes(path));
      for (const path of [...paths, "/no/such/page"]) {
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
      await using visitor = await browser().fresh({ javaScriptEnabled: false, viewport: narrow });
      const { page } = visitor;
      await page.goto(`${browser().url}/docs/intro`);
      expect(await page.locator(".search-open").isVisible()).toBe(false);
      expect(await page.getByRole("button", { name: "Close announcement" }).isVisible()).toBe(
        false,
      );
      const menu = page.getByRole("dialog", { name: "Menu" });
      expect(await menu.isVisible()).toBe(false);
      await page.locator(".menu-button").click();
      await menu.getByRole("link", { name: "Blog", exact: true }).waitFor();
      await menu.getByRole("link", { name: "Questions" }).click();
      await page.waitForURL("**/docs/faq");
    });
  });

  describe("before the page has come to life", () => {
    test("what was pressed happens once it has; an open menu becomes the drawer", async () => {
      await using visitor = await browser().fresh();
      const { page, mounted } = visitor;
      const code = Promise.withResolvers<void>();
      await page.route("**/*.js", async (route) => {
        await code.promise;
        await route.continue();
      });
      await page.goto(`${browser().url}/docs/intro`, { waitUntil: "commit" });
      await page.locator(".search-button").click();
      await page.getByRole("dialog", { name: "Search" }).waitFor();
      code.resolve();
      await mounted();

      const held = Promise.withResolvers<void>();
      await page.unrouteAll();
      await page.route("**/*.js", async (route) => {
        await held.promise;
        await route.continue();
      });
      await page.setViewportSize(narrow);
      await page.goto(`${browser().url}/blog`, { waitUntil: "commit" });
      await page.locator(".menu-button").click();
      const menu = page.getByRole("dialog", { name: "Menu" });
      await menu.waitFor();
      held.resolve();
      await mounted();
      await menu.waitFor();
      expect(await menu.evaluate((dialog) => dialog.matches(":modal"))).toBe(true);
    });
  });
}
