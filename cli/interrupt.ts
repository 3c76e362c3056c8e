// Lets a command report or clean up before an interrupt ends it.

/** Ends the process with 130. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** Aborted by the first SIGINT or SIGTERM; the next one ends the process at once. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => controller.abort(new Interrupted("interrupted")));
  }
  return controller.signal;
}

/** Yields the items until the signal is aborted, even while it waits for the next one. */
export async function* untilAborted<T>(
  items: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  // The abort may come while nothing awaits the promise.
  aborted.promise.catch(() => undefined);
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), aborted.promise]);
      if (done === true) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
