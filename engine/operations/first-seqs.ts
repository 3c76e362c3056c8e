// The numbers of the items that a call writes: consecutive in each slot, which is one for each
// priority among the items. Receipts keep them, so that a repeated call is answered with the same
// ids.

import { partitionSlot, slotFor } from "../model/priority.ts";
import type { Memory } from "../state/memory.ts";
import type { Partition } from "../state/partition.ts";

export class FirstSeqs {
  /** The first number in each slot. */
  readonly #firsts: Map<number, number>;
  /** The next number in each slot, for `next`. */
  readonly #nexts: Map<number, number>;

  constructor(firsts: Iterable<readonly [slot: number, first: number]> = []) {
    this.#firsts = new Map(firsts);
    this.#nexts = new Map(this.#firsts);
  }

  /** Parses the values of a receipt; `rest`: those that follow. */
  static read([size = 0, ...values]: readonly number[]): {
    readonly firstSeqs: FirstSeqs;
    readonly rest: readonly number[];
  } {
    const pairs = Array.from({ length: size }, (_, index) => {
      return [values[2 * index] ?? 0, values[2 * index + 1] ?? 0] as const;
    });
    return { firstSeqs: new FirstSeqs(pairs), rest: values.slice(2 * size) };
  }

  get values(): number[] {
    return [this.#firsts.size, ...[...this.#firsts].flat()];
  }

  /** Call it before the first item is written into the slot. */
  begin({ slot, nextSeq }: Partition): void {
    if (this.#firsts.has(slot)) return;
    this.#firsts.set(slot, nextSeq);
    this.#nexts.set(slot, nextSeq);
  }

  /** The slots, with the numbers that were written in each. */
  *written(memory: Memory): Generator<{ partition: Partition; first: number; count: number }> {
    for (const [slot, first] of this.#firsts) {
      const partition = memory.partition(slot);
      yield { partition, first, count: partition.nextSeq - first };
    }
  }

  /** The place of the next written item with this priority. */
  next(priority: number): { readonly slot: number; readonly seq: number } {
    const [own = 0] = this.#firsts.keys();
    const slot = slotFor(partitionSlot(own), priority);
    const seq = this.#nexts.get(slot) ?? 0;
    this.#nexts.set(slot, seq + 1);
    return { slot, seq };
  }
}
