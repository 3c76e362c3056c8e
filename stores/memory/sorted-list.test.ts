import { expect, test } from "bun:test";
import { SortedList } from "./sorted-list.ts";

interface Named {
  readonly rank: number;
  readonly name: string;
}

const setup = (): SortedList<{ readonly rank: number }, Named> =>
  new SortedList((a, b) => a.rank - b.rank);

const named = (rank: number, name = String(rank)): Named => ({ rank, name });

function ranksFrom(list: ReturnType<typeof setup>, rank: number, count: number): number[] {
  const ranks: number[] = [];
  list.walk({ rank }, (value) => ranks.push(value.rank) < count);
  return ranks;
}

test("empty list: finds, removes and walks nothing", () => {
  const list = setup();
  expect(list.values()).toEqual([]);
  expect(list.get({ rank: 1 })).toBeUndefined();
  expect(list.delete({ rank: 1 })).toBeUndefined();
  expect(ranksFrom(list, 0, 9)).toEqual([]);
});

test("put: an equal value is replaced, even the first and the last one", () => {
  const list = setup();
  for (const rank of [2, 1, 3]) list.put(named(rank));
  for (const rank of [1, 2, 3]) list.put(named(rank, "new"));
  expect(list.values()).toEqual([named(1, "new"), named(2, "new"), named(3, "new")]);
});

test("walk: an absent key starts at the next value, and the walk ends on request", () => {
  const list = setup();
  for (let rank = 0; rank < 5_000; rank += 2) list.put(named(rank));
  expect(ranksFrom(list, -1, 2)).toEqual([0, 2]);
  expect(ranksFrom(list, 1_023, 3)).toEqual([1_024, 1_026, 1_028]);
  expect(ranksFrom(list, 4_998, 3)).toEqual([4_998]);
  expect(ranksFrom(list, 4_999, 3)).toEqual([]);
});

/** Each rank once, neither ascending nor descending: 7,919 and `count` share no divisor. */
const scattered = (count: number): number[] =>
  Array.from({ length: count }, (_, index) => (index * 7_919) % count);

test("put, remove: 10,000 values in random order stay sorted and are found", () => {
  const list = setup();
  for (const rank of scattered(10_000)) list.put(named(rank));
  expect(list.values().map(({ rank }) => rank)).toEqual(
    Array.from({ length: 10_000 }, (_, n) => n),
  );
  for (const rank of scattered(10_000)) {
    if (rank % 3 !== 0) expect(list.delete({ rank })).toEqual(named(rank));
  }
  const left = Array.from({ length: 3_334 }, (_, n) => 3 * n);
  expect(list.values().map(({ rank }) => rank)).toEqual(left);
  expect(left.every((rank) => list.get({ rank })?.rank === rank)).toBe(true);
  expect(list.get({ rank: 1 })).toBeUndefined();
  for (const rank of left) list.delete({ rank });
  expect(list.values()).toEqual([]);
});
