// How many items of a queue may be leased now: none while it is paused, no more at one time than its
// `leasedMax`, no faster than its `leaseRate`. Its shard's counts may be a turn old, so a lease that
// is on its way counts as all that it asks for until its shard has said what it took.

import type { QueueDefinition } from "../../stores/queue.ts";
import { parseRate, RateWindow } from "../model/lease-rate.ts";

export class Allowance {
  #isPaused = false;
  #leasedMax = Number.POSITIVE_INFINITY;
  #rateText = "";
  #rate: RateWindow | null = null;
  #leased = 0;
  #asked = 0;

  /** A rate that changes begins anew. */
  define({ pause, leasedMax = 0, leaseRate = "" }: QueueDefinition): void {
    this.#isPaused = pause?.lease === true;
    this.#leasedMax = leasedMax === 0 ? Number.POSITIVE_INFINITY : leasedMax;
    if (leaseRate === this.#rateText) return;
    this.#rateText = leaseRate;
    const rate = parseRate(leaseRate);
    this.#rate = rate === null ? null : new RateWindow(rate);
  }

  /** Items that one more lease may take; 0 or less: none. */
  items(now: number): number {
    if (this.#isPaused) return 0;
    const rateLeft = this.#rate?.left(now) ?? Number.POSITIVE_INFINITY;
    return Math.min(this.#leasedMax - this.#leased, rateLeft) - this.#asked;
  }

  /** Leases that are on their way counted as what they ask for. */
  get isAtLeasedMax(): boolean {
    return this.#leased + this.#asked >= this.#leasedMax;
  }

  isAtRate(now: number): boolean {
    return this.#rate !== null && this.#rate.left(now) - this.#asked <= 0;
  }

  /** When the rate allows more than now; `null`: it has nothing to wait for. */
  get rateMoreAt(): number | null {
    return this.#rate?.moreAt ?? null;
  }

  /** When time alone may allow more; `null`: never. */
  get moreAt(): number | null {
    return this.#isPaused ? null : (this.#rate?.moreAt ?? null);
  }

  /** By its rate; 0 = no limit. */
  get itemsPerSecond(): number {
    if (this.#rate === null) return 0;
    const { items, intervalMs } = this.#rate.rate;
    return (1_000 * items) / intervalMs;
  }

  /** By the report of a shard, so many more are leased than by the one before. */
  counted(change: number): void {
    this.#leased += change;
  }

  asked(itemCount: number): void {
    this.#asked += itemCount;
  }

  /** Of a lease that asked for so many. */
  granted(count: number, { asked, now }: { readonly asked: number; readonly now: number }): void {
    this.#asked -= asked;
    this.#rate?.spend(count, now);
  }
}
