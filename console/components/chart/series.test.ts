import { expect, test } from "bun:test";
import { startOf, withPoints } from "./series.ts";

test("series: new points continue the old ones, per second, without those beyond the range", () => {
  const start = 1_000_000;
  const reply = (from: number, values: number[]) => ({
    queue_name: "orders",
    shard: -1,
    since: null,
    from: new Date(from * 1_000).toISOString(),
    step: "10s",
    series: ["produced", "dead"].map((name) => ({ name, values })),
  });
  const range = "15m" as const;
  const first = withPoints({
    before: undefined,
    reply: reply(start, [10, 20]),
    range,
    nowSeconds: start + 20,
  });
  expect(first.times).toEqual([start + 10, start + 20]);
  expect(first.values["produced"]).toEqual([1, 2]);
  expect(startOf(first, range, start + 30)).toBe(new Date((start + 20) * 1_000).toISOString());
  const next = withPoints({
    before: first,
    reply: reply(start + 20, [30]),
    range,
    nowSeconds: start + 915,
  });
  expect(next.times).toEqual([start + 20, start + 30]);
  expect(next.values["dead"]).toEqual([2, 3]);
});
