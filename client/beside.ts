// A pooled connection may be dead without an error, for instance after a router has dropped its state. A
// request without an answer is therefore sent again beside the first, and the first answer counts.

import { HoldfastError } from "./errors.ts";
import { startTimer } from "./time.ts";

export interface Copies<T> {
  /** How long the first may say nothing. */
  readonly silentMs: number;
  /** The first has said nothing for so long. */
  readonly silent: () => void;
  /** Where a copy may go, one address after the other until one is reached. */
  readonly addresses: () => readonly string[];
  /** Takes a connection to an address, and returns what gives it back; `null`: `over` was aborted before. */
  readonly connect: (address: string, over: AbortSignal) => Promise<(() => void) | null>;
  /** Whether a copy may be sent still: a machine that was suspended runs its timers late. */
  readonly isTimely: () => boolean;
  /** Sends it; what it adds to `stops` ends it. `address`: where a copy goes; `null`: it is the first. */
  readonly begin: (address: string | null, stops: (() => void)[]) => Promise<T>;
  /** A copy was answered there though the first was not. */
  readonly overtaken: (address: string) => void;
}

export function besideSilence<T>(copies: Copies<T>): Promise<T> {
  const { silentMs, begin } = copies;
  return new Promise((resolve, reject) => {
    const stops: (() => void)[] = [];
    let left = 0;
    let failures: unknown[] = [];
    let over: AbortController | null = null;
    const send = (address: string | null): Promise<Ended> => {
      left += 1;
      return begin(address, stops).then(
        (answer) => {
          left -= 1;
          end(address, () => resolve(answer));
          return "answered";
        },
        (error) => {
          left -= 1;
          failures = [...failures, error];
          if (left === 0 || isOfBoth(error)) end(address, () => reject(worstOf(failures)));
          return isNotDone(error) ? "unsent" : "failed";
        },
      );
    };
    const end = (address: string | null, settle: () => void): void => {
      cancel();
      over?.abort();
      if (address !== null && left > 0) copies.overtaken(address);
      settle();
      // Costs an error each, so only where there is something to stop.
      if (left > 0) for (const stop of stops) stop();
    };
    const cancel = startTimer(silentMs, () => {
      over = new AbortController();
      copies.silent();
      void sendCopy(copies, over.signal, send);
    });
    void send(null);
  });
}

type Ended = "answered" | "unsent" | "failed";

/** To one address after the other, while nothing can be sent. */
async function sendCopy<T>(
  { addresses, connect, isTimely }: Copies<T>,
  over: AbortSignal,
  send: (address: string) => Promise<Ended>,
): Promise<void> {
  for (const address of addresses()) {
    const giveBack = await connect(address, over);
    if (giveBack === null) return;
    try {
      if (!isTimely() || (await send(address)) !== "unsent" || over.aborted) return;
    } finally {
      giveBack();
    }
  }
}

/** Nothing was done at that address, and the next one may be alive. */
function isNotDone(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === "unavailable";
}

/** Whether what one copy is refused for holds for the other: the server knows both by one key. */
function isOfBoth(error: unknown): boolean {
  if (!(error instanceof HoldfastError)) return true;
  const isWord = error.status === 400 && error.reason !== undefined;
  return isWord || error.code === "failed" || error.code === "empty";
}

/** The server's own refusal takes precedence, then an unknown outcome, then an unsent request. */
function worstOf(failures: readonly unknown[]): unknown {
  const last = failures.at(-1);
  if (isOfBoth(last)) return last;
  const isUnknown = (error: unknown) => error instanceof HoldfastError && error.code === "unknown";
  return failures.find(isUnknown) ?? last;
}
