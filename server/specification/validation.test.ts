// The validation of requests, operation by operation.

import { expect } from "bun:test";
import { type OperationId, operations } from "../../openapi/operations.ts";
import { rowsOf } from "../testing/rows.ts";
import {
  done,
  idsOf,
  orders,
  plain,
  refused,
  run,
  textsOf,
  timed,
} from "../testing/running-app.ts";

const { row, complete } = rowsOf("validation", [
  "validation: Produce - queue_name, request_timeout and items are required",
  "validation: Produce - items must have 1 to 1000 entries",
  "validation: Lease - queue_name, client_id and request_timeout are required",
  "validation: Lease - client_id must be unique, duplicates are not allowed",
  "validation: Lease - batch_size must be 1 to 1000",
  "validation: Complete - queue_name, partition, request_timeout and ids are required",
  "validation: Complete - if any id cannot be completed, the whole request is rejected",
  "validation: Retry - queue_name, partition and items are required",
  "validation: Retry - queue_name and partition must match those given at lease",
  "validation: Retry - each id must be currently leased, otherwise the result is non-200",
  "validation: Queues list - pivot and limit are required",
  "validation: Queues list - limit is at most 1000",
  "validation: Queue delete - queue_name and force are required",
  "validation: Queue clear - queue_name, retry, scheduled, queue and destructive are required",
  "validation: Storage list - queue_name, partition, pivot and limit are required",
  "validation: Storage import - queue_name, partition and items are required",
  "validation: Storage delete - queue_name, partition and ids are required",
  "validation: Queue info - name is required",
]);

const required = [
  [
    "validation: Produce - queue_name, request_timeout and items are required",
    ["produce"],
    ["queue_name", "request_timeout", "items"],
  ],
  [
    "validation: Lease - queue_name, client_id and request_timeout are required",
    ["lease"],
    ["queue_name", "client_id", "request_timeout"],
  ],
  [
    "validation: Complete - queue_name, partition, request_timeout and ids are required",
    ["complete"],
    ["queue_name", "partition", "request_timeout", "ids"],
  ],
  [
    "validation: Retry - queue_name, partition and items are required",
    ["retry"],
    ["queue_name", "partition", "items"],
  ],
  ["validation: Queues list - pivot and limit are required", ["listQueues"], ["pivot", "limit"]],
  [
    "validation: Queue delete - queue_name and force are required",
    ["deleteQueue"],
    ["queue_name", "force"],
  ],
  [
    "validation: Queue clear - queue_name, retry, scheduled, queue and destructive are required",
    ["clear"],
    ["queue_name", "retry", "scheduled", "queue", "destructive"],
  ],
  [
    "validation: Storage list - queue_name, partition, pivot and limit are required",
    ["listItems", "listScheduled"],
    ["queue_name", "partition", "pivot", "limit"],
  ],
  [
    "validation: Storage import - queue_name, partition and items are required",
    ["importItems"],
    ["queue_name", "partition", "items"],
  ],
  [
    "validation: Storage delete - queue_name, partition and ids are required",
    ["deleteItems"],
    ["queue_name", "partition", "ids"],
  ],
  ["validation: Queue info - name is required", ["queueInfo"], ["name"]],
] as const satisfies readonly (readonly [string, readonly OperationId[], readonly string[]])[];

for (const [name, ids, keys] of required) {
  for (const id of ids) {
    row(name, id, async () => {
      await using app = await run();
      for (const key of keys) {
        const { [key]: _, ...rest } = operations[id].example as Record<string, unknown>;
        expect(plain(await app.call(id, rest))).toEqual(refused(400, `${key} is required`));
      }
      // No other key is required: with these alone, the request is valid.
      const example = operations[id].example as Record<string, unknown>;
      const least = Object.fromEntries(keys.map((key) => [key, example[key]]));
      await app.produce("a");
      const { body } = await app.call(id, least);
      expect(body.message ?? "").not.toMatch(/is required|is unknown|expected an? /);
    });
  }
}

row("validation: Produce - items must have 1 to 1000 entries", async () => {
  await using app = await run();
  const produce = (count: number) =>
    app.call("produce", { ...timed, items: Array(count).fill({ utf8: "a" }) });
  expect(plain(await produce(0))).toEqual(
    refused(400, "items cannot be empty; at least one item is required"),
  );
  expect(plain(await produce(1001))).toEqual(
    refused(400, "items is invalid; max_produce_batch_size is 1000 but received 1001"),
  );
  expect(await app.stored()).toEqual([]);
  expect(plain(await produce(1))).toEqual({ code: 200, body: done });
  expect(plain(await produce(1000))).toEqual({ code: 200, body: done });
  expect(await app.stored()).toHaveLength(1001);
});

