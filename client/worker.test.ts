// The worker with a real server: its guarantees about items, trouble, lapsing leases and its own
// end. Tests wait for events instead of sleeping.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listeningApp } from "../server/testing/listening-app.ts";
import { freePort } from "../testing/child-server.ts";
import { startServer } from "../testing/server-process.ts";
import { type ClientOptions, createClient } from "./client.ts";
import { DeadLetter, LeaseLapsing, LeaseLost } from "./errors.ts";
import type { LeasedItem } from "./items.ts";
import { textOf, type WorkerNotice } from "./notice.ts";
import type { Queue } from "./queue.ts";
import { nextRound, settled, stillTime } from "./testing/still-time.ts";
import type { QueueCreateRequest } from "./wire.ts";
import type { Worker } from "./worker.ts";

type Fetch = NonNullable<ClientOptions["fetch"]>;

/** A gate that a test opens. */
function gate<T = void>() {
  return Promise.withResolvers<T>();
}

function counting() {
  const calls: Record<string, number> = {};
  const fetch: Fetch = (url, init) => {
    const call = url.slice(url.lastIndexOf(".") + 1);
    calls[call] = (calls[call] ?? 0) + 1;
    return globalThis.fetch(url, init);
  };
  return { calls, fetch };
}

/** Records the extends, and counts those whose answers the client has. */
function extending() {
  const asked: { readonly ids: readonly string[]; readonly lease_timeout: string | null }[] = [];
  let answeredCount = 0;
  const fetch: Fetch = async (url, init) => {
    if (!url.endsWith(".extend")) return globalThis.fetch(url, init);
    asked.push(JSON.parse(String(init.body)));
    const response = await globalThis.fetch(url, init);
    const text = await response.text();
    answeredCount += 1;
    return new Response(text, response);
  };
  /** Resolves once the client has the answers of `count` extends. */
  const extended = async (count: number): Promise<void> => {
    while (answeredCount < count) await nextRound();
    await settled();
  };
  return { asked, fetch, extended };
}

async function setup(change: Partial<QueueCreateRequest> = {}, options: ClientOptions = {}) {
  const server = await listeningApp();
  const pace = { baseMs: 5, capMs: 50 };
  const client = createClient({ url: server.url, pace, ...options });
  const dead = client.queue("dead");
  await dead.create({ lease_timeout: "1m", expire_timeout: "1h" });
  const queue = client.queue("orders");
  await queue.create({ lease_timeout: "1m", expire_timeout: "1h", dead_queue: "dead", ...change });
  const notices: WorkerNotice[] = [];
  const workOptions = {
    notice: (notice: WorkerNotice) => void notices.push(notice),
    processSignals: [],
  };
  return {
    server,
    client,
    queue,
    dead,
    notices,
    workOptions,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, at) => String(at));

async function waitingLeases(queue: Queue, count: number): Promise<void> {
  for (let waiting = -1; waiting !== count; ) {
    waiting = (await queue.stats()).logical_queues[0]?.lease_waiting ?? 0;
  }
}

async function totalOf(queue: Queue): Promise<number> {
  const [stats] = (await queue.stats()).logical_queues;
  return (stats?.partitions ?? []).reduce(
    (sum, { total, scheduled }) => sum + total + scheduled,
    0,
  );
}

test("worker: each item is handled once and completed, with few calls", async () => {
  const { calls, fetch } = counting();
  await using at = await setup({}, { fetch });
  await at.queue.produce(numbered(500));
  const seen: string[] = [];
  const all = gate();
  const worker = at.queue.work(
    (item) => {
      seen.push(item.text());
      if (seen.length === 500) all.resolve();
    },
    { concurrency: 100, ...at.workOptions },
  );
  await all.promise;
  await worker.stop();
  expect(seen.toSorted()).toEqual(numbered(500).toSorted());
  const none = { retried: 0, dead: 0, removed: 0, released: 0, lost: 0, running: 0 };
  expect(worker.counts).toEqual({ completed: 500, ...none });
  expect(await totalOf(at.queue)).toBe(0);
  expect(calls["complete"]).toBeLessThan(50);
  expect(at.notices).toEqual([]);
});

test("worker: completes items of several priorities together, and leaves those below its priorityMin", async () => {
  const { calls, fetch } = counting();
  await using at = await setup({}, { fetch });
  await at.queue.produce(
    numbered(100).map((utf8, index) => ({ utf8, priority: Math.floor(index / 10) })),
  );
  const seen: number[] = [];
  const all = gate();
  const worker = at.queue.work(
    async (item) => {
      seen.push(item.priority);
      if (seen.length === 70) all.resolve();
      await all.promise;
    },
    { concurrency: 100, priorityMin: 3, ...at.workOptions },
  );
  await all.promise;
  await worker.stop();
  expect(seen).toEqual(seen.toSorted((a, b) => b - a));
  expect(worker.counts).toMatchObject({ completed: 70, lost: 0 });
  expect(await totalOf(at.queue)).toBe(30);
  expect(calls["complete"]).toBe(1);
  expect(at.notices).toEqual([]);
});

