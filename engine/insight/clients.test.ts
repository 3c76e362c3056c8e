// The clients of a queue: the holder of an item is known from its lease to its end, whatever else
// shares its row.

import { expect, test } from "bun:test";
import {
  type Bundle,
  hour,
  idsOf,
  minute,
  produceOf,
  second,
  setup,
  start,
} from "../simulation/bundle.ts";

async function setupQueue(partitions = 1): Promise<Bundle> {
  const bundle = await setup();
  await bundle.createQueue({ name: "orders", requestedPartitions: partitions });
  return bundle;
}

const clients = (bundle: Bundle, limit = 10) =>
  bundle.run(() => bundle.engine.clients({ queue: "orders", limit }));

const lease = (bundle: Bundle, clientId: string, batchSize = 1) =>
  bundle.lease("orders", { clientId, batchSize });

const nobody = { waitingCount: 0, waiting: [], holdingCount: 0, holding: [], isPartial: false };

test("clients: an unused queue has none", async () => {
  const bundle = await setupQueue();
  expect(await clients(bundle)).toEqual({ queue: "orders", asOf: start, ...nobody });
});

test("clients: waiting clients are listed in the order of the line, up to the limit", async () => {
  const bundle = await setupQueue();
  await bundle.beginLease("orders", { clientId: "a", batchSize: 3 });
  await bundle.clock.advance(second);
  await bundle.beginLease("orders", { clientId: "b" });
  const waiting = [
    { client: "a", since: start, batchSize: 3, position: 1 },
    { client: "b", since: start + second, batchSize: 1, position: 2 },
  ];
  expect(await clients(bundle)).toMatchObject({ waitingCount: 2, waiting });
  expect(await clients(bundle, 1)).toMatchObject({ waitingCount: 2, waiting: waiting.slice(0, 1) });
});

test("clients: clients served by one turn, whose items share a lease, are distinguished", async () => {
  const bundle = await setupQueue();
  await bundle.beginLease("orders", { clientId: "a", batchSize: 2 });
  await bundle.beginLease("orders", { clientId: "b" });
  await bundle.produce("orders", "1", "2", "3");
  const at = { partitions: [0], nextLapseAt: start + minute };
  expect((await clients(bundle)).holding).toEqual([
    { client: "a", items: 2, ...at },
    { client: "b", items: 1, ...at },
  ]);
});

test("clients: a holder is known as long as it holds items, even after a partial extend", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "1", "2", "3");
  const held = await lease(bundle, "a", 3);
  const [first = "", second_ = "", third = ""] = idsOf(held.items);
  const of = { queue: "orders", partition: 0 };
  await bundle.run(() => bundle.engine.extend({ ...of, ids: [second_], leaseTimeoutMs: hour }));
  expect((await clients(bundle)).holding).toEqual([
    { client: "a", items: 3, partitions: [0], nextLapseAt: start + minute },
  ]);
  await bundle.run(() =>
    bundle.engine.complete({ ...of, ids: [first, third], requestTimeoutMs: minute }),
  );
  expect((await clients(bundle)).holding).toEqual([
    { client: "a", items: 1, partitions: [0], nextLapseAt: start + hour },
  ]);
  await bundle.run(() => bundle.engine.release({ ...of, ids: [second_] }));
  expect((await clients(bundle)).holding).toEqual([]);
});

test("clients: a client is listed once for all partitions, the largest holder first", async () => {
  const bundle = await setupQueue(4);
  for (const text of ["1", "2", "3", "4"]) await bundle.produce("orders", text);
  await lease(bundle, "b");
  for (let count = 0; count < 3; count += 1) await lease(bundle, "a");
  const { holding } = await clients(bundle);
  expect(holding.map(({ client, items }) => [client, items])).toEqual([
    ["a", 3],
    ["b", 1],
  ]);
  expect(holding.flatMap(({ partitions }) => partitions).sort()).toEqual([0, 1, 2, 3]);
  expect(await clients(bundle, 1)).toMatchObject({ holdingCount: 2, holding: holding.slice(0, 1) });
});

test("clients: a long name is cut, but stays distinguishable", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "1");
  await lease(bundle, "x".repeat(10_000));
  expect((await clients(bundle)).holding).toMatchObject([{ client: "x".repeat(256) }]);
});

test("clients: after a restart the holders are unknown", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "1");
  await lease(bundle, "a");
  await bundle.restart();
  expect((await clients(bundle)).holding).toEqual([
    { client: "", items: 1, partitions: [0], nextLapseAt: start + minute },
  ]);
});

test("clients: if the shard stalls, the reply comes in time and is marked as partial", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "1");
  await lease(bundle, "a");
  await bundle.beginLease("orders", { clientId: "b" });
  bundle.store().hold();
  await bundle.begin(() => bundle.engine.reload("orders"));
  const asked = await bundle.begin(() => bundle.engine.clients({ queue: "orders", limit: 10 }));
  expect(asked.ending).toBe(null);
  await bundle.clock.advance(5 * second);
  const partial = { isPartial: true, holdingCount: 0, waitingCount: 1 };
  expect(asked.ending).toMatchObject({ ok: true, value: partial });
  bundle.store().release();
  await bundle.clock.settle();
  expect(await clients(bundle)).toMatchObject({ isPartial: false, holdingCount: 1 });
});

test("clients: a shard that is down is skipped, and the reply is marked as partial", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "1");
  await lease(bundle, "a");
  bundle.store().openFault = "failed";
  bundle.store().fail({ fault: "failed" });
  await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["2"])));
  expect(await clients(bundle)).toMatchObject({ isPartial: true, holdingCount: 0 });
  bundle.store().heal();
  await bundle.clock.advance(10 * second);
  expect(await clients(bundle)).toMatchObject({ isPartial: false, holdingCount: 1 });
});

test.each([0, 1_001, 1.5])("clients: a limit of %d is refused", async (limit) => {
  const bundle = await setupQueue();
  const asked = await bundle.ending(() => bundle.engine.clients({ queue: "orders", limit }));
  expect(asked).toMatchObject({ ok: false, code: "invalid" });
});

test("clients: a full disk loses no holder", async () => {
  const bundle = await setupQueue();
  await bundle.produce("orders", "1", "2");
  const held = await lease(bundle, "a", 2);
  bundle.store().fail({ fault: "full", sticky: true });
  const [id = ""] = idsOf(held.items);
  const of = { queue: "orders", partition: 0, ids: [id], requestTimeoutMs: minute };
  expect(await bundle.ending(() => bundle.engine.complete(of))).toMatchObject({ code: "store" });
  bundle.store().heal();
  const { holding } = await clients(bundle);
  expect(holding.find(({ client }) => client === "a")).toMatchObject({ items: 1 });
});
