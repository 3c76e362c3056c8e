// Stores that return to an earlier commit while the others do not.

import { expect, test } from "bun:test";
import { limits } from "../model/limits.ts";
import { minute, nameIn, produceOf, setup } from "./bundle.ts";
import { simulate } from "./simulate.ts";
import { Situations } from "./situations.ts";

test("going back: items acknowledged after a store went back are stored once, with ids of their own", async () => {
  const { found, worlds, sums } = await simulate({
    firstSeed: 1,
    seeds: 10,
    steps: 200,
    store: "going-back",
    situations: new Situations([]),
  });
  expect(found?.message).toBeUndefined();
  expect(worlds).toBe(10);
  expect(sums.kills).toBeGreaterThan(50);
});

test("receive: an item for a lost queue does not go to the queue that has its slot now", async () => {
  const bundle = await setup({ shardCount: 2 });
  const [former, dead, orders] = [nameIn(0, 2, "former"), nameIn(0, 2, "dead"), nameIn(1, 2)];
  await bundle.createQueue({ name: former });
  const goBack = bundle.snapshot(0);
  await bundle.run(() => bundle.engine.deleteQueue({ name: former, force: false }));
  await bundle.createQueue({ name: dead });
  await bundle.createQueue({ name: orders, deadQueue: dead });
  const places = [...bundle.image(0).queues.values()].flatMap((entry) => entry.places);
  expect(places.map(({ slot }) => slot)).toEqual([0]);
  await bundle.produce(orders, "secret");
  const lease = await bundle.lease(orders);
  bundle.store(0).hold();
  expect(await bundle.retry(lease, { dead: true })).toMatchObject({ ok: true });
  bundle.kill();
  goBack();
  bundle.store(0).release();
  await bundle.open();
  await bundle.clock.advance(limits.restartMsMax);
  expect(await bundle.listed(former)).toEqual([]);
  expect(bundle.notices).toContainEqual(
    expect.objectContaining({ kind: "items_set_aside", shard: 1, count: 1 }),
  );
  expect(bundle.image(1).quarantined).toHaveLength(1);
  expect([...bundle.image(1).outbound.values()]).toEqual([]);
  await bundle.engine.close();
});

test("receive: a lost item is received again, even before its shard has noticed the loss", async () => {
  const bundle = await setup({ shardCount: 2 });
  const [near, far] = [nameIn(0, 2), nameIn(1, 2)];
  for (const name of [near, far]) await bundle.createQueue({ name });
  await bundle.produce(near, "input");
  const { queue, partition, items } = await bundle.lease(near);
  bundle.store(1).hold();
  await bundle.run(() =>
    bundle.engine.transact({
      requestTimeoutMs: minute,
      complete: [{ queue, partition, ids: items.map(({ id }) => id) }],
      produce: [{ queue: far, items: [{ payload: "output" }] }],
    }),
  );
  const goBack = [bundle.snapshot(0), bundle.snapshot(1)];
  bundle.store(1).release();
  await bundle.clock.advance(minute);
  expect(await bundle.listed(far)).toEqual(["output"]);
  for (const one of goBack) one();
  // The sender opens its store again first.
  for (const shard of [0, 1]) bundle.store(shard).fail({ fault: "lost" });
  await bundle.begin(() => bundle.engine.produce(produceOf(near, ["first"])));
  await bundle.clock.advance(minute);
  await bundle.begin(() => bundle.engine.produce(produceOf(far, ["second"])));
  await bundle.clock.advance(minute);
  expect(await bundle.listed(far)).toContain("output");
  await bundle.engine.close();
});