test("worker: waits for a paused queue without a notice, and continues when it is resumed", async () => {
  using time = stillTime();
  const { calls, fetch } = counting();
  await using at = await setup({}, { fetch });
  await at.queue.produce("a");
  await at.queue.pause({ reason: "moving" });
  const handled = gate<string>();
  const worker = at.queue.work((item) => handled.resolve(item.text()), {
    timeoutMs: 10,
    ...at.workOptions,
  });
  for (let asked = 1; asked < 4; asked += 1) {
    await waitingLeases(at.queue, 1);
    time.advance(11);
    while (calls["lease"] === asked) await nextRound();
  }
  await waitingLeases(at.queue, 1);
  expect(await at.queue.inspect()).toMatchObject({ queued: 1 });
  await at.queue.resume();
  expect(await handled.promise).toBe("a");
  await worker.stop();
  expect(at.notices).toEqual([]);
});

test("produce: to a queue whose produces are paused, fails with the reason and is not repeated", async () => {
  const { calls, fetch } = counting();
  await using at = await setup({}, { fetch });
  await at.queue.pause({ produce: true, reason: "moving" });
  const refused = at.queue.produce("a");
  expect(refused).rejects.toMatchObject({ code: "failed", message: "queue is paused; moving" });
  await refused.catch(() => undefined);
  expect(calls["produce"]).toBe(1);
});

test("worker: handlers that end in one round of events share a complete and the next lease", async () => {
  const asked: Record<string, number[]> = { lease: [], complete: [] };
  const fetch: Fetch = (url, init) => {
    const { batch_size, ids } = JSON.parse(String(init.body));
    asked[url.slice(url.lastIndexOf(".") + 1)]?.push(batch_size ?? ids?.length);
    return globalThis.fetch(url, init);
  };
  await using at = await setup({}, { fetch });
  await at.queue.produce(numbered(100));
  const ends: (() => void)[] = [];
  const begun = [gate(), gate()];
  const worker = at.queue.work(
    async () => {
      const { promise, resolve } = gate();
      ends.push(resolve);
      if (ends.length === 50) begun.shift()?.resolve();
      await promise;
    },
    { concurrency: 50, ...at.workOptions },
  );
  const [first, second] = begun;
  await first?.promise;
  // The handlers end in separate rounds of events.
  for (const end of ends.splice(0)) setImmediate(end);
  await second?.promise;
  const stopped = worker.stop();
  for (const end of ends.splice(0)) setImmediate(end);
  await stopped;
  expect(asked).toEqual({ lease: [50, 50], complete: [50, 50] });
});

test("worker: concurrency limits running handlers, and nothing is leased in advance", async () => {
  await using at = await setup();
  await at.queue.produce(numbered(10));
  let running = 0;
  let most = 0;
  const ends: (() => void)[] = [];
  const begun = [gate(), gate()];
  const worker = at.queue.work(
    async () => {
      running += 1;
      most = Math.max(most, running);
      if (running === 3) begun.shift()?.resolve();
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
    },
    { concurrency: 3, batch: 2, ...at.workOptions },
  );
  const [first, second] = begun;
  await first?.promise;
  const [stats] = (await at.queue.stats()).logical_queues;
  expect(stats?.partitions[0]).toMatchObject({ total: 10, total_leased: 3 });
  for (const end of ends.splice(0)) end();
  await second?.promise;
  const stopped = worker.stop();
  for (const end of ends.splice(0)) end();
  await stopped;
  expect(most).toBe(3);
  expect(worker.counts.completed).toBe(6);
});

test("worker: an item whose handler throws is retried after the backoff, with one more attempt", async () => {
  await using at = await setup();
  await at.queue.produce("x");
  const attempts: number[] = [];
  const done = gate();
  const worker = at.queue.work(
    (item) => {
      attempts.push(item.attempts);
      if (attempts.length < 3) throw new Error("not yet");
      done.resolve();
    },
    { backoff: (item) => item.attempts * 10, ...at.workOptions },
  );
  await done.promise;
  await worker.stop();
  expect(attempts).toEqual([1, 2, 3]);
  expect(worker.counts).toMatchObject({ completed: 1, retried: 2 });
  expect(at.notices.map((notice) => notice.kind === "retried" && notice.delayMs)).toEqual([10, 20]);
});

test("worker: the default backoff grows with the attempts and is jittered", async () => {
  await using at = await setup({}, { random: () => 0.5 });
  await at.queue.produce("x");
  const failed = gate();
  const worker = at.queue.work(
    () => {
      throw new Error("no");
    },
    {
      ...at.workOptions,
      notice: (notice) => {
        at.notices.push(notice);
        failed.resolve();
      },
    },
  );
  await failed.promise;
  await worker.stop();
  expect(at.notices).toMatchObject([{ kind: "retried", delayMs: 750 }]);
  expect(await at.queue.inspect()).toMatchObject({ retried: 1 });
});

