// Advancing a test clock: each lapse, expiry and wake happens at its own instant, wherever the
// shards run.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { type CreateEngineOptions, createEngine, type EmbeddedEngine } from "./embed.ts";
import type { Engine, StoredItem } from "./model/api.ts";
import { createShards } from "./simulation/all-shards.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-clock-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

const settings = {
  deadQueue: "",
  reference: "",
  leaseTimeoutMs: 30 * second,
  expireTimeoutMs: 24 * hour,
  maxAttempts: 0,
  requestedPartitions: 1,
};
/** By the machine's clock, and the maximum: these tests do not measure speed. */
const requestTimeoutMs = 15 * minute;
const page = { partition: 0, pivot: "", limit: 1_000 };

type Opened = EmbeddedEngine & AsyncDisposable;

async function opened(options: Partial<CreateEngineOptions> = {}): Promise<Opened> {
  const memory = { kind: "memory" } as const;
  const engine = await createEngine({
    store: memory,
    testClock: true,
    ...options,
  });
  return { ...engine, [Symbol.asyncDispose]: () => engine.close() };
}

async function openedShards(shards: number) {
  const engine = await createShards({ store: { kind: "memory" }, shards, testClock: true });
  return { ...engine, [Symbol.asyncDispose]: () => engine.close() };
}

/** The present time of its clock. */
const nowOf = (engine: Pick<EmbeddedEngine, "advance">): Promise<number> => engine.advance(1);

const refusal = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

function produce(engine: Engine, queue: string, payload: string, enqueueAt?: number) {
  const item = { payload, ...(enqueueAt !== undefined && { enqueueAt }) };
  return engine.produce({ queue, requestTimeoutMs, items: [item] });
}

function lease(engine: Engine, queue: string, clientId = "c", timeoutMs = requestTimeoutMs) {
  return engine.lease({ queue, clientId, batchSize: 1, requestTimeoutMs: timeoutMs });
}

/** The fields of stored items that depend on the schedule; instants relative to `since`. */
function seen(items: readonly StoredItem[], since: number) {
  const from = (instant: number | null) => (instant === null ? null : instant - since);
  return items.map((item) => ({
    payload: new TextDecoder().decode(item.payload),
    attempts: item.attempts,
    created: from(item.createdAt),
    updated: from(item.updatedAt),
    expires: from(item.expireDeadline),
    lapses: from(item.leaseDeadline),
    due: from(item.enqueueAt),
  }));
}

async function stored(engine: Engine, queues: readonly string[], since: number) {
  const all = [];
  for (const queue of queues) {
    for (const { partition } of (await engine.stats(queue)).partitions) {
      const of = { ...page, queue, partition };
      all.push({
        ready: seen(await engine.listItems(of), since),
        scheduled: seen(await engine.listScheduled(of), since),
      });
    }
  }
  return all;
}

test("advance: a lease lapses at its own instant", async () => {
  await using engine = await opened();
  await engine.createQueue({ ...settings, name: "q" });
  await produce(engine, "q", "a");
  const start = await nowOf(engine);
  const leased = await lease(engine, "q");
  expect(leased.items[0]?.leaseDeadline).toBe(start + 30 * second);
  expect(await engine.advance(29_999)).toBe(start + 29_999);
  expect(await engine.listItems({ ...page, queue: "q" })).toMatchObject([{ isLeased: true }]);
  expect(await engine.advance(10 * minute)).toBe(start + 29_999 + 10 * minute);
  expect(await engine.listItems({ ...page, queue: "q" })).toMatchObject([
    { isLeased: false, attempts: 1, updatedAt: start + 30 * second },
  ]);
});

test("advance: work that becomes due during an advance is done in the same advance", async () => {
  await using engine = await openedShards(2);
  await engine.createQueue({ ...settings, name: "dead", expireTimeoutMs: hour });
  const dying = { ...settings, deadQueue: "dead", maxAttempts: 2, requestedPartitions: 2 };
  await engine.createQueue({ ...dying, name: "q" });
  const start = await nowOf(engine);
  await produce(engine, "q", "a", start + minute);
  await produce(engine, "q", "b", start + hour);
  // Leases wait by the machine's clock, and are served at the instant at which an item is ready.
  const waiting = ["first", "second"].map((client) => lease(engine, "q", client));
  expect(await engine.advance(20 * minute)).toBe(start + 20 * minute);
  expect((await Promise.all(waiting)).map(({ items }) => items)).toMatchObject([
    [{ attempts: 1, leaseDeadline: start + minute + 30 * second }],
    [{ attempts: 2, leaseDeadline: start + 2 * minute }],
  ]);
  expect(await engine.listItems({ ...page, queue: "dead" })).toMatchObject([
    { updatedAt: start + 2 * minute, expireDeadline: start + 2 * minute + hour },
  ]);
  await engine.advance(hour);
  expect(await engine.inspect("dead")).toMatchObject({ queued: 0 });
});

