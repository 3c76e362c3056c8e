// A cache of the heads of partitions: items that this store has recently written or read. Only this
// store changes them, so the cache stays valid until it does.

import type { Item } from "../item.ts";
import type { Changes, Read, Some, Span } from "../store.ts";
import { bytesIn } from "./arrays.ts";

/** All items from `from` up to `before`. Those before `items[next]` are already dropped. */
interface CachedHead {
  from: number;
  before: number;
  items: Read<Item>[];
  next: number;
  bytes: number;
}

/** Approximate memory of an item besides its payload. */
const itemBytes = 256;

export class Heads {
  readonly #bytesMax: number;
  /** By slot, the most recently read last. */
  readonly #known = new Map<number, CachedHead>();
  #bytes = 0;

  /** `bytesMax`: approximate memory. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Where the next read of the span starts; everything before it is cached. */
  endOf({ slot, from }: Span): number {
    return this.#at(slot, from)?.before ?? from;
  }

  /** The first items of a span; `null` if some of them are not cached. */
  first(
    { slot, from, before }: Span,
    limit: { readonly items: number; readonly payloadBytes: number },
  ): Some<Read<Item>> | null {
    const known = this.#at(slot, from);
    if (known === undefined) return null;
    const found: Read<Item>[] = [];
    let left = limit.payloadBytes;
    for (let index = known.next; index < known.items.length; index += 1) {
      const item = known.items[index] as Read<Item>;
      if (item.seq >= before) break;
      found.push(item);
      left -= item.payload.length;
      if (found.length >= limit.items || left <= 0) return { found, isAll: false };
    }
    return known.before < before ? null : { found, isAll: true };
  }

  /** Adds a read of all items from `endOf` up to `before`. */
  add({ slot, from, before }: Span, items: readonly Read<Item>[]): void {
    const known = this.#at(slot, from);
    if (known === undefined) this.#forget(slot);
    const grown = known ?? { from, before, items: [], next: 0, bytes: 0 };
    grown.before = Math.max(from, before);
    this.#known.delete(slot);
    this.#known.set(slot, grown);
    for (const item of items) this.#push(grown, item);
  }

  /** Applies a commit. A moved item is only in the database, so the cached range ends before it. */
  committed({ insert, remove, quarantine }: Changes): void {
    for (const { slot, seqs } of [...remove, ...quarantine]) this.#remove(slot, seqs);
    for (const item of insert) {
      if (this.#bytes + bytesOf(item) > this.#bytesMax) continue;
      const known = this.#known.get(item.slot);
      if (known !== undefined && known.before === item.seq) {
        known.before += 1;
        this.#push(known, asRead(item));
      } else if (known === undefined || known.next === known.items.length) {
        const span = { slot: item.slot, from: item.seq, before: item.seq + 1 };
        this.#forget(item.slot);
        this.add(span, [asRead(item)]);
      }
    }
  }

  /** Evicts entries above the bound, but never the last one. */
  trim(): void {
    for (const slot of this.#known.keys()) {
      if (this.#bytes <= this.#bytesMax || this.#known.size === 1) break;
      this.#forget(slot);
    }
  }

  /** The entry that covers this place. Drops the items before it, which are not read again. */
  #at(slot: number, from: number): CachedHead | undefined {
    const known = this.#known.get(slot);
    if (known === undefined || from < known.from || from > known.before) return undefined;
    while (known.next < known.items.length) {
      const item = known.items[known.next] as Read<Item>;
      if (item.seq >= from) break;
      known.next += 1;
      this.#count(known, -bytesOf(item));
    }
    known.from = from;
    if (known.next > known.items.length / 2) {
      known.items = known.items.slice(known.next);
      known.next = 0;
    }
    return known;
  }

  #remove(slot: number, seqs: readonly number[]): void {
    const known = this.#known.get(slot);
    if (known === undefined || (seqs.at(-1) ?? 0) < known.from) return;
    const gone = new Set(seqs);
    const items: Read<Item>[] = [];
    for (const item of known.items.slice(known.next)) {
      if (gone.has(item.seq)) this.#count(known, -bytesOf(item));
      else items.push(item);
    }
    known.items = items;
    known.next = 0;
  }

  #push(known: CachedHead, item: Read<Item>): void {
    known.items.push(item);
    this.#count(known, bytesOf(item));
  }

  #count(known: CachedHead, bytes: number): void {
    known.bytes += bytes;
    this.#bytes += bytes;
  }

  #forget(slot: number): void {
    this.#bytes -= this.#known.get(slot)?.bytes ?? 0;
    this.#known.delete(slot);
  }
}

function bytesOf({ payload }: Item): number {
  return itemBytes + payload.length;
}

/** Converts an item to the form that the database returns. */
function asRead(item: Item): Read<Item> {
  return { ...item, payload: bytesIn(item.payload), damaged: false };
}
