import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { hasFullMatrices } from "../../testing/matrices.ts";
import { isWiderThanWindow, middle, narrow, wide } from "./console-browser.ts";
import { twinsOn } from "./twins.ts";

const source = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** The rules whose result depends on the mode. */
const colorRules = ["color-contrast", "link-in-text-block"];
const allRules = axe
  .getRules(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"])
  .filter(({ tags }) => !tags.includes("experimental") && !tags.includes("deprecated"))
  .map(({ ruleId }) => ruleId);

/** Checks the page in its mode. */
export async function axeFaults(
  page: Page,
  rules: readonly string[] = allRules,
): Promise<readonly string[]> {
  // Evaluated, because the page's policy forbids another script.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source);
  return await page.evaluate(
    async (values) => {
      const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(
        document,
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
    [...rules],
  );
}

/** Checks the page in both modes; it ends in the other one. */
export async function axeFaultsInBothModes(page: Page): Promise<readonly string[]> {
  const faults = await axeFaults(page);
  const other = await page.evaluate(() => {
    const { dataset } = document.documentElement;
    dataset["theme"] = dataset["theme"] === "dark" ? "light" : "dark";
    return dataset["theme"];
  });
  const faultsOfOther = await axeFaults(page, hasFullMatrices ? allRules : colorRules);
  return [...faults, ...faultsOfOther.map((fault) => `${other}: ${fault}`)];
}

/** Checks one load of the page at each width in both modes; it ends narrow. */
export async function lookFaults(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const viewport of hasFullMatrices ? [wide, middle, narrow] : [wide, narrow]) {
    await page.setViewportSize(viewport);
    const faults = [...(await axeFaultsInBothModes(page)), ...(await twinsOn(page))];
    if (await isWiderThanWindow(page)) faults.push("it is wider than the window");
    found.push(...faults.map((fault) => `${viewport.width} px: ${fault}`));
  }
  return found;
}
