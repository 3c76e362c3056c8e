// What happened of late, counted in a few slots of time: no timer, no memory before the first one.

export class RecentCount {
  readonly #slotMs: number;
  readonly #slotCount: number;
  #slots: Float64Array | null = null;
  /** Number of the slot that was counted into last. */
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

  /** Within the window up to now. */
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
    // Nothing of it is left: the next one is a first.
    if (sum === 0) this.#slots = null;
    return sum;
  }

  /** When it began to happen, without a whole window of silence since. */
  get firstAt(): number {
    return this.#firstAt;
  }
}

/** How a level stood at the ends of the latest whole slots. */
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

  /** `level`: as it has been since it was told last. */
  roll(now: number, level: number): void {
    const slot = Math.floor(now / this.#slotMs);
    const ended = Math.min(slot - this.#slot, this.#levelsMax);
    if (ended <= 0) return;
    this.#slot = slot;
    for (let count = 0; count < ended; count += 1) this.#levels.push(level);
    while (this.#levels.length > this.#levelsMax) this.#levels.shift();
  }

  /** By how much it rose over all slots, if it did so in nearly each of them; 0 otherwise. */
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
