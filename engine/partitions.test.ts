// Partitions of a queue: where new items go, and the reuse of slots.

import { expect, test } from "bun:test";
import type * as api from "./model/api.ts";
import {
  type Bundle,
  idsOf,
  minute,
  nameIn,
  produceOf,
  queueDefaults,
  setup,
} from "./simulation/bundle.ts";

/** During a long scan of `orders` its second partition is removed, and `private` gets the slot. */
async function setupReused<T>(call: (engine: Bundle["engine"]) => Promise<T>) {
  const bundle = await setup({ shardCount: 1 });
  const { engine } = bundle;
  for (const name of ["orders", "other"]) await bundle.createQueue({ name });
  await bundle.produceMany("orders", 8_000);
  await bundle.run(() => engine.updateQueue({ name: "orders", requestedPartitions: 2 }));
  const called = bundle.outcome(() => call(engine));
  const changes = (async () => {
    await engine.updateQueue({ name: "orders", requestedPartitions: 1 });
    for (const text of ["x", "y", "z"]) await engine.produce(produceOf("orders", [text]));
    await engine.createQueue({ ...queueDefaults, name: "private" });
    await engine.produce(produceOf("private", ["secret"]));
  })();
  await bundle.clock.settle();
  await changes;
  const ending = await called;
  if (!ending.ok) throw new Error(ending.message);
  return { bundle, value: ending.value };
}

const filter = { redrivenMax: 100 };

test.each([
  [
    "repair",
    (engine: Bundle["engine"]) => engine.repair({ queue: "orders", action: "delete", filter }),
  ],
  ["redrive", (engine: Bundle["engine"]) => engine.redrive({ queue: "orders", to: "other" })],
] as const)("%s: a slot that another queue gets while it counts is left alone", async (_, call) => {
  const { bundle, value } = await setupReused<api.TaskBegun>(call);
  await bundle.ended(value.taskId);
  expect(await bundle.listed("private")).toEqual(["secret"]);
});

test("find: returns nothing of a queue that gets the slot meanwhile", async () => {
  const secret = { payloadContains: "secret" };
  const request = { queue: "orders", filter: secret, pivot: "", limit: 10, payloadHead: 100 };
  const { value } = await setupReused((engine) => engine.findItems(request));
  expect(value.found).toEqual([]);
});

/** An item waits in the second shard for a partition of `target` that is removed meanwhile. */
async function setupSent() {
  const bundle = await setup({ shardCount: 2 });
  const [target, source, other] = [nameIn(0, 2, "target"), nameIn(1, 2), nameIn(0, 2, "other")];
  await bundle.createQueue({ name: target, requestedPartitions: 2 });
  for (const name of [source, other]) await bundle.createQueue({ name });
  const send = async () => {
    await bundle.produce(source, "a");
    const { items } = await bundle.lease(source);
    const request = {
      requestTimeoutMs: minute,
      complete: [{ queue: source, partition: 0, ids: idsOf(items) }],
      produce: [{ queue: target, items: [{ payload: "far" }] }],
    } as unknown as api.TransactRequest;
    return bundle.begin(() => bundle.engine.transact(request));
  };
  return { bundle, target, other, send };
}

test("transact: outputs for another shard are distributed over the partitions there", async () => {
  const { bundle, target, send } = await setupSent();
  await bundle.run(() => bundle.engine.updateQueue({ name: target, requestedPartitions: 4 }));
  for (let count = 0; count < 8; count += 1) await send();
  await bundle.clock.settle();
  for (const partition of [0, 1, 2, 3]) {
    expect(await bundle.listed(target, partition)).toHaveLength(2);
  }
});

test("produce: scheduled items are distributed over the partitions", async () => {
  const bundle = await setup({ shardCount: 1 });
  await bundle.createQueue({ name: "orders", requestedPartitions: 4 });
  const produced = Array.from({ length: 8 }, (_, index) =>
    bundle.outcome(() =>
      bundle.engine.produce(produceOf("orders", [`${index}`], bundle.now + minute)),
    ),
  );
  await bundle.clock.settle();
  await Promise.all(produced);
  for (const partition of [0, 1, 2, 3]) {
    expect(await bundle.scheduled("orders", partition)).toHaveLength(2);
  }
});

test("delete: items in transit are identified by their queue, as slots are reused", async () => {
  const { bundle, target, other, send } = await setupSent();
  bundle.store(0).full = true;
  bundle.store(0).fail({ fault: "full" });
  await bundle.begin(() => bundle.engine.produce(produceOf(other, ["x"])));
  for (let count = 0; count < 2; count += 1) {
    expect((await send()).ending).toMatchObject({ ok: true });
  }
  await bundle.run(() => bundle.engine.updateQueue({ name: target, requestedPartitions: 1 }));
  await bundle.run(() => bundle.engine.updateQueue({ name: other, requestedPartitions: 4 }));
  const remove = (name: string) =>
    bundle.begin(() => bundle.engine.deleteQueue({ name, force: false }));
  expect((await remove(target)).ending).toMatchObject({ ok: false, code: "refused" });
  expect((await remove(other)).ending).toMatchObject({ ok: true });
});
