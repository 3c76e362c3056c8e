// Time, handed in. The only file of the engine that asks the machine what time it is.

export interface Timer {
  /** The callback will not run. Idempotent. */
  cancel(): void;
}

export interface Clock {
  /** Epoch milliseconds; never less than an earlier answer. */
  now(): number;
  /** Milliseconds with fractions from an arbitrary start, for measuring how long something took. */
  precise(): number;
  /** Runs the callback once, when `now()` has reached the deadline; never before `at` returns. */
  at(deadline: number, run: () => void): Timer;
  /** Runs the callback once the events that are at hand have been seen to. */
  soon(run: () => void): void;
}

/** Longer sleeps are taken in pieces: a timer beyond 2^31 ms would fire at once. */
const sleepMsMax = 3_600_000;

/** The machine's clock; when the machine's time is set back it stands still until time has caught up. */
export function systemClock(): Clock {
  let last = 0;
  const now = (): number => {
    last = Math.max(last, Date.now());
    return last;
  };
  return {
    now,
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
