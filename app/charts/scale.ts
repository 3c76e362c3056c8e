// Where on a bar's track a value lies; pure.

import type { Range } from "./bench-data.ts";

/** Per cent of the track, from zero to the highest value of the panel. */
export interface Places {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function placesOf(range: Range, highest: number): Places {
  const place = (value: number): number =>
    highest <= 0 ? 0 : Math.round((value / highest) * 1_000) / 10;
  return { median: place(range.median), min: place(range.min), max: place(range.max) };
}

export function highestOf(ranges: readonly Range[]): number {
  return Math.max(0, ...ranges.map(({ max }) => max));
}
