// Which partition takes a produce and which serves a lease. Pure bookkeeping over counts, as the
// shard's turns leave them.

/** The partitions of one queue, by number, with a score each; the best is known at once. */
class Tournament {
  #size = 1;
  #scores = new Float64Array(2).fill(Number.NEGATIVE_INFINITY);

  /** Rounds of a knock-out: a node holds the better score of its two children. */
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

/** What is known of one partition's load. */
export interface Load {
  ready: number;
  leased: number;
  /** Items that are to become ready at an instant. */
  aside: number;
  /** Leases that are to be served from it, and the items they would take. */
  leases: number;
  wanted: number;
  /** Takes new items: it is not draining. */
  open: boolean;
}

function noLoad(): Load {
  return { ready: 0, leased: 0, aside: 0, leases: 0, wanted: 0, open: false };
}

/**
 * Chooses partitions of one queue. A produce goes to the partition with the
 * fewest items that are ready or scheduled; a lease to the one with the most ready
 * items that no lease before it is to take, as long as there is an item for each.
 * Ties go to the lowest number.
 */
export class Balance {
  readonly #loads: Load[] = [];
  readonly #forProduce = new Tournament();
  readonly #forLease = new Tournament();
  readonly #lent = new Set<number>();
  #leasedCount = 0;

  /** Of all partitions. */
  get leasedCount(): number {
    return this.#leasedCount;
  }

  /** Adds the partition, or takes note of what the caller changed in its load. */
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

  /** A lease that is served takes so many from it. */
  lend(partition: number, itemCount: number): void {
    const load = this.#loads[partition];
    if (load === undefined) return;
    // In place, as for each lease: a change as an object costs six times as much.
    load.leases += 1;
    load.wanted += itemCount;
    this.#offer(partition, load);
    this.#lent.add(partition);
  }

  /** It is decided later. */
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

  /** Takes the partition out of the choice. */
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
