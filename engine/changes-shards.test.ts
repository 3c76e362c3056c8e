// Changes of queues in two shards, and deletes of queues to which another shard sends.

import { expect, test } from "bun:test";
import { limits } from "./model/limits.ts";
import {
  type Bundle,
  minute,
  nameIn,
  produceOf,
  queueDefaults,
  setup,
} from "./simulation/bundle.ts";

const [near, far] = [nameIn(0, 2), nameIn(1, 2)];
const done = { ok: true, value: undefined } as const;

async function setupTwo(...names: string[]): Promise<Bundle> {
  const bundle = await setup({ shardCount: 2 });
  for (const name of names) await bundle.createQueue({ name });
  return bundle;
}

test("update: after the shard of its dead queue refused it, a queue can still become a dead queue", async () => {
  const other = nameIn(1, 2, "other");
  const bundle = await setupTwo(near, far, other);
  // The dead queue is about to get a dead queue of its own, unknown to the first shard.
  bundle.store(1).hold();
  const naming = await bundle.begin(() =>
    bundle.engine.updateQueue({ name: far, deadQueue: other }),
  );
  const refused = await bundle.begin(() =>
    bundle.engine.updateQueue({ name: near, deadQueue: far }),
  );
  expect(refused.ending).toMatchObject({ ok: false, code: "invalid" });
  bundle.store(1).release();
  await bundle.clock.advance(minute);
  expect(naming.ending).toMatchObject({ ok: true });
  expect(bundle.engine.queueInfo(near).deadQueue).toBe("");
  const created = await bundle.begin(() =>
    bundle.engine.createQueue({ ...queueDefaults, name: nameIn(0, 2, "new"), deadQueue: near }),
  );
  expect(created.ending).toEqual(done);
});

test("claim: a claim ends even while the dead queue is hidden by a delete that then fails", async () => {
  const bundle = await setupTwo(far);
  bundle.store(0).hold();
  const created = await bundle.begin(() =>
    bundle.engine.createQueue({ ...queueDefaults, name: near, deadQueue: far }),
  );
  expect(created.ending).toBe(null);
  // No turn takes the delete before its deadline.
  bundle.store(1).openFault = "failed";
  bundle.store(1).fail({ fault: "failed" });
  await bundle.begin(() => bundle.engine.produce(produceOf(far, ["a"])));
  const deleted = await bundle.begin(() => bundle.engine.deleteQueue({ name: far, force: true }));
  bundle.store(0).release();
  await bundle.clock.settle();
  expect(created.ending).toEqual(done);
  await bundle.clock.advance(limits.requestTimeoutMsDefault);
  expect(deleted.ending).toMatchObject({ ok: false });
  bundle.store(1).heal();
  await bundle.clock.advance(2 * limits.restartMsMax);
  // No queue names it any more.
  await bundle.run(() => bundle.engine.deleteQueue({ name: near, force: true }));
  await bundle.run(() =>
    bundle.engine.clear({
      queue: far,
      ready: true,
      scheduled: false,
      retried: false,
      destructive: false,
    }),
  );
  const again = await bundle.begin(() => bundle.engine.deleteQueue({ name: far, force: false }));
  expect(again.ending).toMatchObject({ ok: true });
});

async function beginTransact(bundle: Bundle) {
  await bundle.produce(near, "input");
  const { queue, partition, items } = await bundle.lease(near);
  const ids = items.map(({ id }) => id);
  return () =>
    bundle.begin(() =>
      bundle.engine.transact({
        requestTimeoutMs: minute,
        complete: [{ queue, partition, ids }],
        produce: [{ queue: far, items: [{ payload: "output" }] }],
      }),
    );
}

test("delete: without force, a queue to which a transact is writing is refused", async () => {
  const bundle = await setupTwo(near, far);
  const transact = await beginTransact(bundle);
  bundle.store(0).hold();
  const transacted = await transact();
  const deleted = await bundle.begin(() => bundle.engine.deleteQueue({ name: far, force: false }));
  bundle.store(0).release();
  await bundle.clock.advance(minute);
  expect(transacted.ending).toMatchObject({ ok: true });
  expect(bundle.notices).toEqual([]);
  expect(deleted.ending).toMatchObject({ ok: false, code: "refused" });
});

test("delete: without force, while the delete commits, no transact of another shard writes to the queue", async () => {
  const bundle = await setupTwo(near, far);
  const transact = await beginTransact(bundle);
  bundle.store(1).hold();
  const deleted = await bundle.begin(() => bundle.engine.deleteQueue({ name: far, force: false }));
  const transacted = await transact();
  bundle.store(1).release();
  await bundle.clock.advance(minute);
  expect(deleted.ending).toMatchObject({ ok: true });
  expect(bundle.notices).toEqual([]);
  expect(transacted.ending).toMatchObject({ ok: false });
});

test("transact: a transact decided after its output's queue was deleted is not acknowledged", async () => {
  const bundle = await setupTwo(near, far);
  const transact = await beginTransact(bundle);
  bundle.store(0).hold();
  // Keeps the turn busy, so that the transact is decided later.
  const busy = await bundle.begin(() => bundle.engine.produce(produceOf(near, ["b"])));
  const transacted = await transact();
  const deleted = await bundle.begin(() => bundle.engine.deleteQueue({ name: far, force: true }));
  expect(deleted.ending).toMatchObject({ ok: true });
  bundle.store(0).release();
  await bundle.clock.advance(minute);
  expect(busy.ending).toMatchObject({ ok: true });
  expect(bundle.notices).toEqual([]);
  expect(transacted.ending).toMatchObject({ ok: false });
});

test("redrive: items that move while their queue is deleted without force are not lost", async () => {
  const bundle = await setup({ shardCount: 2 });
  await bundle.createQueue({ name: near });
  await bundle.createQueue({ name: far, deadQueue: near, maxAttempts: 1 });
  await bundle.produce(far, "a");
  await bundle.retry(await bundle.lease(far));
  expect(await bundle.listed(near)).toEqual(["a"]);
  bundle.store(1).hold();
  const deleted = await bundle.begin(() => bundle.engine.deleteQueue({ name: far, force: false }));
  const task = await bundle.begin(() => bundle.engine.redrive({ queue: near }));
  await bundle.clock.settle();
  bundle.store(1).release();
  await bundle.clock.advance(minute);
  const listed = await bundle.listed(near);
  expect([deleted.ending, task.ending, bundle.notices, listed]).toMatchObject([
    { ok: true },
    {},
    [],
    ["a"],
  ]);
});