test("worker: without a backoff of its own, the queue's retry_backoff sets failed items aside", async () => {
  const asked: object[] = [];
  const fetch: Fetch = (url, init) => {
    if (url.endsWith(".retry")) asked.push(...JSON.parse(String(init.body)).items);
    return globalThis.fetch(url, init);
  };
  await using at = await setup({ retry_backoff: "1h..2h" }, { fetch });
  for (const options of [{}, { backoff: () => 0 }]) {
    await at.queue.produce("x");
    const failed = gate();
    const worker = at.queue.work(
      ({ attempts }) => {
        if (attempts === 1) throw new Error("no");
      },
      {
        ...{ ...at.workOptions, ...options },
        notice: (notice) => {
          at.notices.push(notice);
          failed.resolve();
        },
      },
    );
    await failed.promise;
    await worker.stop();
  }
  expect(asked).toMatchObject([{ retry_at: null }, { retry_at: null, retry_after: "0ms" }]);
  expect(asked[0]).not.toHaveProperty("retry_after");
  expect(at.notices).toMatchObject([{ kind: "retried" }, { kind: "retried", delayMs: 0 }]);
  expect(at.notices[0]).not.toHaveProperty("delayMs");
  expect(await at.queue.inspect()).toMatchObject({ retried: 1 });
});

test("worker: an item's own limit and timeout decide when its last attempt is and how long it is held", async () => {
  await using at = await setup({ max_attempts: 5, lease_timeout: "10ms" });
  await at.queue.produce({ utf8: "x", max_attempts: 1, lease_timeout: "600ms" });
  const maxAttempts: number[] = [];
  const worker = at.queue.work(async (_, handling) => {
    maxAttempts.push(handling.maxAttempts);
    // Longer than the queue's lease timeout, and than a third of the item's.
    await new Promise((resolve) => setTimeout(resolve, 300));
    throw new Error("no");
  }, at.workOptions);
  const lease = await at.dead.lease();
  await worker.stop();
  expect(lease?.items).toMatchObject([{ own_max_attempts: 1, own_lease_timeout: "600ms" }]);
  expect(maxAttempts).toEqual([1]);
  expect(worker.counts).toMatchObject({ dead: 1, retried: 0, lost: 0 });
});

test("worker: DeadLetter sends an item to the dead queue, regardless of attempts", async () => {
  await using at = await setup();
  await at.queue.produce({ utf8: "poison", reference: "r-1" });
  const worker = at.queue.work(() => {
    throw new DeadLetter("cannot be read");
  }, at.workOptions);
  const lease = await at.dead.lease();
  await worker.stop();
  expect(lease?.items.map((item) => [item.text(), item.reference])).toEqual([["poison", "r-1"]]);
  expect(worker.counts).toMatchObject({ dead: 1, retried: 0 });
  expect(at.notices).toMatchObject([{ kind: "dead", error: { message: "cannot be read" } }]);
});

test("worker: leases from an empty queue are repeated, without running the handler", async () => {
  using time = stillTime();
  const { calls, fetch } = counting();
  await using at = await setup({}, { fetch });
  const handled = gate<string>();
  const worker = at.queue.work((item) => handled.resolve(item.text()), {
    timeoutMs: 15,
    ...at.workOptions,
  });
  for (let asked = 1; asked < 4; asked += 1) {
    await waitingLeases(at.queue, 1);
    time.advance(16);
    while (calls["lease"] === asked) await nextRound();
  }
  await at.queue.produce("at last");
  expect(await handled.promise).toBe("at last");
  await worker.stop();
  expect(at.notices).toEqual([]);
});

test.each([
  { deadQueue: "dead", as: "dead" },
  { deadQueue: "", as: "removed" },
] as const)(
  "worker: a failed last attempt is reported as $as if the dead queue is '$deadQueue'",
  async ({ deadQueue, as }) => {
    const { calls, fetch } = counting();
    await using at = await setup({ dead_queue: deadQueue, max_attempts: 2 }, { fetch });
    await at.queue.produce("x");
    const notified = gate();
    const worker = at.queue.work(
      () => {
        throw new Error("no paper");
      },
      {
        ...at.workOptions,
        backoff: () => 0,
        notice: (notice) => {
          at.notices.push(notice);
          if (notice.kind !== "retried") notified.resolve();
        },
      },
    );
    await notified.promise;
    await worker.stop();
    const none = { completed: 0, dead: 0, removed: 0, released: 0, lost: 0, running: 0 };
    expect(worker.counts).toEqual({ ...none, retried: 1, [as]: 1 });
    expect(at.notices).toMatchObject([
      { kind: "retried", item: { attempts: 1 } },
      { kind: as, item: { attempts: 2 }, error: { message: "no paper" } },
    ]);
    expect(await totalOf(at.queue)).toBe(0);
    expect(await totalOf(at.dead)).toBe(as === "dead" ? 1 : 0);
    expect(calls["info"]).toBe(1);
  },
);

test("worker: items whose last attempts fail together share one queueInfo, and a stop waits for it", async () => {
  const asked = gate();
  const answered = gate();
  const counted = counting();
  const fetch: Fetch = async (url, init) => {
    const reply = await counted.fetch(url, init);
    if (url.endsWith("queues.info")) {
      asked.resolve();
      await answered.promise;
    }
    return reply;
  };
  await using at = await setup({ dead_queue: "", max_attempts: 1 }, { fetch });
  await at.queue.produce(numbered(5));
  const all = gate();
  let begun = 0;
  const worker = at.queue.work(async () => {
    begun += 1;
    if (begun === 5) all.resolve();
    await all.promise;
    throw new Error("no paper");
  }, at.workOptions);
  await asked.promise;
  const stopped = worker.stop();
  answered.resolve();
  await stopped;
  expect(worker.counts).toMatchObject({ removed: 5, dead: 0, retried: 0, lost: 0 });
  expect(counted.calls["info"]).toBe(1);
});

