// Chooses the partition for a produce and for a lease, from counts that the turns update.

/** A tournament tree of scores by partition number, with the best at its root. */
class Tournament {
  #size = 1;
  #scores = new Float64Array(2).fill(Number.NEGATIVE_INFINITY);

  /** A node has the better score of its two children. */
  set(index: number, score: number): void {
    while (index >= this.#size) this.#grow();
    let node = this.#size + index;
    this.#scores[node] = score;
    for (node >>= 1; node >= 1; node >>= 1) {
      const best = Math.max(this.#scores[2 * node] as number, this.#scores[2 * node + 1] as number);
      if (this.#scores[node] === best) return;
      this.#scores[node] = best;
    }
  }

  /** The index with the highest score, the lowest such index; -1 if no score is finite. */
  get best(): number {
    const score = this.#scores[1] as number;
    if (score === Number.NEGATIVE_INFINITY) return -1;
    let node = 1;
    while (node < this.#size) node = this.#scores[2 * node] === score ? 2 * node : 2 * node + 1;
    return node - this.#size;
  }

  #grow(): void {
    const old = this.#scores.slice(this.#size);
    this.#size *= 2;
    this.#scores = new Float64Array(2 * this.#size).fill(Number.NEGATIVE_INFINITY);
    for (const [index, score] of old.entries()) this.set(index, score);
  }
}

export interface Load {
  ready: number;
  leased: number;
  /** Scheduled items and items that wait for a retry. */
  aside: number;
  /** Leases that will be served from the partition, and the items that they may take. */
  leases: number;
  wanted: number;
  /** Takes new items, because it is not draining. */
  open: boolean;
}

function noLoad(): Load {
  return { ready: 0, leased: 0, aside: 0, leases: 0, wanted: 0, open: false };
}

/**
 * Chooses partitions for items of one priority. A produce goes to the partition with the fewest
 * ready and scheduled items. A lease goes to the partition with the most ready items after those
 * promised to earlier leases, while it has an item for each lease. Ties go to the lowest number.
 */
export class Balance {
  readonly #loads: Load[] = [];
  readonly #forProduce = new Tournament();
  readonly #forLease = new Tournament();
  readonly #lent = new Set<number>();
  #leasedCount = 0;

  get leasedCount(): number {
    return this.#leasedCount;
  }

  /** The partitions with ready items, and their numbers of these. */
  get ready(): [partition: number, ready: number][] {
    const all: [number, number][] = [];
    this.#loads.forEach(({ ready }, partition) => {
      if (ready > 0) all.push([partition, ready]);
    });
    return all;
  }

  /** A balance over the same partitions, without items. */
  withoutItems(): Balance {
    const balance = new Balance();
    this.#loads.forEach(({ open }, partition) => {
      balance.update(partition, { open });
    });
    return balance;
  }

  /** Adds the partition, or updates its load. */
  update(partition: number, change: Partial<Load>): void {
    const load = this.#loads[partition];
    const leasedBefore = load?.leased ?? 0;
    const next = Object.assign(load ?? noLoad(), change);
    this.#loads[partition] = next;
    this.#leasedCount += next.leased - leasedBefore;
    const score = next.open ? -(next.ready + next.aside) : Number.NEGATIVE_INFINITY;
    this.#forProduce.set(partition, score);
    this.#offer(partition, next);
  }

  #offer(partition: number, { ready, leases, wanted }: Load): void {
    const score = ready > leases ? ready - wanted : Number.NEGATIVE_INFINITY;
    this.#forLease.set(partition, score);
  }

  /** Promises up to `itemCount` items of the partition to a lease. */
  lend(partition: number, itemCount: number): void {
    const load = this.#loads[partition];
    if (load === undefined) return;
    // In place, because it runs for each lease: `update` with a change object costs six times as
    // much.
    load.leases += 1;
    load.wanted += itemCount;
    this.#offer(partition, load);
    this.#lent.add(partition);
  }

  /** Ends all promises of `lend`; the turn decides what is taken. */
  forgetLent(): void {
    for (const partition of this.#lent) {
      const load = this.#loads[partition];
      if (load === undefined) continue;
      load.leases = 0;
      load.wanted = 0;
      this.#offer(partition, load);
    }
    this.#lent.clear();
  }

  /** The partition is not chosen any more. */
  remove(partition: number): void {
    this.#leasedCount -= this.#loads[partition]?.leased ?? 0;
    delete this.#loads[partition];
    this.#forProduce.set(partition, Number.NEGATIVE_INFINITY);
    this.#forLease.set(partition, Number.NEGATIVE_INFINITY);
  }

  /** -1 if no partition takes items now. */
  get produceTo(): number {
    return this.#forProduce.best;
  }

  /** -1 if no partition has an item to spare. */
  get leaseFrom(): number {
    return this.#forLease.best;
  }
}
