// Tests of the site that need Chromium. The suites are in testing/; they share one Chromium and run
// concurrently, on a few open pages.

import { beforeAll, describe } from "bun:test";
import { shellPath } from "../scripts/chromium.ts";
import { testAxe } from "./testing/axe.ts";
import { testFirstSteps } from "./testing/first-steps.ts";
import { testKeyboard } from "./testing/keyboard.ts";
import { testPages } from "./testing/pages.ts";
import { testReference } from "./testing/reference.ts";
import { testSearch } from "./testing/search.ts";
import { testShell } from "./testing/shell.ts";
import { testSimulator } from "./testing/simulator.ts";
import { type SiteBrowser, siteBrowser } from "./testing/site-browser.ts";
import { testVisits } from "./testing/visits.ts";

const inChromium = shellPath() === null ? describe.skip : describe.concurrent;

inChromium("in Chromium", () => {
  let opened: SiteBrowser | null = null;
  const browser = () => {
    if (opened === null) throw new Error("Chromium is not open");
    return opened;
  };

  beforeAll(async () => {
    opened = await siteBrowser();
  });

  // The slowest suite starts first, so that it does not run alone at the end.
  testReference(browser);
  testFirstSteps(browser);
  testPages(browser);
  testShell(browser);
  testVisits(browser);
  testSimulator(browser);
  testSearch(browser);
  testKeyboard(browser);
  testAxe(browser);
});
