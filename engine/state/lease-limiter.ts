// Limits how many items of a queue may be leased now: none while leasing is paused, at most
// `leasedMax` at a time, and no faster than `leaseRate`. A grant counts against the rate at once;
// its interval begins when the lease is answered.

import type { QueueDefinition } from "../../stores/queue.ts";
import { parseRate, RateWindow } from "../model/lease-rate.ts";

export class LeaseLimiter {
  #isPaused = false;
  #leasedMax = Number.POSITIVE_INFINITY;
  #rateText = "";
  #rate: RateWindow | null = null;
  /** Items granted by turns that are not answered yet. */
  #granted = 0;

  /** A changed rate starts with an empty window. */
  define({ pause, leasedMax = 0, leaseRate = "" }: QueueDefinition): void {
    this.#isPaused = pause?.lease === true;
    this.#leasedMax = leasedMax === 0 ? Number.POSITIVE_INFINITY : leasedMax;
    if (leaseRate === this.#rateText) return;
    this.#rateText = leaseRate;
    const rate = parseRate(leaseRate);
    this.#rate = rate === null ? null : new RateWindow(rate);
  }

  /** How many more items may be leased; 0 or less: none. */
  items(leased: number, now: number): number {
    return this.#isPaused ? 0 : Math.min(this.#leasedMax - leased, this.#rateLeft(now));
  }

  isAtLeasedMax(leased: number): boolean {
    return leased >= this.#leasedMax;
  }

  isAtRate(now: number): boolean {
    return this.#rateLeft(now) <= 0;
  }

  #rateLeft(now: number): number {
    return this.#rate === null ? Number.POSITIVE_INFINITY : this.#rate.left(now) - this.#granted;
  }

  get hasRate(): boolean {
    return this.#rate !== null;
  }

  /** The instant at which the rate allows more; `null` = it does not limit now. */
  get rateMoreAt(): number | null {
    return this.#rate?.moreAt ?? null;
  }

  /** The instant at which more may be leased if nothing else changes; `null` = never. */
  get moreAt(): number | null {
    return this.#isPaused ? null : (this.#rate?.moreAt ?? null);
  }

  /** The rate; 0 = no limit. */
  get itemsPerSecond(): number {
    if (this.#rate === null) return 0;
    const { items, intervalMs } = this.#rate.rate;
    return (1_000 * items) / intervalMs;
  }

  /** A turn has granted `count` items; negative when it is answered or void. */
  granted(count: number): void {
    this.#granted += count;
  }

  spend(count: number, now: number): void {
    this.#rate?.spend(count, now);
  }
}
