// Claims of a dead queue in another shard.

import { expect, test } from "bun:test";
import { nameIn, queueDefaults, second } from "../simulation/bundle.ts";
import { away, setupPair } from "../testing/pair.ts";

const [near, far] = [nameIn(0, 2), nameIn(1, 2)];

async function setupDead() {
  const pair = setupPair();
  for (const shard of [0, 1]) await pair.open(shard);
  await pair.clock.advance(5 * second);
  await pair.done(pair.engine(1).createQueue({ ...queueDefaults, name: far }));
  return pair;
}

test("claim: a claim whose end does not arrive ends once the shards reach each other again", async () => {
  const { clock, done, engine, on } = await setupDead();
  let isCut = false;
  on.way = async ({ name }, deliver) => {
    if (name === "receiveChange") isCut = true;
    if (isCut) throw away;
    return await deliver();
  };
  await done(engine(0).createQueue({ ...queueDefaults, name: near, deadQueue: far }));
  isCut = false;
  on.way = (_, deliver) => deliver();
  await clock.advance(30 * second);
  await done(engine(0).deleteQueue({ name: near, force: false }));
  await clock.advance(30 * second);
  expect(await done(engine(1).deleteQueue({ name: far, force: false }))).toMatchObject({
    dependents: [],
  });
});

test("claim: a claim survives a reopening of the dead queue's shard", async () => {
  const pair = await setupDead();
  const { done, engine, on } = pair;
  await done(engine(1).createQueue({ ...queueDefaults, name: nameIn(1, 2, "last") }));
  const answer = Promise.withResolvers<void>();
  on.way = async ({ name }, deliver) => {
    const value = await deliver();
    if (name === "claim") await answer.promise;
    return value;
  };
  const creating = engine(0).createQueue({ ...queueDefaults, name: near, deadQueue: far });
  creating.catch(() => undefined);
  await done(Promise.resolve());
  await pair.open(1);
  // One of the two changes is refused, whichever comes first.
  const chaining = done(engine(1).updateQueue({ name: far, deadQueue: nameIn(1, 2, "last") })).then(
    () => "changed",
    ({ reason }) => reason,
  );
  const changed = await chaining;
  answer.resolve();
  const created = await done(creating).then(
    () => "created",
    ({ reason }) => reason,
  );
  expect([changed, created]).not.toEqual(["changed", "created"]);
});
