// What is pressed has to be large enough for who presses it.

import type { Page } from "playwright-core";

/** For a pointer, and for a finger. */
export const targetPxMin = { wide: 24, narrow: 44 } as const;

/**
 * Controls of the page that are smaller; a link that runs on within a text is as high as its
 * line. The reference of the API has the sizes that Scalar gives it.
 */
export function smallTargets(page: Page, pxMin: number): Promise<readonly string[]> {
  return page.evaluate((min) => {
    const controls = document.querySelectorAll(
      "a[href], button, summary, select, input:not([type=checkbox], [type=range]), [role=tab]",
    );
    return [...controls].flatMap((control) => {
      const isRunning = getComputedStyle(control).display === "inline";
      if (isRunning || !control.checkVisibility() || control.closest(".scalar-app") !== null) {
        return [];
      }
      const { width, height } = control.getBoundingClientRect();
      // What is laid out in fractions ends a little beside the pixel.
      const isLarge = Math.min(width, height) >= min - 0.5;
      return isLarge ? [] : [`${control.outerHTML.slice(0, 120)} is ${width} x ${height}`];
    });
  }, pxMin);
}
