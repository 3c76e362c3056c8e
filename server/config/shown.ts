// Values as the faults of a configuration show them.

/** A value as JSON, cut short; a fault has to fit on a line. */
export function shown(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length <= 80 ? json : `${json.slice(0, 80)}…`;
}

/** Like `shown`, without the part before a host, which may be a password. */
export function shownWithoutPassword(value: unknown): string {
  const json = JSON.stringify(value);
  const cut = json.replace(/[^"]*@/g, "…@").replace(/(password=)[^&"]*/gi, "$1…");
  return shown(JSON.parse(cut));
}
