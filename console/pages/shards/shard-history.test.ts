import { expect, test } from "bun:test";
import { historyOf } from "./shard-history.ts";

const series = (commits: number[], p99Us: number[]) =>
  historyOf({
    series: [
      { name: "commits", values: commits },
      { name: "commit_p99_us", values: p99Us },
    ],
  });

test("historyOf: 90 points, the latest last, commits per second, and a gap before the server's start", () => {
  const { commits, p99Us } = series([5, 0, 120], [900, 0, 4_000]);
  expect([commits.length, p99Us.length]).toEqual([90, 90]);
  expect(commits.slice(-4)).toEqual([null, 0.5, 0, 12]);
  expect(p99Us.slice(-4)).toEqual([null, 900, 0, 4_000]);
  const hour = Array.from({ length: 360 }, (_, at) => at);
  expect(series(hour, hour).p99Us[0]).toBe(270);
  expect(historyOf({ series: [] }).commits.every((value) => value === null)).toBe(true);
});
