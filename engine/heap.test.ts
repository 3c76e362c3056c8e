import { expect, test } from "bun:test";
import { Heap } from "./heap.ts";
import { seededRandom } from "./simulation/seeded-random.ts";

test("pop: an empty heap gives nothing", () => {
  const heap = new Heap<number>((a, b) => a < b);
  expect([heap.peek(), heap.pop(), heap.size]).toEqual([undefined, undefined, 0]);
});

test("pop: gives the least, through random pushes and pops", () => {
  const random = seededRandom(5);
  const heap = new Heap<number>((a, b) => a < b);
  let sorted: number[] = [];
  for (let round = 0; round < 3_000; round += 1) {
    if (random.below(5) < 3) {
      const value = random.below(50);
      heap.push(value);
      sorted = [...sorted, value].sort((a, b) => a - b);
    } else {
      expect(heap.peek()).toBe(sorted[0]);
      expect(heap.pop()).toBe(sorted.shift());
    }
    expect(heap.size).toBe(sorted.length);
  }
});
