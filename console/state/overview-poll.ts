// The one poll of the console: `server.overview` once per second while the page has the focus, every
// five seconds while it is only visible, never while it is hidden. One request is open at a time, so
// that a late answer never replaces a newer one.

import { ask, backoffMs, NoAnswer, Refused } from "../api/call.ts";
import { mayCall, session } from "../api/session.ts";
import { observable, useObservable, useObservablePart } from "./observable.ts";
import { type Overview, withReply } from "./overview-state.ts";
import { tickWithPoll } from "./server-time.ts";

export interface PollState {
  readonly overview: Overview | null;
  /** The server does not answer; the overview is that of before. */
  readonly outage: Outage | null;
  /** The server answers, but refuses the overview. */
  readonly refused: Refused | null;
  /** The reader has paused the updates. */
  readonly isPaused: boolean;
}

/** By `performance.now()`. */
export interface Outage {
  readonly since: number;
  readonly nextTryAt: number;
  /** The status of the answer; 0 = none. */
  readonly code: number;
}

export const pollState = observable<PollState>({
  overview: null,
  outage: null,
  refused: null,
  isPaused: false,
});

const focusedMs = 1_000;
const unfocusedMs = 5_000;
const answerMsMax = 5_000;
/** With the second between two polls: no data older than three seconds looks current. */
const lateMs = 1_900;
const retryMs = [1_000, 2_000, 4_000, 8_000, 10_000] as const;

let timer: ReturnType<typeof setTimeout> | undefined;
let isAsking = false;
let failureCount = 0;
let pollAfterMs = focusedMs;
let isStarted = false;

/** Returns the function that stops it. */
export function startPoll(): () => void {
  isStarted = true;
  const poll = () => pollNow();
  document.addEventListener("visibilitychange", poll);
  addEventListener("focus", poll);
  addEventListener("online", poll);
  let { visit } = session.get();
  const forget = session.subscribe(() => {
    const { overview } = pollState.get();
    // Another key may see other queues, so all of them are requested again.
    const kept = overview && session.get().visit === visit ? { ...overview, since: "" } : null;
    ({ visit } = session.get());
    pollState.set({ ...pollState.get(), overview: kept, refused: null });
    pollNow();
  });
  pollNow();
  return () => {
    isStarted = false;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", poll);
    removeEventListener("focus", poll);
    removeEventListener("online", poll);
    forget();
  };
}

/** Polls at once, unless a request is open or the page is hidden. */
export function pollNow(): void {
  clearTimeout(timer);
  if (!isStarted || isAsking || !isWanted()) return;
  if (backoffMs() > 0) {
    timer = setTimeout(pollNow, backoffMs());
    return;
  }
  isAsking = true;
  void askOnce().finally(() => {
    isAsking = false;
    clearTimeout(timer);
    const waitMs = nextMs();
    if (isStarted && isWanted()) timer = setTimeout(pollNow, waitMs);
  });
}

export function usePoll(): PollState {
  return useObservable(pollState);
}

export function useOverview(): Overview | null {
  return useObservablePart(pollState, ({ overview }) => overview);
}

/** The names of all queues, in order. */
export function useQueueNames(): readonly string[] {
  return useObservablePart(pollState, ({ overview }) => overview?.names ?? none);
}

const none: readonly string[] = [];

/** Whether queries repeat: the reader has not paused the updates, and the server answers. */
export function useIsUpdating(): boolean {
  return useObservablePart(pollState, ({ isPaused, outage }) => !isPaused && outage === null);
}

export function setPaused(isPaused: boolean): void {
  pollState.set({ ...pollState.get(), isPaused });
  pollNow();
}

function isWanted(): boolean {
  return mayCall() && !pollState.get().isPaused;
}

function nextMs(): number {
  const { outage, refused } = pollState.get();
  if (outage !== null) return Math.max(0, outage.nextTryAt - performance.now());
  if (refused !== null) return unfocusedMs;
  return Math.max(document.hasFocus() ? focusedMs : unfocusedMs, pollAfterMs);
}

async function askOnce(): Promise<void> {
  const before = pollState.get();
  const { key } = session.get();
  const since = before.overview?.since ?? "";
  const begun = performance.now();
  const late = setTimeout(() => {
    const outage = { since: begun, nextTryAt: begun + answerMsMax, code: 0 };
    pollState.set({ ...pollState.get(), outage: pollState.get().outage ?? outage });
  }, lateMs);
  try {
    const reply = await ask("overview", { since }, { signal: AbortSignal.timeout(answerMsMax) });
    // The answer to a former key.
    if (key !== session.get().key) return;
    failureCount = 0;
    pollAfterMs = reply.poll_after_ms;
    const overview = withReply(before.overview, reply);
    pollState.set({ ...pollState.get(), overview, outage: null, refused: null });
    tickWithPoll();
  } catch (cause) {
    noteFailure(cause);
  } finally {
    clearTimeout(late);
  }
}

function noteFailure(cause: unknown): void {
  // The login says why.
  if (session.get().needsKey) return;
  const now = pollState.get();
  if (cause instanceof Refused && ![429, 500, 503].includes(cause.code)) {
    failureCount = 0;
    pollState.set({ ...now, outage: null, refused: cause });
    return;
  }
  const waitMs =
    (cause instanceof Refused ? cause.retryAfterMs : null) ??
    retryMs[Math.min(failureCount, retryMs.length - 1)] ??
    unfocusedMs;
  failureCount += 1;
  const at = performance.now();
  const code = cause instanceof Refused ? cause.code : 0;
  const outage = { since: now.outage?.since ?? at, nextTryAt: at + waitMs, code };
  pollState.set({ ...now, outage, refused: null });
  // Anything else is a bug of the console, and has to be seen.
  if (!(cause instanceof Refused || cause instanceof NoAnswer)) throw cause;
}
