// Hedged requests. A pooled connection may be dead without an error, for instance after a router has
// dropped its state. A request without an answer is therefore sent again in parallel, and the first
// answer counts.

import { HoldfastError } from "./errors.ts";
import { startTimer } from "./time.ts";

export interface Hedge<T> {
  /** How long to wait for an answer to the first request. */
  readonly silentMs: number;
  /** Called after that time without an answer. */
  readonly silent: () => void;
  /** Addresses for a copy, to try in order until one is reachable. */
  readonly addresses: () => readonly string[];
  /** Reserves a connection to an address; returns its release, or `null` if `over` was aborted. */
  readonly connect: (address: string, over: AbortSignal) => Promise<(() => void) | null>;
  /** Whether a copy may still be sent: after a suspend, timers run late. */
  readonly isTimely: () => boolean;
  /** Sends a request, and adds its cancellation to `stops`. `address`: `null` = the first. */
  readonly begin: (address: string | null, stops: (() => void)[]) => Promise<T>;
  /** Called if a copy was answered at this address while the first request was not. */
  readonly overtaken: (address: string) => void;
}

export function hedged<T>(hedge: Hedge<T>): Promise<T> {
  const { silentMs, begin } = hedge;
  return new Promise((resolve, reject) => {
    const stops: (() => void)[] = [];
    let left = 0;
    let failures: unknown[] = [];
    let over: AbortController | null = null;
    const send = (address: string | null): Promise<CopyResult> => {
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
          if (left === 0 || isOfBoth(error)) end(address, () => reject(decisiveOf(failures)));
          return isUnreachable(error) ? "unsent" : "failed";
        },
      );
    };
    const end = (address: string | null, settle: () => void): void => {
      cancel();
      over?.abort();
      if (address !== null && left > 0) hedge.overtaken(address);
      settle();
      // Each stop creates an error, so only if a request is left.
      if (left > 0) for (const stop of stops) stop();
    };
    const cancel = startTimer(silentMs, () => {
      over = new AbortController();
      hedge.silent();
      void sendCopy(hedge, over.signal, send);
    });
    void send(null);
  });
}

type CopyResult = "answered" | "unsent" | "failed";

/** Tries one address after the other until a request can be sent. */
async function sendCopy<T>(
  { addresses, connect, isTimely }: Hedge<T>,
  over: AbortSignal,
  send: (address: string) => Promise<CopyResult>,
): Promise<void> {
  for (const address of addresses()) {
    const release = await connect(address, over);
    if (release === null) return;
    try {
      if (!isTimely() || (await send(address)) !== "unsent" || over.aborted) return;
    } finally {
      release();
    }
  }
}

/** Nothing was sent to that address, and the next one may be reachable. */
function isUnreachable(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === "unavailable";
}

/** Whether a refusal of one copy also applies to the other: the server sees the same key. */
function isOfBoth(error: unknown): boolean {
  if (!(error instanceof HoldfastError)) return true;
  const isRefusal = error.status === 400 && error.reason !== undefined;
  return isRefusal || error.code === "failed" || error.code === "empty";
}

/** The server's own refusal takes precedence, then an unknown outcome, then an unsent request. */
function decisiveOf(failures: readonly unknown[]): unknown {
  const last = failures.at(-1);
  if (isOfBoth(last)) return last;
  const isUnknown = (error: unknown) => error instanceof HoldfastError && error.code === "unknown";
  return failures.find(isUnknown) ?? last;
}
