// Two shards, each with its own engine, one of which may be unable to reach the other.

import { expect, test } from "bun:test";
import type { MemoryImage } from "../../stores/memory/store.ts";
import {
  copyOf,
  hour,
  minute,
  nameIn,
  produceOf,
  queueDefaults,
  second,
} from "../simulation/bundle.ts";
import { far, near, setupQueues } from "../testing/pair.ts";

async function countIn(pair: Awaited<ReturnType<typeof setupQueues>>): Promise<number> {
  const { done, engine } = pair;
  const listed = await done(
    engine(1).listItems({ queue: far, partition: 0, pivot: "", limit: 100 }),
  );
  return listed.length;
}

test("introductions: a shard opens while another is unreachable, and learns its state later", async () => {
  const pair = await setupQueues();
  const { clock, done, engine } = pair;
  pair.cut(true);
  await pair.open(0);
  const produce = [near, far].map((queue) => ({ queue, items: [{ payload: new Uint8Array(1) }] }));
  await expect(
    done(engine(0).transact({ produce, requestTimeoutMs: minute })),
  ).rejects.toMatchObject({
    reason: "not_ready",
  });
  const naming = engine(0).createQueue({
    ...queueDefaults,
    name: nameIn(0, 2, "b"),
    deadQueue: far,
  });
  await expect(done(naming)).rejects.toMatchObject({ reason: "not_ready" });
  // Calls about its own queues succeed.
  await done(engine(0).updateQueue({ name: near, maxAttempts: 7 }));
  await done(engine(0).produce(produceOf(near, ["dies"])));
  await clock.advance(hour);
  expect(engine(0).queueInfo(near).deadQueue).toBe(far);
  expect(await countIn(pair)).toBe(0);
  pair.cut(false);
  await clock.advance(5 * second);
  expect(await countIn(pair)).toBe(1);
  await done(engine(0).createQueue({ ...queueDefaults, name: nameIn(0, 2, "c"), deadQueue: far }));
});

test("introductions: a change that did not arrive is sent again once the other shard is reachable", async () => {
  const { clock, cut, done, engine } = await setupQueues();
  cut(true);
  await done(engine(0).updateQueue({ name: near, deadQueue: "" }));
  const remove = () => done(engine(1).deleteQueue({ name: far, force: false }));
  await expect(remove()).rejects.toMatchObject({ reason: "not_ready" });
  cut(false);
  await clock.advance(5 * second);
  expect(await remove()).toMatchObject({ dependents: [] });
});

test("introductions: a reference to a dead queue that was deleted meanwhile is cut, and items in transit to it are discarded", async () => {
  const pair = await setupQueues();
  const { clock, cut, done, engine, notices } = pair;
  cut(true);
  await pair.open(0);
  await done(engine(1).deleteQueue({ name: far, force: true }));
  await done(engine(0).produce(produceOf(near, ["dies"])));
  await clock.advance(hour);
  cut(false);
  await clock.advance(5 * second);
  expect(engine(0).queueInfo(near).deadQueue).toBe("");
  expect(notices.filter(({ kind }) => kind === "items_discarded")).toMatchObject([{ count: 1 }]);
});

test("introductions: a shard that went back while it reaches no other issues no number that another has", async () => {
  const pair = await setupQueues();
  const { clock, cut, done, engine, images, notices } = pair;
  const before = copyOf(images[0] as MemoryImage);
  await done(engine(0).produce(produceOf(near, ["first"])));
  await clock.advance(hour);
  expect(await countIn(pair)).toBe(1);
  engine(0).abandon();
  await clock.advance(second);
  images[0] = before;
  cut(true);
  await pair.open(0);
  await done(engine(0).produce(produceOf(near, ["second"])));
  await clock.advance(hour);
  cut(false);
  await clock.advance(5 * second);
  expect(await countIn(pair)).toBe(2);
  expect(notices.filter(({ kind }) => kind === "store_went_back")).toMatchObject([
    { shard: 0, count: 1 },
  ]);
});

test("introductions: a new queue is found from any reachable shard, even one that was behind", async () => {
  const { cut, done, engine } = await setupQueues();
  cut(true);
  await done(engine(1).updateQueue({ name: far, maxAttempts: 3 }));
  cut(false);
  const later = nameIn(1, 2, "later");
  const creating = engine(1).createQueue({ ...queueDefaults, name: later });
  const naming = creating.then(() =>
    engine(0).createQueue({ ...queueDefaults, name: nameIn(0, 2, "c"), deadQueue: later }),
  );
  await done(naming);
});

test("introductions: a redrive waits until all queues are known", async () => {
  const pair = await setupQueues();
  const { clock, cut, done, engine } = pair;
  for (let count = 0; count < 4; count += 1)
    await done(engine(0).produce(produceOf(near, ["dies"])));
  await clock.advance(hour);
  expect(await countIn(pair)).toBe(4);
  const { taskId } = await done(engine(1).redrive({ queue: far, filter: {}, perSecond: 1 }));
  cut(true);
  await pair.open(1);
  const again = engine(1).redrive({ queue: far, filter: {} });
  await expect(done(again)).rejects.toMatchObject({ reason: "not_ready" });
  await clock.advance(10 * minute);
  expect(engine(1).taskInfo(taskId).state).toBe("running");
  // It may be the dead queue of an unknown queue, which needs no consumers.
  expect(engine(1).explain(far).findings).toEqual([]);
  cut(false);
  await clock.advance(10 * second);
  expect(engine(1).taskInfo(taskId)).toMatchObject({ state: "done", moved: 4, skipped: 0 });
});
