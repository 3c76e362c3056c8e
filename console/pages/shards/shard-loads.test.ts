import { expect, test } from "bun:test";
import { loadsOf, noLoad } from "./shards.ts";

test("loadsOf: queues and ready items by shard; a shard without queues has no load", () => {
  const loads = loadsOf([
    { shard: 2, ready: 3 },
    { shard: 0, ready: 0 },
    { shard: 2, ready: 40 },
  ]);
  expect([0, 1, 2].map((shard) => loads.get(shard) ?? noLoad)).toEqual([
    { queues: 1, ready: 0 },
    { queues: 0, ready: 0 },
    { queues: 2, ready: 43 },
  ]);
});
