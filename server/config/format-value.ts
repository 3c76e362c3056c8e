// Formats values for the fault texts of a configuration.

/** Returns a value as JSON, truncated so that a fault fits on a line. */
export function formatValue(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length <= 80 ? json : `${json.slice(0, 80)}…`;
}

/** Like `formatValue`, without the part before a host, which may contain a password. */
export function formatSecret(value: unknown): string {
  const json = JSON.stringify(value);
  const cut = json.replace(/[^"]*@/g, "…@").replace(/(password=)[^&"]*/gi, "$1…");
  return formatValue(JSON.parse(cut));
}
