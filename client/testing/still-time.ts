// Time of this process that goes on only when a test says so, for the client and a server beside it:
// no lease lapses and no call is given up because the machine stood still. What comes over a
// connection needs no time.

import { jest } from "bun:test";

export interface StillTime extends Disposable {
  /** Runs what is due by then. */
  advance(ms: number): void;
}

export function stillTime(): StillTime {
  jest.useFakeTimers();
  return {
    advance: (ms) => void jest.advanceTimersByTime(ms),
    [Symbol.dispose]: () => void jest.useRealTimers(),
  };
}

export function nextRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Whatever is under way inside the client has come as far as it can by itself. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await nextRound();
}
