// A delete without force, requested by an owner that has meanwhile lost the queue's shard.

import { expect, test } from "bun:test";
import { minute, nameIn, queueDefaults, second } from "../simulation/bundle.ts";
import { away, setupPair } from "../testing/pair.ts";

const [near, far] = [nameIn(0, 2), nameIn(1, 2)];
const produce = [near, far].map((queue) => ({ queue, items: [{ payload: new Uint8Array(1) }] }));

async function setupQueues() {
  const pair = setupPair();
  for (const shard of [0, 1]) await pair.open(shard);
  await pair.clock.advance(5 * second);
  await pair.done(pair.engine(1).createQueue({ ...queueDefaults, name: far }));
  await pair.done(pair.engine(0).createQueue({ ...queueDefaults, name: near }));
  return pair;
}

test("retire: a late retire of an earlier opening does not close the queue for good", async () => {
  const pair = await setupQueues();
  const { clock, done, engine, on } = pair;
  const late: (() => Promise<unknown>)[] = [];
  on.way = async ({ name }, deliver) => {
    if (name !== "retire") return await deliver();
    late.push(deliver);
    return await new Promise<never>(() => undefined);
  };
  void engine(1)
    .deleteQueue({ name: far, force: false })
    .catch(() => undefined);
  await clock.advance(second);
  expect(late.length).toBe(1);
  on.way = (_, deliver) => deliver();
  await pair.open(1);
  await expect(done(late[0]?.() ?? Promise.resolve())).rejects.toMatchObject({
    reason: "not_ready",
  });
  await clock.advance(minute);
  expect(engine(1).queueInfo(far).name).toBe(far);
  await done(engine(0).transact({ produce, requestTimeoutMs: minute }));
});

test("delete: without force, a queue is not deleted while an item is in transit from a shard that was reopened meanwhile", async () => {
  const pair = await setupQueues();
  const { clock, done, engine, notices, on } = pair;
  const answer = Promise.withResolvers<void>();
  on.way = async ({ name }, deliver) => {
    const value = await deliver();
    // The last of the other shards is slow to reply.
    if (name === "retire") await answer.promise;
    return value;
  };
  const deleting = engine(1)
    .deleteQueue({ name: far, force: false })
    .then(
      () => "deleted",
      ({ reason }) => reason,
    );
  await clock.advance(second);
  // Meanwhile shard 0 moves to another node, which cannot reach shard 1 for a moment.
  await pair.open(0);
  on.way = async ({ name }, deliver) => {
    if (name === "receive") throw away;
    return await deliver();
  };
  await done(engine(0).transact({ produce, requestTimeoutMs: minute }));
  answer.resolve();
  await clock.advance(second);
  on.way = (_, deliver) => deliver();
  await clock.advance(minute);
  const lost = ["items_set_aside", "items_discarded"];
  expect(notices.filter(({ kind }) => lost.includes(kind))).toEqual([]);
  expect(await deleting).not.toBe("deleted");
});