row("validation: Lease - client_id must be unique, duplicates are not allowed", async () => {
  await using app = await run();
  await app.create("others");
  const lease = { ...timed, client_id: "worker-1" };
  const first = await app.begin("lease", lease);
  expect(plain(await app.call("lease", lease))).toEqual(
    refused(
      400,
      "duplicate client id; a client cannot make multiple leased requests to the same queue",
    ),
  );
  const elsewhere = await app.begin("lease", { ...lease, queue_name: "others" });
  expect([first.answer, elsewhere.answer]).toEqual([null, null]);
  await app.produce("a", "b");
  await app.arrive();
  expect(textsOf(first.answer?.body.items)).toEqual(["a"]);
  expect(textsOf((await app.lease({ client_id: "worker-1" })).items)).toEqual(["b"]);
});

row("validation: Lease - batch_size must be 1 to 1000", async () => {
  await using app = await run();
  await app.ok("produce", { ...timed, items: Array(1000).fill({}) });
  await app.produce("a");
  const lease = (batch_size: number) => app.call("lease", app.leaseOf({ batch_size }));
  expect(plain(await lease(0))).toEqual(
    refused(400, "invalid batch size; must be greater than zero"),
  );
  expect(plain(await lease(1001))).toEqual(
    refused(400, "invalid batch size; max_lease_batch_size is 1000, but 1001 was requested"),
  );
  expect((await lease(1000)).body.items).toHaveLength(1000);
  expect((await lease(1)).body.items).toHaveLength(1);
});

row(
  "validation: Complete - if any id cannot be completed, the whole request is rejected",
  async () => {
    for (const store of ["memory", "sqlite"] as const) {
      await using app = await run({ store });
      await app.produce("a", "b", "c", "d");
      const lease = await app.lease({ batch_size: 3 });
      const ids = idsOf(lease.items);
      const [ready = ""] = idsOf((await app.stored()).slice(3));
      for (const bad of [ready, `${ids[0]?.slice(0, -1)}z`, "nonsense", "", ids[0] ?? ""]) {
        const { code, body } = await app.complete(lease, { ids: [...ids, bad] });
        expect(code).toBe(453);
        expect(Object.keys(body.details)).toEqual([bad]);
        expect((await app.stored()).filter(({ is_leased }) => is_leased)).toHaveLength(3);
      }
      expect(plain(await app.complete(lease))).toEqual({ code: 200, body: done });
      expect(textsOf(await app.stored())).toEqual(["d"]);
    }
  },
);

row("validation: Retry - queue_name and partition must match those given at lease", async () => {
  await using app = await run({ orders: { requested_partitions: 2 } });
  await app.create("others");
  await app.produce("a");
  const lease = await app.lease();
  const [id = ""] = idsOf(lease.items);
  const missing = { [id]: `invalid storage id; '${id}' does not exist` };
  for (const change of [{ partition: 1 - lease.partition }, { queue_name: "others" }]) {
    const { partition } = lease;
    const answer = await app.call("retry", { ...orders, partition, items: [{ id }], ...change });
    expect(plain(answer)).toEqual(refused(453, missing[id] ?? "", missing));
  }
  expect(await app.stored("orders", lease.partition)).toMatchObject([{ is_leased: true }]);
  expect((await app.retry(lease)).code).toBe(200);
});

row(
  "validation: Retry - each id must be currently leased, otherwise the result is non-200",
  async () => {
    await using app = await run();
    await app.produce("a", "b", "c");
    const lease = await app.lease({ batch_size: 2 });
    const [ready = ""] = idsOf((await app.stored()).slice(2));
    const withReady = { ...lease, items: [...lease.items, { id: ready }] } as typeof lease;
    const text = `item(s) cannot be retried; '${ready}' is not marked as leased`;
    expect(plain(await app.retry(withReady))).toEqual(refused(453, text, { [ready]: text }));
    expect((await app.stored()).map(({ is_leased }) => is_leased)).toEqual([true, true, false]);
    expect((await app.retry(lease)).code).toBe(200);
    const again = await app.retry(lease);
    expect(again.code).toBe(453);
    expect(Object.keys(again.body.details)).toEqual(idsOf(lease.items));
  },
);

row("validation: Queues list - limit is at most 1000", async () => {
  await using app = await run();
  const list = (limit: number) => app.call("listQueues", { pivot: "", limit });
  expect((await list(1000)).body.items).toHaveLength(1);
  expect(plain(await list(1001))).toEqual(
    refused(400, "limit is invalid; cannot be greater than 1000"),
  );
});

complete();
