// How many items of a queue may be leased now: none while it is paused, no more at one time than its
// `leasedMax`, no faster than its `leaseRate`. A grant counts against the rate at once; its interval begins
// when the lease is answered.

import type { QueueDefinition } from "../../stores/queue.ts";
import { parseRate, RateWindow } from "../model/lease-rate.ts";

export class Allowance {
  #isPaused = false;
  #leasedMax = Number.POSITIVE_INFINITY;
  #rateText = "";
  #rate: RateWindow | null = null;
  /** By turns that are not answered. */
  #granted = 0;

  /** A rate that changes begins anew. */
  define({ pause, leasedMax = 0, leaseRate = "" }: QueueDefinition): void {
    this.#isPaused = pause?.lease === true;
    this.#leasedMax = leasedMax === 0 ? Number.POSITIVE_INFINITY : leasedMax;
    if (leaseRate === this.#rateText) return;
    this.#rateText = leaseRate;
    const rate = parseRate(leaseRate);
    this.#rate = rate === null ? null : new RateWindow(rate);
  }

  /** Items that may be leased beside those that are; 0 or less: none. */
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

  /** So many by a turn; negative: it is answered, or came to nothing. */
  granted(count: number): void {
    this.#granted += count;
  }

  spend(count: number, now: number): void {
    this.#rate?.spend(count, now);
  }
}
