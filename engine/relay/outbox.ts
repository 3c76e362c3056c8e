// The counts of the items that a shard has to send to other shards, and the next number. The items
// themselves are in its store.

import type { OutboxCount } from "../../stores/store.ts";

/** The key under which the store keeps the last item that a target is known to have. */
export function arrivedKey(targetShard: number): number {
  return -1 - targetShard;
}

export class Outbox {
  /** By target shard and queue. */
  readonly #counts = new Map<number, Map<number, number>>();
  #seqLast: number;
  /** Other shards have items under numbers up to this one, whatever the store contains. */
  #taken = 0;

  constructor(counts: readonly OutboxCount[], seqLast: number, former?: Outbox) {
    this.#seqLast = seqLast;
    if (former !== undefined) this.#taken = former.#taken;
    for (const { targetShard, targetOwner, count } of counts) {
      this.#of(targetShard).set(targetOwner, count);
    }
  }

  #of(targetShard: number): Map<number, number> {
    return this.#counts.getOrInsertComputed(targetShard, () => new Map());
  }

  /** Increases by one per item sent, and is never reused. */
  get seqLast(): number {
    return this.#seqLast;
  }

  /** Skips numbers in use elsewhere; returns whether any of them would have been issued again. */
  take(outboundSeq: number): boolean {
    this.#taken = Math.max(this.#taken, outboundSeq);
    if (this.#seqLast >= outboundSeq) return false;
    this.#seqLast = outboundSeq;
    return true;
  }

  /** Returns the number of the item. */
  put(targetShard: number, targetOwner: number): number {
    const counts = this.#of(targetShard);
    counts.set(targetOwner, (counts.get(targetOwner) ?? 0) + 1);
    this.#seqLast = Math.max(this.#seqLast, this.#taken) + 1;
    return this.#seqLast;
  }

  remove(targetShard: number, targetOwner: number): void {
    const counts = this.#of(targetShard);
    const count = counts.get(targetOwner) ?? 0;
    if (count > 1) counts.set(targetOwner, count - 1);
    else counts.delete(targetOwner);
  }

  counts(target?: number): OutboxCount[] {
    return [...this.#counts].flatMap(([targetShard, counts]) =>
      target === undefined || target === targetShard
        ? [...counts].map(([targetOwner, count]) => ({ targetShard, targetOwner, count }))
        : [],
    );
  }
}
