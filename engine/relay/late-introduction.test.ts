// Requests of an earlier opening of a shard that arrive once the shard is open on another node.

import { expect, test } from "bun:test";
import type { MemoryImage } from "../../stores/memory/store.ts";
import { StoreError } from "../../stores/store.ts";
import {
  copyOf,
  hour,
  minute,
  nameIn,
  produceOf,
  queueDefaults,
  second,
} from "../simulation/bundle.ts";
import { away, far, near, setupPair, setupQueues } from "../testing/pair.ts";

test("introductions: a late introduction of an earlier opening does not undo the present one", async () => {
  const pair = setupPair();
  const { clock, done, engine, notices, on } = pair;
  for (const shard of [0, 1]) await pair.open(shard);
  await clock.advance(5 * second);
  // One change is lost, so shard 1 introduces itself again; that message is delayed.
  const late: (() => Promise<unknown>)[] = [];
  on.way = async ({ shard, name }, deliver) => {
    if (shard !== 0) return await deliver();
    if (name === "receiveChange") throw away;
    if (name !== "introduce") return await deliver();
    late.push(deliver);
    return await new Promise<never>(() => undefined);
  };
  await done(engine(1).createQueue({ ...queueDefaults, name: nameIn(1, 2, "x") }));
  expect(late.length).toBe(1);
  on.way = (_, deliver) => deliver();
  // The shard moves to another node, where it gets the queue that is named from then on.
  await pair.open(1);
  await done(engine(1).createQueue({ ...queueDefaults, name: far }));
  const settings = { ...queueDefaults, name: near, deadQueue: far, expireTimeoutMs: minute };
  await done(engine(0).createQueue(settings));
  await expect(done(late[0]?.() ?? Promise.resolve())).rejects.toMatchObject({
    reason: "not_ready",
  });
  await done(engine(0).produce(produceOf(near, ["dies"])));
  await clock.advance(hour);
  expect(notices.filter(({ kind }) => kind === "items_discarded")).toEqual([]);
  expect(engine(0).queueInfo(near).deadQueue).toBe(far);
  const listed = await done(
    engine(1).listItems({ queue: far, partition: 0, pivot: "", limit: 100 }),
  );
  expect(listed.length).toBe(1);
});

test.each(["that fails with it", "that is down"])(
  "introductions: an item that its shard sent and has lost since is not received later by one %s",
  async (which) => {
    const { clock, done, engine, images, on, open, store } = await setupQueues();
    await done(engine(0).produce(produceOf(near, ["dies"])));
    const before = copyOf(images[0] as MemoryImage);
    const isBack = Promise.withResolvers<void>();
    /** The store of the receiver fails with its next commit, and is back later. */
    const fail = (): void => {
      store.opens = isBack.promise;
      store.commits = Promise.reject(new StoreError("failed", "the store is gone"));
      store.commits.catch(() => undefined);
    };
    if (which === "that is down") {
      fail();
      void engine(1)
        .produce(produceOf(far, ["fails"]))
        .catch(() => undefined);
      await clock.advance(second);
      store.commits = Promise.resolve();
    }
    let isSent = false;
    on.way = async ({ name }, deliver) => {
      if (name !== "receive" || isSent) return await deliver();
      if (which === "that fails with it") fail();
      isSent = true;
      return await deliver();
    };
    await clock.advance(minute);
    expect(isSent).toBe(true);
    store.opens = Promise.resolve();
    store.commits = Promise.resolve();
    images[0] = before;
    await open(0);
    await clock.advance(second);
    isBack.resolve();
    await clock.advance(10 * second);
    const page = { queue: far, partition: 0, pivot: "", limit: 100 };
    const listed = await done(engine(1).listItems(page));
    expect(listed.filter(({ past }) => past?.death === "expired").length).toBe(1);
  },
);
