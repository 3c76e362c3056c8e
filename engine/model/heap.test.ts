import { expect, test } from "bun:test";
import { seededRandom } from "../simulation/seeded-random.ts";
import { Heap } from "./heap.ts";

const rising = { less: (a: number, b: number) => a < b, isLive: () => true };

test("pop: an empty heap returns nothing", () => {
  const heap = new Heap<number>(rising);
  expect([heap.peek(), heap.pop(), heap.size]).toEqual([undefined, undefined, 0]);
});

test("pop: returns the least entry after random pushes and pops", () => {
  const random = seededRandom(5);
  const heap = new Heap<number>(rising);
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

test("push: outdated entries are removed however long the first entry stays", () => {
  const outdated = new Set<number>();
  const heap = new Heap<number>({ ...rising, isLive: (value) => !outdated.has(value) });
  heap.push(0);
  for (let value = 1; value <= 100_000; value += 1) {
    heap.push(value);
    if (value > 3) outdated.add(value);
  }
  expect(heap.size).toBeLessThan(200);
  expect([1, 2, 3, 4, 5].map(() => heap.pop())).toEqual([0, 1, 2, 3, undefined]);
});

test("peek, pop: an outdated entry is not returned", () => {
  const outdated = new Set([1, 2, 4]);
  const heap = new Heap<number>({ ...rising, isLive: (value) => !outdated.has(value) });
  for (const value of [4, 3, 2, 1]) heap.push(value);
  expect([heap.peek(), heap.pop(), heap.pop(), heap.size]).toEqual([3, 3, undefined, 0]);
});
