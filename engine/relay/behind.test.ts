// A shard that missed a change of another one's queues.

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
import { away, near, setupQueues } from "../testing/pair.ts";

test("introductions: an existing queue is not refused by a shard that missed its creation", async () => {
  const { done, engine, on } = await setupQueues();
  // Shard 1 cannot reach shard 0, but shard 0 can reach shard 1.
  on.way = async ({ shard, name }, deliver) => {
    if (shard === 0 && ["receiveChange", "introduce"].includes(name)) throw away;
    return await deliver();
  };
  const later = nameIn(1, 2, "later");
  await done(engine(1).createQueue({ ...queueDefaults, name: later }));
  const produce = [near, later].map((queue) => ({
    ...{ queue, items: [{ payload: new Uint8Array(1) }] },
  }));
  const told = await done(engine(0).transact({ produce, requestTimeoutMs: minute })).then(
    () => "done",
    ({ reason }) => reason,
  );
  expect(["done", "not_ready"]).toContain(told);
});

test("changes: a change ends in about a second if another shard does not reply", async () => {
  const { clock, engine, on } = await setupQueues();
  on.way = async ({ name }, deliver) => {
    if (name === "receiveChange") return await new Promise<never>(() => undefined);
    return await deliver();
  };
  let isDone = false;
  void engine(0)
    .createQueue({ ...queueDefaults, name: nameIn(0, 2, "later") })
    .then(() => {
      isDone = true;
    });
  await clock.advance(3 * second);
  expect(isDone).toBe(true);
});

test("introductions: the number of items that a store went back excludes skipped numbers", async () => {
  const pair = await setupQueues();
  const { clock, done, engine, images, notices, on } = pair;
  const before = copyOf(images[0] as MemoryImage);
  on.way = async () => {
    throw away;
  };
  await pair.open(0);
  await done(engine(0).produce(produceOf(near, ["dies"])));
  await clock.advance(hour);
  on.way = (_, deliver) => deliver();
  await clock.advance(5 * second);
  engine(0).abandon();
  await clock.advance(second);
  images[0] = before;
  await pair.open(0);
  expect(notices.filter(({ kind }) => kind === "store_went_back")).toMatchObject([
    { shard: 0, count: 1 },
  ]);
});

test("delete: a delete without force that waits for another shard delays no other change", async () => {
  const { clock, engine, on } = await setupQueues();
  on.way = async ({ name }, deliver) => {
    if (name === "isSending") return await new Promise<never>(() => undefined);
    return await deliver();
  };
  void engine(0)
    .deleteQueue({ name: near, force: false })
    .catch(() => undefined);
  await clock.advance(minute);
  let told = "";
  void engine(0)
    .createQueue({ ...queueDefaults, name: nameIn(0, 2, "later") })
    .then(
      () => {
        told = "created";
      },
      ({ message }) => {
        told = message;
      },
    );
  await clock.advance(minute);
  expect(told).toBe("created");
});
