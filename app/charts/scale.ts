// The axis of a chart. Pure.

import type { Range } from "./bench-data.ts";

export interface Axis {
  readonly isLogarithmic: boolean;
  /** Position in per cent of the track. */
  readonly place: (value: number) => number;
  readonly ticks: readonly number[];
}

/** Above this ratio, the small values on a linear axis are indistinguishable. */
const linearRatioMax = 20;
const ticksWanted = 4;

export function axisOf(ranges: readonly Range[]): Axis {
  const lowest = Math.min(...ranges.map(({ min }) => min));
  const highest = Math.max(...ranges.map(({ max }) => max));
  return lowest > 0 && highest / lowest > linearRatioMax
    ? logarithmic(lowest, highest)
    : linear(highest);
}

function linear(highest: number): Axis {
  const step = roundUp(highest / ticksWanted);
  const count = Math.ceil(highest / step);
  return {
    isLogarithmic: false,
    place: (value) => percent(value / (step * count)),
    ticks: Array.from({ length: count + 1 }, (_, index) => index * step),
  };
}

/** An axis between round values, with a tick at each power of ten. */
function logarithmic(lowest: number, highest: number): Axis {
  const [from, to] = [1 / roundUp(1 / lowest), roundUp(highest)];
  const first = Math.ceil(Math.log10(from) - 1e-9);
  const count = Math.floor(Math.log10(to) + 1e-9) - first + 1;
  return {
    isLogarithmic: true,
    place: (value) => percent(Math.log(value / from) / Math.log(to / from)),
    ticks: Array.from({ length: count }, (_, index) => 10 ** (first + index)),
  };
}

function percent(part: number): number {
  return Math.round(part * 1_000) / 10;
}

/** Rounds up to 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const digit = [1, 2, 5].find((candidate) => candidate * power >= value * (1 - 1e-9)) ?? 10;
  return digit * power;
}
