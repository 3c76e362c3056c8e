// Checks accessibility with axe: a page in both modes, one of each layout at both widths, and with
// menus and dialogs open.

import { describe, expect, test } from "bun:test";
import axe from "axe-core";
import type { Page, ViewportSize } from "playwright-core";
import { hasFullMatrices } from "../../testing/matrices.ts";
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
/** `misfits.ts` measures the controls of every page. */
const pageRules = allRules.filter((id) => id !== "target-size");

interface Extent {
  readonly texts?: Texts;
  /** Looks that were checked, to which those of the page are added. */
  readonly seen?: Set<string>;
  readonly within?: string;
}

/** Faults within the element; colours are checked only for the marked texts. */
async function faultsOf(
  page: Page,
  rules: readonly string[],
  { texts = "all", seen = new Set(), within = "html" }: Extent = {},
): Promise<readonly string[]> {
  const known = [...seen];
  const looks = await page.evaluate(markTexts, { mark: textMark, texts, known });
  for (const look of looks) seen.add(look);
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
function leaveOut(page: Page, repetitions: readonly Repeated[]): Promise<void> {
  return page.evaluate((all) => {
    const gone = all.flatMap(({ selector, keptCount }) =>
      [...document.querySelectorAll(selector)].slice(keptCount),
    );
    for (const element of gone) element.remove();
  }, repetitions);
}

interface Look {
  readonly texts: Texts;
  readonly seen: Set<string>;
  readonly rules: readonly string[];
  readonly viewports: readonly ViewportSize[];
}

/** Checks one load of a page at each width in both modes, in the second one only colours. */
async function axeFaults(
  page: Page,
  { texts, seen, rules, viewports }: Look,
): Promise<readonly string[]> {
  await loadAxe(page);
  const found: string[] = [];
  for (const viewport of viewports) {
    await page.setViewportSize(viewport);
    for (const theme of ["dark", "light"] as const) {
      await setTheme(page, theme);
      const own = theme === "dark" || hasFullMatrices ? rules : colorRuleIds;
      const faults = await faultsOf(page, own, { texts, seen });
      found.push(...faults.map((fault) => `${viewport.width} px, ${theme}: ${fault}`));
    }
  }
  return found;
}

interface Walk {
  readonly path: string;
  /** Whether the page represents a layout: it is checked at both widths, in full. */
  readonly isLayout: boolean;
  /** Looks that were checked on pages before. */
  readonly seen: Set<string>;
}

/** Checks a page without its repeated elements. */
export async function axeFaultsAt(
  page: Page,
  { path, isLayout, seen }: Walk,
): Promise<readonly string[]> {
  const isWhole = wholePages.includes(path);
  if (!isWhole) await leaveOut(page, repeated);
  return await axeFaults(page, {
    texts: isWhole ? "all" : "one of each look",
    ...(isLayout || hasFullMatrices
      ? { seen: new Set(), rules: allRules, viewports: [wide, narrow] }
      : { seen, rules: pageRules, viewports: [wide] }),
  });
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
