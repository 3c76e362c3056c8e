// Finds misfits: pages wider than the window, and controls that are too small to press.

import type { Page } from "playwright-core";
import { narrow, wide } from "./site-browser.ts";

/** Minimum size for a pointer, and for a finger. */
const targetPxMin = { wide: 24, narrow: 44 } as const;

/**
 * Smaller controls of the page. Links within running text are exempt: they have the height of the
 * line.
 */
function smallTargets(page: Page, pxMin: number): Promise<readonly string[]> {
  return page.evaluate((min) => {
    const controls = document.querySelectorAll(
      "a[href], button, summary, select, input:not([type=checkbox], [type=range]), [role=tab]",
    );
    return [...controls].flatMap((control) => {
      const isRunning = getComputedStyle(control).display === "inline";
      if (isRunning || !control.checkVisibility()) return [];
      const { width, height } = control.getBoundingClientRect();
      // Fractional layout may end slightly beside the pixel.
      const isLarge = Math.min(width, height) >= min - 0.5;
      return isLarge ? [] : [`${control.outerHTML.slice(0, 120)} is ${width} x ${height}`];
    });
  }, pxMin);
}

/** Checks both widths; it ends wide. */
export async function misfits(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [viewport, pxMin] of [
    [narrow, targetPxMin.narrow],
    [wide, targetPxMin.wide],
  ] as const) {
    await page.setViewportSize(viewport);
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (beyond > 0) found.push(`${viewport.width} px: ${beyond} px are beside the window`);
    found.push(...(await smallTargets(page, pxMin)));
  }
  return found;
}
