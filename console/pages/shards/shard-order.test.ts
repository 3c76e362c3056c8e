import { expect, test } from "bun:test";
import type { OverviewShard } from "../../../openapi/schemas.ts";
import { conditionOf, inOrder, latencyText } from "./shards.ts";

const shard = (number: number, change: Partial<OverviewShard> = {}): OverviewShard => ({
  shard: number,
  state: "up",
  since: null,
  commit_p50_us: 0,
  commit_p99_us: 0,
  waiting: 0,
  restarts: 0,
  failures: 0,
  quarantined: 0,
  miscounted: 0,
  log_bytes: 0,
  file_bytes: 0,
  items_per_second: 0,
  ...change,
});

test("shards: trouble comes first, then the number", () => {
  const shards = [
    shard(3),
    shard(1),
    shard(4, { commit_p99_us: 184_000 }),
    shard(2, { quarantined: 1 }),
    shard(5, { state: "down" }),
    shard(0, { state: "full" }),
  ];
  expect(inOrder(shards).map((each) => [each.shard, conditionOf(each)])).toEqual([
    [5, "down"],
    [0, "full"],
    [2, "damaged"],
    [4, "slow"],
    [1, "healthy"],
    [3, "healthy"],
  ]);
});

test.each([
  [0, "–"],
  [250, "250 µs"],
  [2_540, "2.5 ms"],
  [184_000, "184 ms"],
])("latencyText: %d µs is %s", (us, text) => {
  expect(latencyText(us)).toBe(text);
});
