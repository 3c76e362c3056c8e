// Medians, percentiles and spreads. Pure.

/** A figure in each round, with its summary. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly values: readonly number[];
}

/**
 * The smallest value with at least this share of all values at or below it; 0 for an empty list.
 */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const rank = Math.ceil(share * sorted.length);
  return sorted[Math.max(0, rank - 1)] ?? 0;
}

/** The median; the mean of the middle two for an even number, 0 for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted.length >> 1;
  const high = sorted[upper] ?? 0;
  return sorted.length % 2 === 1 ? high : ((sorted[upper - 1] ?? 0) + high) / 2;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values), values };
}

/** Durations of the calls of one kind. */
export interface CallTimes {
  readonly calls: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Collects durations without an allocation per value. */
export class Samples {
  #values = new Float64Array(1_024);
  #count = 0;

  add(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#count * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#count] = value;
    this.#count += 1;
  }

  times(): CallTimes {
    const sorted = this.#values.slice(0, this.#count).sort();
    return {
      calls: this.#count,
      p50Ms: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
      maxMs: percentile(sorted, 1),
    };
  }
}
