// Counts and levels over a recent window, in a few slots of time. There is no timer, and a count
// uses no memory before its first event.

export class RecentCount {
  readonly #slotMs: number;
  readonly #slotCount: number;
  #slots: Float64Array | null = null;
  /** Number of the latest slot. */
  #last = 0;
  #firstAt = 0;

  constructor({ slotMs, slots }: { readonly slotMs: number; readonly slots: number }) {
    this.#slotMs = slotMs;
    this.#slotCount = slots;
  }

  add(count: number, now: number): void {
    if (count === 0) return;
    if (this.count(now) === 0) this.#firstAt = now;
    this.#slots ??= new Float64Array(this.#slotCount);
    const { length } = this.#slots;
    this.#last = Math.floor(now / this.#slotMs);
    const at = this.#last % length;
    this.#slots[at] = (this.#slots[at] as number) + count;
  }

  count(now: number): number {
    if (this.#slots === null) return 0;
    const slot = Math.floor(now / this.#slotMs);
    const { length } = this.#slots;
    for (let old = Math.max(this.#last + 1, slot - length + 1); old <= slot; old += 1) {
      this.#slots[old % length] = 0;
    }
    this.#last = Math.max(this.#last, slot);
    let sum = 0;
    for (const one of this.#slots) sum += one;
    // The window is empty: the next event sets `firstAt`.
    if (sum === 0) this.#slots = null;
    return sum;
  }

  /** The first event that was not followed by a whole window without events. */
  get firstAt(): number {
    return this.#firstAt;
  }
}

/** A level at the ends of the latest whole slots. */
export class RecentLevels {
  readonly #slotMs: number;
  readonly #levels: number[] = [];
  readonly #levelsMax: number;
  #slot: number;

  constructor({
    slotMs,
    slots,
    now,
  }: {
    readonly slotMs: number;
    readonly slots: number;
    readonly now: number;
  }) {
    this.#slotMs = slotMs;
    this.#levelsMax = slots + 1;
    this.#slot = Math.floor(now / slotMs);
  }

  /** `level`: its value since the last call. */
  roll(now: number, level: number): void {
    const slot = Math.floor(now / this.#slotMs);
    const ended = Math.min(slot - this.#slot, this.#levelsMax);
    if (ended <= 0) return;
    this.#slot = slot;
    for (let count = 0; count < ended; count += 1) this.#levels.push(level);
    while (this.#levels.length > this.#levelsMax) this.#levels.shift();
  }

  /** The rise over all slots, if the level rose in all of them or all but one; otherwise 0. */
  get steadyRise(): number {
    const levels = this.#levels;
    if (levels.length < this.#levelsMax) return 0;
    let rises = 0;
    for (let index = 1; index < levels.length; index += 1) {
      if ((levels[index] as number) > (levels[index - 1] as number)) rises += 1;
    }
    if (rises < levels.length - 2) return 0;
    return (levels.at(-1) as number) - (levels[0] as number);
  }
}
