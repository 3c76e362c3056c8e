// A worker under a test clock: one advance lets it do all that falls due meanwhile.

import { expect, test } from "bun:test";
import { listeningApp } from "../server/testing/listening-app.ts";
import { createClient } from "./client.ts";
import type { WorkerNotice } from "./notice.ts";

async function setup(max_attempts: number) {
  const server = await listeningApp({}, { testClock: true });
  const client = createClient({ url: server.url });
  const dead = client.queue("dead");
  await dead.create({ lease_timeout: "10s", expire_timeout: "24h" });
  const queue = client.queue("orders");
  const settings = { lease_timeout: "10s", expire_timeout: "24h", dead_queue: "dead" };
  await queue.create({ ...settings, max_attempts });
  return { server, client, queue, dead, [Symbol.asyncDispose]: () => server.stop() };
}

test("advance: with handler_timeout, a handler that throws gets all its attempts", async () => {
  await using parts = await setup(6);
  const { client, queue, dead } = parts;
  const attempts: number[] = [];
  const notices: WorkerNotice["kind"][] = [];
  await queue.produce("a");
  const worker = queue.work(
    (item) => {
      attempts.push(item.attempts);
      throw new Error(`no ${item.attempts}`);
    },
    { notice: ({ kind }) => void notices.push(kind), processSignals: [] },
  );
  await client.advance({ by: "1h", handler_timeout: "30s" });
  expect(attempts).toEqual([1, 2, 3, 4, 5, 6]);
  const [item] = (await dead.lease())?.items ?? [];
  expect(item).toMatchObject({ reason: "no 6", origin_attempts: 6 });
  expect(notices).not.toContain("lost");
  await worker.stop();
});

test("advance: items that a handler produces are handled at the same instant", async () => {
  await using parts = await setup(1);
  const { client, queue } = parts;
  const handled: string[] = [];
  const workers = [
    queue.work(
      async (item) => {
        handled.push(item.text());
        if (item.text() === "first") await client.queue("next").produce("second");
      },
      { processSignals: [] },
    ),
  ];
  const next = client.queue("next");
  await next.create({ lease_timeout: "10s", expire_timeout: "24h" });
  workers.push(next.work((item) => void handled.push(item.text()), { processSignals: [] }));
  const { now } = await client.advance({ by: "1ms" });
  const due = new Date(Date.parse(now) + 60_000);
  await queue.produce({ utf8: "first", enqueue_at: due });
  await client.advance({ by: "1m", handler_timeout: "30s" });
  expect(handled).toEqual(["first", "second"]);
  await Promise.all(workers.map((worker) => worker.stop()));
});

test("advance: waits for a worker that has just started, but not for a dead queue without a worker", async () => {
  await using parts = await setup(1);
  const { client, queue, dead } = parts;
  await queue.produce(["a", "b"]);
  const lease = await queue.lease();
  await lease?.retry(lease.items, { dead: true });
  const handled: string[] = [];
  const advanced = client.advance({ by: "1h", handler_timeout: "1m" });
  const worker = queue.work((item) => void handled.push(item.text()), { processSignals: [] });
  await advanced;
  expect(handled).toEqual(["b"]);
  expect(await dead.inspect()).toMatchObject({ queued: 1 });
  await worker.stop();
});

test("advance: time continues without a handler that exceeds handler_timeout", async () => {
  await using parts = await setup(2);
  const { client, queue, dead } = parts;
  await queue.produce("a");
  await queue.lease();
  await client.advance({ by: "1h", handler_timeout: "50ms" });
  await queue.lease();
  await client.advance({ by: "1h", handler_timeout: "50ms" });
  expect(await dead.inspect()).toMatchObject({ queued: 1 });
});

test.each([
  ["0s", "handler timeout is invalid; expected a duration from 1ms to 1m0s, got 0s"],
  ["2m", "handler timeout is invalid; expected a duration from 1ms to 1m0s, got 2m0s"],
])("advance: a handler_timeout of %s is refused", async (handler_timeout, message) => {
  await using parts = await setup(1);
  const refused = parts.client.advance({ by: "1m", handler_timeout });
  await expect(refused).rejects.toMatchObject({ message });
});
