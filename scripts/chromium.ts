// Where Chromium is, and how it is started for tests, pictures and measurements. Whether it is
// there the check asks before anything is installed, so what starts it is imported only then.

import type { Browser, LaunchOptions } from "playwright-core";

const commands = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Chromium without all that only a window needs: it takes half as long for a page. */
export const shellCommands = ["chromium-headless-shell", "chrome-headless-shell"] as const;

/** `null` = it is not installed. The variable `CHROMIUM` names its program. */
export function chromiumPath(): string | null {
  return pathOf(commands);
}

/** Where one will do that shows no window: its shell, if that is installed. */
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