test("worker: a DeadLetter without a dead queue is lost, and the item stays", async () => {
  await using at = await setup({ dead_queue: "" });
  await at.queue.produce("x");
  const notified = gate();
  const worker = at.queue.work(
    () => {
      throw new DeadLetter("cannot be read");
    },
    {
      ...at.workOptions,
      notice: (notice) => {
        at.notices.push(notice);
        notified.resolve();
      },
    },
  );
  await notified.promise;
  await worker.stop();
  expect(worker.counts).toMatchObject({ dead: 0, removed: 0, lost: 1 });
  const reason = expect.stringContaining("has no dead queue");
  expect(at.notices).toMatchObject([
    { kind: "lost", reason, error: { message: "cannot be read" } },
  ]);
  expect(await totalOf(at.queue)).toBe(1);
});

test("worker: ids that a 453 names are reported as lost, and the rest are completed", async () => {
  await using at = await setup();
  await at.queue.produce(numbered(20));
  const leased: LeasedItem[] = [];
  const all = gate();
  const open = gate();
  const worker = at.queue.work(
    async (item) => {
      leased.push(item);
      if (leased.length === 20) all.resolve();
      await open.promise;
    },
    { concurrency: 20, ...at.workOptions },
  );
  await all.promise;
  const ids = leased.slice(0, 3).map(({ id }) => id);
  await at.client.deleteItems({ queue_name: "orders", partition: 0, ids });
  open.resolve();
  await worker.stop();
  expect(worker.counts).toMatchObject({ completed: 17, lost: 3 });
  const lost = at.notices.map((notice) => (notice.kind === "lost" ? notice.item.id : notice.kind));
  expect(lost.toSorted()).toEqual(ids.toSorted());
  expect(await totalOf(at.queue)).toBe(0);
});

test("worker: a handler's signal is aborted before its lease lapses, in time for a retry", async () => {
  using time = stillTime();
  await using at = await setup();
  await at.queue.produce("long");
  const reasons: unknown[] = [];
  const [begun, again] = [gate(), gate()];
  const worker = at.queue.work(
    async (item, { signal }) => {
      if (item.attempts > 1) return again.resolve();
      const aborted = new Promise<void>((resolve) =>
        signal.addEventListener("abort", () => resolve()),
      );
      begun.resolve();
      await aborted;
      reasons.push(signal.reason);
      throw signal.reason;
    },
    // The margin begins before the lease is extended for the first time.
    { marginMs: 50_000, backoff: () => 0, ...at.workOptions },
  );
  await begun.promise;
  time.advance(9_900);
  await settled();
  expect(reasons).toEqual([]);
  time.advance(200);
  await again.promise;
  await worker.stop();
  expect(reasons).toEqual([expect.any(LeaseLapsing)]);
  expect(worker.counts).toMatchObject({ completed: 1, retried: 1, lost: 0 });
});

test("worker: a handler that outlasts its lease runs once", async () => {
  using time = stillTime();
  const { asked, fetch, extended } = extending();
  await using at = await setup({}, { fetch });
  await at.queue.produce(["long", "longer"]);
  const attempts: number[] = [];
  const [both, open] = [gate(), gate()];
  const worker = at.queue.work(
    async (item) => {
      attempts.push(item.attempts);
      if (attempts.length === 2) both.resolve();
      await open.promise;
    },
    { concurrency: 2, ...at.workOptions },
  );
  await both.promise;
  // Long enough for the lease of a minute to lapse twice.
  for (let count = 1; count <= 6; count += 1) {
    time.advance(21_000);
    await extended(count);
  }
  open.resolve();
  await worker.stop();
  expect(attempts).toEqual([1, 1]);
  expect(worker.counts).toMatchObject({ completed: 2, retried: 0, lost: 0 });
  // Both leases share each call.
  expect(asked.map(({ ids }) => ids.length)).toEqual([2, 2, 2, 2, 2, 2]);
  expect(at.notices).toEqual([]);
});

