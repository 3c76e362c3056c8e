// A wait queue in order of arrival. An entry stays until it is served or leaves.

export interface Arrival {
  /** Rises with each arrival. */
  readonly arrival: number;
}

export class WaitQueue<W extends Arrival> {
  /** In order of arrival. */
  #waiting: W[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  /** An entry that returns gets its old place. */
  join(one: W): void {
    this.#waiting.splice(this.#placeOf(one), 0, one);
  }

  [Symbol.iterator](): Iterator<W> {
    return this.#waiting[Symbol.iterator]();
  }

  /** The position of each entry, from 1. */
  get order(): ReadonlyMap<W, number> {
    return new Map(this.#waiting.map((one, index) => [one, index + 1]));
  }

  leave(one: W): void {
    const place = this.#placeOf(one);
    if (this.#waiting[place] === one) this.#waiting.splice(place, 1);
  }

  /** The index of an entry, or where it would be inserted. */
  #placeOf({ arrival }: W): number {
    let low = 0;
    let high = this.#waiting.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#waiting[middle] as W).arrival < arrival) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
