import { expect, test } from "bun:test";
import { seededRandom } from "../simulation/seeded-random.ts";
import { ReadyMarks } from "./ready-marks.ts";

test.each([1, 2, 3, 4, 5])(
  "since: never too late, and at most an eighth of the longest wait too early; seed %d",
  (seed) => {
    const random = seededRandom(seed);
    const marks = new ReadyMarks();
    const readyAt: number[] = [];
    let now = 1_000_000;
    let head = 0;
    let longest = 0;
    for (let turn = 0; turn < 2_000; turn += 1) {
      now += random.below(100) === 0 ? random.below(1_000_000) : random.below(50);
      marks.note(readyAt.length, now);
      for (let item = random.below(5); item >= 0; item -= 1) readyAt.push(now);
      if (random.below(3) === 0) {
        head = Math.min(readyAt.length, head + random.below(seed * 5));
        const last = head - 1;
        if (last >= 0) marks.observe(last, readyAt[last] as number);
      }
      if (head === readyAt.length) {
        marks.clear();
        longest = 0;
        continue;
      }
      const is = readyAt[head] as number;
      const told = marks.since(head) as number;
      expect(told).toBeLessThanOrEqual(is);
      longest = Math.max(longest, now - told);
      expect(is - told).toBeLessThanOrEqual(longest / 8);
    }
  },
);

test("since: the age of earlier items is unknown until they were examined", () => {
  const marks = new ReadyMarks();
  marks.isUnknown = true;
  expect(marks.since(5)).toBeNull();
  marks.note(100, 2_000);
  expect(marks.since(5)).toBeNull();
  marks.observe(5, 1_000);
  expect(marks.since(5)).toBe(1_000);
  expect(marks.since(99)).toBe(1_000);
  expect(marks.since(100)).toBe(2_000);
});

test("since: earlier items are eventually behind the head", () => {
  const marks = new ReadyMarks();
  marks.isUnknown = true;
  marks.note(100, 2_000);
  expect(marks.since(100)).toBe(2_000);
});
