// Time as the server has it: what it said last, less half the way there and back, carried on by
// a clock that nobody sets. The browser's own clock may be hours off.

import { observed, useObserved } from "./observed.ts";

/** Server's milliseconds since 1970 at the browser's zero; `null` until it has said. */
let zeroMs: number | null = null;

export function noteServerTime(reply: unknown, startedAt: number): void {
  if (typeof reply !== "object" || reply === null || !("now" in reply)) return;
  const said = Date.parse(String(reply.now));
  const arrivedAt = performance.now();
  if (Number.isNaN(said)) return;
  zeroMs = said - arrivedAt + (arrivedAt - startedAt) / 2;
}

export function serverNow(): number {
  return zeroMs === null ? Date.now() : zeroMs + performance.now();
}

const second = observed(0);
let ticking: ReturnType<typeof setInterval> | undefined;

/** The server's time, said anew each second to all who look. */
export function useServerNow(): number {
  useObserved(second);
  return serverNow();
}

export function startTicking(): () => void {
  ticking ??= setInterval(() => {
    if (document.visibilityState === "visible") second.set(second.get() + 1);
  }, 1_000);
  return () => {
    clearInterval(ticking);
    ticking = undefined;
  };
}
