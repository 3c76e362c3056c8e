// Durations hold even if the clocks of server and client differ, or are changed.

import { expect, setSystemTime, test } from "bun:test";
import { listeningApp } from "../server/testing/listening-app.ts";
import { createClient } from "./client.ts";
import type { WorkerNotice } from "./notice.ts";
import { nextRound, settled, stillTime } from "./testing/still-time.ts";

const hourMs = 3_600_000;
const settings = { lease_timeout: "1m", expire_timeout: "1d" };

const skews = [
  { server: "two hours ahead", aheadMs: 2 * hourMs },
  { server: "two hours behind", aheadMs: -2 * hourMs },
  { server: "four seconds ahead", aheadMs: 4_000 },
];

async function setup(aheadMs: number) {
  const server = await listeningApp({}, { aheadMs });
  let extendCount = 0;
  const client = createClient({
    url: server.url,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (!url.endsWith(".extend")) return response;
      const text = await response.text();
      extendCount += 1;
      return new Response(text, response);
    },
  });
  /** Resolves once the client has the answers of so many extends. */
  const extended = async (count: number): Promise<void> => {
    while (extendCount < count) await nextRound();
    await settled();
  };
  const queue = client.queue("orders");
  await queue.create(settings);
  const notices: WorkerNotice[] = [];
  const quiet = {
    notice: (notice: WorkerNotice) => void notices.push(notice),
    processSignals: [],
  };
  return { queue, extended, notices, quiet, [Symbol.asyncDispose]: () => server.stop() };
}

test.each(skews)(
  "worker: a long job is done once, with a server whose clock is $server",
  async ({ aheadMs }) => {
    using time = stillTime();
    await using at = await setup(aheadMs);
    await at.queue.produce("long");
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const attempts: number[] = [];
    const signals: AbortSignal[] = [];
    const worker = at.queue.work(
      async ({ attempts: leases }, { signal }) => {
        attempts.push(leases);
        signals.push(signal);
        await ended;
      },
      { concurrency: 1, ...at.quiet },
    );
    while (attempts.length === 0) await nextRound();
    // Longer than two leases, in steps short enough for the extends.
    for (let count = 1; count <= 6; count += 1) {
      time.advance(21_000);
      await at.extended(count);
    }
    end();
    await worker.stop();
    expect(attempts).toEqual([1]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    expect(worker.counts).toMatchObject({ completed: 1, lost: 0 });
    expect(at.notices).toEqual([]);
  },
);

test.each(skews)(
  "worker: a failed item waits for its backoff, with a server whose clock is $server",
  async ({ aheadMs }) => {
    using time = stillTime();
    await using at = await setup(aheadMs);
    await at.queue.produce("a");
    const attempts: number[] = [];
    const worker = at.queue.work(
      (item) => {
        attempts.push(item.attempts);
        if (item.attempts === 1) throw new Error("not yet");
      },
      { backoff: () => 600_000, timeoutMs: 900_000, ...at.quiet },
    );
    while (at.notices.length === 0) await nextRound();
    expect(await at.queue.inspect()).toMatchObject({ retried: 1 });
    for (let passedMs = 0; passedMs < 590_000; passedMs += 10_000) {
      time.advance(10_000);
      await settled();
    }
    expect(attempts).toEqual([1]);
    time.advance(11_000);
    while (attempts.length === 1) await nextRound();
    await worker.stop();
    expect(attempts).toEqual([1, 2]);
  },
);

test.each(skews)(
  "retry: an item is offered again after delayMs, with a server whose clock is $server",
  async ({ aheadMs }) => {
    await using at = await setup(aheadMs);
    await at.queue.produce(["a", "b"]);
    const lease = await at.queue.lease({ batch: 2 });
    const leftMs = (lease?.lapsesAt ?? 0) - performance.now();
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(60_001);
    expect(await lease?.retry(lease.items.slice(0, 1), { delayMs: hourMs })).toEqual({});
    await at.queue.transact((t) => t.retry(lease?.items.slice(1) ?? [], { delayMs: hourMs }));
    expect(await at.queue.inspect()).toMatchObject({ retried: 2, queued: 0 });
  },
);

test("worker: a job is done once, although its machine's clock is set meanwhile", async () => {
  using time = stillTime();
  await using at = await setup(0);
  await at.queue.produce("long");
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const attempts: number[] = [];
  let wasAborted = false;
  const worker = at.queue.work(
    async ({ attempts: leases }, { signal }) => {
      attempts.push(leases);
      await ended;
      wasAborted = signal.aborted;
    },
    { concurrency: 1, ...at.quiet },
  );
  while (attempts.length === 0) await nextRound();
  const before = Date.now();
  setSystemTime(before - 24 * hourMs);
  for (let count = 1; count <= 3; count += 1) {
    time.advance(21_000);
    await at.extended(count);
  }
  setSystemTime(before + 24 * hourMs);
  await settled();
  end();
  await worker.stop();
  expect(attempts).toEqual([1]);
  expect(wasAborted).toBe(false);
});

test("retry: a repetition of a retry with delayMs is recognized, although time has passed", async () => {
  await using server = await listeningApp({}, { testClock: true });
  const client = createClient({ url: server.url });
  const queue = client.queue("orders");
  await queue.create(settings);
  await queue.produce("a");
  const lease = await queue.lease();
  const items = [{ id: lease?.items[0]?.id ?? "", retry_after: "10m" }];
  const again = () => client.retry({ queue_name: "orders", partition: 0, items }, { key: "one" });
  await again();
  await client.advance({ by: "2m" });
  await again();
  expect(await queue.inspect()).toMatchObject({ retried: 1 });
  await client.advance({ by: "8m" });
  expect(await queue.inspect()).toMatchObject({ retried: 0, queued: 1 });
});
