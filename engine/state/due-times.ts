// The instant at which the next scheduled item of a partition is due, from a bounded histogram of
// due times. When instants are merged, later items count as due at the earlier one, so the result
// is never too late.

const instantsMax = 32;

export class DueTimes {
  /** In rising order. */
  readonly #instants: number[] = [];
  readonly #counts: number[] = [];

  /** `null` = no item is scheduled. */
  get first(): number | null {
    return this.#instants[0] ?? null;
  }

  add(at: number, items = 1): void {
    const index = this.#lastUpTo(at);
    if (index >= 0 && this.#instants[index] === at) {
      this.#counts[index] = (this.#counts[index] as number) + items;
      return;
    }
    this.#instants.splice(index + 1, 0, at);
    this.#counts.splice(index + 1, 0, items);
    if (this.#instants.length > instantsMax) this.#merge();
  }

  remove(at: number): void {
    const index = Math.max(0, this.#lastUpTo(at));
    const left = (this.#counts[index] ?? 0) - 1;
    if (left > 0) {
      this.#counts[index] = left;
      return;
    }
    this.#instants.splice(index, 1);
    this.#counts.splice(index, 1);
  }

  clear(): void {
    this.#instants.length = 0;
    this.#counts.length = 0;
  }

  /** The index of the last instant up to `at`; -1 = none. Most additions are due last. */
  #lastUpTo(at: number): number {
    let index = this.#instants.length - 1;
    while (index >= 0 && (this.#instants[index] as number) > at) index -= 1;
    return index;
  }

  /** Merges the adjacent two with the least distance relative to the first, which stays exact. */
  #merge(): void {
    const origin = this.#instants[0] as number;
    let into = 1;
    let least = Number.POSITIVE_INFINITY;
    for (let index = 1; index < this.#instants.length - 1; index += 1) {
      const far = (this.#instants[index + 1] as number) - origin;
      const share = (far - ((this.#instants[index] as number) - origin)) / far;
      if (share >= least) continue;
      least = share;
      into = index;
    }
    this.#counts[into] = (this.#counts[into] as number) + (this.#counts[into + 1] as number);
    this.#instants.splice(into + 1, 1);
    this.#counts.splice(into + 1, 1);
  }
}
