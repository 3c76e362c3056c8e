// The API's page in Chromium, and with the server it speaks to.

import { describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { mediaOf, operations } from "../reference/operations.ts";
import { samples } from "../reference/samples.ts";
import { fieldsOf, sharedSchemas } from "../reference/schema-fields.ts";
import { axeFaults, leaveOut, setTheme } from "./axe.ts";
import { misfits } from "./misfits.ts";
import { layoutShift, narrow, type SiteBrowser, wide } from "./site-browser.ts";

/** About a hundred for each call. */
const elementsMax = 5_000;

/** The operations are alike: the first and one without a body stand for them. */
const alike = {
  selector: operations
    .filter(({ operationId }) => !["produce", "health"].includes(operationId))
    .map(({ operationId }) => `.operation:has(#${operationId})`)
    .join(),
  keptCount: 0,
};

export function testReference(browser: () => SiteBrowser): void {
  describe("the reference of the API", () => {
    test("without JavaScript: every operation with its fields and codes, links that lead somewhere, and few elements", async () => {
      await using visitor = await browser().fresh({ javaScriptEnabled: false });
      const { page } = visitor;
      await page.goto(`${browser().url}/api`, { waitUntil: "load" });
      for (const { path, summary, operationId, requestBody, responses } of operations) {
        const text = (await page.locator(`.operation:has(#${operationId})`).textContent()) ?? "";
        const fields = fieldsOf(mediaOf(requestBody).schema ?? {}, sharedSchemas);
        const shown = [summary, ...fields.map((field) => field.path), ...Object.keys(responses)];
        expect([path, ...shown.filter((one) => !text.includes(one))]).toEqual([path]);
      }
      const lost = await page
        .locator("a[href^='#']")
        .evaluateAll((links) =>
          links
            .map((link) => link.getAttribute("href")?.slice(1) ?? "")
            .filter((id) => document.getElementById(id) === null),
        );
      expect(lost).toEqual([]);
      expect(await page.locator("h1").count()).toBe(1);
      expect(await page.locator("*").count()).toBeLessThanOrEqual(elementsMax);
    });

    test.each([
      ["#createQueue", wide],
      ["#createQueue", narrow],
      ["#tag/queues/createQueue", narrow],
    ])("%s leads to the operation, at %j", async (hash, viewport) => {
      await using visitor = await browser().fresh({ viewport });
      await visitor.visit(`/api${hash}`);
      await visitor.page.waitForFunction(() => {
        const top = document.getElementById("createQueue")?.getBoundingClientRect().top ?? -1;
        return top >= 0 && top < 200;
      });
    });

    test("at 390 px nothing covers the text once the bar has hidden", async () => {
      await using visitor = await browser().fresh({ viewport: narrow });
      const { page, visit } = visitor;
      await visit("/api");
      await page.evaluate(() => scrollTo(0, 3_000));
      await page.locator(".navbar[data-shown=false]").waitFor({ state: "attached" });
      expect(await covers(page)).toEqual([]);
    });

    test("at 1280 px every reply code can be read to its end", async () => {
      await using visitor = await browser().fresh();
      await visitor.visit("/api");
      const { codes, cut } = await cutCodes(visitor.page);
      expect(codes).toBeGreaterThanOrEqual(4);
      expect(cut).toEqual([]);
    });

    test("a language of four is chosen for all samples, by pointer or keyboard, is remembered, and what is copied is what shows", async () => {
      await using visitor = await browser().fresh({
        permissions: ["clipboard-read", "clipboard-write"],
      });
      const { page, visit } = visitor;
      const of = (id: string) => page.locator(`.operation:has(#${id}) .tabs`);
      const sampleOf = (id: string, language: keyof typeof samples) => {
        const operation = operations.find(({ operationId }) => operationId === id);
        const body = mediaOf(operation?.requestBody).example;
        return samples[language]({ path: operation?.path ?? "", body });
      };
      const shows = async (id: string, language: keyof typeof samples) => {
        const code = await of(id).locator("pre > code").elementHandle();
        const wanted = { code, text: sampleOf(id, language) };
        await page.waitForFunction((one) => one.code?.textContent === one.text, wanted);
      };
      await visit("/api");
      expect(await page.locator("main").textContent()).not.toMatch(/Ruby|PHP|Client Libraries/);
      expect(await of("lease").getByRole("tab").allTextContents()).toEqual(Object.keys(samples));
      await shows("lease", "curl");
      await of("lease").getByRole("tab", { name: "Python" }).click();
      await shows("lease", "Python");
      await page.keyboard.press("ArrowRight");
      await shows("health", "Go");
      await visit("/api");
      await shows("pause", "Go");
      await of("pause").getByRole("button", { name: "Copy code" }).click();
      await of("pause").getByText("Copied").waitFor();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      expect(copied).toBe(sampleOf("pause", "Go"));
    });

    test("Scalar is asked for by Test Request alone, and its examples get a 200 in order", async () => {
      await using visitor = await browser().fresh();
      const { page, errors, requests, visit } = visitor;
      await visit("/api");
      expect(requests.filter((url) => /api-client|\.css/.test(url))).toEqual([]);
      expect(await layoutShift(page)).toBe(0);
      for (const [id, path] of [
        ["createQueue", "/v1/queues.create"],
        ["produce", "/v1/queue.produce"],
        ["listQueues", "/v1/queues.list"],
      ] as const) {
        const button = page.locator(`[data-test-request=${id}]`);
        const before = await placeOf(button);
        await button.click();
        const dialog = page.getByRole("dialog");
        const replied = page.waitForResponse(`**${path}`);
        await dialog.getByRole("button", { name: "Send" }).first().click();
        const response = await replied;
        expect([response.url(), response.status()]).toEqual([browser().url + path, 200]);
        // Left before it is shown, it would be cancelled.
        await dialog.getByText("200 OK").first().waitFor();
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "hidden" });
        expect(await placeOf(button)).toEqual(before);
      }
      // Scalar tries whether it may make code from text, and does without.
      expect(errors.filter((text) => text !== "policy: script-src forbids eval")).toEqual([]);
      const others = requests.filter((url) => !/^(data:|blob:)/.test(url));
      expect(others.filter((url) => !url.startsWith(browser().url))).toEqual([]);
    });

    test("a button whose code does not come says so, and can be pressed again", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      await visit("/api");
      await page.route("**/assets/api-client-*.js", (route) => route.abort());
      const button = page.locator("[data-test-request=health]");
      await button.click();
      await page.getByText("Not loaded. Try again").waitFor();
      await page.unroute("**/assets/api-client-*.js");
      await button.click();
      await page.getByRole("dialog").waitFor();
    });

    test("its primary colour is blue, and the text fits, and axe finds nothing in it, in both modes at both widths", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      await visit("/api");
      for (const theme of ["dark", "light"] as const) {
        await setTheme(page, theme);
        const [red = 0, green = 0, blue = 0] = await page
          .locator("[data-test-request=produce]")
          .evaluate((button) => getComputedStyle(button).color.match(/\d+/g)?.map(Number) ?? []);
        expect([theme, blue > Math.max(red, green)]).toEqual([theme, true]);
      }
      expect(await misfits(page)).toEqual([]);
      await leaveOut(page, [alike]);
      expect(await axeFaults(page)).toEqual([]);
    });
  });
}

/** In the page, wherever that is scrolled to. */
function placeOf(element: Locator): Promise<readonly number[]> {
  return element.evaluate((node) => {
    const { x, y, width, height } = node.getBoundingClientRect();
    return [x, Math.round(y + scrollY), width, height];
  });
}

/** What stays in place at the window's upper edge while the text scrolls below it. */
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

/** Of one operation, the reply codes whose last digit is cut off or under something else. */
function cutCodes(page: Page): Promise<{ codes: number; cut: readonly string[] }> {
  return page.evaluate(() => {
    const operation = document.querySelector('section[id="tag/items/lease"]') ?? document.body;
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
