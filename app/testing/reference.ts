// The API's page in Chromium, and with the server it speaks to.

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { fragmentOf, operations } from "../reference/operations.ts";
import { axeFaults, leaveOut, setTheme } from "./axe.ts";
import { misfits } from "./misfits.ts";
import { everyShift, type SiteBrowser, type Visitor } from "./site-browser.ts";

export function testReference(browser: () => SiteBrowser): void {
  describe("the reference of the API", () => {
    async function open(path: string): Promise<Visitor & AsyncDisposable> {
      const visitor = await browser().fresh();
      await visitor.visit(path);
      await visitor.page.waitForLoadState("load");
      return visitor;
    }

    /** What is drawn for the first time moves what is below it, for some frames. */
    const atRest = (page: Page, selector: string) =>
      page.locator(selector).evaluate(async (element) => {
        let top = Number.NaN;
        for (let still = 0; still < 5; ) {
          await new Promise(requestAnimationFrame);
          const now = element.getBoundingClientRect().top;
          still = now === top ? still + 1 : 0;
          top = now;
        }
      });
    const live = (page: Page) =>
      page.locator('.reference[data-phase="live"]').waitFor({ state: "attached" });
    const phaseOf = (page: Page) => page.locator(".reference").getAttribute("data-phase");

    test("without JavaScript: every operation, its path and its fields, and links that lead to them", async () => {
      await using visitor = await browser().fresh({ javaScriptEnabled: false });
      const { page } = visitor;
      await page.goto(`${browser().url}/api`, { waitUntil: "load" });
      const text = (await page.locator("main").textContent()) ?? "";
      const fragments = await page
        .locator("aside a[href^='#']")
        .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
      const ids = await page
        .locator("[id]")
        .evaluateAll((elements) => elements.map(({ id }) => id));
      for (const operation of operations) {
        const { path, summary, operationId } = operation;
        expect([path, text.includes(path), text.includes(summary)]).toEqual([path, true, true]);
        expect(ids.filter((id) => id === operationId)).toHaveLength(1);
        const fragment = `#${fragmentOf(operation)}`;
        expect([path, fragments.filter((one) => one === fragment)]).toEqual([path, [fragment]]);
      }
      expect(await page.locator("h1").count()).toBe(1);
    });

    test("nothing of Scalar's is asked for before the first input; a press then brings it to life in place, and a test request gets a 200", async () => {
      await using visitor = await open("/api");
      const { page, errors, requests } = visitor;
      const button = 'section[id="tag/queues/listQueues"] .show-api-client-button';
      await page.locator(button).evaluate((element) => element.scrollIntoView({ block: "center" }));
      await atRest(page, button);
      expect(await phaseOf(page)).toBe("text");
      expect(requests.filter((url) => /live-reference|analytics-client|\.css/.test(url))).toEqual(
        [],
      );
      const topOf = (selector: string) =>
        page.locator(selector).evaluate((element) => element.getBoundingClientRect().top);
      const before = await topOf(button);
      await page.locator(button).click();
      await live(page);
      const twin = '.reference-live section[id$="/tag/queues/listQueues"] .show-api-client-button';
      expect(Math.abs((await topOf(twin)) - before)).toBeLessThanOrEqual(1);
      expect(await everyShift(page)).toBeLessThanOrEqual(0.01);
      const replied = page.waitForResponse("**/v1/queues.list");
      await page.getByRole("dialog").locator("button:has-text('Send')").first().click();
      const response = await replied;
      expect(response.url()).toBe(`${browser().url}/v1/queues.list`);
      expect(response.status()).toBe(200);
      await page.waitForFunction(
        () => document.querySelector(".reference-text")?.childElementCount === 0,
      );
      expect(await page.locator("main.references-rendered").count()).toBe(1);
      expect(await page.locator(".references-rendered h1").count()).toBe(1);
      expect(await page.locator("#main").count()).toBe(1);
      // Scalar tries whether it may make code from text, and does without.
      expect(errors.filter((text) => text !== "policy: script-src forbids eval")).toEqual([]);
      const others = requests.filter((url) => !/^(data:|blob:)/.test(url));
      expect(others.filter((url) => !url.startsWith(browser().url))).toEqual([]);
    });

    test("an address of an operation leads to it, live", async () => {
      await using visitor = await open("/api#createQueue");
      const { page } = visitor;
      await live(page);
      await page.waitForFunction(() => {
        const top = document
          .querySelector('section[id$="/tag/queues/createQueue"]')
          ?.getBoundingClientRect().top;
        return top !== undefined && top >= 0 && top < 200;
      });
      expect(new URL(page.url()).hash).toBe("#tag/queues/createQueue");
    });

    test("a visit from within the site finds the text, and it follows the colour mode; axe finds nothing in what is live, in both modes at both widths", async () => {
      await using visitor = await open("/docs/intro");
      const { page, mounted } = visitor;
      await page.locator('.navbar-items a[href="/api"]').click();
      await page.waitForURL("**/api");
      await mounted();
      await page.keyboard.press("Shift");
      await live(page);
      await hasBackground(page, backgrounds.dark);
      expect(mostOf(await primaryColor(page))).toBe("blue");
      await setTheme(page, "light");
      await page.locator("body.light-mode").waitFor({ state: "attached" });
      await hasBackground(page, backgrounds.light);
      expect(await page.locator("head title").count()).toBe(1);
      expect(mostOf(await primaryColor(page))).toBe("blue");
      await leaveOut(page, [alike]);
      const faults = await axeFaults(page, "one of each look", async (theme) => {
        await setTheme(page, theme);
        await hasBackground(page, backgrounds[theme]);
      });
      expect(faults).toEqual([]);
    });

    const backgrounds = { dark: "rgb(11, 14, 19)", light: "rgb(251, 252, 253)" } as const;

    /** The operations are alike: the first and one without a body stand for them. */
    const alike = {
      selector: operations
        .filter(({ operationId }) => !["produce", "health"].includes(operationId))
        .map(({ operationId }) => `section[id$="/${operationId}"]`)
        .join(),
      keptCount: 0,
    };

    const primaryColor = (page: Page) =>
      page
        .locator(".reference-live .scalar-app.scalar-api-reference")
        .evaluate((app) => getComputedStyle(app).getPropertyValue("--scalar-color-accent"));

    /** The channel of a colour such as `#1257d6` that has the most. */
    const mostOf = (color: string) => {
      const [red = 0, green = 0, blue = 0] = (color.match(/[\da-f]{2}/g) ?? []).map((part) =>
        Number.parseInt(part, 16),
      );
      return blue > Math.max(red, green) ? "blue" : color;
    };

    const hasBackground = (page: Page, color: string) =>
      page.waitForFunction((wanted) => {
        const app = document.querySelector(".reference-live .scalar-app");
        return app !== null && getComputedStyle(app).backgroundColor === wanted;
      }, color);

    test("the text fits, and axe finds nothing in it, in both modes at both widths", async () => {
      await using visitor = await open("/api");
      expect(await misfits(visitor.page)).toEqual([]);
      await leaveOut(visitor.page, [alike]);
      expect(await axeFaults(visitor.page)).toEqual([]);
    });
  });
}
