// The numbers of the items that a call writes into one partition: consecutive for each priority.
// Receipts keep them, so that a repeated call is answered with the same ids.

import { priorities, slotFor } from "../model/priority.ts";
import type { Memory } from "../state/memory.ts";
import type { Partition } from "../state/partition.ts";

type First = readonly [priority: number, first: number];

export class FirstSeqs {
  /** The own slot of the partition. */
  readonly #slot: number;
  /** By priority; mostly there is one. */
  readonly #firsts: First[];
  /** By priority, how many numbers `next` has returned. */
  readonly #taken: number[] = [];

  constructor(slot: number, firsts: First[] = []) {
    this.#slot = slot;
    this.#firsts = firsts;
  }

  /** Parses the values of a receipt; `rest`: those that follow. */
  static read([slot = 0, size = 0, ...values]: readonly number[]): {
    readonly firstSeqs: FirstSeqs;
    readonly rest: readonly number[];
  } {
    const pairs = Array.from({ length: Math.min(size, priorities.length) }, (_, index): First => {
      return [values[2 * index] ?? 0, values[2 * index + 1] ?? 0];
    });
    return { firstSeqs: new FirstSeqs(slot, pairs), rest: values.slice(2 * size) };
  }

  /** Begin with the slot, which a reshard replaces. */
  get values(): number[] {
    return [this.#slot, this.#firsts.length, ...this.#firsts.flat()];
  }

  /** Call it before the first item of a priority is written. */
  begin({ priority, nextSeq }: Partition): void {
    for (const [one] of this.#firsts) if (one === priority) return;
    this.#firsts.push([priority, nextSeq]);
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
    const [, first = 0] = this.#firsts.find(([one]) => one === priority) ?? [];
    const taken = this.#taken[priority] ?? 0;
    this.#taken[priority] = taken + 1;
    return { slot: slotFor(this.#slot, priority), seq: first + taken };
  }
}
