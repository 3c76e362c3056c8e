// The optional `request_timeout` of retry, extend and release.

import { expect, test } from "bun:test";
import { operationMessages } from "../../openapi/protobuf.ts";
import { messageReader } from "../protobuf/codec.ts";
import { encoded } from "../testing/independent-protobuf.ts";
import {
  idsOf,
  minute,
  orders,
  plain,
  type RunningApp,
  refused,
  run,
  second,
  timed,
} from "../testing/running-app.ts";

const calls = [
  ["retry", "request timeout; the items were not retried, try again"],
  ["extend", "request timeout; the leases were not extended, try again"],
  ["release", "request timeout; the items were not released, try again"],
] as const;
type Call = (typeof calls)[number][0];

/** Leases an item and returns the request of the call for it. */
async function leasedRequest(app: RunningApp, id: Call) {
  await app.produce("a");
  const { partition, items } = await app.lease();
  const ids = idsOf(items);
  const what = id === "retry" ? { items: ids.map((one) => ({ id: one })) } : { ids };
  return { ...orders, partition, ...what };
}

test.each(calls)(
  "%s: is answered within its request_timeout, and without one within 5 minutes",
  async (id, message) => {
    for (const [request_timeout, ms] of [
      ["2s", 2 * second],
      [null, 5 * minute],
      ["", 5 * minute],
    ] as const) {
      await using app = await run({ orders: { lease_timeout: "24h" } });
      const request = await leasedRequest(app, id);
      app.store.hold();
      // A running commit cannot be cancelled; requests behind it can.
      for (const _ of [1, 2]) {
        await app.begin("produce", { ...timed, request_timeout: "15m", items: [{}] });
      }
      const call = await app.begin(id, { ...request, request_timeout });
      await app.advance(ms - 1);
      expect(call.answer).toBeNull();
      await app.advance(1);
      expect(plain(call.answer)).toEqual(refused(454, message));
      app.store.release();
      expect(plain(await app.call(id, request))).toMatchObject({ code: 200 });
    }
  },
);

test.each(calls)("%s: a request_timeout out of bounds or of no form is refused", async (id) => {
  await using app = await run();
  const request = await leasedRequest(app, id);
  for (const [request_timeout, fault] of [
    ["9ms", "minimum timeout is '10ms' but '9ms' was requested"],
    ["16m", "maximum timeout is '15m' but '16m0s' was requested"],
    ["x", 'time: invalid duration "x" - expected format: 900ms, 5m or 15m'],
  ] as const) {
    expect(plain(await app.call(id, { ...request, request_timeout }))).toEqual(
      refused(400, `request timeout is invalid; ${fault}`),
    );
  }
  expect((await app.call(id, { ...request, request_timeout: "15m" })).code).toBe(200);
});

test.each(calls)("%s: in protobuf too, where it may be left out", (id) => {
  const { request } = operationMessages[id];
  const read = messageReader(request);
  expect(read(encoded(request, { ...orders, request_timeout: "2s" }))).toMatchObject({
    request_timeout: "2s",
  });
  expect(read(encoded(request, orders))).not.toHaveProperty("request_timeout");
});
