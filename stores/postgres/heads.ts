// What is known of the heads of partitions without asking the database: items that this store wrote
// or read a moment ago. It alone writes them, so what is known stays true until it changes it.

import type { Item } from "../item.ts";
import type { Changes, Read, Some, Span } from "../store.ts";
import { bytesIn } from "./arrays.ts";

/** All items from `from` to before `before`, of which those before `items[next]` were passed. */
interface Known {
  from: number;
  before: number;
  items: Read<Item>[];
  next: number;
  bytes: number;
}

/** What an item takes beside its payload, about. */
const itemBytes = 256;

export class Heads {
  readonly #bytesMax: number;
  /** The one that was asked for last is the last. */
  readonly #known = new Map<number, Known>();
  #bytes = 0;

  /** `bytesMax`: of memory, about. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Where to read on for it; what lies before that is known. */
  endOf({ slot, from }: Span): number {
    return this.#at(slot, from)?.before ?? from;
  }

  /** The first items of a span; `null` where not all of them are known. */
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

  /** Takes note of what was read: all that there is from `endOf` to before `before`. */
  add({ slot, from, before }: Span, items: readonly Read<Item>[]): void {
    const known = this.#at(slot, from);
    if (known === undefined) this.#forget(slot);
    const grown = known ?? { from, before, items: [], next: 0, bytes: 0 };
    grown.before = Math.max(from, before);
    this.#known.delete(slot);
    this.#known.set(slot, grown);
    for (const item of items) this.#push(grown, item);
  }

  /** Takes note of what was committed. What moved is known to the database alone, and ends what is known. */
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

  /** Keeps to the bound, but for the one that was read last. */
  trim(): void {
    for (const slot of this.#known.keys()) {
      if (this.#bytes <= this.#bytesMax || this.#known.size === 1) break;
      this.#forget(slot);
    }
  }

  /** Of a partition that is known at this place. What lies before it is not asked for again. */
  #at(slot: number, from: number): Known | undefined {
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

  #push(known: Known, item: Read<Item>): void {
    known.items.push(item);
    this.#count(known, bytesOf(item));
  }

  #count(known: Known, bytes: number): void {
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

/** As it would come from the database. */
function asRead(item: Item): Read<Item> {
  return { ...item, payload: bytesIn(item.payload), damaged: false };
}
