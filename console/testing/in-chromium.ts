// Runs suites in one Chromium, against real servers; skips them if there is no Chromium.

import { afterAll, beforeAll, describe } from "bun:test";
import { shellPath } from "../../scripts/chromium.ts";
import { type ConsoleBrowser, openConsoleBrowser } from "./console-browser.ts";

export function inChromium(suites: readonly ((browser: () => ConsoleBrowser) => void)[]): void {
  const describing = shellPath() === null ? describe.skip : describe;
  describing("in Chromium", () => {
    let opened: ConsoleBrowser | null = null;
    const browser = () => {
      if (opened === null) throw new Error("Chromium is not open");
      return opened;
    };
    beforeAll(async () => {
      opened = await openConsoleBrowser();
    });
    afterAll(async () => {
      await opened?.close();
    });
    for (const suite of suites) suite(browser);
  });
}
