// Tests the site's only island: when it is hydrated, and what happens to earlier presses.

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { narrow, type SiteBrowser } from "./site-browser.ts";

const code = "**/assets/simulator-*.js";
const alive = (page: Page) => page.locator("[data-island][data-alive]").waitFor();
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const readyOf = async (page: Page) =>
  Number(/(\d+) ready/.exec(String(await page.locator(".sim-partition").textContent()))?.[1]);

export function testSimulator(browser: () => SiteBrowser): void {
  describe("the simulator", () => {
    test("comes alive by itself, and plays, while nothing moves and nothing is pressed", async () => {
      await using visitor = await browser().fresh({ reducedMotion: "no-preference" });
      const { page, errors, visit } = visitor;
      await visit("/");
      await alive(page);
      const time = page.getByLabel("Time in the model");
      const before = String(await time.textContent());
      await page.waitForFunction(
        (text) => document.querySelector(".sim-partition output")?.textContent !== text,
        before,
      );
      expect(errors).toEqual([]);
    });

    test("on 2g its code is not asked for before the reader moves", async () => {
      const connection = { effectiveType: "2g" };
      await using visitor = await browser().fresh({ connection });
      const { page, requests, visit } = visitor;
      await visit("/");
      await page.evaluate(
        () => new Promise((resolve) => requestIdleCallback(() => requestIdleCallback(resolve))),
      );
      expect(requests.filter((url) => url.includes("/simulator-"))).toEqual([]);
      await page.mouse.move(20, 20);
      await alive(page);
    });

    test("what is pressed and chosen before its code has come is done once it has, in order", async () => {
      await using visitor = await browser().fresh();
      const { page, errors, visit } = visitor;
      const gate = Promise.withResolvers<void>();
      await page.route(code, async (route) => {
        await gate.promise;
        await route.continue();
      });
      await visit("/");
      const ready = await readyOf(page);
      await button(page, "Produce 5").click();
      await button(page, "Produce 1").click();
      await button(page, "Crash worker-1").click();
      await page.getByLabel("items come and workers work by themselves").click();
      const timeout = page.getByRole("slider");
      await timeout.focus();
      await page.keyboard.press("End");
      await page.getByLabel("max_attempts").selectOption("5");
      expect(await readyOf(page)).toBe(ready);
      gate.resolve();
      await alive(page);
      await button(page, "Restart worker-1").waitFor();
      expect(await readyOf(page)).toBe(ready + 6);
      expect(await page.locator(".sim-rules").textContent()).toContain("12s");
      expect(await timeout.inputValue()).toBe("12");
      expect(await page.getByLabel("max_attempts").inputValue()).toBe("5");
      expect(await page.getByRole("checkbox").isChecked()).toBe(false);
      // From then on it is controlled by hand.
      await button(page, "Lease worker-2").waitFor();
      // Later presses take effect once.
      await button(page, "Produce 1").click();
      expect(await readyOf(page)).toBe(ready + 7);
      expect(errors).toEqual([]);
    });

    test("the first tap on a phone counts, before the page's script has come too", async () => {
      await using visitor = await browser().fresh({ viewport: narrow, hasTouch: true });
      const { page, errors, mounted } = visitor;
      const gate = Promise.withResolvers<void>();
      await page.route("**/*.js", async (route) => {
        await gate.promise;
        await route.continue();
      });
      await page.goto(`${browser().url}/`, { waitUntil: "commit" });
      const ready = await readyOf(page);
      await button(page, "Produce 5").tap();
      gate.resolve();
      await mounted();
      await alive(page);
      await page.getByText(`${ready + 5} ready`).waitFor();
      expect(errors).toEqual([]);
    });

    test("without scripts what would do nothing is not shown", async () => {
      await using visitor = await browser().fresh({ javaScriptEnabled: false });
      const { page } = visitor;
      await page.goto(`${browser().url}/`);
      expect(await page.locator(".sim-partition").isVisible()).toBe(true);
      expect(await page.locator(".sim").getByRole("button").count()).toBe(0);
      expect(await page.locator(".sim-rules").isVisible()).toBe(false);
    });
  });
}
