import { expect, test } from "bun:test";
import { seededRandom } from "../simulation/seeded-random.ts";
import { Balance } from "./balance.ts";

function balanceOf(ready: readonly number[]): Balance {
  const balance = new Balance();
  for (const [partition, count] of ready.entries()) {
    balance.update(partition, { ready: count, open: true });
  }
  return balance;
}

/** The partitions of produces with these sizes, each stored before the next. */
function produced(balance: Balance, sizes: readonly number[]): number[] {
  const ready = new Map<number, number>();
  return sizes.map((size) => {
    const partition = balance.produceTo;
    ready.set(partition, (ready.get(partition) ?? 0) + size);
    balance.update(partition, { ready: ready.get(partition) ?? 0 });
    return partition;
  });
}

test.each([
  { partitions: 2, sizes: [10, 11], to: [0, 1] },
  { partitions: 2, sizes: [10, 10, 10, 10, 10], to: [0, 1, 0, 1, 0] },
  {
    partitions: 10,
    sizes: Array.from({ length: 10 }, () => 5),
    to: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  },
  { partitions: 3, sizes: [1, 2, 3, 1, 1], to: [0, 1, 2, 0, 0] },
])("produceTo: $sizes over $partitions go to $to", ({ partitions, sizes, to }) => {
  expect(produced(balanceOf(Array.from({ length: partitions }, () => 0)), sizes)).toEqual([...to]);
});

test("produceTo: draining partitions do not count", () => {
  const balance = balanceOf([5, 0, 0]);
  expect(balance.produceTo).toBe(1);
  balance.update(1, { open: false });
  expect(balance.produceTo).toBe(2);
  balance.remove(2);
  expect(balance.produceTo).toBe(0);
  balance.remove(0);
  expect(balance.produceTo).toBe(-1);
});

test("leaseFrom: batches of 5, 10 and 20 from 30 and 20 come from 0, 0 and 1", () => {
  const ready = [30, 20];
  const balance = balanceOf(ready);
  const from = [5, 10, 20].map((batchSize) => {
    const partition = balance.leaseFrom;
    ready[partition] = (ready[partition] ?? 0) - batchSize;
    balance.update(partition, { ready: ready[partition] ?? 0 });
    return partition;
  });
  expect(from).toEqual([0, 0, 1]);
});

test.each([
  { ready: [], from: -1 },
  { ready: [0, 0], from: -1 },
  { ready: [0, 1, 1], from: 1 },
  { ready: [5, 5, 5], from: 0 },
])("leaseFrom: of $ready it is $from", ({ ready, from }) => {
  expect(balanceOf(ready).leaseFrom).toBe(from);
});

test("leaseFrom: a partition gets as many leases as it has items, even while draining", () => {
  const balance = balanceOf([2, 0]);
  balance.update(0, { open: false });
  for (let leases = 0; leases < 2; leases += 1) {
    expect(balance.leaseFrom).toBe(0);
    balance.lend(0, 10);
  }
  expect(balance.leaseFrom).toBe(-1);
  balance.forgetLent();
  expect(balance.leaseFrom).toBe(0);
});

test("produceTo, leaseFrom: after random changes the result equals a scan of every partition", () => {
  const random = seededRandom(3);
  const balance = new Balance();
  const ready: (number | undefined)[] = [];
  for (let round = 0; round < 5_000; round += 1) {
    const partition = random.below(70);
    if (random.below(10) === 0) {
      balance.remove(partition);
      ready[partition] = undefined;
    } else {
      ready[partition] = random.below(5);
      balance.update(partition, { ready: ready[partition] ?? 0, open: true });
    }
    const known = Array.from(ready, (count, index) => ({ count, index })).filter(
      (one): one is { count: number; index: number } => one.count !== undefined,
    );
    const fewest = known.toSorted((a, b) => a.count - b.count || a.index - b.index)[0];
    const most = known.toSorted((a, b) => b.count - a.count || a.index - b.index)[0];
    expect(balance.produceTo).toBe(fewest?.index ?? -1);
    expect(balance.leaseFrom).toBe(most === undefined || most.count === 0 ? -1 : most.index);
  }
});
