// Lengths of time: by a clock that is never set, and by timers of any length. The clock of the day is
// set back and forth, and differs from the server's; nothing in the client depends on it.

/** Milliseconds from an arbitrary start, which only ever rise. */
export function steadyNow(): number {
  return performance.now();
}

/** Runtimes run a timer beyond 2^31 − 1 ms immediately. */
const timerMsMax = 2 ** 31 - 1;

/** Runs it once, after any length of time; after an infinite one, never. Returns what cancels it. */
export function startTimer(ms: number, run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const sleep = (leftMs: number): void => {
    const end = leftMs <= timerMsMax ? run : () => sleep(leftMs - timerMsMax);
    timer = setTimeout(end, Math.min(leftMs, timerMsMax));
  };
  sleep(ms);
  return () => clearTimeout(timer);
}

/** The steady instant at which a lease ends, whose end and present are told by the queue's clock. */
export function lapsesAtOf(
  { lease_deadline, now }: { readonly lease_deadline: string; readonly now: string },
  receivedAt: number,
): number {
  return receivedAt + Date.parse(lease_deadline) - Date.parse(now);
}
