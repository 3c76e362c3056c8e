// Tests the site by keyboard: every control is reached with Tab, shows the focus and works.

import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { drawn, narrow, type SiteBrowser } from "./site-browser.ts";

const stepsMax = 60;
const outlinePxMin = 2;

interface Focused {
  readonly name: string;
  /** Width of the focus outline; 0 = none. */
  readonly outlinePx: number;
  readonly isOnScreen: boolean;
}

function focused(page: Page): Promise<Focused> {
  return page.evaluate(() => {
    const element = document.activeElement ?? document.body;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const { top, bottom, width, height } = element.getBoundingClientRect();
    return {
      name: (element.getAttribute("aria-label") ?? element.textContent ?? "").trim(),
      outlinePx: outlineStyle === "none" ? 0 : Number.parseFloat(outlineWidth),
      isOnScreen: width > 0 && height > 0 && bottom > 0 && top < innerHeight,
    };
  });
}

function isInDrawer(page: Page): Promise<boolean> {
  return page.evaluate(() => document.activeElement?.closest("dialog.drawer") !== null);
}

/** Presses Tab until the element is focused; each stop on the way must be visible. */
async function tabTo(page: Page, wanted: RegExp): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < stepsMax; step += 1) {
    await page.keyboard.press("Tab");
    const { name, outlinePx, isOnScreen } = await focused(page);
    passed.push(name.slice(0, 40));
    expect([name, outlinePx >= outlinePxMin, isOnScreen]).toEqual([name, true, true]);
    if (wanted.test(name)) return;
  }
  throw new Error(`Tab does not lead to ${wanted}; it passed ${passed.join(", ")}`);
}

export function testKeyboard(browser: () => SiteBrowser): void {
  test("keyboard: the first stop is the skip link; it leads past the shell, into the content", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    await visit("/docs/intro");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toMatchObject({ name: "Skip to main content", isOnScreen: true });
    await page.keyboard.press("Enter");
    await page.locator("#main:focus").waitFor();
    await tabTo(page, /^Copy page/);
  });

  test("keyboard: banner, menu, search, mode, sidebar, copy and contents, one after the other", async () => {
    const permissions = ["clipboard-read", "clipboard-write"];
    await using visitor = await browser().fresh({ permissions });
    const { page, visit } = visitor;
    await visit("/docs/intro");
    await tabTo(page, /^Close announcement$/);
    await page.keyboard.press("Enter");
    await page.locator(".announcement").waitFor({ state: "hidden" });

    await tabTo(page, /^Search/);
    await page.keyboard.press("Enter");
    await page.getByRole("combobox").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("combobox").waitFor({ state: "hidden" });

    await tabTo(page, /^Next/);
    await page.keyboard.press("Enter");
    await page.locator(".dropdown-menu").first().waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    await page.locator(".dropdown-menu").first().waitFor({ state: "hidden" });
    expect((await focused(page)).name).toBe("Next");

    await tabTo(page, /^Colour mode/);
    await page.keyboard.press("Space");
    await page.locator('html[data-theme-choice="system"]').waitFor({ state: "attached" });

    await tabTo(page, /^Questions$/);
    await tabTo(page, /^Copy code$/);
    const done = page.locator(".code-copy:has-text('Copied')");
    await browser().copiedBy(() => page.keyboard.press("Enter"), done);
  });

  test("keyboard: the drawer opens, keeps the focus, leads back to the main menu, and gives the focus back", async () => {
    await using visitor = await browser().fresh({ viewport: narrow });
    const { page, visit } = visitor;
    await visit("/docs/intro");
    await tabTo(page, /^Menu$/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Menu" }).waitFor();
    await tabTo(page, /^Back to main menu$/);
    await page.keyboard.press("Enter");
    await tabTo(page, /^Get Started$/);
    expect(await isInDrawer(page)).toBe(true);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Menu" }).waitFor({ state: "hidden" });
    expect((await focused(page)).name).toBe("Menu");
  });

  test("keyboard: tabs are one stop; the arrows choose within", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    await visit("/docs/quick-start");
    const list = page.getByRole("tablist").first();
    const labels = await list.getByRole("tab").allTextContents();
    await list.getByRole("tab").first().focus();
    await page.keyboard.press("End");
    expect((await focused(page)).name).toBe(labels.at(-1) ?? "");
    expect((await focused(page)).outlinePx).toBeGreaterThanOrEqual(outlinePxMin);
    await page.keyboard.press("Home");
    expect((await focused(page)).name).toBe(labels[0] ?? "");
    await page.keyboard.press("Tab");
    expect(labels).not.toContain((await focused(page)).name);
  });

  test("keyboard: the contents lead to a section, and Tab goes on from there", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    await visit("/docs/faq");
    await page.locator(".toc a").nth(3).focus();
    const target = await page.locator(".toc a").nth(3).getAttribute("href");
    await page.keyboard.press("Enter");
    await page.waitForFunction((hash) => location.hash === hash, target);
    // The browser updates the starting point of Tab with the next frame.
    await drawn(page);
    await page.keyboard.press("Tab");
    const isAfter = await page.evaluate((hash) => {
      const section = document.getElementById(decodeURIComponent(hash.slice(1)));
      const here = document.activeElement;
      // They follow the text.
      if (section === null || here === null || here.closest(".toc") !== null) return false;
      return (
        section.contains(here) ||
        (section.compareDocumentPosition(here) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
      );
    }, target ?? "");
    expect(isAfter).toBe(true);
  });
}
