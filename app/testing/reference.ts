// Tests the API pages in Chromium with a real server.

import { describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { mediaOf, operations } from "../reference/operations.ts";
import { samples } from "../reference/samples.ts";
import { setTheme } from "./axe.ts";
import { layoutShift, narrow, type SiteBrowser } from "./site-browser.ts";

export function testReference(browser: () => SiteBrowser): void {
  describe("the reference of the API", () => {
    test.each(["#createQueue", "#tag/queues/createQueue"])(
      "/api%s, as it was before operations had pages, leads to the page, without JavaScript to a link there",
      async (hash) => {
        {
          await using visitor = await browser().fresh();
          await visitor.page.goto(`${browser().url}/api${hash}`);
          await visitor.page.waitForURL("**/api/createQueue");
        }
        await using visitor = await browser().fresh({ javaScriptEnabled: false, viewport: narrow });
        const { page } = visitor;
        await page.goto(`${browser().url}/api${hash}`);
        const link = page.getByRole("main").getByRole("link", { name: "Create a queue" });
        const { y = -1 } = (await link.boundingBox()) ?? {};
        expect(y).toBeGreaterThan(0);
        expect(y).toBeLessThan(narrow.height / 2);
        await link.click();
        await page.waitForURL("**/api/createQueue");
      },
    );

    test("other places of /api stay where they are, also when one is asked for on the page", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      await visit("/api#requests");
      expect(new URL(page.url()).pathname).toBe("/api");
      await page.evaluate(() => location.assign("#lease"));
      await page.waitForURL("**/api/lease");
    });

    test("at 390 px nothing covers the text once the bar has hidden", async () => {
      await using visitor = await browser().fresh({ viewport: narrow });
      const { page, visit } = visitor;
      await visit("/api/lease");
      await page.evaluate(() => scrollTo(0, 3_000));
      await page.locator(".navbar[data-shown=false]").waitFor({ state: "attached" });
      expect(await covers(page)).toEqual([]);
    });

    test("at 1280 px every reply code can be read to its end", async () => {
      await using visitor = await browser().fresh();
      await visitor.visit("/api/lease");
      const { codes, cut } = await cutCodes(visitor.page);
      expect(codes).toBeGreaterThanOrEqual(4);
      expect(cut).toEqual([]);
    });

    test("a language of four is chosen for all samples, by pointer or keyboard, is remembered, and what is copied is what shows", async () => {
      await using visitor = await browser().fresh({
        permissions: ["clipboard-read", "clipboard-write"],
      });
      const { page, visit } = visitor;
      const sampleOf = (id: string, language: keyof typeof samples) => {
        const operation = operations.find(({ operationId }) => operationId === id);
        const body = mediaOf(operation?.requestBody).example;
        return samples[language]({ path: operation?.path ?? "", body });
      };
      const shown = page.locator(".tabs-panel[data-selected=true]");
      const shows = async (id: string, language: keyof typeof samples) =>
        expect(await shown.locator("pre").textContent()).toBe(`${sampleOf(id, language)}\n`);
      await visit("/api/lease");
      expect(await page.getByRole("tab").allTextContents()).toEqual(Object.keys(samples));
      await shows("lease", "curl");
      await page.getByRole("tab", { name: "Python" }).click();
      await shows("lease", "Python");
      await page.keyboard.press("ArrowRight");
      await shows("lease", "Go");
      await visit("/api/pause");
      await shows("pause", "Go");
      const button = shown.getByRole("button", { name: "Copy code" });
      const copied = await browser().copiedBy(() => button.click(), shown.getByText("Copied"));
      expect(copied).toBe(sampleOf("pause", "Go"));
    });

    test("Scalar is asked for by Test Request alone, and its examples get a 200 in order", async () => {
      await using visitor = await browser().fresh();
      const { page, errors, requests, visit } = visitor;
      for (const [id, path] of [
        ["createQueue", "/v1/queues.create"],
        ["produce", "/v1/queue.produce"],
        ["listQueues", "/v1/queues.list"],
      ] as const) {
        const asked = requests.length;
        await visit(`/api/${id}`);
        expect(requests.slice(asked).filter((url) => /api-client|\.css/.test(url))).toEqual([]);
        expect(await layoutShift(page)).toBe(0);
        const button = page.getByRole("button", { name: "Test Request" });
        const before = await placeOf(button);
        await button.click();
        const dialog = page.getByRole("dialog");
        const replied = page.waitForResponse(`**${path}`);
        await dialog.getByRole("button", { name: "Send" }).first().click();
        const response = await replied;
        expect([response.url(), response.status()]).toEqual([browser().url + path, 200]);
        // Leaving before the reply is shown would cancel the request.
        await dialog.getByText("200 OK").first().waitFor();
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "hidden" });
        expect(await placeOf(button)).toEqual(before);
      }
      // Scalar tests whether it may evaluate code, and works without.
      expect(errors.filter((text) => text !== "policy: script-src forbids eval")).toEqual([]);
      const others = requests.filter((url) => !/^(data:|blob:)/.test(url));
      expect(others.filter((url) => !url.startsWith(browser().url))).toEqual([]);
    });

    test("a button whose code does not come says so, and can be pressed again", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      await visit("/api/health");
      await page.route("**/assets/api-client-*.js", (route) => route.abort());
      const button = page.locator("[data-test-request]");
      await button.click();
      await page.getByText("Not loaded. Try again").waitFor();
      await page.unroute("**/assets/api-client-*.js");
      await button.click();
      await page.getByRole("dialog").waitFor();
    });

    test("its primary colour is blue in both modes", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      await visit("/api/produce");
      for (const theme of ["dark", "light"] as const) {
        await setTheme(page, theme);
        const [red = 0, green = 0, blue = 0] = await page
          .locator("[data-test-request]")
          .evaluate((button) => getComputedStyle(button).color.match(/\d+/g)?.map(Number) ?? []);
        expect([theme, blue > Math.max(red, green)]).toEqual([theme, true]);
      }
    });
  });
}

