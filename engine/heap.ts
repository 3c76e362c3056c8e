// A binary heap; it knows nothing of what it orders.

export class Heap<T> {
  readonly #less: (a: T, b: T) => boolean;
  readonly #items: T[] = [];

  constructor(less: (a: T, b: T) => boolean) {
    this.#less = less;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as T;
      if (!this.#less(item, above)) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  pop(): T | undefined {
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
