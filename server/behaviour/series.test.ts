// `server.series` and the counters of `queue.stats`, through the app.

import { expect, test } from "bun:test";
import { operations } from "../../openapi/operations.ts";
import { operationMessages } from "../../openapi/protobuf.ts";
import { decoded, encoded } from "../testing/independent-protobuf.ts";
import { minute, type RunningApp, run, second, start } from "../testing/running-app.ts";

const orders = { queue_name: "orders" };
const instant = (ms: number) => new Date(ms).toISOString();

async function running(): Promise<RunningApp> {
  const app = await run({ seriesBytes: 1_000_000, orders: { lease_timeout: "10s" } });
  await app.produce("a", "b", "c");
  await app.advance(10 * second);
  await app.complete(await app.lease({ batch_size: 1 }));
  await app.advance(15 * second);
  return app;
}

test("series: the points of a queue; an incomplete one is left out", async () => {
  await using app = await running();
  const names = ["produced", "completed", "lapsed", "ready", "oldest_ready_seconds"];
  expect(await app.ok("series", { ...orders, names })).toEqual({
    ...orders,
    shard: -1,
    since: instant(start),
    from: instant(start),
    step: "10s",
    series: [
      { name: "produced", values: [3, 0] },
      { name: "completed", values: [0, 1] },
      { name: "lapsed", values: [0, 0] },
      { name: "ready", values: [3, 2] },
      { name: "oldest_ready_seconds", values: [10, 20] },
    ],
  });
});

test("series: of all queues together, by the minute, from an instant on", async () => {
  await using app = await running();
  await app.create("others");
  await app.ok("produce", { queue_name: "others", request_timeout: "1m", items: [{ utf8: "x" }] });
  await app.advance(2 * minute);
  const names = ["produced", "ready"];
  const reply = await app.ok("series", { names, step: "1m", from: null });
  expect(reply).toEqual({
    queue_name: "",
    shard: -1,
    since: instant(start),
    from: instant(start),
    step: "1m0s",
    series: [
      { name: "produced", values: [4, 0] },
      { name: "ready", values: [3, 3] },
    ],
  });
  const { series } = await app.ok("series", { names: ["ready"], from: instant(start + 130_000) });
  expect(series).toEqual([{ name: "ready", values: [3] }]);
});

test("series: with --series-bytes 0 nothing is kept, and since is null", async () => {
  await using app = await run();
  await app.produce("a");
  await app.advance(minute);
  const reply = await app.ok("series", { ...orders, names: ["produced"] });
  expect(reply).toMatchObject({ since: null, series: [{ name: "produced", values: [] }] });
});

test.each([
  [{ names: [] }, "names is invalid; expected at least one of produced, leased, "],
  [{ names: ["produced", "jobs"] }, "oldest_ready_seconds, got 'jobs'"],
  [{ names: ["ready", "ready"] }, "names is invalid; 'ready' is named more than once"],
  [{ names: ["ready"], step: "5s" }, "step is invalid; expected 10s or 1m, got 5s"],
  [{ names: ["ready"], step: "soon" }, "expected format: 10s or 1m"],
  [{ names: ["ready"], from: "noon" }, "from is invalid; expected a date-time"],
  [{ names: ["ready"], queue_name: "none" }, "no such queue named 'none'"],
  [{ names: ["commits"], shard: 1 }, "shard is invalid; expected 0 to 0, got 1"],
  [{ names: ["commits"], shard: -1 }, "shard is invalid; expected 0 to 0, got -1"],
  [{ names: ["commits"], shard: 0, ...orders }, "expected a queue or a shard, got both"],
  [{ names: ["ready"], shard: 0 }, "names is invalid; expected one of commits, "],
  [{ names: ["commits"] }, "names is invalid; expected one of produced, "],
])("series: %j is refused", async (body, message) => {
  await using app = await run();
  const answer = await app.call("series", body);
  expect([answer.code, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
});

test("series: of a shard, what it committed and how long that took, in both encodings", async () => {
  await using app = await running();
  const names = ["commits", "items_committed", "file_bytes", "commit_p99_us"];
  const request = { shard: 0, names };
  const reply = await app.ok("series", request);
  expect(reply).toMatchObject({ queue_name: "", shard: 0, from: instant(start), step: "10s" });
  const [commits, items, bytes, p99] = reply.series.map(({ values }) => values);
  // The commits of the shard's identity, the queue and a produce of three items; a lease, a
  // complete.
  expect([commits, items]).toEqual([
    [3, 2],
    [3, 2],
  ]);
  expect([bytes, p99]).toEqual([
    [0, 0],
    [expect.any(Number), expect.any(Number)],
  ]);
  const messages = operationMessages.series;
  const headers = { "content-type": "application/protobuf" };
  const init = { method: "POST", headers, body: encoded(messages.request, request) };
  const response = await app.through(app.send(operations.series.path, init));
  expect(decoded(messages.reply, await response.bytes())).toEqual({ ...reply });
});

test("series: the same in protobuf", async () => {
  await using app = await running();
  const messages = operationMessages.series;
  const request = { ...orders, names: ["produced", "ready"], step: "10s", from: instant(start) };
  const headers = { "content-type": "application/protobuf" };
  const init = { method: "POST", headers, body: encoded(messages.request, request) };
  const response = await app.through(app.send(operations.series.path, init));
  expect(response.status).toBe(200);
  expect(decoded(messages.reply, await response.bytes())).toEqual({
    ...orders,
    shard: -1,
    since: instant(start),
    from: instant(start),
    step: "10s",
    series: [
      { name: "produced", values: [3, 0] },
      { name: "ready", values: [3, 2] },
    ],
  });
});

test("stats: counters of the queue, and the instants of each partition, in both encodings", async () => {
  await using app = await run({ orders: { requested_partitions: 2 } });
  await app.produce("a");
  const enqueue_at = instant(start + minute);
  await app.ok("produce", { ...orders, request_timeout: "1m", items: [{ enqueue_at }] });
  await app.lease();
  await app.advance(second);
  await app.produce("b");
  const { logical_queues } = await app.ok("stats", orders);
  const [{ counters, partitions }] = logical_queues as [(typeof logical_queues)[number]];
  expect(counters).toMatchObject({ produced: 3, leased: 1, completed: 0 });
  const instants = partitions.map(({ oldest_ready_at, next_due_at }) => [
    oldest_ready_at,
    next_due_at,
  ]);
  expect(
    instants
      .flat()
      .filter((one) => one !== null)
      .sort(),
  ).toEqual([instant(start + second), enqueue_at]);
  const { request, reply } = operationMessages.stats;
  const headers = { "content-type": "application/protobuf" };
  const init = { method: "POST", headers, body: encoded(request, orders) };
  const response = await app.through(app.send(operations.stats.path, init));
  expect(decoded(reply, await response.bytes())).toMatchObject({
    logical_queues: [{ counters: { produced: 3, leased: 1, completed: 0 } }],
  });
});
