// Where Chromium is. It imports nothing, because the check asks before anything is
// installed.

export const chromiumCommands = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
] as const;

/** Chromium without all that only a window needs: it takes half as long for a page. */
export const shellCommands = ["chromium-headless-shell", "chrome-headless-shell"] as const;

/** `null` = it is not installed. The variable `CHROMIUM` names its program. */
export function chromiumPath(): string | null {
  return pathOf(chromiumCommands);
}

/** Where one will do that shows no window: its shell, if that is installed. */
export function shellPath(): string | null {
  return pathOf([...shellCommands, ...chromiumCommands]);
}

function pathOf(commands: readonly string[]): string | null {
  const given = process.env["CHROMIUM"];
  if (given !== undefined && given !== "") return given;
  for (const command of commands) {
    const found = Bun.which(command);
    if (found !== null) return found;
  }
  return null;
}
