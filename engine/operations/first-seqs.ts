// The numbers of the items that a call writes into one partition: consecutive for each priority.
// Receipts keep them, so that a repeated call is answered with the same ids.

import { priorities, slotFor } from "../model/priority.ts";
import type { Memory } from "../state/memory.ts";
import type { Partition } from "../state/partition.ts";

export class FirstSeqs {
  /** The own slot of the partition. */
  readonly #slot: number;
  /** The first number, by priority. */
  readonly #firsts: Map<number, number>;
  /** The number that `next` returns next, by priority. */
  readonly #nexts: Map<number, number>;

  constructor(slot: number, firsts: Iterable<readonly [priority: number, first: number]> = []) {
    this.#slot = slot;
    this.#firsts = new Map(firsts);
    this.#nexts = new Map(this.#firsts);
  }

  /** Parses the values of a receipt; `rest`: those that follow. */
  static read([slot = 0, size = 0, ...values]: readonly number[]): {
    readonly firstSeqs: FirstSeqs;
    readonly rest: readonly number[];
  } {
    const pairs = Array.from({ length: Math.min(size, priorities.length) }, (_, index) => {
      return [values[2 * index] ?? 0, values[2 * index + 1] ?? 0] as const;
    });
    return { firstSeqs: new FirstSeqs(slot, pairs), rest: values.slice(2 * size) };
  }

  /** Begin with the slot, which a reshard replaces. */
  get values(): number[] {
    return [this.#slot, this.#firsts.size, ...[...this.#firsts].flat()];
  }

  /** Call it before the first item of a priority is written. */
  begin({ priority, nextSeq }: Partition): void {
    if (this.#firsts.has(priority)) return;
    this.#firsts.set(priority, nextSeq);
    this.#nexts.set(priority, nextSeq);
  }

  /** The slots, with the numbers that were written in each. */
  *written(memory: Memory): Generator<{ partition: Partition; first: number; count: number }> {
    for (const [priority, first] of this.#firsts) {
      const partition = memory.partition(slotFor(this.#slot, priority));
      yield { partition, first, count: partition.nextSeq - first };
    }
  }

  /** The place of the next written item with this priority. */
  next(priority: number): { readonly slot: number; readonly seq: number } {
    const seq = this.#nexts.get(priority) ?? 0;
    this.#nexts.set(priority, seq + 1);
    return { slot: slotFor(this.#slot, priority), seq };
  }
}