/** Position in the page, independent of scrolling. */
function placeOf(element: Locator): Promise<readonly number[]> {
  return element.evaluate((node) => {
    const { x, y, width, height } = node.getBoundingClientRect();
    return [x, Math.round(y + scrollY), width, height];
  });
}

/** Elements fixed at the upper edge of the window while the text scrolls below. */
function covers(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const found = [5, 20, 35, 50, 65].flatMap((y) => {
      for (let at = document.elementFromPoint(innerWidth / 2, y); at; at = at.parentElement) {
        if (/sticky|fixed/.test(getComputedStyle(at).position)) return [at.outerHTML.slice(0, 90)];
      }
      return [];
    });
    return [...new Set(found)];
  });
}

/** The reply codes of an operation whose last digit is clipped or covered. */
function cutCodes(page: Page): Promise<{ codes: number; cut: readonly string[] }> {
  return page.evaluate(() => {
    const operation = document.querySelector("main") ?? document.body;
    const walker = document.createTreeWalker(operation, NodeFilter.SHOW_TEXT);
    const cut: string[] = [];
    let codes = 0;
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const holder = node.parentElement;
      if (!/^[2-5]\d\d$/.test(node.textContent?.trim() ?? "")) continue;
      codes += 1;
      const range = document.createRange();
      range.selectNodeContents(node);
      scrollBy({ top: range.getBoundingClientRect().top - 400, behavior: "instant" });
      const { right, top, height } = range.getBoundingClientRect();
      const hit = document.elementFromPoint(right - 1, top + height / 2);
      if (hit === null || !(hit.contains(node) || holder?.contains(hit))) {
        cut.push(`${node.textContent} under ${hit?.outerHTML.slice(0, 90)}`);
      }
    }
    return { codes, cut };
  });
}
