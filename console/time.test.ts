import { expect, test } from "bun:test";
import { isTimeKnown, noteServerTime, serverNow, serverTimeAt } from "./time.ts";

test("what was noted before the server has said its time is told by that time afterwards", () => {
  const noted = performance.now();
  expect(isTimeKnown()).toBe(false);
  expect(Math.abs(serverNow() - Date.now())).toBeLessThan(5_000);
  const now = Date.UTC(2030, 0, 1);
  noteServerTime({ now: new Date(now).toISOString() }, performance.now());
  expect(isTimeKnown()).toBe(true);
  expect(Math.abs(serverTimeAt(noted) - now)).toBeLessThan(5_000);
});
