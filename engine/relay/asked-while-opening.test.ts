// Replies of a shard to another one while its own store is being opened: its state is unknown.

import { expect, test } from "bun:test";
import { hour, minute, produceOf } from "../simulation/bundle.ts";
import { away, far, near, setupQueues } from "../testing/pair.ts";

test("delete: without force, a queue is not deleted while an opening shard may have items for it", async () => {
  const pair = await setupQueues();
  const { clock, done, engine, notices, on, store } = pair;
  on.way = async ({ name }, deliver) => {
    if (name === "receive") throw away;
    return await deliver();
  };
  const produce = [near, far].map((queue) => ({ queue, items: [{ payload: new Uint8Array(1) }] }));
  await done(engine(0).transact({ produce, requestTimeoutMs: minute }));
  // No queue names it as its dead queue now, and the item has not arrived yet.
  await done(engine(0).updateQueue({ name: near, deadQueue: "" }));
  const remove = () =>
    done(engine(1).deleteQueue({ name: far, force: false })).then(
      () => "deleted",
      ({ reason }) => reason,
    );
  expect(await remove()).toBe("queue_not_empty");
  // Shard 0 moves to another node, whose database is slow.
  const opens = Promise.withResolvers<void>();
  store.opens = opens.promise;
  await pair.open(0, { isBegun: true });
  on.way = (_, deliver) => deliver();
  expect(await remove()).not.toBe("deleted");
  opens.resolve();
  await clock.advance(hour);
  expect(notices.filter(({ kind }) => kind === "items_discarded")).toEqual([]);
});

test("inspect: an opening shard does not report the dead queue as empty", async () => {
  const pair = await setupQueues();
  const { clock, done, engine, store } = pair;
  await done(engine(0).produce(produceOf(near, ["dies"])));
  await clock.advance(hour);
  expect(await done(engine(0).inspect(near))).toMatchObject({ deadLetter: 1 });
  store.opens = new Promise(() => undefined);
  await pair.open(1, { isBegun: true });
  const told = await done(engine(0).inspect(near)).then(
    ({ deadLetter }) => deadLetter,
    ({ reason }) => reason,
  );
  expect(told).not.toBe(0);
});