test("worker: leaseTimeout sets the duration of leases and extensions, a third of which passes before each", async () => {
  using time = stillTime();
  const leaseTimeout = "30s";
  const { asked, fetch, extended } = extending();
  const leased: unknown[] = [];
  await using at = await setup(
    {},
    {
      fetch: (url, init) => {
        if (url.endsWith("queue.lease")) leased.push(JSON.parse(String(init.body)).lease_timeout);
        return fetch(url, init);
      },
    },
  );
  await at.queue.produce("long");
  const begun = gate<number>();
  const open = gate();
  const worker = at.queue.work(
    async (item) => {
      begun.resolve(Date.parse(item.lease_deadline));
      await open.promise;
    },
    { concurrency: 1, leaseTimeout, ...at.workOptions },
  );
  const heldMs = (await begun.promise) - Date.now();
  // Stored instants are rounded up to the next millisecond.
  expect([30_000, 30_001]).toContain(heldMs);
  time.advance(9_900);
  await settled();
  expect(asked).toEqual([]);
  time.advance(200);
  await extended(1);
  time.advance(9_900);
  await settled();
  expect(asked).toHaveLength(1);
  time.advance(200);
  await extended(2);
  open.resolve();
  await worker.stop();
  expect(worker.counts).toMatchObject({ completed: 1, lost: 0 });
  expect(asked.map(({ lease_timeout }) => lease_timeout)).toEqual([leaseTimeout, leaseTimeout]);
  expect(leased).toEqual([leaseTimeout]);
  expect(at.notices).toEqual([]);
});

test("worker: leases of one partition are extended in one call", async () => {
  using time = stillTime();
  const { asked, fetch, extended } = extending();
  await using at = await setup({}, { fetch });
  const open = gate();
  let begun = 0;
  const worker = at.queue.work(
    async () => {
      begun += 1;
      await open.promise;
    },
    { batch: 1, ...at.workOptions },
  );
  for (const text of numbered(10)) {
    await at.queue.produce(text);
    while (begun <= Number(text)) await nextRound();
    // Each lease is due at another time.
    time.advance(1_000);
  }
  // Time passes until the first extension is due, and then for longer than a lease.
  time.advance(10_500);
  await extended(1);
  for (let count = 2; count <= 5; count += 1) {
    time.advance(21_000);
    await extended(count);
  }
  open.resolve();
  await worker.stop();
  expect(worker.counts).toMatchObject({ completed: 10, lost: 0 });
  expect(asked.map(({ ids }) => ids.length)).toEqual([10, 10, 10, 10, 10]);
});

test("worker: an outcome is reported repeatedly while its lease is extended", async () => {
  using time = stillTime();
  const { fetch, extended } = extending();
  let refused = 0;
  let isRefused = true;
  let isSent = false;
  await using at = await setup(
    {},
    {
      fetch: (url, init) => {
        if (!url.endsWith(".complete")) return fetch(url, init);
        if (!isRefused) {
          isSent = true;
          return fetch(url, init);
        }
        refused += 1;
        return Promise.reject(Object.assign(new Error("no"), { code: "ECONNREFUSED" }));
      },
    },
  );
  await at.queue.produce("a");
  const worker = at.queue.work(() => undefined, at.workOptions);
  while (refused === 0) await nextRound();
  // By the end of this loop the original lease would have lapsed.
  for (let count = 1; count <= 3; count += 1) {
    time.advance(21_000);
    await extended(count);
  }
  isRefused = false;
  while (!isSent) {
    time.advance(100);
    await settled();
  }
  while (worker.counts.completed === 0 && worker.counts.lost === 0) await nextRound();
  await worker.stop();
  expect(worker.counts).toMatchObject({ completed: 1, lost: 0 });
});

test("worker: the signal of a lost item is aborted, and the other items of its lease continue", async () => {
  using time = stillTime();
  const { fetch, extended } = extending();
  await using at = await setup({}, { fetch });
  await at.queue.produce(["gone", "stays"]);
  const notified = gate<unknown>();
  const both = gate();
  const open = gate();
  const begun: LeasedItem[] = [];
  const worker = at.queue.work(
    async (item, { signal }) => {
      const aborted = new Promise<void>((resolve) =>
        signal.addEventListener("abort", () => resolve()),
      );
      begun.push(item);
      if (begun.length === 2) both.resolve();
      if (item.text() === "stays") return open.promise;
      await aborted;
      notified.resolve(signal.reason);
      throw signal.reason;
    },
    { concurrency: 2, ...at.workOptions },
  );
  await both.promise;
  const ids = begun.filter((item) => item.text() === "gone").map(({ id }) => id);
  expect(await at.queue.cancel(ids)).toEqual(ids.map((id) => ({ id, was: "leased" })));
  // The extend reveals the loss; then the other item is extended alone.
  time.advance(21_000);
  expect(await notified.promise).toBeInstanceOf(LeaseLost);
  await extended(2);
  for (let count = 3; count <= 5; count += 1) {
    time.advance(21_000);
    await extended(count);
  }
  open.resolve();
  await worker.stop();
  expect(worker.counts).toMatchObject({ completed: 1, lost: 1 });
});

test("lease: extend and release take all remaining items, and return the lost ones", async () => {
  await using at = await setup({ lease_timeout: "1m" });
  await at.queue.produce(["a", "b", "c"]);
  const lease = await at.queue.lease({ batch: 3 });
  const [first, ...others] = lease?.items ?? [];
  if (lease === null || first === undefined) throw new Error("nothing was leased");
  await lease.complete([first]);
  const refused = await lease.extend([first, ...others], { leaseTimeout: "10m" });
  expect(Object.keys(refused)).toEqual([first.id]);
  expect(await lease.release()).toEqual({});
  const again = await at.queue.lease({ batch: 3 });
  expect(again?.items.map((item) => item.attempts)).toEqual([1, 1]);
});

