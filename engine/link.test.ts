import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock, TestClock } from "./clock.ts";
import { readLeased } from "./codec.ts";
import { type Notice, openEngine } from "./engine.ts";
import { workerLinks } from "./link.ts";
import type { Breakage, FragileConfig } from "./simulation/fragile.worker.ts";

interface Setup {
  readonly clock?: Clock;
  readonly atCommit?: number;
  readonly openingMs?: number;
  /** Short only where it is waited for: a slow machine is silent for long. */
  readonly silenceMsMax?: number;
}

/** By default it breaks at the first produce; a queue is created by a commit of the catalog. */
async function setup(
  breakage: Breakage,
  { clock = systemClock(), atCommit = 1, openingMs = 0, silenceMsMax }: Setup = {},
) {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-link-"));
  const config: FragileConfig = {
    store: { kind: "sqlite", directory, ballastBytes: 0 },
    breakage,
    atCommit,
    openingMs,
    brokenOnce: join(directory, "broken-once"),
  };
  const notices: Notice[] = [];
  const engine = await openEngine({
    shardCount: 1,
    clock,
    links: workerLinks({
      clock,
      module: new URL("./simulation/fragile.worker.ts", import.meta.url),
      config,
      ...(silenceMsMax === undefined ? {} : { silenceMsMax }),
    }),
    durability: "full",
    readLeased,
    notice: (notice) => notices.push(notice),
  });
  await engine.createQueue({
    name: "orders",
    deadQueue: "",
    reference: "",
    leaseTimeoutMs: 60_000,
    expireTimeoutMs: 3_600_000,
    maxAttempts: 0,
    requestedPartitions: 1,
  });
  return {
    engine,
    notices,
    dispose: async () => {
      await engine.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const breakages: Breakage[] = [
  "throw before the commit",
  "throw after the commit",
  "store fails before the commit",
  "store fails after the commit",
  "exit before the commit",
  "exit after the commit",
  "hang before the commit",
  "hang after the commit",
];

test.each(breakages)(
  "worker: %s, and each request is answered once and truly",
  async (breakage) => {
    const waiting = breakage.startsWith("hang") ? { silenceMsMax: 2_000 } : {};
    const { engine, notices, dispose } = await setup(breakage, waiting);
    const produced = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        engine.produce({
          queue: "orders",
          requestTimeoutMs: 20_000,
          items: [{ payload: `item ${index}` }, { payload: new Uint8Array([index, 0, 255]) }],
        }),
      ),
    );
    expect(produced.map(({ status }) => status)).toEqual(Array(20).fill("fulfilled"));
    const stored = await engine.listItems({ queue: "orders", partition: 0, pivot: "", limit: 100 });
    const texts = stored.map(({ payload }) => new TextDecoder().decode(payload));
    const wanted = Array.from({ length: 20 }, (_, index) => `item ${index}`);
    expect(texts.filter((text) => text.startsWith("item")).sort()).toEqual(wanted.sort());
    expect(stored).toHaveLength(40);

    const lease = await engine.lease({
      queue: "orders",
      clientId: "one",
      batchSize: 100,
      requestTimeoutMs: 5_000,
    });
    const ids = lease.items.map(({ id }) => id);
    await engine.complete({ queue: "orders", partition: 0, requestTimeoutMs: 5_000, ids });
    expect(await engine.inspect("orders")).toMatchObject({ queued: 0, leased: 0 });
    expect(notices.map(({ kind }) => kind)).toEqual(["shard_down", "shard_up"]);
    expect(engine.status().shards[0]).toMatchObject({ up: true, restarts: 1 });
    await dispose();
  },
);

test("worker: one that is silent for long while it opens is waited for", async () => {
  const slow = { atCommit: 0, openingMs: 3_000, silenceMsMax: 1_000 };
  const { engine, notices, dispose } = await setup("hang before the commit", slow);
  expect([notices, engine.status().shards]).toMatchObject([[], [{ up: true, restarts: 0 }]]);
  await dispose();
});

test.each(["exit before the commit", "exit after the commit"] as const)(
  "worker: %s of a lapse, and an advance of the test clock goes on where it was",
  async (breakage) => {
    const { engine, dispose } = await setup(breakage, { clock: new TestClock(), atCommit: 3 });
    const called = { queue: "orders", requestTimeoutMs: 20_000 };
    await engine.produce({ ...called, items: [{ payload: "a" }] });
    const { items } = await engine.lease({ ...called, clientId: "one", batchSize: 1 });
    const lapsesAt = items[0]?.leaseDeadline ?? 0;
    expect(await engine.advance(600_000)).toBe(lapsesAt + 540_000);
    const listed = { queue: "orders", partition: 0, pivot: "", limit: 10 };
    expect(await engine.listItems(listed)).toMatchObject([
      { isLeased: false, attempts: 1, updatedAt: lapsesAt },
    ]);
    expect(engine.status().shards[0]).toMatchObject({ up: true, restarts: 1 });
    await dispose();
  },
);
