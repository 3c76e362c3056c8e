// Data that accompanies an item, over HTTP and protobuf: headers, returned ids and retry reasons.

import { expect, test } from "bun:test";
import { operations } from "../../openapi/operations.ts";
import { operationMessages } from "../../openapi/protobuf.ts";
import { decoded, encoded } from "../testing/independent-protobuf.ts";
import { done, orders, type RunningApp, run, timed } from "../testing/running-app.ts";

const headers = { traceparent: "00-abc-def-01", tenant: "é" };

async function setup(): Promise<RunningApp> {
  const app = await run({ orders: null });
  await app.create("dead");
  await app.create("orders", { dead_queue: "dead", unique_for: "1h" });
  return app;
}

test("produce: ids are returned only with return_ids", async () => {
  await using app = await setup();
  const items = [{ unique_key: "a" }, { unique_key: "a" }, {}];
  const { ids, ...rest } = await app.ok("produce", { ...timed, items, return_ids: true });
  expect(rest).toEqual({ ...done, duplicates: [1] });
  const stored = (await app.stored()).map(({ id }) => id);
  expect(ids).toEqual([String(stored[0]), "", String(stored[1])]);
  for (const return_ids of [false, undefined]) {
    const reply = await app.ok("produce", {
      ...timed,
      items: [{}],
      ...(return_ids === false && { return_ids }),
    });
    expect(reply).toEqual(done);
  }
});

test("headers and the reason stay with the item, for its next holder", async () => {
  await using app = await setup();
  const { ids } = await app.ok("produce", { ...timed, items: [{ headers }], return_ids: true });
  const first = await app.lease();
  expect(first.items[0]).toMatchObject({ headers });
  const { partition } = first;
  const give = async (id: string, how: object) =>
    (await app.call("retry", { ...orders, partition, items: [{ id, ...how }] })).code;
  expect(await give(String(first.items[0]?.id), { reason: "no card" })).toBe(200);
  const second = await app.lease();
  const carried = { headers, origin_id: String(ids?.[0]) };
  expect(second.items[0]).toMatchObject({ ...carried, reason: "no card", attempts: 2 });
  // Without a new reason, the earlier one stays.
  expect(await give(String(second.items[0]?.id), { dead: true })).toBe(200);
  const { items } = await app.ok("listItems", {
    queue_name: "dead",
    partition: 0,
    pivot: "",
    limit: 9,
  });
  expect(items).toMatchObject([
    { ...carried, reason: "no card", death: "rejected", origin_attempts: 2 },
  ]);
});

test("the same in protobuf", async () => {
  await using app = await setup();
  const call = async (id: "produce" | "lease" | "retry", body: object) => {
    const { request, reply } = operationMessages[id];
    const type = { "content-type": "application/protobuf" };
    const init = { method: "POST", headers: type, body: encoded(request, { ...body }) };
    const response = await app.through(app.send(operations[id].path, init));
    expect(response.status).toBe(200);
    return decoded(reply, await response.bytes());
  };
  const produced = await call("produce", { ...timed, items: [{ headers }], return_ids: true });
  const ids = produced["ids"] as string[];
  expect(ids).toHaveLength(1);
  const leased = await call("lease", app.leaseOf());
  expect(leased).toMatchObject({ items: [{ id: ids[0], headers, origin_id: "", reason: "" }] });
  await call("retry", { ...orders, partition: 0, items: [{ id: ids[0], reason: "no card" }] });
  const again = await call("lease", app.leaseOf());
  expect(again).toMatchObject({ items: [{ headers, origin_id: ids[0], reason: "no card" }] });
});

test.each<[object, string]>([
  [{ headers: { a: 1 } }, "items[0].headers"],
  [{ headers: [] }, "items[0].headers is invalid"],
  [
    { headers: { a: "x".repeat(2_048) } },
    "headers is invalid; expected at most 2048 bytes as JSON, got ",
  ],
])("produce: %j is refused", async (item, message) => {
  await using app = await setup();
  const answer = await app.call("produce", { ...timed, items: [item] });
  expect([answer.code, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
  expect(await app.stored()).toEqual([]);
});

test("retry: a reason of 1,024 bytes is accepted, a longer one is refused and the item stays leased", async () => {
  await using app = await setup();
  await app.produce("a");
  const { partition, items: leased } = await app.lease();
  const items = (reason: string) => leased.map(({ id }) => ({ id, reason }));
  const long = await app.call("retry", {
    ...orders,
    partition,
    items: items(`${"é".repeat(512)}x`),
  });
  expect([long.code, long.body.message]).toEqual([
    400,
    expect.stringContaining("reason is invalid"),
  ]);
  expect(await app.stored()).toMatchObject([{ is_leased: true }]);
  const right = { ...orders, partition, items: items("é".repeat(512)) };
  expect((await app.call("retry", right)).code).toBe(200);
});
