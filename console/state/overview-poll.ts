// The one poll of the console: `server.overview` once a second while the page is looked at, more
// seldom while it is only seen, never while it is hidden. One request is under way at a time, so
// that no old answer takes the place of a newer one.

import { ask, heldMs, Refused, Silent } from "../api/call.ts";
import { isAwaited, session } from "../api/session.ts";
import { observed, useObservedPart } from "./observable.ts";
import { type Overview, withReply } from "./overview-state.ts";
import { tickWithPoll } from "./server-time.ts";

export interface Seen {
  readonly overview: Overview | null;
  /** Nobody answers; the figures are those of before. */
  readonly silence: Silence | null;
  /** The server answers, but not this. */
  readonly refused: Refused | null;
  /** Stopped by the reader. */
  readonly isPaused: boolean;
}

/** By `performance.now()`. */
export interface Silence {
  readonly since: number;
  readonly nextTryAt: number;
  /** What it answered in the place of figures; 0 = nothing. */
  readonly code: number;
}

export const seen = observed<Seen>({
  overview: null,
  silence: null,
  refused: null,
  isPaused: false,
});

const focusedMs = 1_000;
const unfocusedMs = 5_000;
const answerMsMax = 5_000;
/** With the second between two polls: after three seconds nothing old looks like new. */
const lateMs = 1_900;
const retryMs = [1_000, 2_000, 4_000, 8_000, 10_000] as const;

let timer: ReturnType<typeof setTimeout> | undefined;
let isAsking = false;
let failureCount = 0;
let pollAfterMs = focusedMs;
let isStarted = false;

/** Returns what stops it. */
export function startPoll(): () => void {
  isStarted = true;
  const look = () => pollNow();
  document.addEventListener("visibilitychange", look);
  addEventListener("focus", look);
  addEventListener("online", look);
  let { visit } = session.get();
  const forget = session.subscribe(() => {
    const { overview } = seen.get();
    // Another key may see other queues, so it asks for all of them.
    const kept = overview && session.get().visit === visit ? { ...overview, since: "" } : null;
    ({ visit } = session.get());
    seen.set({ ...seen.get(), overview: kept, refused: null });
    pollNow();
  });
  pollNow();
  return () => {
    isStarted = false;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
    removeEventListener("focus", look);
    removeEventListener("online", look);
    forget();
  };
}

/** Asks at once, unless it asks already or nobody looks. */
export function pollNow(): void {
  clearTimeout(timer);
  if (!isStarted || isAsking || !isWanted()) return;
  if (heldMs() > 0) {
    timer = setTimeout(pollNow, heldMs());
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

/** The names of all queues, in order. */
export function useQueueNames(): readonly string[] {
  return useObservedPart(seen, ({ overview }) => overview?.names ?? none);
}

const none: readonly string[] = [];

/** Whether anything asks again by itself: the reader has not stopped it, and the server answers. */
export function asksAgain({ isPaused, silence }: Seen = seen.get()): boolean {
  return !isPaused && silence === null;
}

export function useAsksAgain(): boolean {
  return useObservedPart(seen, asksAgain);
}

export function setPaused(isPaused: boolean): void {
  seen.set({ ...seen.get(), isPaused });
  pollNow();
}

function isWanted(): boolean {
  return isAwaited() && !seen.get().isPaused;
}

function nextMs(): number {
  const { silence, refused } = seen.get();
  if (silence !== null) return Math.max(0, silence.nextTryAt - performance.now());
  if (refused !== null) return unfocusedMs;
  return Math.max(document.hasFocus() ? focusedMs : unfocusedMs, pollAfterMs);
}

async function askOnce(): Promise<void> {
  const before = seen.get();
  const { key } = session.get();
  const since = before.overview?.since ?? "";
  const begun = performance.now();
  const late = setTimeout(() => {
    const silence = { since: begun, nextTryAt: begun + answerMsMax, code: 0 };
    seen.set({ ...seen.get(), silence: seen.get().silence ?? silence });
  }, lateMs);
  try {
    const reply = await ask("overview", { since }, { signal: AbortSignal.timeout(answerMsMax) });
    // Of a key that was left meanwhile.
    if (key !== session.get().key) return;
    failureCount = 0;
    pollAfterMs = reply.poll_after_ms;
    const overview = withReply(before.overview, reply);
    seen.set({ ...seen.get(), overview, silence: null, refused: null });
    tickWithPoll();
  } catch (cause) {
    noteFailure(cause);
  } finally {
    clearTimeout(late);
  }
}

function noteFailure(cause: unknown): void {
  // What is asked for then says why.
  if (session.get().asksKey) return;
  const now = seen.get();
  if (cause instanceof Refused && ![429, 500, 503].includes(cause.code)) {
    failureCount = 0;
    seen.set({ ...now, silence: null, refused: cause });
    return;
  }
  const waitMs =
    (cause instanceof Refused ? cause.retryAfterMs : null) ??
    retryMs[Math.min(failureCount, retryMs.length - 1)] ??
    unfocusedMs;
  failureCount += 1;
  const at = performance.now();
  const code = cause instanceof Refused ? cause.code : 0;
  const silence = { since: now.silence?.since ?? at, nextTryAt: at + waitMs, code };
  seen.set({ ...now, silence, refused: null });
  // What is no answer of a server is a fault of the console; it is to be seen.
  if (!(cause instanceof Refused || cause instanceof Silent)) throw cause;
}
