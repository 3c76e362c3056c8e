// A steady clock, and timers of any length. The wall clock may be changed and differs from the
// server's, so durations are not measured with it.

/** Milliseconds since an arbitrary start; never decreases. */
export function steadyNow(): number {
  return performance.now();
}

/** Runtimes fire a longer timer immediately. */
const timerMsMax = 2 ** 31 - 1;

/** Calls `run` once, after `ms`; never if `ms` is infinite. Returns a function that cancels it. */
export function startTimer(ms: number, run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const sleep = (leftMs: number): void => {
    const end = leftMs <= timerMsMax ? run : () => sleep(leftMs - timerMsMax);
    timer = setTimeout(end, Math.min(leftMs, timerMsMax));
  };
  sleep(ms);
  return () => clearTimeout(timer);
}

/** Converts a lease deadline from the queue's clock to `steadyNow()` time. */
export function lapsesAtOf(
  { lease_deadline, now }: { readonly lease_deadline: string; readonly now: string },
  receivedAt: number,
): number {
  return receivedAt + Date.parse(lease_deadline) - Date.parse(now);
}
