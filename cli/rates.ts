// How fast a counter rises, by two looks at it.

export interface Look<Name extends string> {
  /** Milliseconds, by a clock that is never set. */
  readonly at: number;
  readonly counters: Readonly<Record<Name, number>>;
}

/**
 * How many a second. One that is lower than before began anew, with the process or because another
 * node has the shards: what it has counted since then is all that is known.
 */
export function rateOf<Name extends string>(
  name: Name,
  before: Look<Name> | null,
  now: Look<Name>,
): number | null {
  const seconds = before === null ? 0 : (now.at - before.at) / 1_000;
  if (before === null || seconds <= 0) return null;
  const from = isAnew(before, now) ? 0 : before.counters[name];
  return (now.counters[name] - from) / seconds;
}

/** Also where one of them has come further by now than it was. */
function isAnew<Name extends string>(before: Look<Name>, now: Look<Name>): boolean {
  return (Object.keys(now.counters) as Name[]).some(
    (name) => now.counters[name] < before.counters[name],
  );
}

/** As short as a column wants it; `null` = not known yet. */
export function rateText(rate: number | null): string {
  if (rate === null) return "-";
  return rate === 0 || rate >= 10 ? String(Math.round(rate)) : rate.toFixed(1);
}
