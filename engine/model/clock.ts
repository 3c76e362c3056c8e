// Time, handed in. The only file of the engine that asks the machine what time it is.

import { Alarms } from "./alarms.ts";

export interface Timer {
  /** The callback will not run. Idempotent. */
  cancel(): void;
}

export interface Clock {
  /** Epoch milliseconds; never less than an earlier answer. Only a test clock stands still. */
  now(): number;
  /**
   * An instant to write down as when something came to be: a whole millisecond, and not before this
   * moment, which `now()` is by a part of one. So nothing was made before its maker asked for it.
   */
  stamp(): number;
  /** From here on `now()` is at least this: an instant that was written by whoever ran before. */
  raise(instant: number): void;
  /** Milliseconds with fractions from an arbitrary start, for measuring how long something took. */
  precise(): number;
  /** Runs the callback once, when `now()` has reached the deadline; never before `at` returns. */
  at(deadline: number, run: () => void): Timer;
  /** Runs the callback once the events that are at hand have been seen to. */
  soon(run: () => void): void;
  /** What calls wait by, and the process itself goes by: this one, unless it is a test clock. */
  readonly machine: Clock;
}

/** Runs the callback once, after so many milliseconds of the clock. */
export function after(clock: Clock, ms: number, run: () => void): Timer {
  return clock.at(clock.now() + ms, run);
}

/** Longer sleeps are taken in pieces: a timer beyond 2^31 ms would fire at once. */
const sleepMsMax = 3_600_000;

/**
 * The machine's clock. While the machine's time is behind what was answered
 * before (it was set back), time goes on from there at its usual pace: deadlines
 * neither come early nor stop coming.
 */
export function systemClock(): Clock {
  return clockOf(Date.now);
}

/**
 * A clock that several machines share: it is ahead of this machine's by so much now, and goes on
 * steadily from there, whatever becomes of that.
 */
export function sharedClock(aheadMs: number): Clock {
  const instant = Date.now() + aheadMs;
  const start = performance.now();
  return clockOf(() => Math.floor(instant + performance.now() - start));
}

/** Goes on steadily, however the machine's is set. */
export function steadyClock(): Clock {
  return sharedClock(0);
}

/** Timers sleep by a steady clock, so they are set anew when the time of day has jumped so far. */
const jumpMsMin = 50;
const jumpLookMs = 500;

/** Sleeps that end by the time of day, of one clock. */
class Sleeps {
  readonly #wallClock: () => number;
  readonly #pending = new Set<() => void>();
  #look: ReturnType<typeof setInterval> | null = null;
  #aheadMs = 0;

  constructor(wallClock: () => number) {
    this.#wallClock = wallClock;
  }

  add(renew: () => void): void {
    if (this.#look === null) {
      this.#aheadMs = this.#wallClock() - performance.now();
      this.#look = setInterval(() => this.#lookForJump(), jumpLookMs).unref();
    }
    this.#pending.add(renew);
  }

  delete(renew: () => void): void {
    this.#pending.delete(renew);
  }

  #lookForJump(): void {
    if (this.#pending.size === 0) {
      clearInterval(this.#look ?? undefined);
      this.#look = null;
      return;
    }
    const aheadMs = this.#wallClock() - performance.now();
    if (Math.abs(aheadMs - this.#aheadMs) < jumpMsMin) return;
    this.#aheadMs = aheadMs;
    for (const renew of [...this.#pending]) renew();
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
    // The part of a millisecond that was not counted is left for the next call.
    lastPrecise = wall >= last ? precise : precise - ((precise - lastPrecise) % 1);
    return last;
  };
  const clock: Clock = {
    now,
    stamp: () => now() + 1,
    raise(instant) {
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
    soon(run) {
      setImmediate(run);
    },
    get machine() {
      return clock;
    },
  };
  return clock;
}

/**
 * Time that stands still until it is raised, from the machine's or another instant on. What calls
 * wait by, and what the process does by itself, goes on by the machine's clock.
 */
export class TestClock implements Clock {
  readonly machine: Clock;
  readonly #alarms = new Alarms();
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

  raise(instant: number): void {
    this.#now = Math.max(this.#now, instant);
    for (const alarm of this.#alarms.until(this.#now)) this.soon(() => this.#alarms.fire(alarm));
  }

  precise(): number {
    return this.machine.precise();
  }

  at(deadline: number, run: () => void): Timer {
    const { alarm, timer } = this.#alarms.set(deadline, run);
    if (deadline <= this.#now) this.soon(() => this.#alarms.fire(alarm));
    return timer;
  }

  soon(run: () => void): void {
    this.machine.soon(run);
  }

  /** The deadline of the next alarm; infinite = there is none. */
  get next(): number {
    return this.#alarms.earliest()?.deadline ?? Number.POSITIVE_INFINITY;
  }
}
