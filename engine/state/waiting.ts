// A line of those who wait: in order of arrival, each until it is served or gives up.

export interface Waiting {
  /** Its place: lower came earlier. */
  readonly arrival: number;
}

export class Line<W extends Waiting> {
  /** In order of arrival. */
  #waiting: W[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  /** One that was in it before gets its old place. */
  join(one: W): void {
    this.#waiting.splice(this.#placeOf(one), 0, one);
  }

  [Symbol.iterator](): Iterator<W> {
    return this.#waiting[Symbol.iterator]();
  }

  /** Which of the line it is, from 1 on; those that are not in it are absent. */
  get order(): ReadonlyMap<W, number> {
    return new Map(this.#waiting.map((one, index) => [one, index + 1]));
  }

  leave(one: W): void {
    const place = this.#placeOf(one);
    if (this.#waiting[place] === one) this.#waiting.splice(place, 1);
  }

  /** Where it is, or would be. */
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