test("worker: an item whose lease has lapsed is not completed twice; its late holder is notified", async () => {
  await using at = await setup({ lease_timeout: "50ms" });
  await at.queue.produce("slow");
  const second = gate();
  const worker = at.queue.work(async (item) => {
    // The first handler ends only once another worker has the item.
    if (item.attempts === 1) await second.promise;
    else second.resolve();
  }, at.workOptions);
  while (worker.counts.completed === 0 || worker.counts.lost === 0) await at.queue.inspect();
  await worker.stop();
  expect(worker.counts.completed).toBe(1);
  expect(at.notices).toContainEqual(
    expect.objectContaining({ kind: "lost", item: expect.objectContaining({ attempts: 1 }) }),
  );
  expect(await totalOf(at.queue)).toBe(0);
});

test("worker: a second worker with the same clientId reports that and continues under another", async () => {
  await using at = await setup();
  const open = gate();
  const begun: string[] = [];
  const both = gate();
  const start = (): Worker =>
    at.queue.work(
      async (item) => {
        if (item.text() === "before") return;
        begun.push(item.text());
        if (begun.length === 2) both.resolve();
        await open.promise;
      },
      { clientId: "shared", concurrency: 1, ...at.workOptions },
    );
  await at.queue.produce(["before", "before"]);
  const first = start();
  // The server also detects a name that has waited before.
  while (first.counts.completed < 2) await Bun.sleep(1);
  await waitingLeases(at.queue, 1);
  const second = start();
  await waitingLeases(at.queue, 2);
  await at.queue.produce(["a", "b"]);
  await both.promise;
  open.resolve();
  await Promise.all([first.stop(), second.stop()]);
  expect([first.counts.completed, second.counts.completed]).toEqual([3, 1]);
  expect(at.notices).toEqual([
    {
      kind: "renamed",
      clientId: expect.stringMatching(/^shared-[0-9a-f]{16}$/),
      reason: expect.any(String),
    },
  ]);
  expect(textOf(at.notices[0] as WorkerNotice, "orders")).toMatch(
    /^holdfast: renamed of orders; another consumer already waits as 'shared'; continuing as 'shared-[0-9a-f]{16}'$/,
  );
});

test("worker: keeps its clientId unless its own unanswered lease may still wait", async () => {
  const names: string[] = [];
  let hasBroken = false;
  const fetch: Fetch = async (url, init) => {
    if (!url.endsWith(".lease")) return globalThis.fetch(url, init);
    names.push(JSON.parse(String(init.body)).client_id);
    if (names.length !== 3) return globalThis.fetch(url, init);
    hasBroken = true;
    // This request's answer is never read, and it keeps waiting at the server.
    void globalThis.fetch(url, { ...init, signal: null }).catch(() => undefined);
    throw new Error("ECONNRESET");
  };
  await using at = await setup({}, { fetch, keys: false });
  await at.queue.produce(["a", "b"]);
  const worker = at.queue.work(() => undefined, {
    clientId: "c",
    concurrency: 1,
    ...at.workOptions,
  });
  while (!hasBroken) await Bun.sleep(1);
  await waitingLeases(at.queue, 2);
  await worker.stop();
  expect(names).toEqual(["c", "c", "c", "c-1"]);
  expect(at.notices.map(({ kind }) => kind)).toEqual(["trouble"]);
});

test("stop: the worker leases no more, lets handlers finish, and reports the outcomes of their items", async () => {
  await using at = await setup();
  await at.queue.produce(numbered(5));
  const open = gate();
  const begun = gate();
  let running = 0;
  const worker = at.queue.work(
    async () => {
      running += 1;
      if (running === 2) begun.resolve();
      await open.promise;
    },
    { concurrency: 2, ...at.workOptions },
  );
  await begun.promise;
  const stopped = Promise.all([worker.stop(), worker.stop()]);
  open.resolve();
  await stopped;
  expect(worker.counts).toMatchObject({ completed: 2, running: 0 });
  expect(await at.queue.inspect()).toMatchObject({ queued: 3 });
  const [stats] = (await at.queue.stats()).logical_queues;
  expect(stats).toMatchObject({ lease_waiting: 0, partitions: [{ total_leased: 0 }] });
});

test("stop: a waiting lease is abandoned at once, and gets no items", async () => {
  await using at = await setup();
  const worker = at.queue.work(() => undefined, at.workOptions);
  await waitingLeases(at.queue, 1);
  await worker.stop();
  await waitingLeases(at.queue, 0);
  await at.queue.produce("for the next");
  expect(await at.queue.inspect()).toMatchObject({ queued: 1 });
});

test("stop: the signal of a slow handler is aborted, and its item is released at once", async () => {
  using time = stillTime();
  await using at = await setup();
  await at.queue.produce("long");
  const begun = gate();
  const worker = at.queue.work(
    async (_, { signal }) => {
      const aborted = new Promise<void>((resolve) =>
        signal.addEventListener("abort", () => resolve()),
      );
      begun.resolve();
      await aborted;
      throw signal.reason;
    },
    { concurrency: 1, drainMs: 10, ...at.workOptions },
  );
  await begun.promise;
  const stopped = worker.stop();
  await settled();
  time.advance(10);
  await stopped;
  expect(worker.counts).toMatchObject({ released: 1, retried: 0, lost: 0 });
  expect(await at.queue.inspect()).toMatchObject({ queued: 1, retried: 0 });
});

