// Counts the recent wrong API keys of each address. Bounded: at `addressesMax`, the address with
// the oldest window is evicted.

export const failedAuthLimits = {
  /**
   * Wrong keys per address and window; enough for typing errors and for a fleet with an old key.
   */
  countMax: 20,
  windowMs: 60_000,
  /** About 1 MB in all. */
  addressesMax: 10_000,
} as const;

interface FailureWindow {
  count: number;
  readonly since: number;
}

export interface FailedAuth {
  /** Until the address may try again; 0 = now. */
  readonly waitMs: number;
  /** True once per window, so that the log is not flooded. */
  readonly isFirstTooMany: boolean;
}

export class FailedAuthLimiter {
  readonly #now: () => number;
  readonly #countMax: number;
  /** In the order in which their windows began. */
  readonly #windows = new Map<string, FailureWindow>();

  /** `threads`: each has a limiter and takes its share of `countMax`. */
  constructor(now: () => number, threads = 1) {
    this.#now = now;
    this.#countMax = Math.ceil(failedAuthLimits.countMax / threads);
  }

  get addressCount(): number {
    return this.#windows.size;
  }

  add(address: string): FailedAuth {
    const { windowMs } = failedAuthLimits;
    const countMax = this.#countMax;
    const network = networkOf(address);
    const now = this.#now();
    const before = this.#windows.get(network);
    const isRunning = before !== undefined && now - before.since < windowMs;
    const window = isRunning ? before : this.#begin(network, now);
    window.count += 1;
    return {
      waitMs: window.count > countMax ? window.since + windowMs - now : 0,
      isFirstTooMany: window.count === countMax + 1,
    };
  }

  #begin(network: string, since: number): FailureWindow {
    const window = { count: 0, since };
    this.#windows.delete(network);
    this.#windows.set(network, window);
    if (this.#windows.size > failedAuthLimits.addressesMax) {
      const [oldest = ""] = this.#windows.keys();
      this.#windows.delete(oldest);
    }
    return window;
  }
}

/** A client with one IPv6 address controls its whole /64, so a /64 counts as one address. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [before = [], after = []] = address
    .split("::", 2)
    .map((part) => (part === "" ? [] : part.split(":")));
  const gap = new Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  const groups = [...before, ...gap, ...after].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
