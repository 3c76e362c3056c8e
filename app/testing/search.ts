// Tests the search dialog.

import { expect, test } from "bun:test";
import { lazyDelayMs } from "../config/constants.ts";
import { hasFocus, type SiteBrowser } from "./site-browser.ts";

const typed = "dead queue attempts";
const delaysMs = [0, 20, 50, 100, 150];
const everyScript = "**/*.js";
const index = "**/search.json";

export function testSearch(browser: () => SiteBrowser): void {
  test.each([
    { when: "before any code of the page is there", held: [everyScript, index], isLoaded: false },
    { when: "before the code of the results is there", held: [everyScript, index], isLoaded: true },
    { when: "before the index is there", held: [index], isLoaded: true },
    { when: "in a loaded page", held: [], isLoaded: true },
  ])("search: no key is lost, however fast: $when", async ({ held, isLoaded }) => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    for (const delay of delaysMs) {
      const released = Promise.withResolvers<void>();
      if (isLoaded) await visit("/docs/intro");
      for (const address of held) {
        await page.route(address, async (route) => {
          await released.promise;
          await route.continue();
        });
      }
      if (!isLoaded) await page.goto(`${browser().url}/docs/intro`, { waitUntil: "commit" });
      await page.locator(".search-button").waitFor();
      await page.keyboard.press("Control+k");
      await page.keyboard.type(typed, { delay });
      const box = page.getByRole("combobox");
      if (held.length > 0) expect([delay, await box.inputValue()]).toEqual([delay, typed]);
      released.resolve();
      await page.getByRole("option").first().waitFor();
      expect([delay, await box.inputValue()]).toEqual([delay, typed]);
      await page.unrouteAll();
    }
  });

  test("search: opens by its keys, not while typing; nothing is loaded before", async () => {
    await using visitor = await browser().fresh();
    const { page, requests, visit } = visitor;
    await visit("/docs/intro");
    const dialog = page.getByRole("dialog", { name: "Search" });
    expect(requests.some((url) => /search/.test(url))).toBe(false);
    await page.keyboard.press("/");
    await dialog.waitFor();
    await page.keyboard.press("/");
    expect(await page.getByRole("combobox").inputValue()).toBe("/");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await page.keyboard.press("Control+k");
    await dialog.waitFor();
  });

  test("search: asked for again in the moment in which Escape closes it, it is open", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    await visit("/docs/intro");
    await page.keyboard.press("Control+k");
    const dialog = page.getByRole("dialog", { name: "Search" });
    await dialog.waitFor();
    // Imitates Escape in a browser, and a key before the task that reports the closing.
    await dialog.evaluate(async (element: HTMLDialogElement) => {
      element.requestClose();
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }));
      await new Promise((told) => setTimeout(told, 100));
    });
    expect(await dialog.isVisible()).toBe(true);
  });

  test("search: that it loads is said once it has taken a moment, and not before", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    const released = Promise.withResolvers<void>();
    await page.route(index, async (route) => {
      await released.promise;
      await route.continue();
    });
    await visit("/docs/intro");
    await page.evaluate(() => {
      const pressed = performance.now();
      const state = document.querySelector(".search-state") as Element;
      new MutationObserver((_, observer) => {
        observer.disconnect();
        document.documentElement.dataset["saidAfter"] = String(performance.now() - pressed);
      }).observe(state, { childList: true });
    });
    await page.keyboard.press("Control+k");
    await page.getByRole("status").filter({ hasText: "Loading …" }).waitFor();
    const after = await page.locator("html").getAttribute("data-said-after");
    expect(Number(after)).toBeGreaterThanOrEqual(lazyDelayMs - 5);
    released.resolve();
    await page.getByRole("status").filter({ hasText: "Type to search." }).waitFor();
  });

  test("search: on a Mac its button names the key that is there", async () => {
    for (const [platform, keys] of Object.entries({ MacIntel: "⌘K", "Linux x86_64": "Ctrl K" })) {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      await page.addInitScript(
        (value) => Object.defineProperty(navigator, "platform", { value }),
        platform,
      );
      await visit("/docs/intro");
      const shown = page.locator(".search-button kbd").filter({ visible: true });
      expect(await shown.allTextContents()).toEqual([keys]);
    }
  });

  test("search: arrows choose, Enter visits, the place is remembered; Escape gives the focus back", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    await visit("/docs/intro");
    const button = page.locator(".search-button");
    await button.click();
    const box = page.getByRole("combobox");
    await box.waitFor();
    await page.keyboard.press("Escape");
    await box.waitFor({ state: "hidden" });
    expect(await hasFocus(button)).toBe(true);
    await button.click();
    await box.fill("group commit");
    await page.getByRole("option").first().waitFor();
    const marks = page.getByRole("option").first().locator("strong mark");
    expect(await marks.allTextContents()).toEqual(["Group", "commit"]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/architecture#group-commit");
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Group commit" }).first().waitFor();
  });
}
