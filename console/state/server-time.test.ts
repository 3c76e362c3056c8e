import { expect, test } from "bun:test";
import { isTimeKnown, noteServerTime, serverNow, serverTimeAt } from "./server-time.ts";

/** The two clocks of a machine may tell two times. */
const apartMsMax = 5_000;

test("serverTimeAt: earlier instants are converted once the server's time is known", () => {
  const noted = performance.now();
  expect(isTimeKnown()).toBe(false);
  const before = Date.now();
  const told = serverNow();
  expect(told).toBeGreaterThan(before - apartMsMax);
  expect(told).toBeLessThan(Date.now() + apartMsMax);
  const now = Date.UTC(2030, 0, 1);
  noteServerTime({ now: new Date(now).toISOString() }, performance.now());
  const agoMs = performance.now() - noted;
  expect(isTimeKnown()).toBe(true);
  expect(serverTimeAt(noted)).toBeGreaterThan(now - agoMs - 1);
  expect(serverTimeAt(noted)).toBeLessThan(now + 1);
});
