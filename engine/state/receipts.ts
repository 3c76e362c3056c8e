// Receipts of recent calls with an idempotency key, by digest. There may be millions, so they are
// in typed arrays. All of them are derived from the store.

import {
  type IdempotencyKey,
  keyedOperationAt,
  keyedOperations,
} from "../model/idempotency-key.ts";

/** Records that a call was done, with the values that are needed to repeat its answer. */
export interface Receipt extends Omit<IdempotencyKey, "text"> {
  /** Defined by each operation; `null`: the call was withdrawn, and the key is free. */
  readonly values: readonly number[] | null;
}

export interface KeptReceipt extends Receipt {
  readonly turn: number;
  readonly at: number;
}

const capacityMin = 256;
const digestWords = 4;
const keyWords = 6;
/** A receipt with more values has a list of its own. */
const valuesInline = 3;
const withdrawn = 255;

/** One column per property; a receipt has the same index in all of them. */
interface Columns {
  readonly keys: Uint32Array;
  readonly turns: Float64Array;
  readonly ats: Float64Array;
  readonly values: Float64Array;
  /** Indexes in `keyedOperations`. */
  readonly operations: Uint8Array;
  readonly counts: Uint8Array;
  /** The values of receipts that have more than `valuesInline`. */
  readonly long: Map<number, readonly number[]>;
}

function columnsFor(capacity: number): Columns {
  return {
    keys: new Uint32Array(capacity * keyWords),
    turns: new Float64Array(capacity),
    ats: new Float64Array(capacity),
    values: new Float64Array(capacity * valuesInline),
    operations: new Uint8Array(capacity),
    counts: new Uint8Array(capacity),
    long: new Map(),
  };
}

/** A ring buffer: the oldest receipts are removed first. */
export class Receipts {
  #capacity = 0;
  /** Receipts have consecutive numbers; those from `#first` to before `#next` are kept. */
  #first = 0;
  #next = 0;
  #columns = columnsFor(0);
  /** Open addressing: 1 + the index of the latest receipt with a digest; 0 = empty. */
  #table = new Uint32Array();

  get size(): number {
    return this.#next - this.#first;
  }

  /** The instant of the oldest turn with receipts; infinite = none. */
  get oldestAt(): number {
    if (this.size === 0) return Number.POSITIVE_INFINITY;
    return this.#columns.ats[this.#place(this.#first)] as number;
  }

  /** Calls must be in the order of turns. */
  add(receipt: Receipt, { turn, at }: Pick<KeptReceipt, "turn" | "at">): void {
    if (this.size === this.#capacity) this.#resize(Math.max(capacityMin, 2 * this.#capacity));
    const { keys, turns, ats, values: inline, operations, counts, long } = this.#columns;
    const place = this.#place(this.#next);
    this.#next += 1;
    const words = wordsOf(receipt);
    // A loop, because `set` is slower for so few numbers.
    for (let word = 0; word < keyWords; word += 1) {
      keys[place * keyWords + word] = words[word] as number;
    }
    turns[place] = turn;
    ats[place] = at;
    operations[place] = keyedOperations.indexOf(receipt.operation);
    const { values } = receipt;
    counts[place] = values === null ? withdrawn : Math.min(values.length, withdrawn - 1);
    if (values !== null && values.length > valuesInline) long.set(place, values);
    else if (values !== null && values.length > 0) inline.set(values, place * valuesInline);
    this.#table[this.#cellOf(words)] = place + 1;
  }

  /** The latest receipt with this digest. */
  find(digest: string): KeptReceipt | undefined {
    if (this.size === 0) return undefined;
    const place = this.#table[this.#cellOf(digestOf(digest))] as number;
    return place === 0 ? undefined : this.#receipt(place - 1);
  }

  /** The oldest first. */
  *[Symbol.iterator](): Generator<KeptReceipt> {
    for (let number = this.#first; number < this.#next; number += 1) {
      yield this.#receipt(this.#place(number));
    }
  }

  /** The last turn up to the instant `until`, among the oldest `max` receipts; 0 = none. */
  turnBefore(until: number, max: number): number {
    const { turns, ats } = this.#columns;
    let turn = 0;
    for (let number = this.#first; number < Math.min(this.#next, this.#first + max); number += 1) {
      const place = this.#place(number);
      if ((ats[place] as number) > until) break;
      turn = turns[place] as number;
    }
    return turn;
  }

  /** Removes the receipts of turns up to this one. */
  forget(turn: number): void {
    const { turns, long } = this.#columns;
    while (this.size > 0) {
      const place = this.#place(this.#first);
      if ((turns[place] as number) > turn) break;
      this.#first += 1;
      long.delete(place);
      const cell = this.#cellOf(this.#wordsAt(place));
      // The cell may be that of a later receipt with the same digest.
      if (this.#table[cell] === place + 1) this.#vacate(cell);
    }
    if (this.#capacity > capacityMin && this.size * 8 < this.#capacity) {
      this.#resize(this.#capacity / 2);
    }
  }

  #place(number: number): number {
    return number % this.#capacity;
  }

  #wordsAt(place: number): Uint32Array {
    return this.#columns.keys.subarray(place * keyWords, (place + 1) * keyWords);
  }