test("advance: it waits for a handler that fails", async () => {
  await using engine = await opened();
  await engine.createQueue({ ...settings, name: "dead" });
  await engine.createQueue({ ...settings, name: "q", deadQueue: "dead", maxAttempts: 5 });
  const attempts: number[] = [];
  engine.work("q", async (item) => {
    attempts.push(item.attempts);
    await Bun.sleep(5);
    throw new Error(`no ${item.attempts}`);
  });
  await produce(engine, "q", "a");
  await engine.advance(hour, { handlerTimeoutMs: minute });
  expect(attempts).toEqual([1, 2, 3, 4, 5]);
  const { items } = await lease(engine, "dead");
  expect(items).toMatchObject([{ past: { attempts: 5, reason: "no 5" } }]);
});

test.each([0, -1, 0.5, 60_001])("advance: a handlerTimeoutMs of %p is refused", async (ms) => {
  await using engine = await opened();
  const refused = await refusal(engine.advance(1, { handlerTimeoutMs: ms }));
  expect(refused).toMatchObject({ code: "invalid" });
});

test("advance: a request timeout passes by the machine's clock only", async () => {
  await using engine = await opened();
  await engine.createQueue({ ...settings, name: "q" });
  expect(await refusal(lease(engine, "q", "late", 10))).toMatchObject({ reason: "empty" });
  const waiting = lease(engine, "q", "waiting");
  await engine.advance(hour);
  await produce(engine, "q", "a");
  expect((await waiting).items).toHaveLength(1);
});

test("advance: a lease rate uses the test clock", async () => {
  await using engine = await opened();
  await engine.createQueue({ ...settings, name: "q", leaseRate: "1/1m" });
  await produce(engine, "q", "a");
  await produce(engine, "q", "b");
  const first = await lease(engine, "q");
  const next = lease(engine, "q");
  await engine.advance(29 * second);
  expect(await engine.inspect("q")).toMatchObject({ queued: 1 });
  await engine.advance(40 * second);
  expect((await next).items[0]?.leaseDeadline).toBeGreaterThanOrEqual(
    (first.items[0]?.leaseDeadline ?? 0) + minute,
  );
});

test("advance: concurrent calls run one after the other, and each returns its instant", async () => {
  await using engine = await opened();
  const start = await nowOf(engine);
  const advances = [engine.advance(5), engine.advance(7), engine.advance(hour)];
  expect(await Promise.all(advances)).toEqual([start + 5, start + 12, start + 12 + hour]);
});

test.each([
  [0, "0s"],
  [-1, "-1"],
  [1.5, "1.5ms"],
  [367 * 24 * hour, "8808h0m0s"],
])("advance: by %p is refused", async (byMs, got) => {
  await using engine = await opened();
  const expected = "expected a duration from 1ms to 8784h0m0s";
  const message = `advance is invalid; ${expected}, got ${got}`;
  expect(await refusal(engine.advance(byMs))).toMatchObject({ code: "invalid", message });
});

test("advance: without a test clock it is refused", async () => {
  await using engine = await opened({ testClock: false });
  const refused = await refusal(engine.advance(1));
  expect(refused).toMatchObject({ code: "refused", reason: "no_test_clock" });
});

test("advance: a close ends an advance", async () => {
  const engine = await opened();
  await engine.createQueue({ ...settings, name: "a", expireTimeoutMs: minute });
  const closing = engine.close();
  expect(await refusal(engine.advance(hour))).toMatchObject({ reason: "shutting_down" });
  await closing;
});

test("advance: a close during an advance ends it, and the error says that a part may be done", async () => {
  const engine = await opened();
  const refused = refusal(engine.advance(hour));
  await engine.close();
  expect(await refused).toMatchObject({ code: "store", reason: "in_part" });
});

test("advance: a folder continues from the last instant of its test clock", async () => {
  const store = { kind: "sqlite", directory: join(folder, "test"), ballastBytes: 0 } as const;
  let now: number;
  {
    await using engine = await opened({ store });
    now = await engine.advance(hour);
  }
  {
    await using engine = await opened({ store });
    expect(await engine.advance(1)).toBe(now + 1);
  }
  const former = { store, testClock: false };
  expect(await refusal(opened(former))).toMatchObject({
    fault: "unusable",
    message:
      "the store was used with a test clock, so its instants may be ahead; start with --test-clock or testClock, or take another folder",
  });
  const other = { store: { ...store, directory: join(folder, "by the machine") } };
  await (await opened({ ...other, testClock: false })).close();
  expect(await refusal(opened(other))).toMatchObject({
    fault: "unusable",
    message:
      "the store was used without a test clock; start without --test-clock or testClock, or take another folder",
  });
});

