import { expect, test } from "bun:test";
import { seededRandom } from "../simulation/seeded-random.ts";
import { DueTimes } from "./due-times.ts";

test("first: exact while there are few instants", () => {
  const times = new DueTimes();
  expect(times.first).toBeNull();
  for (const at of [30, 10, 20, 10]) times.add(at);
  expect(times.first).toBe(10);
  times.remove(10);
  expect(times.first).toBe(10);
  times.remove(10);
  expect(times.first).toBe(20);
  times.remove(30);
  times.remove(20);
  expect(times.first).toBeNull();
});

test.each([1, 2, 3, 4, 5])(
  "first: never later than the next due instant, and none if nothing is due; seed %d",
  (seed) => {
    const random = seededRandom(seed);
    const times = new DueTimes();
    const due: number[] = [];
    let now = 0;
    for (let step = 0; step < 3_000; step += 1) {
      if (random.below(100) < 55) {
        const at = now + 1 + random.below(random.below(2) === 0 ? 100 : 100_000);
        due.push(at);
        times.add(at);
      } else if (due.length > 0) {
        // Mostly the next one, which is due; sometimes another one, which is deleted.
        due.sort((a, b) => a - b);
        const [at] = due.splice(random.below(5) === 0 ? random.below(due.length) : 0, 1) as [
          number,
        ];
        now = Math.max(now, due.length === 0 ? now : Math.min(at, due[0] as number));
        times.remove(at);
      }
      if (due.length === 0) expect(times.first).toBeNull();
      else expect(times.first as number).toBeLessThanOrEqual(Math.min(...due));
    }
    for (const at of due) times.remove(at);
    expect(times.first).toBeNull();
  },
);
