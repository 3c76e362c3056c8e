// A sorted list in chunks. Adding at the end and removing at the start, the usual cases, cost
// little more than a push. Any other place moves values within one chunk only.

const chunkLengthMax = 512;

/** Values `V`, ordered by the fields of a key `K`; no two compare equal. */
export class SortedList<K, V extends K> {
  readonly #compare: (a: K, b: K) => number;
  /** No chunk is empty. */
  readonly #chunks: V[][] = [];

  constructor(compare: (a: K, b: K) => number) {
    this.#compare = compare;
  }

  get(key: K): V | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)];
    const value = chunk?.[this.#placeIn(chunk, key)];
    return value !== undefined && this.#compare(value, key) === 0 ? value : undefined;
  }

  /** Replaces an equal value. */
  put(value: V): void {
    const at = this.#chunkOf(value);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#append(value);
      return;
    }
    const place = this.#placeIn(chunk, value);
    const found = chunk[place];
    const taken = found !== undefined && this.#compare(found, value) === 0;
    chunk.splice(place, taken ? 1 : 0, value);
    if (chunk.length > chunkLengthMax) {
      this.#chunks.splice(at + 1, 0, chunk.splice(chunkLengthMax / 2));
    }
  }

  /** Returns the removed value. */
  delete(key: K): V | undefined {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return undefined;
    const place = this.#placeIn(chunk, key);
    const value = chunk[place];
    if (value === undefined || this.#compare(value, key) !== 0) return undefined;
    if (chunk.length === 1) this.#chunks.splice(at, 1);
    else if (place === 0) chunk.shift();
    else chunk.splice(place, 1);
    return value;
  }

  /** Visits values from `from` on, in order, until `visit` returns false. */
  walk(from: K, visit: (value: V) => boolean): void {
    const start = this.#chunkOf(from);
    for (let at = start; at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at] ?? [];
      const first = at === start ? this.#placeIn(chunk, from) : 0;
      for (let place = first; place < chunk.length; place++) {
        if (!visit(chunk[place] as V)) return;
      }
    }
  }

  values(): V[] {
    return this.#chunks.flat();
  }

  /** Fills chunks completely if values are added in ascending order. */
  #append(value: V): void {
    const last = this.#chunks.at(-1);
    if (last !== undefined && last.length < chunkLengthMax) last.push(value);
    else this.#chunks.push([value]);
  }

  /** The first chunk that does not end before `key`. */
  #chunkOf(key: K): number {
    return firstNot(this.#chunks, (chunk) => this.#compare(chunk.at(-1) as V, key) < 0);
  }

  /** The first place in the chunk whose value is not before `key`. */
  #placeIn(chunk: readonly V[], key: K): number {
    return firstNot(chunk, (value) => this.#compare(value, key) < 0);
  }
}

/** Binary search: the first index for which `isBefore` is false. */
function firstNot<T>(list: readonly T[], isBefore: (one: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(list[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
