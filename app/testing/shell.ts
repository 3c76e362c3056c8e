// Tests the shell: colour mode, announcement, navigation bar, drawer, tabs, copying.

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { desktopWidthMin, sidebarWidth } from "../config/constants.ts";
import { siteConfig } from "../site-config.ts";
import { hasFocus, narrow, type SiteBrowser } from "./site-browser.ts";

export function testShell(browser: () => SiteBrowser): void {
  test("colour mode: dark, system, light, dark; the choice is kept, the system followed", async () => {
    await using visitor = await browser().fresh({ colorScheme: "light" });
    const { page, visit, mounted } = visitor;
    await visit("/docs/intro");
    const toggle = page.locator(".navbar-right .color-mode-toggle");
    const mode = () =>
      page.evaluate(() => {
        const { theme, themeChoice } = document.documentElement.dataset;
        return [themeChoice, theme];
      });
    expect(await mode()).toEqual(["dark", "dark"]);
    await toggle.click();
    expect(await mode()).toEqual(["system", "light"]);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator('html[data-theme="dark"]').waitFor({ state: "attached" });
    await page.reload({ waitUntil: "commit" });
    await mounted();
    expect(await mode()).toEqual(["system", "dark"]);
    await toggle.click();
    expect(await mode()).toEqual(["light", "light"]);
    await toggle.click();
    expect(await mode()).toEqual(["dark", "dark"]);
  });

  test("the announcement is closed for good, and its place is empty before any code runs", async () => {
    await using visitor = await browser().fresh();
    const { page, visit } = visitor;
    await visit("/blog");
    const bar = page.locator(".announcement");
    await page.getByRole("button", { name: "Close announcement" }).click();
    expect(await bar.isVisible()).toBe(false);
    // A failed request would be repeated, so it is left unanswered.
    await page.route("**/*.js", () => undefined);
    await page.reload({ waitUntil: "domcontentloaded" });
    expect(await bar.isVisible()).toBe(false);
    await page.evaluate(() => localStorage.setItem("announcement.dismissed", "an-older-one"));
    await page.reload({ waitUntil: "domcontentloaded" });
    expect(await bar.isVisible()).toBe(true);
  });

  test("typefaces: with the first page at a desk; on a phone for the pages after it, once the reader moves", async () => {
    const faces = (page: Page) =>
      page.evaluate(() =>
        [...document.fonts].flatMap(({ family, status }) =>
          status === "loaded" && !family.includes("Fallback") ? [family.replaceAll('"', "")] : [],
        ),
      );
    const own = ["Atkinson Hyperlegible Next", "Atkinson Hyperlegible Next", "Bricolage Grotesque"];
    const fonts = (requests: readonly string[]) =>
      requests.filter((url) => url.endsWith(".woff2")).length;
    await using desk = await browser().fresh();
    await desk.visit("/docs/intro");
    await desk.page.evaluate(() => document.fonts.ready);
    expect((await faces(desk.page)).sort()).toEqual(own);

    await using phone = await browser().fresh({ viewport: narrow });
    await phone.visit("/docs/intro");
    await phone.page.evaluate(() => document.fonts.ready);
    expect([fonts(phone.requests), await faces(phone.page)]).toEqual([0, []]);
    await phone.page.mouse.move(20, 20);
    await phone.page.waitForFunction(() => localStorage.getItem("fonts") !== null);
    expect([fonts(phone.requests), await faces(phone.page)]).toEqual([3, []]);
    await phone.visit("/docs/faq");
    await phone.page.evaluate(() => document.fonts.ready);
    expect((await faces(phone.page)).sort()).toEqual(own);

    await using saver = await browser().fresh({ viewport: narrow, connection: { saveData: true } });
    await saver.visit("/docs/intro");
    await saver.page.mouse.move(20, 20);
    await saver.page.waitForTimeout(0);
    expect(fonts(saver.requests)).toBe(0);
  });

  describe("navigation bar", () => {
    test("hides on the way down, shows on the way up and near the top", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      await visit("/docs/faq");
      for (const [top, isShown] of [
        [40, true],
        [600, false],
        [500, true],
        [900, false],
        [10, true],
      ] as const) {
        await page.evaluate((y) => scrollTo({ top: y, behavior: "instant" }), top);
        await shownIs(page, isShown);
      }
    });

    test("a link to a place in the page hides it", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      await visit("/docs/faq");
      await page.locator(".toc a").nth(2).click();
      await shownIs(page, false);
      await page.locator('.toc a[aria-current="location"]').waitFor();
    });

    test("a dropdown closes on a press, a touch or a focus elsewhere, and on Escape", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      await visit("/docs/intro");
      const opener = page.locator(".dropdown summary").first();
      const menu = page.locator(".dropdown-menu").first();
      const leave = [
        () => page.locator("h1").click(),
        () => page.locator(".navbar-brand").focus(),
        () => page.locator("main").dispatchEvent("touchstart"),
        () => page.keyboard.press("Escape"),
      ];
      for (const act of leave) {
        await opener.click();
        await menu.waitFor();
        await act();
        await menu.waitFor({ state: "hidden" });
      }
      expect(await hasFocus(opener)).toBe(true);
    });

    test("up to 996 px there is the drawer's button, beyond that the whole bar", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      await visit("/docs/intro");
      const seen = async (width: number) => {
        await page.setViewportSize({ width, height: 800 });
        return [
          await page.locator(".menu-button").isVisible(),
          await page.locator(".docs-sidebar").isVisible(),
        ];
      };
      expect(await seen(desktopWidthMin)).toEqual([true, false]);
      expect(await seen(desktopWidthMin + 1)).toEqual([false, true]);
      expect((await page.locator(".docs-sidebar").boundingBox())?.width).toBe(sidebarWidth);
    });

    test("a version that is chosen is kept, under the name of its docs", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      await visit("/docs/faq");
      const stored = () => page.evaluate(() => localStorage.getItem("docs.version.default"));
      expect(await stored()).toBeNull();
      await page.locator(".dropdown summary", { hasText: "Next" }).click();
      await page.locator(".dropdown-menu a", { hasText: "Next" }).click();
      await page.waitForFunction(() => localStorage.getItem("docs.version.default") === "current");
      expect(new URL(page.url()).pathname).toBe("/docs/faq");
    });

    test("a link to another language keeps the query and the hash", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      await visit("/docs/faq?a=1#order");
      await page.locator(".dropdown summary", { hasText: "English" }).click();
      const link = page.locator(".dropdown-menu a", { hasText: "English" });
      expect(await link.getAttribute("href")).toBe("/docs/faq");
      await link.click();
      expect(await link.getAttribute("href")).toEndWith("/docs/faq?a=1#order");
      expect(page.url()).toBe(`${browser().url}/docs/faq?a=1#order`);
    });
  });

  test("drawer: the page's own menu first, the main one behind a button; a visit closes it", async () => {
    await using visitor = await browser().fresh({ viewport: narrow });
    const { page, visit } = visitor;
    await visit("/docs/intro");
    const menuButton = page.locator(".menu-button");
    await menuButton.click();
    const drawer = page.getByRole("dialog", { name: "Menu" });
    await drawer.waitFor();
    const groups = Object.values(siteConfig.docs.sidebars).flat();
    expect(await drawer.locator(".menu-group h2").allTextContents()).toEqual(
      groups.map(({ label }) => label),
    );
    expect(await drawer.locator(".menu a").count()).toBe(
      groups.flatMap((group) => group.docs).length,
    );
    await drawer.getByRole("button", { name: "Back to main menu" }).click();
    await drawer.getByRole("link", { name: "Get Started" }).waitFor();
    // Version and language are the reader's own, so both lists are open.
    for (const list of await drawer.locator("details").all()) {
      expect(await list.getAttribute("open")).toBe("");
    }
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden" });
    expect(await hasFocus(menuButton)).toBe(true);
    await menuButton.click();
    await drawer.getByRole("link", { name: "Questions" }).click();
    await page.waitForURL("**/docs/faq");
    await drawer.waitFor({ state: "hidden" });
  });

  test("tabs: arrows move, tabs of one group change together, the choice is kept", async () => {
    await using visitor = await browser().fresh();
    const { page, visit, mounted } = visitor;
    await visit("/docs/quick-start");
    const list = page.getByRole("tablist").first();
    await list.getByRole("tab").first().focus();
    await page.keyboard.press("ArrowRight");
    const chosen = (await list.getByRole("tab").nth(1).textContent()) ?? "";
    const selected = page.locator('[role="tab"][aria-selected="true"]', { hasText: chosen });
    await selected.first().waitFor();
    const group = page.locator(`[role="tablist"]:has([role="tab"]:text-is("${chosen}"))`);
    expect(await selected.count()).toBe(await group.count());
    await page.reload({ waitUntil: "commit" });
    await mounted();
    await selected.first().waitFor();
  });

  test("copy: the code as it stands, and the page as Markdown", async () => {
    const permissions = ["clipboard-read", "clipboard-write"];
    await using visitor = await browser().fresh({ permissions });
    const { page, visit } = visitor;
    await visit("/docs/intro");
    const code = await browser().copiedBy(
      () => page.locator(".code-copy").first().click(),
      page.getByRole("button", { name: "Copied" }).first(),
    );
    expect(code).toBe(((await page.locator("pre").first().textContent()) ?? "").trimEnd());
    const text = await browser().copiedBy(
      () => page.getByRole("button", { name: "Copy page" }).click(),
      page.locator(".page-actions button:has-text('Copied')"),
    );
    expect(text).toStartWith("# ");
  });
}

async function shownIs(page: Page, isShown: boolean): Promise<void> {
  await page.locator(`.navbar[data-shown="${isShown}"]`).waitFor({ state: "attached" });
}
