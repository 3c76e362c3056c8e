// Compared measurements take turns, so that noise of the machine affects all of them equally.

import { median } from "../report/statistics.ts";

/**
 * Measures the sides one after the other, in reverse order in every second turn. Returns the
 * counted findings by side. The first `warmUps` turns are not counted: they are mostly compilation.
 */
export async function inTurn<Side extends string, Found>(
  sides: readonly Side[],
  { warmUps, turns }: { readonly warmUps: number; readonly turns: number },
  measure: (side: Side, turn: number) => Promise<Found>,
): Promise<Record<Side, Found[]>> {
  const found = Object.fromEntries(sides.map((side) => [side, [] as Found[]]));
  for (let turn = -warmUps; turn < turns; turn += 1) {
    for (const side of turn % 2 === 0 ? sides : sides.toReversed()) {
      const one = await measure(side, turn + warmUps);
      if (turn >= 0) found[side]?.push(one);
    }
  }
  return found as Record<Side, Found[]>;
}

/** The median of the ratios of neighbours. */
export function medianRatio(values: readonly number[], bases: readonly number[]): number {
  return median(ratiosOf(values, bases));
}

export function ratiosOf(values: readonly number[], bases: readonly number[]): number[] {
  return values.map((value, index) => value / (bases[index] ?? Number.NaN));
}
