import { expect, test } from "bun:test";
import { longestStep, mergeSeries } from "./series.ts";

const start = Date.UTC(2026, 0, 1);
const instant = (seconds: number) => new Date(start + seconds * 1_000).toISOString();

interface Points {
  /** Seconds; `null`: no points are kept. */
  readonly since?: number | null;
  readonly from: number;
  readonly step?: string;
  readonly values: readonly number[];
}

function seriesOf({ since = 0, from, step = "10s", values }: Points) {
  return {
    ...{ queue_name: "", shard: -1, from: instant(from), step },
    since: since === null ? null : instant(since),
    series: [
      { name: "produced", values: [...values] },
      { name: "oldest_ready_seconds", values: [...values] },
    ],
  };
}

function merged(...all: readonly Points[]) {
  const { since, from, step, series } = mergeSeries(all.map(seriesOf));
  return { since, from, step, values: series.map(({ values }) => values) };
}

test("mergeSeries: sums point by point, and the highest age", () => {
  expect(
    mergeSeries(
      [
        { from: 0, values: [1, 2] },
        { from: 0, values: [5, 0] },
      ].map(seriesOf),
    ),
  ).toEqual({
    ...seriesOf({ from: 0, values: [] }),
    series: [
      { name: "produced", values: [6, 2] },
      { name: "oldest_ready_seconds", values: [5, 2] },
    ],
  });
});

test("mergeSeries: only points that all have", () => {
  expect(
    merged({ from: 0, values: [1, 2, 3, 4] }, { since: 10, from: 10, values: [10, 20] }),
  ).toEqual({
    ...{ since: instant(10), from: instant(10), step: "10s" },
    values: [
      [12, 23],
      [10, 20],
    ],
  });
  const minutes = { step: "1m0s", values: [1, 2, 3] };
  expect(merged({ from: 0, ...minutes }, { from: 60, ...minutes })).toMatchObject({
    ...{
      from: instant(60),
      values: [
        [3, 5],
        [2, 3],
      ],
    },
  });
});

test("mergeSeries: none of one that keeps none, or has only begun", () => {
  const some = { from: 0, values: [1, 2] };
  expect(merged(some, { since: null, from: 20, values: [] })).toEqual({
    ...{ since: null, from: instant(20), step: "10s", values: [[], []] },
  });
  expect(merged(some, { since: 30, from: 30, values: [] })).toEqual({
    ...{ since: instant(30), from: instant(30), step: "10s", values: [[], []] },
  });
});

test("longestStep: of steps that shards chose", () => {
  const [fine, coarse] = ["10s", "1m0s"].map((step) => seriesOf({ from: 0, step, values: [] }));
  expect(longestStep([fine, coarse, fine].filter((one) => one !== undefined))).toBe("1m0s");
});
