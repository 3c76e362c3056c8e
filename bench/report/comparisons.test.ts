import { expect, test } from "bun:test";
import { withComparisons } from "./comparisons.ts";
import type { Measurement } from "./results.ts";
import { spreadOf } from "./statistics.ts";

function measured(name: string, figures: Record<string, number[]>): Measurement {
  const spreads = Object.entries(figures).map(([figure, values]) => [figure, spreadOf(values)]);
  return { name, figures: Object.fromEntries(spreads) };
}

/** The medians of the figures added to the last measurement. */
function added(...measurements: Measurement[]): Record<string, number> {
  const before = measurements.at(-1)?.figures ?? {};
  const after = withComparisons(measurements).at(-1)?.figures ?? {};
  return Object.fromEntries(
    Object.entries(after)
      .filter(([name]) => !(name in before))
      .map(([name, { median }]) => [name, median]),
  );
}

test("withComparisons: a backlog against the empty queue of the same group, round by round", () => {
  const rates = (...values: number[]) => ({ "all.itemsPerSecond": values });
  const empty = measured("backlog phases/100B/1x8/p1/b0", rates(100, 10, 1_000));
  const other = measured("canonical phases/100B/1x8/p1/b0", rates(1, 1, 1));
  const full = measured("backlog phases/100B/1x8/p1/b10M", rates(90, 9, 500));
  expect(added(empty, other, full)).toEqual({ "all.overEmpty": 0.9 });
  expect(added(other, full)).toEqual({});
});

test("withComparisons: many partitions against one", () => {
  const one = measured("partitions phases/100B/1x64/p1/b0", { "produce.itemsPerSecond": [100] });
  const many = measured("partitions phases/100B/1x64/p1025/b0", { "produce.itemsPerSecond": [80] });
  expect(added(one, many)).toEqual({ "produce.overOnePartition": 0.8 });
});

test("withComparisons: memory above that of an empty queue, and disk after draining", () => {
  const empty = measured("start b0", { memoryBytes: [70] });
  expect(added(empty, measured("start b1M", { memoryBytes: [75] }))).toEqual({
    memoryBytesAboveEmpty: 5,
  });
  const small = measured("drain 1k", { diskBytesTidy: [10] });
  expect(added(small, measured("drain 1M", { diskBytesTidy: [15] }))).toEqual({
    diskBytesTidyOver1k: 1.5,
  });
});