test("stop: items of a handler that hangs are released, and no longer extended", async () => {
  using time = stillTime();
  const { calls, fetch } = counting();
  await using at = await setup({}, { fetch });
  await at.queue.produce("hung");
  const begun = gate();
  const late = gate();
  const worker = at.queue.work(
    async () => {
      begun.resolve();
      await late.promise;
    },
    { concurrency: 1, drainMs: 0, ...at.workOptions },
  );
  await begun.promise;
  const stopped = worker.stop();
  await settled();
  // After their signals are aborted, handlers have three seconds.
  time.advance(3_000);
  await stopped;
  const released = { completed: 0, released: 1, lost: 0, running: 0 };
  expect(worker.counts).toMatchObject(released);
  expect(await at.queue.inspect()).toMatchObject({ queued: 1, retried: 0 });
  // More time passes than between two extends.
  time.advance(60_000);
  await settled();
  expect(calls["extend"]).toBeUndefined();
  late.resolve();
  await settled();
  expect(worker.counts).toMatchObject(released);
  expect(at.notices).toEqual([]);
});

test("worker: the caller's signal stops it like stop()", async () => {
  await using at = await setup();
  const stopping = new AbortController();
  const worker = at.queue.work(() => undefined, { signal: stopping.signal, ...at.workOptions });
  await waitingLeases(at.queue, 1);
  stopping.abort();
  await worker.stopped;
  const late = at.queue.work(() => undefined, { signal: stopping.signal, ...at.workOptions });
  await late.stopped;
});

test("worker: stops with the reason if it cannot continue", async () => {
  await using at = await setup();
  const nowhere = at.client.queue("boats").work(() => undefined, at.workOptions);
  expect(await nowhere.stopped.catch((error) => error)).toMatchObject({
    code: "invalid",
    message: "queue does not exist; no such queue named 'boats'",
  });
  const worker = at.queue.work(() => undefined, at.workOptions);
  const stopped = worker.stopped.catch((error: unknown) => error);
  await waitingLeases(at.queue, 1);
  await at.queue.delete({ force: true });
  expect(await stopped).toMatchObject({ code: "failed" });
});

test("worker: continues after a restart of the server, and handles each item once", async () => {
  await using at = await setup();
  await at.queue.produce(numbered(10));
  const seen: string[] = [];
  const [half, all] = [gate(), gate()];
  const open = gate();
  const worker = at.queue.work(
    async (item) => {
      seen.push(item.text());
      if (seen.length === 10) half.resolve();
      if (seen.length === 20) all.resolve();
      await open.promise;
    },
    { concurrency: 20, ...at.workOptions },
  );
  await half.promise;
  await at.server.stop();
  // These end while the server is down.
  open.resolve();
  await at.server.start();
  await at.queue.produce(numbered(20).slice(10));
  await all.promise;
  await worker.stop();
  expect(seen.toSorted()).toEqual(numbered(20).toSorted());
  expect(worker.counts).toMatchObject({ completed: 20, lost: 0 });
  expect(await totalOf(at.queue)).toBe(0);
});

test("worker: trouble is reported long before the timeout of a lease", async () => {
  const notified = gate<WorkerNotice>();
  const fetch: Fetch = () =>
    Promise.reject(Object.assign(new Error("no"), { code: "ECONNREFUSED" }));
  const client = createClient({ fetch, pace: { baseMs: 1, capMs: 1 } });
  const worker = client.queue("orders").work(() => undefined, {
    timeoutMs: 600_000,
    notice: notified.resolve,
    processSignals: [],
  });
  expect(await notified.promise).toMatchObject({ kind: "trouble", error: { code: "unavailable" } });
  await worker.stop();
});

test("worker: after the server is killed nothing is lost, and only lapsed items are handled again", async () => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-worker-"));
  const data = join(directory, "data");
  const options = { data, port: freePort(), flags: ["--shards", "1"] };
  let server = await startServer(options);
  try {
    const client = createClient({ url: `http://127.0.0.1:${server.port}` });
    const queue = client.queue("orders");
    await queue.create({ lease_timeout: "5s", expire_timeout: "1h" });
    await queue.produce(numbered(1_000));
    const firsts: string[] = [];
    const seen = new Set<string>();
    const [some, all] = [gate(), gate()];
    const worker = queue.work(
      (item) => {
        if (item.attempts === 1) firsts.push(item.text());
        seen.add(item.text());
        if (seen.size === 100) some.resolve();
        if (seen.size === 1_000) all.resolve();
      },
      { processSignals: [], notice: () => undefined },
    );
    await some.promise;
    await server.stop("SIGKILL");
    server = await startServer(options);
    await all.promise;
    while ((await totalOf(queue)) > 0);
    await worker.stop();
    expect(new Set(firsts).size).toBe(firsts.length);
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
});

