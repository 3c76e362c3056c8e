// A steady clock, and timers of any length. Wall-clock time may be changed and differs from the
// server's, so the client measures no durations with it.

/** Milliseconds since an arbitrary start; never decreases. */
export function steadyNow(): number {
  return performance.now();
}

/** Runtimes fire a longer timer immediately. */
const timerMsMax = 2 ** 31 - 1;

/** Runs it once, after any time; never after an infinite one. Returns the cancellation. */
export function startTimer(ms: number, run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const sleep = (leftMs: number): void => {
    const end = leftMs <= timerMsMax ? run : () => sleep(leftMs - timerMsMax);
    timer = setTimeout(end, Math.min(leftMs, timerMsMax));
  };
  sleep(ms);
  return () => clearTimeout(timer);
}

/** Converts a lease deadline, which is by the queue's clock, to `steadyNow()`. */
export function lapsesAtOf(
  { lease_deadline, now }: { readonly lease_deadline: string; readonly now: string },
  receivedAt: number,
): number {
  return receivedAt + Date.parse(lease_deadline) - Date.parse(now);
}
