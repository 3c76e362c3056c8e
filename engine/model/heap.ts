// A binary heap whose entries may become outdated in place. Outdated entries are dropped at the
// top, and all at once when the heap has grown to twice its last number of live ones.

/** Keeps a small heap from being scanned at every push. */
const slack = 64;

export interface Heaped<T> {
  readonly less: (a: T, b: T) => boolean;
  /** An entry for which it returns false may be dropped at any time. */
  readonly isLive: (item: T) => boolean;
}

export class Heap<T> {
  readonly #less: (a: T, b: T) => boolean;
  readonly #isLive: (item: T) => boolean;
  #items: T[] = [];
  #cleanAt = slack;

  constructor({ less, isLive }: Heaped<T>) {
    this.#less = less;
    this.#isLive = isLive;
  }

  /** Includes outdated entries that were not dropped yet. */
  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    this.#dropOutdated();
    return this.#items[0];
  }

  push(item: T): void {
    if (this.#items.length >= this.#cleanAt) this.#clean();
    this.#raise(this.#items.push(item) - 1);
  }

  pop(): T | undefined {
    this.#dropOutdated();
    return this.#popTop();
  }

  #dropOutdated(): void {
    for (let top = this.#items[0]; top !== undefined && !this.#isLive(top); top = this.#items[0]) {
      this.#popTop();
    }
  }

  #clean(): void {
    const live = this.#items.filter(this.#isLive);
    this.#items = [];
    for (const item of live) this.#raise(this.#items.push(item) - 1);
    this.#cleanAt = 2 * live.length + slack;
  }

  #raise(last: number): void {
    const items = this.#items;
    const item = items[last] as T;
    let at = last;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as T;
      if (!this.#less(item, above)) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  #popTop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    const moved = items.pop();
    if (items.length === 0 || moved === undefined) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      const right = child + 1;
      if (right < items.length && this.#less(items[right] as T, items[child] as T)) child = right;
      const below = items[child] as T;
      if (!this.#less(below, moved)) break;
      items[at] = below;
      at = child;
    }
    items[at] = moved;
    return top;
  }
}
