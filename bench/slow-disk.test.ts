import { expect, test } from "bun:test";
import { bestOf } from "./slow-disk.ts";

test("bestOf: each disk is told by the setting that is faster there", () => {
  const figures = {
    "own.produce.commit": 200,
    "own.consume.commit": 200,
    "own.produce.thread": 300,
    "own.consume.thread": 60,
    "slow.produce.commit": 40,
    "slow.consume.commit": 40,
    "slow.produce.thread": 80,
    "slow.consume.thread": 80,
  };
  expect([bestOf(figures, "own"), bestOf(figures, "slow")]).toEqual([100, 40]);
});
