// The search dialog.

import { expect, test } from "bun:test";
import { lazyDelayMs } from "../config/constants.ts";
import { hasFocus, type SiteBrowser } from "./site-browser.ts";

export function testSearch(browser: () => SiteBrowser): void {
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
    await dialog.waitFor({ state: "detached" });
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
    // What a browser does at Escape, and a key before its task that tells of the end.
    await dialog.evaluate(async (element: HTMLDialogElement) => {
      element.requestClose();
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }));
      await new Promise((told) => setTimeout(told, 100));
    });
    expect(await dialog.isVisible()).toBe(true);
  });

  test("search: what loads it shows once it has taken a moment, and not before", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    await visit("/docs/intro");
    const code = Promise.withResolvers<void>();
    await page.route("**/assets/search-dialog*.js", async (route) => {
      await code.promise;
      await route.continue();
    });
    await page.evaluate(() => {
      // Before the page hears of it, whose clock starts then.
      const heard = () => {
        const pressed = performance.now();
        new MutationObserver((_, observer) => {
          if (document.querySelector(".progress") === null) return;
          observer.disconnect();
          document.documentElement.dataset["progressAfter"] = String(performance.now() - pressed);
        }).observe(document.body, { childList: true, subtree: true });
      };
      addEventListener("keydown", heard, { capture: true });
    });
    await page.keyboard.press("Control+k");
    await page.getByRole("progressbar", { name: "Loading search" }).waitFor({ state: "attached" });
    const after = await page.locator("html").getAttribute("data-progress-after");
    expect(Number(after)).toBeGreaterThanOrEqual(lazyDelayMs - 5);
    code.resolve();
    await page.getByRole("combobox").waitFor();
    expect(await page.locator(".progress").count()).toBe(0);
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
    await box.waitFor({ state: "detached" });
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
