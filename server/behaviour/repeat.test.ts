// Calls with an `Idempotency-Key` over HTTP: headers of the request and the response.

import { expect, test } from "bun:test";
import { type OperationId, operations } from "../../openapi/operations.ts";
import { operationMessages, replyMessage } from "../../openapi/protobuf.ts";
import { decoded, encoded } from "../testing/independent-protobuf.ts";
import { type RunningApp, run } from "../testing/running-app.ts";

const timed = { queue_name: "orders", request_timeout: "1m" };
const json = "application/json";

async function call(app: RunningApp, id: OperationId, body: object, key?: string) {
  const headers = { "content-type": json, ...(key !== undefined && { "Idempotency-Key": key }) };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await app.through(app.send(operations[id].path, init));
  return {
    code: response.status,
    replayed: response.headers.get("idempotency-replayed"),
    text: await response.text(),
  };
}

/** Makes the call callTwice; the second reply is the same, and is marked as replayed. */
async function callTwice(app: RunningApp, id: OperationId, body: object, key = "k") {
  const first = await call(app, id, body, key);
  expect(first).toMatchObject({ code: 200, replayed: null });
  expect(await call(app, id, body, key)).toEqual({ ...first, replayed: "true" });
  return JSON.parse(first.text);
}

test("idempotency: every operation with a key takes effect once and has the same reply each time", async () => {
  await using app = await run();
  await callTwice(app, "produce", {
    ...timed,
    items: ["a", "b", "c", "d"].map((utf8) => ({ utf8 })),
  });
  const request = { ...timed, client_id: "one", batch_size: 4 };
  const { partition, items } = await callTwice(app, "lease", request);
  const [a, b, c, d] = items.map(({ id }: { id: string }) => id);
  const held = { queue_name: "orders", partition };
  await callTwice(app, "extend", { ...held, ids: [a, b], lease_timeout: "2h" });
  await callTwice(app, "complete", { ...held, request_timeout: "1m", ids: [a] });
  await callTwice(app, "retry", { ...held, items: [{ id: b }] });
  await callTwice(app, "release", { ...held, ids: [c] });
  const transact = await callTwice(app, "transact", {
    request_timeout: "1m",
    complete: [{ ...held, ids: [d] }],
    produce: [{ queue_name: "orders", items: [{ utf8: "e" }] }],
  });
  expect(transact).toEqual({
    produced: [{ queue_name: "orders", partition: 0, delivered: true }],
  });
  await app.create("dead");
  await callTwice(app, "redrive", { queue_name: "dead", limit: 5 });
  await callTwice(app, "repair", { queue_name: "dead", action: "delete", filter: {} }, "l");
  const imported = { queue_name: "orders", partition: 0, items: [{ payload: "ZA==" }] };
  const stored = await callTwice(app, "importItems", imported);
  const ids = [stored.items[0].id, b];
  expect(await callTwice(app, "cancelItems", { queue_name: "orders", ids })).toEqual({
    items: [
      { id: ids[0], was: "ready" },
      { id: b, was: "not_found" },
    ],
  });
  const { partitions } = JSON.parse((await call(app, "stats", { queue_name: "orders" })).text)
    .logical_queues[0];
  expect(partitions[0]).toMatchObject({ total: 3, total_leased: 0 });
  const keyed = Object.values(operations).filter((one) => "keyed" in one);
  expect(keyed).toHaveLength(11);
});

test("idempotency: a replayed produce returns the duplicates of the first", async () => {
  await using app = await run();
  await call(app, "updateQueue", { queue_name: "orders", unique_for: "1h" });
  const items = [{ unique_key: "a" }, { unique_key: "a" }, { unique_key: "b" }];
  const first = await callTwice(app, "produce", { ...timed, items });
  expect(first).toMatchObject({ duplicates: [1] });
  expect(await callTwice(app, "produce", { ...timed, items }, "other")).toMatchObject({
    duplicates: [0, 1, 2],
  });
});

test("idempotency: request_timeout and client_id are not part of the compared request", async () => {
  await using app = await run();
  const items = [{ utf8: "a" }];
  await call(app, "produce", { ...timed, items }, "k");
  const later = { queue_name: "orders", request_timeout: "2m", items };
  expect(await call(app, "produce", later, "k")).toMatchObject({ code: 200, replayed: "true" });
  const request = { ...timed, client_id: "one", batch_size: 3 };
  await call(app, "lease", request, "k");
  const other = { ...request, request_timeout: "5m", client_id: "two" };
  expect(await call(app, "lease", other, "k")).toMatchObject({ code: 200, replayed: "true" });
});

test.each([
  ["that another request used", "k", "idempotency key is taken; 'k' was used with another request"],
  [
    "that is invalid",
    "a b",
    'idempotency key is invalid; expected 1 to 255 visible ASCII characters, got "a b"',
  ],
])("an idempotency key %s is refused with 400, without effect", async (_, key, message) => {
  await using app = await run();
  await call(app, "produce", { ...timed, items: [{ utf8: "a" }] }, "k");
  const answer = await call(app, "produce", { ...timed, items: [{ utf8: "b" }] }, key);
  expect(answer).toMatchObject({ code: 400, replayed: null });
  expect(JSON.parse(answer.text).message).toBe(message);
});

test("idempotency: without a key each call takes effect", async () => {
  await using app = await run();
  const body = { ...timed, items: [{ utf8: "a" }] };
  for (let time = 0; time < 2; time += 1) {
    expect(await call(app, "produce", body)).toMatchObject({ code: 200, replayed: null });
  }
  const stats = await call(app, "stats", { queue_name: "orders" });
  expect(JSON.parse(stats.text).logical_queues[0].partitions[0].total).toBe(2);
});

test("idempotency: in protobuf the header is the same, and a call repeats one in JSON", async () => {
  await using app = await run();
  const items = [{ utf8: "a" }];
  await call(app, "produce", { ...timed, items }, "k");
  const { request } = operationMessages.produce;
  const init = {
    method: "POST",
    headers: { "content-type": "application/protobuf", "idempotency-key": "k" },
    body: encoded(request, { ...timed, items }),
  };
  const response = await app.through(app.send(operations.produce.path, init));
  expect([response.status, response.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  expect(decoded(replyMessage, await response.bytes())).toMatchObject({ code: 200 });
});