  #receipt(place: number): KeptReceipt {
    const { turns, ats, values, operations, counts, long } = this.#columns;
    const words = this.#wordsAt(place);
    const count = counts[place] as number;
    const from = place * valuesInline;
    const inline = () => [...values.subarray(from, from + count)];
    return {
      digest: hexOf(words.subarray(0, digestWords)),
      fingerprint: hexOf(words.subarray(digestWords)),
      operation: keyedOperationAt(operations[place]),
      values: count === withdrawn ? null : (long.get(place) ?? inline()),
      turn: turns[place] as number,
      at: ats[place] as number,
    };
  }

  /** The cell of the digest, or the free one where it would be inserted. */
  #cellOf(words: ArrayLike<number>): number {
    const mask = this.#table.length - 1;
    for (let cell = this.#wantedBy(words); ; cell = (cell + 1) & mask) {
      const place = this.#table[cell] as number;
      if (place === 0 || this.#isSame(place - 1, words)) return cell;
    }
  }

  #wantedBy(words: ArrayLike<number>): number {
    return (words[0] as number) & (this.#table.length - 1);
  }

  #isSame(place: number, words: ArrayLike<number>): boolean {
    const { keys } = this.#columns;
    for (let index = 0; index < digestWords; index += 1) {
      if (keys[place * keyWords + index] !== words[index]) return false;
    }
    return true;
  }

  /** Backward-shift deletion: later cells move up, so that no search ends too early. */
  #vacate(cell: number): void {
    const mask = this.#table.length - 1;
    let hole = cell;
    for (let next = (hole + 1) & mask; ; next = (next + 1) & mask) {
      const place = this.#table[next] as number;
      if (place === 0) break;
      const wanted = this.#wantedBy(this.#wordsAt(place - 1));
      if (((next - wanted) & mask) < ((next - hole) & mask)) continue;
      this.#table[hole] = place;
      hole = next;
    }
    this.#table[hole] = 0;
  }

  #resize(capacity: number): void {
    const { size } = this;
    const from = this.#capacity === 0 ? 0 : this.#place(this.#first);
    const old = this.#columns;
    const to = columnsFor(capacity);
    for (const [name, width] of widths) copyRing(old[name], to[name], { from, size, width });
    for (const [place, values] of old.long) {
      to.long.set((place - from + this.#capacity) % this.#capacity, values);
    }
    this.#capacity = capacity;
    this.#first = 0;
    this.#next = size;
    this.#columns = to;
    this.#table = new Uint32Array(2 * capacity);
    for (let place = 0; place < size; place += 1) {
      this.#table[this.#cellOf(this.#wordsAt(place))] = place + 1;
    }
  }
}

/** Each column of numbers, with its numbers per receipt. */
const widths = [
  ["keys", keyWords],
  ["turns", 1],
  ["ats", 1],
  ["values", valuesInline],
  ["operations", 1],
  ["counts", 1],
] as const;

type Numbers = Uint8Array | Uint32Array | Float64Array;

/** Copies `size` receipts of a ring buffer, from index `from` on, to the start of another. */
function copyRing(
  old: Numbers,
  to: Numbers,
  { from, size, width }: { readonly from: number; readonly size: number; readonly width: number },
): void {
  const head = old.subarray(from * width, Math.min(old.length, (from + size) * width));
  to.set(head);
  to.set(old.subarray(0, size * width - head.length), head.length);
}

/** Reused by all searches: most find nothing, and should allocate nothing. */
const searched = new Uint32Array(keyWords);
const searchedBytes = new Uint8Array(searched.buffer);

function digestOf(digest: string): Uint32Array {
  searchedBytes.setFromHex(digest);
  return searched;
}

function wordsOf({ digest, fingerprint }: Receipt): Uint32Array {
  searchedBytes.setFromHex(digest + fingerprint);
  return searched;
}

function hexOf({ buffer, byteOffset, byteLength }: Uint32Array): string {
  return new Uint8Array(buffer, byteOffset, byteLength).toHex();
}

// The stored form of the receipts of a turn. Each has 24 bytes of digest and fingerprint, 1 byte
// for the operation, 2 for the count of values, and 8 per value, little-endian.

const keyBytes = 24;
const headBytes = keyBytes + 3;
const withdrawnCount = 0xffff;

export function encodeReceipts(receipts: Iterable<Receipt>): Uint8Array {
  const list = [...receipts];
  const size = list.reduce((sum, { values }) => sum + headBytes + 8 * (values?.length ?? 0), 0);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { digest, fingerprint, operation, values } of list) {
    bytes.subarray(at, at + keyBytes).setFromHex(digest + fingerprint);
    view.setUint8(at + keyBytes, keyedOperations.indexOf(operation));
    view.setUint16(at + keyBytes + 1, values?.length ?? withdrawnCount, true);
    at += headBytes;
    for (const value of values ?? []) {
      view.setFloat64(at, value, true);
      at += 8;
    }
  }
  return bytes;
}

export function decodeReceipts(bytes: Uint8Array): Receipt[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const receipts: Receipt[] = [];
  for (let at = 0; at < bytes.length; ) {
    const hex = bytes.subarray(at, at + keyBytes).toHex();
    const operation = keyedOperationAt(view.getUint8(at + keyBytes));
    const count = view.getUint16(at + keyBytes + 1, true);
    at += headBytes;
    const values = count === withdrawnCount ? null : readValues(view, at, count);
    at += 8 * (values?.length ?? 0);
    receipts.push({ digest: hex.slice(0, 32), fingerprint: hex.slice(32), operation, values });
  }
  return receipts;
}

function readValues(view: DataView, from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => view.getFloat64(from + 8 * index, true));
}
