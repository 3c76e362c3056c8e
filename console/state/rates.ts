// Rates from counters that only grow. A counter that is lower than before began anew; one sample
// makes no rate.

export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

/** Over so long a rate is taken: a figure that can be read, and still is of now. */
export const windowMs = 10_000;

/** With one more sample, without what no rate asks for any more. */
export function withSample(samples: readonly Sample[], next: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last !== undefined && next.value < last.value) return [next];
  if (last !== undefined && next.atMs <= last.atMs) return samples;
  const from = next.atMs - windowMs;
  // The newest of those before the window says what the counter was when it began.
  const first = samples.findLastIndex(({ atMs }) => atMs <= from);
  return [...samples.slice(Math.max(0, first)), next];
}

/** A second, up to `nowMs`, until which the counter stayed as the last sample says. */
export function rateOf(samples: readonly Sample[], nowMs: number): number | null {
  const last = samples.at(-1);
  if (last === undefined) return null;
  const from = nowMs - windowMs;
  const base = samples.findLast(({ atMs }) => atMs <= from) ?? samples[0];
  if (base === undefined) return null;
  const elapsedMs = nowMs - Math.max(base.atMs, from);
  return elapsedMs <= 0 ? null : ((last.value - base.value) / elapsedMs) * 1_000;
}
