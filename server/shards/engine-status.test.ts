import { expect, test } from "bun:test";
import type { Durability } from "../../engine/model/api.ts";
import { mergeStatuses } from "./engine-status.ts";
import { sampleStatus } from "./testing/samples.ts";

test("mergeStatuses: shards in order, queues of all, sums", () => {
  const one = sampleStatus({ shard: 0, now: 7, queues: ["a", "b"], waitingLeases: 1 });
  const other = sampleStatus({ shard: 1, now: 5, queues: ["c"], waitingLeases: 2 });
  const { shards, queues, ...rest } = mergeStatuses([one, other]);
  expect(rest).toEqual({ now: 7, durability: "full", waitingLeases: 3 });
  expect(shards).toEqual([...one.shards, ...other.shards]);
  expect(shards.map(({ shard }) => shard)).toEqual([0, 1]);
  expect(queues.map(({ queue }) => queue)).toEqual(["a", "b", "c"]);
});

test.each<[Durability, Durability, Durability]>([
  ["full", "full", "full"],
  ["full", "normal", "normal"],
  ["none", "normal", "none"],
])("mergeStatuses: %s and %s promise %s", (one, other, weakest) => {
  const statuses = [one, other].map((durability) => sampleStatus({ durability }));
  expect(mergeStatuses(statuses).durability).toBe(weakest);
});
