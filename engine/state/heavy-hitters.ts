// Heavy hitters (Misra–Gries): the most frequent names of events, in a bounded number of counts.
// Rare names are evicted, and no count is ever too high.

import { limits } from "../model/limits.ts";

export type HeavyHitters = Map<string, number>;

/** Ignores an empty name. */
export function addHits(hitters: HeavyHitters, name: string, count: number): void {
  if (name === "" || count <= 0) return;
  const known = hitters.get(name);
  if (known !== undefined || hitters.size < limits.heavyHittersMax) {
    hitters.set(name, (known ?? 0) + count);
    return;
  }
  // Every count decreases by the same amount, so a name with more than a ninth of all events stays.
  const less = Math.min(count, ...hitters.values());
  for (const [other, all] of hitters) {
    if (all > less) hitters.set(other, all - less);
    else hitters.delete(other);
  }
  if (count > less) hitters.set(name, count - less);
}

export interface HeavyHitter {
  readonly name: string;
  readonly count: number;
}

/** The heavy hitters of a recent window of slots. Uses no memory before the first event. */
export class RecentHeavyHitters {
  readonly #slotMs: number;
  readonly #slotCount: number;
  readonly #slots = new Map<number, HeavyHitters>();

  constructor({ slotMs, slots }: { readonly slotMs: number; readonly slots: number }) {
    this.#slotMs = slotMs;
    this.#slotCount = slots;
  }

  add(mentioned: Iterable<readonly [name: string, count: number]>, now: number): void {
    const slot = this.#forget(now);
    const here = this.#slots.getOrInsertComputed(slot, () => new Map());
    for (const [name, count] of mentioned) addHits(here, name, count);
  }

  /** The most frequent name in the window up to `now`; `null` = no events. */
  most(now: number): HeavyHitter | null {
    this.#forget(now);
    const all = new Map<string, number>();
    for (const slot of this.#slots.values()) {
      for (const [name, count] of slot) all.set(name, (all.get(name) ?? 0) + count);
    }
    let most: HeavyHitter | null = null;
    for (const [name, count] of all) {
      if (most === null || count > most.count) most = { name, count };
    }
    return most;
  }

  #forget(now: number): number {
    const slot = Math.floor(now / this.#slotMs);
    for (const old of this.#slots.keys()) {
      if (old <= slot - this.#slotCount) this.#slots.delete(old);
    }
    return slot;
  }
}
