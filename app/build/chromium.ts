// A browser for tests, pictures and measurements.

import { type Browser, chromium } from "playwright-core";
import { chromiumPath } from "./chromium-path.ts";

export async function launchChromium(
  flags: readonly string[] = [],
  executablePath: string | null = chromiumPath(),
): Promise<Browser> {
  if (executablePath === null) {
    throw new Error("Chromium is not installed; name its program in CHROMIUM");
  }
  return await chromium.launch({
    executablePath,
    // Lighthouse asks whether a page may rest in the back and forward cache.
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-dev-shm-usage",
      ...flags,
    ],
  });
}
