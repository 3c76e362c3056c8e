// The items of a measurement of fair leases: which one a group gets next. Pure.

import type { FairItem } from "./fair.ts";
import { numberOf } from "./peer.ts";

/** In the backlog with which a measurement begins. */
export const itemsPerGroup = 10;
/** Items of one batch, a multiple of `itemsPerGroup`. */
const batchSize = 1_000;

/** The groups of a measurement, and the number of items of each so far. */
export class FairBacklog {
  readonly groups: number;
  readonly #rounds: Int32Array;
  /** The next group to fill; groups are filled one after the other. */
  #filled = 0;

  constructor(groups: number) {
    this.groups = groups;
    this.#rounds = new Int32Array(groups);
  }

  get filledShare(): number {
    return this.#filled / this.groups;
  }

  /** Items that begin the backlog; none = it is complete. */
  batch(): FairItem[] {
    const items: FairItem[] = [];
    while (items.length < batchSize && this.#filled < this.groups) {
      for (let count = 0; count < itemsPerGroup; count += 1) items.push(this.next(this.#filled));
      this.#filled += 1;
    }
    return items;
  }

  next(group: number): FairItem {
    const round = this.#rounds[group] as number;
    this.#rounds[group] = round + 1;
    return { number: round * this.groups + group, group: `group-${group}`, round };
  }

  groupOf(payload: string): number {
    return numberOf(payload) % this.groups;
  }
}
