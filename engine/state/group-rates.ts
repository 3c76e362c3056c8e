// The rates of the groups of a queue: how many items of each were granted within its latest
// interval. The windows belong to the queue, so they outlive an opening of its store, and a group.

import { Heap } from "../model/heap.ts";
import { parseRate, type RatedWindow, RateWindow } from "../model/lease-rate.ts";
import type { LogicalQueue } from "./queue.ts";

interface Tick {
  readonly at: number;
  readonly name: string;
}

export class GroupRates {
  readonly #queueOf: () => LogicalQueue | undefined;
  /** When the first grants of each window expire; a window has one at a time. */
  readonly #ticks = new Heap<Tick>({ less: (a, b) => a.at < b.at, isLive: () => true });
  #hasLooked = false;

  constructor(queueOf: () => LogicalQueue | undefined) {
    this.#queueOf = queueOf;
  }

  get #windows(): Map<string, RatedWindow> | undefined {
    return this.#queueOf()?.groupRates;
  }

  #windowOf(name: string, rate: string): RateWindow | null {
    const known = this.#windows?.get(name);
    return known?.rate === rate ? known.window : null;
  }

  /** Items that may be granted now; `rate`: `""` = any number. */
  left(name: string, rate: string, now: number): number {
    if (rate === "") return Number.POSITIVE_INFINITY;
    return this.#windowOf(name, rate)?.left(now) ?? parseRate(rate)?.items ?? 0;
  }

  /** Counts a grant. */
  spend(name: string, rate: string, now: number): void {
    const parsed = rate === "" ? null : parseRate(rate);
    if (parsed === null) return;
    const window = this.#windowOf(name, rate) ?? new RateWindow(parsed);
    const isNew = window.moreAt === null;
    window.spend(1, now);
    this.#windows?.set(name, { rate, window });
    if (isNew) this.#ticks.push({ at: window.moreAt ?? now, name });
  }

  moreAt(name: string): number | null {
    return this.#windows?.get(name)?.window.moreAt ?? null;
  }

  get openAt(): number {
    return this.#ticks.peek()?.at ?? Number.POSITIVE_INFINITY;
  }

  /** The groups whose rate allows more than before. */
  due(now: number): string[] {
    const due: string[] = [];
    if (!this.#hasLooked) {
      this.#hasLooked = true;
      for (const [name, { window }] of this.#windows ?? []) {
        this.#ticks.push({ at: window.moreAt ?? now, name });
      }
    }
    while (this.openAt <= now) {
      const { name } = this.#ticks.pop() as Tick;
      const window = this.#windows?.get(name)?.window;
      window?.left(now);
      if (window?.moreAt == null) this.#windows?.delete(name);
      else this.#ticks.push({ at: window.moreAt, name });
      due.push(name);
    }
    return due;
  }
}
