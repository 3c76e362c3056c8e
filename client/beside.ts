// A pooled connection may be dead without an error, for instance after a router has dropped its state. A
// request without an answer is therefore sent again beside the first, and the first answer counts.

import { HoldfastError } from "./errors.ts";
import { startTimer } from "./time.ts";

export interface Copies<T> {
  /** How long the first may say nothing. */
  readonly silentMs: number;
  /** Whether a second may be sent still: a machine that was suspended runs its timers late. */
  readonly isTimely: () => boolean;
  /** Sends it; what it adds to `stops` ends that copy. `isSecond`: on another connection. */
  readonly begin: (isSecond: boolean, stops: (() => void)[]) => Promise<T>;
  /** The second was answered though the first was not. */
  readonly overtaken: () => void;
}

export function besideSilence<T>({ silentMs, isTimely, begin, overtaken }: Copies<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stops: (() => void)[] = [];
    let left = 0;
    let failures: unknown[] = [];
    const send = (isSecond: boolean): void => {
      left += 1;
      begin(isSecond, stops).then(
        (answer) => end(isSecond, () => resolve(answer)),
        (error) => {
          left -= 1;
          failures = [...failures, error];
          if (left === 0 || isOfBoth(error)) end(isSecond, () => reject(worstOf(failures)));
        },
      );
    };
    const end = (isSecond: boolean, settle: () => void): void => {
      cancel();
      if (isSecond && left > 0) overtaken();
      settle();
      // Costs an error each, so only where there is something to stop.
      if (left > 0) for (const stop of stops) stop();
    };
    const cancel = startTimer(silentMs, () => {
      if (isTimely()) send(true);
    });
    send(false);
  });
}

/** Whether what one copy is refused for holds for the other: the server knows both by one key. */
function isOfBoth(error: unknown): boolean {
  if (!(error instanceof HoldfastError)) return true;
  const isWord = error.status === 400 && error.reason !== undefined;
  return isWord || error.code === "failed" || error.code === "empty";
}

/** One that may have been carried out counts before one that was not; what the server says, before all. */
function worstOf(failures: readonly unknown[]): unknown {
  const last = failures.at(-1);
  if (isOfBoth(last)) return last;
  const isUnknown = (error: unknown) => error instanceof HoldfastError && error.code === "unknown";
  return failures.find(isUnknown) ?? last;
}