/** The operations between two advances. */
const steps = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant("produce" as const),
      queue: fc.constantFrom("one", "two"),
      laterMs: fc.constantFrom(0, 0, 10 * second, 45 * second, 5 * minute),
    }),
    fc.record({
      do: fc.constant("lease" as const),
      queue: fc.constantFrom("one", "two"),
      batch: fc.integer({ min: 1, max: 4 }),
    }),
    // On the latest leased items: extend, retry now or later, or complete with a new output.
    fc.record({
      do: fc.constantFrom("extend" as const, "retry" as const, "transact" as const),
      laterMs: fc.constantFrom(10 * second, 45 * second, 5 * minute),
    }),
    fc.record({ do: fc.constant("release" as const) }),
  ),
  { minLength: 1, maxLength: 12 },
);
const queues = ["one", "two", "dead"];

/** Dead letters move between shards. */
async function scheduled(drawn: typeof steps extends fc.Arbitrary<infer T> ? T : never) {
  const engine = await openedShards(3);
  await engine.createQueue({ ...settings, name: "dead", expireTimeoutMs: 2 * minute });
  const dying = { ...settings, deadQueue: "dead", requestedPartitions: 3 };
  await engine.createQueue({ ...dying, name: "one", maxAttempts: 1, expireTimeoutMs: minute });
  await engine.createQueue({ ...dying, name: "two", maxAttempts: 2, expireTimeoutMs: 90 * second });
  const start = await nowOf(engine);
  const held: { readonly queue: string; readonly partition: number; readonly ids: string[] }[] = [];
  for (const [index, step] of drawn.entries()) {
    const last = held.at(-1);
    // The arrival order of items sent by the previous step is not deterministic.
    const before = drawn[index - 1]?.do;
    if (before === "retry" || before === "transact") await engine.advance(1);
    if (step.do === "produce") {
      const { queue, laterMs } = step;
      await produce(engine, queue, `${index}`, laterMs === 0 ? undefined : start + laterMs);
    } else if (step.do === "lease") {
      const { queue, batch } = step;
      if ((await engine.inspect(queue)).queued === 0) continue;
      const asked = { clientId: `c${index}`, batchSize: batch, requestTimeoutMs };
      const { partition, items } = await engine.lease({ queue, ...asked });
      held.push({ queue, partition, ids: items.map(({ id }) => id) });
    } else if (last !== undefined) {
      if (step.do === "extend") await engine.extend({ ...last, leaseTimeoutMs: step.laterMs });
      else held.pop();
      if (step.do === "release") await engine.release(last);
      if (step.do === "retry") {
        const { ids, ...place } = last;
        const retryAt = start + step.laterMs;
        await engine.retry({ ...place, items: ids.map((id) => ({ id, dead: false, retryAt })) });
      }
      if (step.do === "transact") {
        const items = [{ payload: `${index}`, enqueueAt: start + step.laterMs }];
        const produced = [{ queue: "one", items }];
        await engine.transact({ requestTimeoutMs, complete: [last], produce: produced });
      }
    }
  }
  return { engine, start };
}

test("advance: two advances equal one by their sum", async () => {
  const byMs = fc.oneof(
    fc.constantFrom(10 * second, 30 * second, minute),
    fc.integer({ min: 1, max: 3 * minute }),
  );
  await fc.assert(
    fc.asyncProperty(steps, byMs, byMs, async (drawn, a, b) => {
      const twice = await scheduled(drawn);
      await twice.engine.advance(a);
      await twice.engine.advance(b);
      const once = await scheduled(drawn);
      await once.engine.advance(a + b);
      expect(await stored(once.engine, queues, once.start)).toEqual(
        await stored(twice.engine, queues, twice.start),
      );
      await Promise.all([once.engine.close(), twice.engine.close()]);
    }),
    { numRuns: 40, seed: 1 },
  );
});

test("advance: series and findings of queues use the test clock", async () => {
  await using engine = await opened({ seriesBytes: 1_000_000 });
  await engine.createQueue({ name: "q", ...settings });
  for (let count = 1; count <= 3; count += 1) {
    await engine.produce({
      queue: "q",
      requestTimeoutMs,
      items: Array(count).fill({ payload: "a" }),
    });
    await engine.advance(10 * second);
  }
  const points = () =>
    engine.series({ queue: "q", names: ["produced"], stepMs: 10 * second }).values[0];
  expect(points()).toHaveLength(3);
  expect(points()?.reduce((sum, value) => sum + value, 0)).toBe(6);
  await engine.advance(hour);
  expect(points()).toHaveLength(360);
});

test("advance: time stops at each due instant, and series record it there", async () => {
  await using engine = await opened({ seriesBytes: 1_000_000 });
  await engine.createQueue({ name: "q", ...settings });
  // Advances to the start of an interval.
  const begun = engine.status().now;
  const from = await engine.advance(10 * second - (begun % (10 * second)));
  await produce(engine, "q", "a");
  await lease(engine, "q");
  await engine.advance(50 * second);
  const names = ["produced", "lapsed", "held"] as const;
  expect(engine.series({ queue: "q", names, stepMs: 10 * second, from }).values).toEqual([
    [1, 0, 0, 0, 0],
    [0, 0, 0, 1, 0],
    [1, 1, 1, 0, 0],
  ]);
  expect(await engine.advance(300 * 24 * hour)).toBe(from + 50 * second + 300 * 24 * hour);
});
