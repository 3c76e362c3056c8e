// Checks accessibility with axe: a page in both modes and at both widths, and with menus and
// dialogs open.

import { describe, expect, test } from "bun:test";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { markTexts, type Texts, textMark } from "./looks.ts";
import { axePath, narrow, type SiteBrowser, wide } from "./site-browser.ts";

/** Pages checked completely. */
const wholePages = ["/", "/docs/intro"];
/** On other pages, the first few of repeated elements show every fault. */
const repeated: readonly Repeated[] = [
  { selector: ".code-body", keptCount: 2 },
  { selector: ".setting:nth-child(n+5)", keptCount: 0 },
  { selector: "tbody tr:nth-child(n+5)", keptCount: 0 },
];

interface Repeated {
  readonly selector: string;
  readonly keptCount: number;
}

/** Rules for the texts that `looks.ts` marks. */
const colorRules = [
  { id: "color-contrast", selector: `[${textMark}]` },
  { id: "link-in-text-block", selector: `a[href][${textMark}]` },
];
const colorRuleIds = colorRules.map(({ id }) => id);
const structureRules = axe
  .getRules(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"])
  .filter(({ ruleId, tags }) => !colorRuleIds.includes(ruleId) && !tags.includes("experimental"))
  .map(({ ruleId }) => ruleId);

const allRules = [...structureRules, ...colorRuleIds];

interface Extent {
  readonly texts?: Texts;
  readonly within?: string;
}

/** Faults within the element; colours are checked only for the marked texts. */
async function faultsOf(
  page: Page,
  rules: readonly string[],
  { texts = "all", within = "html" }: Extent = {},
): Promise<readonly string[]> {
  await page.evaluate(markTexts, { mark: textMark, texts });
  return await page.evaluate(
    async ({ include, values }) => {
      const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(
        { include },
        {
          runOnly: { type: "rule", values },
          resultTypes: ["violations"],
          selectors: false,
          // None of these rules reads the stylesheets.
          preload: { assets: ["media"] },
        },
      );
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
    },
    { include: [[within]], values: [...rules] },
  );
}

/** Loads axe once per loaded page; later calls reuse it. */
async function loadAxe(page: Page): Promise<void> {
  await page.evaluate(
    async ({ src, rules }) => {
      if ("axe" in globalThis) return;
      const loaded = Promise.withResolvers<void>();
      const script = document.createElement("script");
      script.addEventListener("load", () => loaded.resolve());
      script.addEventListener("error", () => loaded.reject(new Error(`${src} did not load`)));
      script.src = src;
      document.head.append(script);
      await loaded.promise;
      script.remove();
      (globalThis as unknown as { axe: typeof axe }).axe.configure({ rules });
    },
    { src: axePath, rules: colorRules },
  );
}

export async function setTheme(page: Page, theme: "dark" | "light"): Promise<void> {
  await page.evaluate((name) => {
    document.documentElement.dataset["theme"] = name;
  }, theme);
}

/** Removes repeated elements, which would cost axe as much as the rest of the page. */
export function leaveOut(page: Page, repetitions: readonly Repeated[]): Promise<void> {
  return page.evaluate((all) => {
    const gone = all.flatMap(({ selector, keptCount }) =>
      [...document.querySelectorAll(selector)].slice(keptCount),
    );
    for (const element of gone) element.remove();
  }, repetitions);
}

/**
 * Checks a page in both modes at both widths, from one load; it ends dark and narrow. Only colours
 * depend on the mode.
 */
export async function axeFaults(
  page: Page,
  texts: Texts = "one of each look",
  themed: (theme: "dark" | "light") => Promise<void> = (theme) => setTheme(page, theme),
): Promise<readonly string[]> {
  await loadAxe(page);
  const found: string[] = [];
  for (const [viewport, themes] of [
    [wide, ["dark", "light"]],
    [narrow, ["light", "dark"]],
  ] as const) {
    await page.setViewportSize(viewport);
    for (const [index, theme] of themes.entries()) {
      await themed(theme);
      const faults = await faultsOf(page, index === 0 ? allRules : colorRuleIds, { texts });
      found.push(...faults.map((fault) => `${viewport.width} px, ${theme}: ${fault}`));
    }
  }
  return found;
}

/** Checks a page without its repeated elements. */
export async function axeFaultsAt(page: Page, path: string): Promise<readonly string[]> {
  if (wholePages.includes(path)) return await axeFaults(page, "all");
  await leaveOut(page, repeated);
  return await axeFaults(page);
}

export function testAxe(browser: () => SiteBrowser): void {
  describe("axe finds nothing", () => {
    test("with menus and dialogs open, in both modes", async () => {
      await using visitor = await browser().fresh();
      const { page, visit } = visitor;
      const found: string[] = [];
      const look = async (within: string) => {
        await setTheme(page, "light");
        found.push(...(await faultsOf(page, structureRules)));
        found.push(...(await faultsOf(page, colorRuleIds, { within })));
        await setTheme(page, "dark");
        found.push(...(await faultsOf(page, colorRuleIds, { within })));
      };
      await visit("/blog/tags");
      await loadAxe(page);
      for (const dropdown of await page.locator(".dropdown").all()) {
        await dropdown.locator("summary").click();
        await dropdown.locator(".dropdown-menu").waitFor();
        await look("header");
        await page.keyboard.press("Escape");
      }
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("lease");
      await page.getByRole("option").first().waitFor();
      await look("dialog.search");
      await page.setViewportSize(narrow);
      await look("dialog.search");
      await page.keyboard.press("Escape");
      await page.locator(".menu-button").click();
      await page.getByRole("dialog", { name: "Menu" }).waitFor();
      await look("dialog.drawer");
      await page.getByRole("button", { name: "Back to main menu" }).click();
      await look("dialog.drawer");
      expect(found).toEqual([]);
    });

    test("with the menu open that works without code", async () => {
      await using visitor = await browser().fresh({ viewport: narrow });
      const { page } = visitor;
      await page.route("**/assets/*.js", () => undefined);
      await page.goto(`${browser().url}/blog/tags`, { waitUntil: "domcontentloaded" });
      await loadAxe(page);
      await page.locator(".menu-button").click();
      const found = [...(await faultsOf(page, allRules))];
      await setTheme(page, "light");
      found.push(...(await faultsOf(page, colorRuleIds, { within: "dialog.drawer" })));
      expect(found).toEqual([]);
    });
  });
}
