// A deterministic random source.

import type { Random } from "../model/random.ts";

/** Mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed;
  return {
    below(bound) {
      state = (state + 0x6d2b_79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
    },
  };
}
