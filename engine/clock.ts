// Time, handed in. The only file of the engine that asks the machine what time it is.

export interface Timer {
  /** The callback will not run. Idempotent. */
  cancel(): void;
}

export interface Clock {
  /** Epoch milliseconds; never less than an earlier answer, and it never stands still. */
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
}

/** Longer sleeps are taken in pieces: a timer beyond 2^31 ms would fire at once. */
const sleepMsMax = 3_600_000;

/**
 * The machine's clock. While the machine's time is behind what was answered
 * before (it was set back), time goes on from there at its usual pace: deadlines
 * neither come early nor stop coming.
 */
export function systemClock(): Clock {
  let last = 0;
  let lastPrecise = performance.now();
  const now = (): number => {
    const precise = performance.now();
    const wall = Date.now();
    last = wall >= last ? wall : last + Math.floor(precise - lastPrecise);
    // The part of a millisecond that was not counted is left for the next call.
    lastPrecise = wall >= last ? precise : precise - ((precise - lastPrecise) % 1);
    return last;
  };
  return {
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
        handle = setTimeout(() => (now() >= deadline ? run() : sleep()), ms);
      };
      sleep();
      return { cancel: () => clearTimeout(handle) };
    },
    soon(run) {
      setImmediate(run);
    },
  };
}
