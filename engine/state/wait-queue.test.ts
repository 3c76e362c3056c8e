import { expect, test } from "bun:test";
import { WaitQueue } from "./wait-queue.ts";

function lineOf(...arrivals: number[]) {
  const line = new WaitQueue<{ readonly arrival: number }>();
  const waiting = arrivals.map((arrival) => ({ arrival }));
  for (const one of waiting) line.join(one);
  return { line, waiting };
}

const arrivalsIn = (line: WaitQueue<{ readonly arrival: number }>): number[] =>
  Array.from(line, ({ arrival }) => arrival);

test("join: the first to arrive is the first in the queue", () => {
  const { line, waiting } = lineOf(1, 2, 3);
  expect([line.size, arrivalsIn(line)]).toEqual([3, [1, 2, 3]]);
  expect(waiting.map((one) => line.order.get(one))).toEqual([1, 2, 3]);
});

test("join: an entry that returns takes its old place", () => {
  const { line, waiting } = lineOf(1, 2, 3);
  for (const one of waiting.slice(0, 2)) line.leave(one);
  for (const one of waiting.slice(0, 2).reverse()) line.join(one);
  expect(arrivalsIn(line)).toEqual([1, 2, 3]);
});

test("leave: an absent entry removes no other entry", () => {
  const { line } = lineOf(1, 3);
  for (const arrival of [0, 1, 2, 4]) line.leave({ arrival });
  expect(arrivalsIn(line)).toEqual([1, 3]);
});
