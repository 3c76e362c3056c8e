// The overview tells in which shard each queue lives.

import { expect, test } from "bun:test";
import { tagOf } from "./model/placement.ts";
import { nameIn, second, setup } from "./simulation/bundle.ts";

test("overview: each queue has its shard, after a change and a restart too", async () => {
  const bundle = await setup({ shardCount: 3 });
  const [zero, one, two] = [0, 1, 2].map((shard) => nameIn(shard, 3)) as [string, string, string];
  for (const name of [two, zero, one]) await bundle.createQueue({ name, requestedPartitions: 4 });
  const look = (since = "") => bundle.engine.overview(since).overview;
  const shardsIn = (since = "") =>
    Object.fromEntries(look(since).rows.map(({ queue, shard }) => [queue, shard]));
  expect(shardsIn()).toEqual({ [zero]: 0, [one]: 1, [two]: 2 });

  const { since } = look();
  await bundle.produce(one, "a");
  await bundle.clock.advance(second);
  expect(shardsIn(since)).toEqual({ [one]: 1 });

  await bundle.restart();
  expect(shardsIn()).toEqual({ [zero]: 0, [one]: 1, [two]: 2 });
});

test.each([
  ["{shop}.orders", "shop"],
  ["orders-{shop}-{other}", "shop"],
  ["{{shop}}", "{shop"],
  ["{}.{shop}", null],
  ["{shop", null],
  ["shop}", null],
  ["orders", null],
])("tagOf: %s has %p", (name, tag) => {
  expect(tagOf(name)).toBe(tag);
});
