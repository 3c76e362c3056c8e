// The epochs of a store's ids. Each opening of a store begins one, with a new tag for all numbers
// issued from then on. A restored copy, or a log without its end, cannot show that later numbers
// were already issued. With the tag an id names one item, even after its store went back.
// After a reshard a store also has the epochs of the stores that previously had its queues. A moved
// partition lists them as its origins, oldest first. Its numbers continue, so a number tells which
// of these stores issued it.

import type { Origin } from "../../stores/queue.ts";
import { formatId, idPrefix, nextTag, placeOf } from "./ids.ts";
import { limits } from "./limits.ts";
import type { Random } from "./random.ts";

interface Epoch {
  /** The first number with this tag. */
  readonly first: number;
  readonly tag: string;
}

/** The place that an id encodes. */
export interface IssuedPlace {
  /** The index of the earlier store that issued it; `null` = this store. */
  readonly epochs: number | null;
  readonly slot: number;
  readonly seq: number;
}

const neverMoved: readonly Origin[] = [];

export class Epochs {
  /** By ascending number, and so by ascending tag; at least one. */
  readonly #all: readonly [Epoch, ...Epoch[]];
  readonly #last: Epoch;
  /** The epochs of the stores that partitions were moved from, each without earlier ones. */
  readonly #earlier: readonly Epochs[];

  private constructor(all: readonly [Epoch, ...Epoch[]], earlier: readonly Epochs[] = []) {
    this.#all = all;
    this.#last = all.at(-1) ?? all[0];
    this.#earlier = earlier;
  }

  /** Parses `text`; a store that was never opened has one tag. */
  static parse(text: string): Epochs {
    const [own = "", ...earlier] = text.split("|");
    return new Epochs(
      epochsOf(own),
      earlier.map((one) => new Epochs(epochsOf(one))),
    );
  }

  /** The epochs of a new store whose numbers begin at `first`, for partitions of earlier stores. */
  static after(earlier: readonly Epochs[], first: number, random: Random): Epochs {
    return new Epochs([{ first, tag: nextTag(latestOf(earlier), random) }], earlier);
  }

  get text(): string {
    return [this, ...this.#earlier].map((one) => one.#ownText).join("|");
  }

  get #ownText(): string {
    return this.#all.map(({ first, tag }) => `${tag}:${first}`).join(" ");
  }

  /** Without the epochs of earlier stores. */
  get own(): Epochs {
    return new Epochs(this.#all);
  }

  earlierAt(epochs: number): Epochs {
    return this.#earlier[epochs] ?? this;
  }

  /** The first number of the latest epoch; no lower number is issued any more. */
  get first(): number {
    return this.#last.first;
  }

  get tag(): string {
    return this.#last.tag;
  }

  /** Adds an opening whose numbers begin at `first`. It replaces an epoch that issued nothing. */
  next(first: number, random: Random): Epochs {
    const issued = this.#all.filter((one) => one.first < first);
    const tag = nextTag(issued.at(-1)?.tag ?? latestOf(this.#earlier), random);
    const all = [...issued, { first, tag }];
    const [oldest = { first, tag }, ...others] = all.slice(-limits.epochsMax);
    // Numbers before the store's own are those of earlier stores.
    const begin = all[0]?.first ?? first;
    return new Epochs([{ ...oldest, first: begin }, ...others], this.#earlier);
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

  idOf(
    { slot, seq }: { readonly slot: number; readonly seq: number },
    origins: readonly Origin[] = neverMoved,
  ): string {
    if (origins.length > 0 && seq < this.begin) {
      const before = origins.slice(1).findIndex(({ epochs }) => seq < this.earlierAt(epochs).begin);
      const origin = origins.at(before) as Origin;
      return this.earlierAt(origin.epochs).idOf({ slot: origin.slot, seq });
    }
    return formatId(idPrefix(this.tagOf(seq), slot), seq);
  }

  /** The first number that this store may have issued; a successor's is never lower. */
  get begin(): number {
    return this.#all[0].first;
  }

  /** `null` = no known store issued the id, or the store that did has gone back since. */
  placeOf(id: string): IssuedPlace | null {
    const place = placeOf(id);
    if (place === null) return null;
    const { tag, slot, seq } = place;
    if (this.tagOf(seq) === tag) return { epochs: null, slot, seq };
    const epochs = this.#earlier.findIndex((one) => one.tagOf(seq) === tag);
    return epochs < 0 ? null : { epochs, slot, seq };
  }

  /** The number of the partition's first id that is not less than the text. */
  seqFrom(slot: number, text: string, origins: readonly Origin[] = neverMoved): number {
    const stores = [
      ...origins.map((origin) => ({ epochs: this.earlierAt(origin.epochs), slot: origin.slot })),
      { epochs: this, slot },
    ];
    for (const [index, store] of stores.entries()) {
      const first = index === 0 ? 0 : store.epochs.begin;
      const next = stores[index + 1];
      const before = next === undefined ? limits.seqMax + 1 : next.epochs.begin;
      const seq = store.epochs.#seqWithin(store.slot, text, { first, before });
      if (seq !== null) return seq;
    }
    return limits.seqMax + 1;
  }

  /** Like `seqFrom`, for numbers from `first` to before `before`; `null` = no such id. */
  #seqWithin(
    slot: number,
    text: string,
    span: { readonly first: number; readonly before: number },
  ): number | null {
    for (const [index, { first: begin, tag }] of this.#all.entries()) {
      // The oldest epoch kept includes the numbers of dropped ones.
      const first = index === 0 ? span.first : begin;
      const before = Math.min(this.#all[index + 1]?.first ?? span.before, span.before);
      if (first >= before) continue;
      const prefix = idPrefix(tag, slot);
      if (text <= formatId(prefix, first)) return first;
      if (text > formatId(prefix, before - 1)) continue;
      return placeOf(text)?.seq ?? before;
    }
    return null;
  }
}

function latestOf(epochs: readonly Epochs[]): string | null {
  return epochs.reduce<string | null>(
    (latest, { tag }) => (latest === null || tag > latest ? tag : latest),
    null,
  );
}

function epochsOf(text: string): [Epoch, ...Epoch[]] {
  const [first = "", ...others] = text.split(" ");
  return [epochOf(first), ...others.map(epochOf)];
}

function epochOf(text: string): Epoch {
  const [tag = "", first = "0"] = text.split(":");
  return { tag, first: Number(first) };
}
