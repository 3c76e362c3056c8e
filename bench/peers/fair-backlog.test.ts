import { expect, test } from "bun:test";
import { FairBacklog } from "./fair-backlog.ts";
import { payloadOf } from "./peer.ts";

test("FairBacklog: fills one group after the other, then continues each by itself", () => {
  const backlog = new FairBacklog(250);
  const batches = [backlog.batch(), backlog.batch(), backlog.batch()];
  expect(batches.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
  expect(backlog.filledShare).toBe(1);
  expect(backlog.batch()).toEqual([]);
  expect(batches[0]?.slice(9, 11)).toEqual([
    { number: 2_250, group: "group-0", round: 9 },
    { number: 1, group: "group-1", round: 0 },
  ]);
  expect(new Set(batches.flat().map(({ number }) => number)).size).toBe(2_500);
  expect(backlog.next(7)).toEqual({ number: 2_507, group: "group-7", round: 10 });
});

test("FairBacklog: knows the group of an item by its payload", () => {
  const backlog = new FairBacklog(250);
  const { number } = backlog.batch().at(-1) ?? { number: -1 };
  expect(backlog.groupOf(payloadOf(number))).toBe(99);
  expect(backlog.filledShare).toBe(0.4);
});
