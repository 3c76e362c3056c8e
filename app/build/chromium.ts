// A browser for tests, pictures and measurements.

import { type Browser, chromium, type LaunchOptions } from "playwright-core";
import { chromiumPath } from "./chromium-path.ts";

export async function launchChromium(
  flags: readonly string[] = [],
  executablePath: string | null = chromiumPath(),
  options: LaunchOptions = {},
): Promise<Browser> {
  if (executablePath === null) {
    throw new Error("Chromium is not installed; name its program in CHROMIUM");
  }
  return await chromium.launch({
    executablePath,
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
    ...options,
  });
}