/** A worker in its own process, which reports when its handler has begun and ends it on request. */
const program = (url: string, workers: number): string => `
import { createClient } from ${JSON.stringify(join(import.meta.dir, "index.ts"))};
const queue = createClient({ url: ${JSON.stringify(url)} }).queue("orders");
// Prints after all listeners have run.
process.once("SIGTERM", () => setTimeout(() => console.log("signalled")));
const ended = Promise.withResolvers();
for (let count = 0; count < ${workers}; count += 1) {
  queue.work(async (item) => {
    console.log("begun " + item.text());
    await ended.promise;
  }, { concurrency: 1 });
}
for await (const _ of console) ended.resolve();
`;

async function signalled(url: string, workers: number) {
  const child = Bun.spawn([process.execPath, "-e", program(url, workers)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const reader = child.stdout.getReader();
  let output = "";
  const waitFor = async (text: string): Promise<void> => {
    while (!output.includes(text)) output += new TextDecoder().decode((await reader.read()).value);
  };
  await waitFor("begun one\n");
  if (workers > 1) await waitFor("begun two\n");
  child.kill("SIGTERM");
  await waitFor("signalled\n");
  return child;
}

async function remainingIn({ client }: Awaited<ReturnType<typeof setup>>) {
  const page = { queue_name: "orders", partition: 0, pivot: "", limit: 9 };
  const { items } = await client.listItems(page);
  return items.map((item) => [atob(item.payload), item.is_leased]);
}

test("SIGTERM: the process drains, completes its items, and ends by that signal", async () => {
  await using at = await setup();
  await at.queue.produce(["one", "two"]);
  const child = await signalled(at.server.url, 1);
  child.stdin.write("end\n");
  await child.stdin.flush();
  await child.exited;
  expect(child.signalCode).toBe("SIGTERM");
  expect(await remainingIn(at)).toEqual([["two", false]]);
});

test("SIGTERM: a process with several workers ends when the last has drained", async () => {
  await using at = await setup();
  await at.queue.produce(["one", "two", "three"]);
  const child = await signalled(at.server.url, 2);
  child.stdin.write("end\n");
  await child.stdin.flush();
  await child.exited;
  expect(child.signalCode).toBe("SIGTERM");
  expect(await remainingIn(at)).toEqual([["three", false]]);
});

test("SIGTERM: a second signal ends the process at once, and its items stay leased", async () => {
  await using at = await setup();
  await at.queue.produce("one");
  const child = await signalled(at.server.url, 1);
  child.kill("SIGTERM");
  await child.exited;
  expect(child.signalCode).toBe("SIGTERM");
  expect(await remainingIn(at)).toEqual([["one", true]]);
});

test("worker: a failed item waits by the test clock of the server, however far it is ahead", async () => {
  await using server = await listeningApp({}, { testClock: true });
  const client = createClient({ url: server.url });
  const queue = client.queue("orders");
  await queue.create({ lease_timeout: "1m", expire_timeout: "24h" });
  const { now } = await client.advance({ by: "1h" });
  expect(Date.parse(now)).toBeGreaterThan(Date.now() + 3_000_000);
  await queue.produce("a");
  const retried = gate<number>();
  const handled = gate<number>();
  const worker = queue.work(
    (item) => {
      if (item.attempts === 1) throw new Error("not yet");
      handled.resolve(item.attempts);
    },
    {
      backoff: () => 600_000,
      notice: ({ kind }) => kind === "retried" && retried.resolve(1),
      processSignals: [],
    },
  );
  await retried.promise;
  for (let scheduled = 0; scheduled === 0; ) ({ retried: scheduled } = await queue.inspect());
  await client.advance({ by: "9m" });
  expect(await queue.inspect()).toMatchObject({ retried: 1 });
  await client.advance({ by: "10m" });
  expect(await handled.promise).toBe(2);
  await worker.stop();
});

test("work: invalid limits are refused", async () => {
  const queue = createClient().queue("orders");
  expect(() => queue.work(() => undefined, { concurrency: 0 })).toThrow(
    "concurrency is invalid; expected a whole number from 1, got 0",
  );
  expect(() => queue.work(() => undefined, { batch: 1.5 })).toThrow(
    "batch is invalid; expected a whole number from 1, got 1.5",
  );
});

test("worker: the message of a thrown error is the reason in the next lease and in the dead queue", async () => {
  await using at = await setup();
  await at.queue.produce([{ utf8: "a", headers: { tenant: "t" } }, "b"]);
  const reasons: (string | undefined)[] = [];
  const all = gate();
  const worker = at.queue.work(
    (item) => {
      if (item.text() === "b") throw new DeadLetter("no such account");
      expect(item.headers).toEqual({ tenant: "t" });
      reasons.push(item.reason);
      if (item.attempts === 1) throw new Error("é".repeat(2_000));
      all.resolve();
    },
    { concurrency: 1, backoff: () => 0, ...at.workOptions },
  );
  await all.promise;
  await worker.stop();
  expect(reasons).toEqual([undefined, `${"é".repeat(510)}…`]);
  const [dead] = await Array.fromAsync(at.dead.find());
  expect(dead).toMatchObject({
    reason: "no such account",
    death: "rejected",
    origin_queue: "orders",
  });
});
