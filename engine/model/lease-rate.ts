// The lease rate of a queue: a maximum number of items within any interval of a given length.

import { parseDuration } from "./duration.ts";
import { limits } from "./limits.ts";

export interface Rate {
  readonly items: number;
  readonly intervalMs: number;
}

/** Parses a text such as `100/1s`; `null` = malformed. */
export function parseRate(text: string): Rate | null {
  const [, count, interval = ""] = /^(\d{1,10})\/(.{1,15})$/.exec(text) ?? [];
  const parsed = parseDuration(interval);
  const items = Number(count);
  if (!parsed.ok || !(items >= 1 && items <= limits.leaseRateItemsMax)) return null;
  const isInBounds = parsed.ms > 0 && parsed.ms <= limits.durationMsMax;
  return isInBounds ? { items, intervalMs: parsed.ms } : null;
}

/** The grants of a group, and the rate that they count against. */
export interface RatedWindow {
  readonly rate: string;
  readonly window: RateWindow;
}

/** The items granted within the latest interval. */
export class RateWindow {
  readonly rate: Rate;
  /** Instants at which grants expire are rounded up to multiples of this. */
  readonly #grainMs: number;
  /** In order of expiry. */
  readonly #spent: { readonly until: number; count: number }[] = [];
  #spentCount = 0;

  constructor(rate: Rate) {
    this.rate = rate;
    this.#grainMs = Math.ceil(rate.intervalMs / limits.leaseRateGrains);
  }

  left(now: number): number {
    for (let first = this.#spent[0]; first !== undefined; first = this.#spent[0]) {
      if (first.until > now) break;
      this.#spentCount -= first.count;
      this.#spent.shift();
    }
    return this.rate.items - this.#spentCount;
  }

  spend(count: number, now: number): void {
    if (count === 0) return;
    const until = Math.ceil((now + this.rate.intervalMs) / this.#grainMs) * this.#grainMs;
    const last = this.#spent.at(-1);
    if (last?.until === until) last.count += count;
    else this.#spent.push({ until, count });
    this.#spentCount += count;
  }

  /** When the next grants expire; `null` = there are none. */
  get moreAt(): number | null {
    return this.#spent[0]?.until ?? null;
  }
}
