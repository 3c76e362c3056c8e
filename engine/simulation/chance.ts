// The random choices of a simulated world, all from one seed.

import type { Random } from "../model/random.ts";

export class Chance implements Random {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  below(bound: number): number {
    return this.#random.below(bound);
  }

  /** An integer from `first` to `last`, inclusive. */
  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  hits(perMille: number): boolean {
    return this.below(1_000) < perMille;
  }

  one<T>(choices: readonly T[]): T {
    const chosen = choices[this.below(choices.length)];
    if (chosen === undefined && choices.length === 0) throw new Error("there is nothing to choose");
    return chosen as T;
  }

  maybe<T>(choices: readonly T[]): T | undefined {
    return choices.length === 0 ? undefined : this.one(choices);
  }

  /** A name, by weight; 0 = never. */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries(weights) as [T, number][];
    let left = this.below(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [name, weight] of entries) {
      if (left < weight) return name;
      left -= weight;
    }
    throw new Error("no choice has any weight");
  }

  /** A subset in the same order; at least one unless there are none. */
  some<T>(choices: readonly T[]): T[] {
    if (choices.length === 0) return [];
    const sure = this.below(choices.length);
    return choices.filter((_, index) => index === sure || this.hits(500));
  }
}
