// What an interrupt does to a command that has something to say or to clear away first.

/** Thrown out of what was under way; the process then ends with 130. */
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

/** The items, until the signal says otherwise: also while the next one does not come. */
export async function* untilAborted<T>(
  items: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  // Nobody may be waiting just then.
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
