// The server's time: that of its last reply, less half the round trip, continued by a monotonic
// clock. The browser's own clock may be hours off.

import { useSyncExternalStore } from "react";
import { observable, useObservable } from "./observable.ts";

/** The server's milliseconds since 1970 at zero of the monotonic clock; `null`: not known yet. */
let zeroMs: number | null = null;
/** A test clock differs from that of its machine. */
let machineAheadMs = 0;

export function noteServerTime(reply: unknown, startedAt: number): void {
  if (typeof reply !== "object" || reply === null || !("now" in reply)) return;
  const serverMs = Date.parse(String(reply.now));
  const arrivedAt = performance.now();
  if (Number.isNaN(serverMs)) return;
  zeroMs = serverMs - arrivedAt + (arrivedAt - startedAt) / 2;
  if ("machine_now" in reply) machineAheadMs = Date.parse(String(reply.machine_now)) - serverMs;
}

export function serverNow(): number {
  return serverTimeAt(performance.now());
}

/** The instant of a `performance.now()`; correct once the server's time is known. */
export function serverTimeAt(noted: number): number {
  return (zeroMs ?? performance.timeOrigin) + noted;
}

export function isTimeKnown(): boolean {
  return zeroMs !== null;
}

const second = observable(0);
const secondMs = 1_000;
/** A poll may be a little late. */
const pollMs = 1_300;
let isTicking = false;
let ticking: ReturnType<typeof setTimeout> | undefined;

/** The time of stale data, at which all clocks stop; `null`: the data is current. */
const frozen = observable<number | null>(null);
export const freezeAt = frozen.set;

/** The server's time, renewed every second; for stale data the time of the data. */
export function useServerNow(): number {
  useObservable(second);
  return useObservable(frozen) ?? serverNow();
}

/** The time of the server's machine, for instants such as the use of a key. */
export function useMachineNow(): number {
  return useServerNow() + machineAheadMs;
}

/** A value derived from it; the component renders again only if that value changes. */
export function useServerNowPart<Part extends string>(select: (now: number) => Part): Part {
  const get = () => select(frozen.get() ?? serverNow());
  return useSyncExternalStore(subscribeToTime, get, get);
}

function subscribeToTime(onChange: () => void): () => void {
  const stops = [second.subscribe(onChange), frozen.subscribe(onChange)];
  return () => {
    for (const stop of stops) stop();
  };
}

/** With a poll, so that its data and the clocks are drawn together. */
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
