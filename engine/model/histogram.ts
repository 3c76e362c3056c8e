export interface Histogram {
  /** Upper bounds, ascending; a last, unbounded bucket is implied. */
  readonly bounds: readonly number[];
  /** Observations per bucket, one more than `bounds`; not cumulative. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** The upper bound of the bucket with the quantile `share`; `null` = no observations. */
export function quantile(
  bounds: readonly number[],
  counts: readonly number[],
  share: number,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  let left = share * total;
  for (const [bucket, count] of counts.entries()) {
    left -= count;
    if (count > 0 && left <= 0) return bounds[Math.min(bucket, bounds.length - 1)] ?? null;
  }
  return null;
}

export class Observations implements Histogram {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array(bounds.length + 1).fill(0);
  }

  /** `count`: the number of equal observations. */
  add(value: number, count = 1): void {
    let bucket = 0;
    while (value > (this.bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + count;
    this.sum += value * count;
  }

  /** A snapshot; the bounds are shared because they never change. */
  copy(): Histogram {
    const { bounds, counts, sum } = this;
    return { bounds, counts: [...counts], sum };
  }

  /** Adds observations with the same bounds. */
  merge({ counts, sum }: Omit<Histogram, "bounds">): void {
    for (const [bucket, count] of counts.entries()) {
      this.counts[bucket] = (this.counts[bucket] ?? 0) + count;
    }
    this.sum += sum;
  }
}
