// The loads of a queue by priority. Only the priorities that items have had take memory.

import { Balance } from "./balance.ts";

export class Levels {
  readonly #lowest = new Balance();
  readonly #byPriority = new Map<number, Balance>([[0, this.#lowest]]);

  /** The balance of one priority over the partitions. */
  at(priority: number): Balance {
    if (priority === 0) return this.#lowest;
    return this.#byPriority.getOrInsertComputed(priority, () => this.#lowest.withoutItems());
  }

  get priorities(): number[] {
    return [...this.#byPriority.keys()];
  }

  /** Whether no item of the queue has had a priority. */
  get isPlain(): boolean {
    return this.#byPriority.size === 1;
  }

  /** Whether only items of priority 0 are ready, so that the partitions alone are compared. */
  get isFlat(): boolean {
    return this.highestReady <= 0;
  }

  /** The highest priority of ready items; -1 = none is ready. */
  get highestReady(): number {
    let highest = -1;
    for (const [priority, { leaseFrom }] of this.#byPriority) {
      if (leaseFrom >= 0 && priority > highest) highest = priority;
    }
    return highest;
  }

  get leasedCount(): number {
    let count = 0;
    for (const { leasedCount } of this.#byPriority.values()) count += leasedCount;
    return count;
  }

  /** `open`: the partition takes new items, because it is not draining. */
  put(partition: number, open: boolean): void {
    for (const balance of this.#byPriority.values()) balance.update(partition, { open });
  }

  remove(partition: number): void {
    for (const balance of this.#byPriority.values()) balance.remove(partition);
  }
}
