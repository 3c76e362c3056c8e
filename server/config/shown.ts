// Formats values for the fault texts of a configuration.

/** Returns a value as JSON, truncated so that a fault fits on a line. */
export function shown(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length <= 80 ? json : `${json.slice(0, 80)}…`;
}

/** Like `shown`, without the part before a host, which may contain a password. */
export function shownWithoutPassword(value: unknown): string {
  const json = JSON.stringify(value);
  const cut = json.replace(/[^"]*@/g, "…@").replace(/(password=)[^&"]*/gi, "$1…");
  return shown(JSON.parse(cut));
}
