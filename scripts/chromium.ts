// Finds Chromium and starts it for tests, pictures and measurements. The check looks for it before
// any package is installed, so the launcher is imported only on use.

import type { Browser, LaunchOptions } from "playwright-core";

const commands = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Chromium without window support, which renders a page in half the time. */
export const shellCommands = ["chromium-headless-shell", "chrome-headless-shell"] as const;

/** `null` = not installed. The variable `CHROMIUM` names its program. */
export function chromiumPath(): string | null {
  return pathOf(commands);
}

/** The headless shell if it is installed, for uses without a window. */
export function shellPath(): string | null {
  return pathOf([...shellCommands, ...commands]);
}

function pathOf(names: readonly string[]): string | null {
  const given = process.env["CHROMIUM"];
  if (given !== undefined && given !== "") return given;
  return names.map((name) => Bun.which(name)).find((path) => path !== null) ?? null;
}

export async function launchChromium(
  flags: readonly string[] = [],
  executablePath: string | null = chromiumPath(),
  options: LaunchOptions = {},
): Promise<Browser> {
  if (executablePath === null) {
    throw new Error("Chromium is not installed; name its program in CHROMIUM");
  }
  const { chromium } = await import("playwright-core");
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
