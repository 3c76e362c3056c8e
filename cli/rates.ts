// Computes rates from two samples of counters.

export interface Sample<Name extends string> {
  /** Milliseconds of a monotonic clock. */
  readonly at: number;
  readonly counters: Readonly<Record<Name, number>>;
}

/**
 * The rate per second; `null` without two samples. A counter lower than before was reset, by a
 * restart or because another node took ownership; its rate is then computed from 0.
 */
export function rateOf<Name extends string>(
  name: Name,
  before: Sample<Name> | null,
  now: Sample<Name>,
): number | null {
  const seconds = before === null ? 0 : (now.at - before.at) / 1_000;
  if (before === null || seconds <= 0) return null;
  const from = isReset(before, now) ? 0 : before.counters[name];
  return (now.counters[name] - from) / seconds;
}

/** All counters are reset together, even those that are already higher than before. */
function isReset<Name extends string>(before: Sample<Name>, now: Sample<Name>): boolean {
  return (Object.keys(now.counters) as Name[]).some(
    (name) => now.counters[name] < before.counters[name],
  );
}

/** Formats a rate for a column; `null` = unknown. */
export function rateText(rate: number | null): string {
  if (rate === null) return "-";
  return rate === 0 || rate >= 10 ? String(Math.round(rate)) : rate.toFixed(1);
}
