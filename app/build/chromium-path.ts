// Where Chromium is. It imports nothing, because the check asks before anything is
// installed.

export const chromiumCommands = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
] as const;

/** `null` = it is not installed. The variable `CHROMIUM` names its program. */
export function chromiumPath(): string | null {
  const given = process.env["CHROMIUM"];
  if (given !== undefined && given !== "") return given;
  for (const command of chromiumCommands) {
    const found = Bun.which(command);
    if (found !== null) return found;
  }
  return null;
}
