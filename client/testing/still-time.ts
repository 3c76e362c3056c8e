// Fake time, which only a test advances, for the client and a server in the same process. No lease
// lapses and no call times out because the machine is slow. Data over connections needs no time.

import { jest } from "bun:test";

export interface StillTime extends Disposable {
  /** Runs the timers that are due by then. */
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

/** Resolves when the client can proceed no further by itself. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await nextRound();
}
