// Accessibility by axe: of a page, in both modes and at two widths, and with menus and
// dialogs open.

import { describe, expect, test } from "bun:test";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { narrow, type SiteBrowser } from "./site-browser.ts";

/** Here the colours of the shell and of code are looked at, which are the same everywhere. */
const wholePages = ["/", "/docs/intro"];
/** Of what repeats, the first few have all the faults there are. */
const repeated = [".code-body", ".setting:nth-child(n+5)", "tbody tr:nth-child(n+5)"];

const colorRules = ["color-contrast", "link-in-text-block"];
const structureRules = axe
  .getRules(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"])
  .filter(({ ruleId, tags }) => !colorRules.includes(ruleId) && !tags.includes("experimental"))
  .map(({ ruleId }) => ruleId);

interface Look {
  readonly rules: readonly string[];
  readonly within?: string;
  readonly without?: readonly string[];
}

async function faultsOf(page: Page, { rules, within = "html", without = [] }: Look) {
  const { violations } = await page.evaluate(
    ({ include, exclude, values }) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(
        { include, exclude },
        { runOnly: { type: "rule", values }, resultTypes: ["violations"] },
      ),
    { include: [[within]], exclude: without.map((one) => [one]), values: [...rules] },
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

async function setTheme(page: Page, theme: "dark" | "light"): Promise<void> {
  await page.evaluate((name) => {
    document.documentElement.dataset["theme"] = name;
  }, theme);
}

/** A page in both modes and at both widths, from one load; it ends light and narrow. */
export async function axeFaults(page: Page, path: string): Promise<readonly string[]> {
  const isWhole = wholePages.includes(path);
  const without = isWhole ? [] : repeated;
  const structure = { rules: structureRules, without };
  const colors = { rules: colorRules, without, within: isWhole ? "html" : "main" };
  await page.evaluate(axe.source);
  const found = [...(await faultsOf(page, structure)), ...(await faultsOf(page, colors))];
  await setTheme(page, "light");
  found.push(...(await faultsOf(page, colors)));
  await page.setViewportSize(narrow);
  found.push(...(await faultsOf(page, structure)));
  return found;
}

export function testAxe(browser: () => SiteBrowser): void {
  describe("axe finds nothing", () => {
    test("with menus and dialogs open, in both modes", async () => {
      const { page, visit } = await browser().fresh();
      const found: string[] = [];
      const look = async (within: string) => {
        found.push(...(await faultsOf(page, { rules: structureRules })));
        for (const theme of ["light", "dark"] as const) {
          await setTheme(page, theme);
          found.push(...(await faultsOf(page, { rules: colorRules, within })));
        }
      };
      await visit("/blog/tags");
      await page.evaluate(axe.source);
      await page.locator(".dropdown button").first().click();
      await page.locator(".dropdown-menu").first().waitFor();
      await look("header");
      await page.keyboard.press("Escape");
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
      const { page } = await browser().fresh({ viewport: narrow });
      await page.route("**/*.js", (route) => route.abort());
      await page.goto(`${browser().url}/blog/tags`);
      await page.evaluate(axe.source);
      await page.locator("summary[aria-label=Menu]").click();
      const found = await faultsOf(page, { rules: [...structureRules, ...colorRules] });
      await setTheme(page, "light");
      found.push(...(await faultsOf(page, { rules: colorRules, within: "header" })));
      expect(found).toEqual([]);
    });
  });
}
