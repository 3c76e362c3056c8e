// Estimates since when the oldest ready item of a partition has been ready, without reading it.
// Items are in the order in which they became ready, so a few marks (sequence number, instant) are
// enough. The estimate may be a little too early, but never too late.

/** Above this many, adjacent marks are merged. */
const marksMax = 32;
/** The largest gap between marks is an eighth of the longest wait since the marks were empty. */
const spacing = marksMax / 2;

export class ReadyMarks {
  readonly #seqs: number[] = [];
  readonly #instants: number[] = [];
  /** The partition has items that are older than the first mark. */
  isUnknown = false;

  /** Items from `seq` on became ready at `at` or later. Calls must be in rising order. */
  note(seq: number, at: number): void {
    const last = this.#instants.at(-1);
    if (last !== undefined && (at - last) * spacing <= at - (this.#instants[0] ?? at)) return;
    this.#seqs.push(seq);
    this.#instants.push(at);
    if (this.#seqs.length > marksMax) this.#thinOut();
  }

  /** Records an item that was read near the head: items behind it became ready no earlier. */
  observe(seq: number, at: number): void {
    this.isUnknown = false;
    let passed = 0;
    while (passed < this.#seqs.length && (this.#seqs[passed] as number) <= seq) passed += 1;
    this.#seqs.splice(0, passed, seq);
    this.#instants.splice(0, passed, at);
  }

  /**
   * Since when the first ready item at `from` or behind it has been ready; `null` = unknown. `head`:
   * no item before it is ready.
   */
  since(head: number, from: number = head): number | null {
    while (this.#seqs.length > 1 && (this.#seqs[1] as number) <= head) {
      this.#seqs.shift();
      this.#instants.shift();
    }
    const [first] = this.#seqs;
    if (this.isUnknown && (first === undefined || first > head)) return null;
    this.isUnknown = false;
    const last = this.#seqs.findLastIndex((seq) => seq <= from);
    return this.#instants[Math.max(0, last)] ?? null;
  }

  /** No item is ready. */
  clear(): void {
    this.isUnknown = false;
    this.#seqs.length = 0;
    this.#instants.length = 0;
  }

  #thinOut(): void {
    const first = this.#instants[0] as number;
    const step = ((this.#instants.at(-1) as number) - first) / spacing;
    let kept = 0;
    for (const [index, at] of this.#instants.entries()) {
      if (index > 0 && at - (this.#instants[kept] as number) < step) continue;
      if (index > 0) kept += 1;
      this.#instants[kept] = at;
      this.#seqs[kept] = this.#seqs[index] as number;
    }
    this.#seqs.length = kept + 1;
    this.#instants.length = kept + 1;
  }
}
