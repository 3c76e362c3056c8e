import { expect, test } from "bun:test";
import { merged } from "./use-summaries.ts";

const summary = (value: string, count: number, day: number) => ({
  value,
  count,
  first_at: `2026-03-0${day}T00:00:00.000Z`,
  last_at: `2026-03-0${day}T12:00:00.000Z`,
  sample_id: `${value}-${day}`,
});

test("merged: summaries of several pages with one value are one, the largest first", () => {
  expect(merged([summary("a", 2, 3), summary("", 4, 1), summary("a", 3, 2)])).toEqual([
    {
      value: "a",
      count: 5,
      first_at: "2026-03-02T00:00:00.000Z",
      last_at: "2026-03-03T12:00:00.000Z",
      sample_id: "a-3",
    },
    summary("", 4, 1),
  ]);
});
