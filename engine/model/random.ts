// Injected randomness. The only file of the engine that reads the machine's.

export interface Random {
  /** A whole number from 0 to `bound - 1`. */
  below(bound: number): number;
}

export const systemRandom: Random = {
  below(bound) {
    // Two words, so that the bias stays under 2^-32 for any bound in use.
    const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
    return (high * 2 ** 21 + (low >>> 11)) % bound;
  },
};
