// Time as the server has it: what it said last, less half the way there and back, carried on by
// a clock that nobody sets. The browser's own clock may be hours off.

import { useSyncExternalStore } from "react";
import { observed, useObserved } from "./observable.ts";

/** Server's milliseconds since 1970 at the browser's zero; `null` until it has said. */
let zeroMs: number | null = null;
/** A test clock leaves its machine behind. */
let machineAheadMs = 0;

export function noteServerTime(reply: unknown, startedAt: number): void {
  if (typeof reply !== "object" || reply === null || !("now" in reply)) return;
  const said = Date.parse(String(reply.now));
  const arrivedAt = performance.now();
  if (Number.isNaN(said)) return;
  zeroMs = said - arrivedAt + (arrivedAt - startedAt) / 2;
  if ("machine_now" in reply) machineAheadMs = Date.parse(String(reply.machine_now)) - said;
}

export function serverNow(): number {
  return serverTimeAt(performance.now());
}

/** Of an instant by `performance.now()`; what was noted before the server has said is right later. */
export function serverTimeAt(noted: number): number {
  return (zeroMs ?? performance.timeOrigin) + noted;
}

export function isTimeKnown(): boolean {
  return zeroMs !== null;
}

const second = observed(0);
const secondMs = 1_000;
/** A poll that comes a little later than it is due is still waited for. */
const pollMs = 1_300;
let isTicking = false;
let ticking: ReturnType<typeof setTimeout> | undefined;

/** Where time stands for all who look, as what they look at is of then; `null`: it goes on. */
const standing = observed<number | null>(null);
export const standAt = standing.set;

/** The server's time, said anew each second to all who look; of what is old, the time that it is of. */
export function useServerNow(): number {
  useObserved(second);
  return useObserved(standing) ?? serverNow();
}

/** The same by the clock of its machine: of what is not of queues, such as when a key was used. */
export function useMachineNow(): number {
  return useServerNow() + machineAheadMs;
}

/** What follows from it: drawn anew only where that is another. */
export function useServerNowPart<Part extends string>(partOf: (now: number) => Part): Part {
  const get = () => partOf(standing.get() ?? serverNow());
  return useSyncExternalStore(subscribeToTime, get, get);
}

function subscribeToTime(onChange: () => void): () => void {
  const stops = [second.subscribe(onChange), standing.subscribe(onChange)];
  return () => {
    for (const stop of stops) stop();
  };
}

/** With a poll, so that what it tells and what time alone changes are drawn at once, not in turns. */
export function tickWithPoll(): void {
  tick(pollMs);
}

function tick(nextMs: number): void {
  clearTimeout(ticking);
  if (!isTicking) return;
  ticking = setTimeout(tick, nextMs, secondMs);
  if (document.visibilityState === "visible") second.set(second.get() + 1);
}

export function startTicking(): () => void {
  isTicking = true;
  tick(secondMs);
  return () => {
    isTicking = false;
    clearTimeout(ticking);
  };
}
