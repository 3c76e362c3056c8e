// Injected time. The only file of the engine that reads the machine's clock.

import { TimerSet } from "./timer-set.ts";

export interface Timer {
  /** Prevents the callback from running. Idempotent. */
  cancel(): void;
}

export interface Clock {
  /** Epoch milliseconds; never less than an earlier result. Only a test clock stands still. */
  now(): number;
  /**
   * The current instant rounded up to a whole millisecond, to record as a creation time. `now()`
   * rounds down; with it an item could appear older than the request that created it.
   */
  stamp(): number;
  /** Raises `now()` to at least `instant`, which a previous process recorded. */
  advanceTo(instant: number): void;
  /** Milliseconds with fractions from an arbitrary start, for measuring durations. */
  precise(): number;
  /** Runs the callback once, when `now()` has reached the deadline; never before `at` returns. */
  at(deadline: number, run: () => void): Timer;
  /** Runs the callback once, after the events at hand have been handled. */
  nextTick(run: () => void): void;
  /** For timeouts of calls and of the process itself: this clock, unless it is a test clock. */
  readonly machine: Clock;
}

export function after(clock: Clock, ms: number, run: () => void): Timer {
  return clock.at(clock.now() + ms, run);
}

/** Longer sleeps are split: a timer beyond 2^31 ms would fire at once. */
const sleepMsMax = 3_600_000;

/**
 * The machine's clock. After the machine's time was set back, it continues from the last returned
 * instant at its usual pace, so deadlines neither fire early nor stall.
 */
export function systemClock(): Clock {
  return clockOf(Date.now);
}

/**
 * A clock that several machines share. It starts `aheadMs` ahead of this machine's clock and
 * advances steadily, whatever happens to the machine's time.
 */
export function sharedClock(aheadMs: number): Clock {
  const instant = Date.now() + aheadMs;
  const start = performance.now();
  return clockOf(() => Math.floor(instant + performance.now() - start));
}

/** Advances steadily, even if the machine's clock is set. */
export function steadyClock(): Clock {
  return sharedClock(0);
}

/** Timers sleep by a monotonic clock, so they are reset when the time of day jumps this far. */
const jumpMsMin = 50;
const jumpCheckMs = 500;

/** The sleeps of one clock that end by the time of day. */
class Sleeps {
  readonly #wallClock: () => number;
  readonly #entry = new Set<() => void>();
  #jumpTimer: ReturnType<typeof setInterval> | null = null;
  #aheadMs = 0;

  constructor(wallClock: () => number) {
    this.#wallClock = wallClock;
  }

  add(renew: () => void): void {
    if (this.#jumpTimer === null) {
      this.#aheadMs = this.#wallClock() - performance.now();
      this.#jumpTimer = setInterval(() => this.#checkForJump(), jumpCheckMs).unref();
    }
    this.#entry.add(renew);
  }

  delete(renew: () => void): void {
    this.#entry.delete(renew);
  }

  #checkForJump(): void {
    if (this.#entry.size === 0) {
      clearInterval(this.#jumpTimer ?? undefined);
      this.#jumpTimer = null;
      return;
    }
    const aheadMs = this.#wallClock() - performance.now();
    if (Math.abs(aheadMs - this.#aheadMs) < jumpMsMin) return;
    this.#aheadMs = aheadMs;
    for (const renew of [...this.#entry]) renew();
  }
}

function clockOf(wallClock: () => number): Clock {
  const sleeps = new Sleeps(wallClock);
  let last = 0;
  let lastPrecise = performance.now();
  const now = (): number => {
    const precise = performance.now();
    const wall = wallClock();
    last = wall >= last ? wall : last + Math.floor(precise - lastPrecise);
    // The uncounted fraction of a millisecond is left for the next call.
    lastPrecise = wall >= last ? precise : precise - ((precise - lastPrecise) % 1);
    return last;
  };
  const clock: Clock = {
    now,
    stamp: () => now() + 1,
    advanceTo(instant) {
      last = Math.max(now(), instant);
    },
    precise: () => performance.now(),
    at(deadline, run) {
      if (deadline <= now()) {
        const immediate = setImmediate(run);
        return { cancel: () => clearImmediate(immediate) };
      }
      let handle: ReturnType<typeof setTimeout>;
      const sleep = (): void => {
        const ms = Math.min(deadline - now(), sleepMsMax);
        handle = setTimeout(() => (now() >= deadline ? end() : sleep()), ms);
      };
      const renew = (): void => {
        clearTimeout(handle);
        sleep();
      };
      const end = (): void => {
        sleeps.delete(renew);
        run();
      };
      sleep();
      sleeps.add(renew);
      return {
        cancel() {
          sleeps.delete(renew);
          clearTimeout(handle);
        },
      };
    },
    nextTick(run) {
      setImmediate(run);
    },
    get machine() {
      return clock;
    },
  };
  return clock;
}

/**
 * Time that stands still until `advanceTo`, starting from the machine's time or a given instant.
 * Timeouts of calls and the work of the process itself follow the machine's clock.
 */
export class TestClock implements Clock {
  readonly machine: Clock;
  readonly #timers = new TimerSet();
  #now: number;

  constructor(machine: Clock = systemClock(), now: number = machine.now()) {
    this.machine = machine;
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  stamp(): number {
    return this.#now;
  }

  advanceTo(instant: number): void {
    this.#now = Math.max(this.#now, instant);
    for (const entry of this.#timers.until(this.#now))
      this.nextTick(() => this.#timers.fire(entry));
  }

  precise(): number {
    return this.machine.precise();
  }

  at(deadline: number, run: () => void): Timer {
    const { entry, timer } = this.#timers.set(deadline, run);
    if (deadline <= this.#now) this.nextTick(() => this.#timers.fire(entry));
    return timer;
  }

  nextTick(run: () => void): void {
    this.machine.nextTick(run);
  }

  /** The deadline of the next alarm; infinite = no alarm is set. */
  get next(): number {
    return this.#timers.earliest()?.deadline ?? Number.POSITIVE_INFINITY;
  }
}
