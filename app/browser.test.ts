// The site in Chromium: what only a browser can show. The suites are in browser/; they
// share one Chromium and run side by side, on the few pages that it keeps open.

import { beforeAll, describe, setDefaultTimeout } from "bun:test";
import { testAxe } from "./browser/axe.ts";
import { testKeyboard } from "./browser/keyboard.ts";
import { testPages } from "./browser/pages.ts";
import { testReference } from "./browser/reference.ts";
import { testSamples } from "./browser/samples.ts";
import { testSearch } from "./browser/search.ts";
import { testShell } from "./browser/shell.ts";
import { browserTestTimeoutMs, type SiteBrowser, siteBrowser } from "./browser/site-browser.ts";
import { testVisits } from "./browser/visits.ts";
import { shellPath } from "./build/chromium-path.ts";
import { buildTimeoutMs } from "./build/ensure-built.ts";

setDefaultTimeout(browserTestTimeoutMs);

const inChromium = shellPath() === null ? describe.skip : describe.concurrent;

inChromium("in Chromium", () => {
  let opened: SiteBrowser | null = null;
  const browser = () => {
    if (opened === null) throw new Error("Chromium is not open");
    return opened;
  };

  beforeAll(async () => {
    opened = await siteBrowser();
  }, buildTimeoutMs);

  // It takes longest, so that it does not end alone.
  testReference(browser);
  testPages(browser);
  testShell(browser);
  testVisits(browser);
  testSearch(browser);
  testKeyboard(browser);
  testSamples(browser);
  testAxe(browser);
});
