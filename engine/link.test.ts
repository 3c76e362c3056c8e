import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock, TestClock } from "./clock.ts";
import { readLeased } from "./codec.ts";
import { type Notice, openEngine } from "./engine.ts";
import { limits } from "./limits.ts";
import { workerLinks } from "./link.ts";
import type { Breakage, FragileConfig } from "./simulation/fragile.worker.ts";

/** A real clock but for time, which passes when the test says so: no worker is silent for being slow. */
function heldClock() {
  const real = systemClock();
  const time = new TestClock(real);
  let passedMs = 0;
  const clock: Clock = {
    now: () => time.now(),
    stamp: () => time.stamp(),
    raise: (instant) => time.raise(instant),
    precise: () => passedMs,
    at: (deadline, run) => time.at(deadline, run),
    soon: (run) => real.soon(run),
    get machine() {
      return clock;
    },
  };
  return {
    clock,
    /** Something is to be done by it. */
    isSet: () => Number.isFinite(time.next),
    /** With all that is due by then, and a moment for the workers. */
    pass: async (ms: number) => {
      passedMs += ms;
      time.raise(time.now() + ms);
      await Bun.sleep(5);
    },
  };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(1);
}

interface Setup {
  readonly clock?: Clock;
  readonly atCommit?: number;
  readonly silenceMsMax?: number;
  /** What happens while the worker waits to be opened; absent = it does not wait. */
  readonly beforeItOpens?: () => Promise<void>;
}

/** By default it breaks at the first produce; a queue is created by a commit of the catalog. */
async function setup(
  breakage: Breakage,
  {
    clock = systemClock(),
    atCommit = 1,
    silenceMsMax = Number.POSITIVE_INFINITY,
    beforeItOpens,
  }: Setup = {},
) {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-link-"));
  const brokenOnce = join(directory, "broken-once");
  const opensAfter = beforeItOpens === undefined ? "" : join(directory, "opens");
  const config: FragileConfig = {
    store: { kind: "sqlite", directory, ballastBytes: 0 },
    ...{ breakage, atCommit, opensAfter, brokenOnce },
  };
  const notices: Notice[] = [];
  const opening = openEngine({
    shardCount: 1,
    clock,
    links: workerLinks({
      clock,
      module: new URL("./simulation/fragile.worker.ts", import.meta.url),
      config,
      silenceMsMax,
    }),
    durability: "full",
    readLeased,
    notice: (notice) => notices.push(notice),
  });
  if (beforeItOpens !== undefined) {
    await beforeItOpens();
    writeFileSync(opensAfter, "");
  }
  const engine = await opening;
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
    isBroken: () => existsSync(brokenOnce),
    dispose: async () => {
      await engine.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The longest that there is: how long a machine takes is not asked here. */
const requestTimeoutMs = 900_000;

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
    const isHanging = breakage.startsWith("hang");
    const held = heldClock();
    const silenceMsMax = 30;
    const waiting = isHanging ? { clock: held.clock, silenceMsMax } : {};
    const { engine, notices, isBroken, dispose } = await setup(breakage, waiting);
    const producing = Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        engine.produce({
          queue: "orders",
          requestTimeoutMs,
          items: [{ payload: `item ${index}` }, { payload: new Uint8Array([index, 0, 255]) }],
        }),
      ),
    );
    if (isHanging) {
      await until(isBroken);
      while (notices.length === 0) await held.pass(silenceMsMax / 3);
      await held.pass(limits.restartMsMin);
    }
    const produced = await producing;
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
      requestTimeoutMs,
    });
    const ids = lease.items.map(({ id }) => id);
    await engine.complete({ queue: "orders", partition: 0, requestTimeoutMs, ids });
    expect(await engine.inspect("orders")).toMatchObject({ queued: 0, leased: 0 });
    expect(notices.map(({ kind }) => kind)).toEqual(["shard_down", "shard_up"]);
    expect(engine.status().shards[0]).toMatchObject({ up: true, restarts: 1 });
    await dispose();
  },
);

test("worker: one that is silent for long while it opens is waited for", async () => {
  const held = heldClock();
  const silenceMsMax = 30;
  const beforeItOpens = async (): Promise<void> => {
    await until(held.isSet);
    const beatMs = silenceMsMax / 3;
    for (let ms = 0; ms < limits.openingPatience * silenceMsMax; ms += beatMs) {
      await held.pass(beatMs);
    }
  };
  const slow = { clock: held.clock, atCommit: 0, silenceMsMax, beforeItOpens };
  const { engine, notices, dispose } = await setup("hang before the commit", slow);
  expect([notices, engine.status().shards]).toMatchObject([[], [{ up: true, restarts: 0 }]]);
  await dispose();
});

test("worker: one is not replaced for silence while its process was stopped", async () => {
  const held = heldClock();
  const silenceMsMax = 30;
  const healthy = { clock: held.clock, atCommit: Number.POSITIVE_INFINITY, silenceMsMax };
  const { engine, notices, dispose } = await setup("hang before the commit", healthy);
  await until(held.isSet);
  for (let round = 0; round < 3; round += 1) {
    await held.pass(100 * silenceMsMax);
    await engine.produce({ queue: "orders", requestTimeoutMs, items: [{ payload: "a" }] });
  }
  expect([notices, engine.status().shards]).toMatchObject([[], [{ up: true, restarts: 0 }]]);
  await dispose();
});

test.each(["exit before the commit", "exit after the commit"] as const)(
  "worker: %s of a lapse, and an advance of the test clock goes on where it was",
  async (breakage) => {
    const { engine, dispose } = await setup(breakage, { clock: new TestClock(), atCommit: 3 });
    const called = { queue: "orders", requestTimeoutMs };
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
