// The epochs of a store's ids. Each opening of a store begins one, with a tag of its own for all
// numbers from there on: a restored copy, or a log without its end, cannot show that later numbers
// were issued already. An id therefore names one item, also when its store went back.

import { formatId, idPrefix, nextTag, placeOf } from "./ids.ts";
import { limits } from "./limits.ts";
import type { Random } from "./random.ts";

interface Epoch {
  /** The first number that has the tag. */
  readonly first: number;
  readonly tag: string;
}

export class Epochs {
  /** In rising order of numbers, and so of tags; at least one. */
  readonly #all: readonly [Epoch, ...Epoch[]];
  readonly #last: Epoch;

  private constructor(all: readonly [Epoch, ...Epoch[]]) {
    this.#all = all;
    this.#last = all.at(-1) ?? all[0];
  }

  /** Reads what `text` wrote; a store that was never opened has one tag. */
  static parse(text: string): Epochs {
    const [first = "", ...others] = text.split(" ");
    return new Epochs([epochOf(first), ...others.map(epochOf)]);
  }

  get text(): string {
    return this.#all.map(({ first, tag }) => `${tag}:${first}`).join(" ");
  }

  /** The first number of the latest epoch: below it nothing is issued any more. */
  get first(): number {
    return this.#last.first;
  }

  get tag(): string {
    return this.#last.tag;
  }

  /** Another opening, whose numbers begin at `first`. An epoch that issued nothing is replaced. */
  next(first: number, random: Random): Epochs {
    const issued = this.#all.filter((one) => one.first < first);
    const tag = nextTag(issued.at(-1)?.tag ?? null, random);
    const [oldest, ...others] = [...issued, { first, tag }].slice(-limits.epochsMax);
    return new Epochs(oldest === undefined ? [{ first, tag }] : [oldest, ...others]);
  }

  tagOf(seq: number): string {
    if (seq >= this.#last.first) return this.#last.tag;
    let [low, high] = [0, this.#all.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((this.#all[middle] as Epoch).first <= seq) low = middle;
      else high = middle;
    }
    return (this.#all[low] as Epoch).tag;
  }

  idOf({ slot, seq }: { readonly slot: number; readonly seq: number }): string {
    return formatId(idPrefix(this.tagOf(seq), slot), seq);
  }

  /** Where this store has the item of an id; `null` = the store never issued it, or has gone back since. */
  placeOf(id: string): { readonly slot: number; readonly seq: number } | null {
    const place = placeOf(id);
    if (place === null || this.tagOf(place.seq) !== place.tag) return null;
    return { slot: place.slot, seq: place.seq };
  }

  /** The number of the first id of a slot that is not before this text. */
  seqFrom(slot: number, text: string): number {
    for (const [index, { first: begin, tag }] of this.#all.entries()) {
      // The oldest that is kept has the numbers of those before it, too.
      const first = index === 0 ? 0 : begin;
      const prefix = idPrefix(tag, slot);
      const before = this.#all[index + 1]?.first ?? limits.seqMax + 1;
      if (text <= formatId(prefix, first)) return first;
      if (text > formatId(prefix, before - 1)) continue;
      return placeOf(text)?.seq ?? before;
    }
    return limits.seqMax + 1;
  }
}

function epochOf(text: string): Epoch {
  const [tag = "", first = "0"] = text.split(":");
  return { tag, first: Number(first) };
}
