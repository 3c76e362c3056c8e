// Two servers, not nodes of one cluster, take one store from each other. A server that gets it back
// reads it again.

import { expect, test } from "bun:test";
import type { Backend } from "../stores/backend.ts";
import { MemoryImage, openMemoryStore } from "../stores/memory/store.ts";
import { StoreError } from "../stores/store.ts";
import { limits } from "./model/limits.ts";
import { type Bundle, minute, nameIn, produceOf, second, setup } from "./simulation/bundle.ts";

const cut = (): StoreError => new StoreError("failed", "the connection is cut");

/** One server whose connection can be cut, and the store that another server opens meanwhile. */
async function setupFirst() {
  const image = new MemoryImage("0123456789Ab");
  let state: "up" | "cut" | "cut after a commit" = "up";
  const openStore = async (): Promise<Backend> => {
    if (state === "cut") throw cut();
    const { store, maintenance } = openMemoryStore({ tag: "", image });
    return {
      maintenance,
      store: {
        load: (what) => store.load(what),
        read: (plan) => store.read(plan),
        close: () => store.close(),
        async commit(changes) {
          if (state === "cut") throw cut();
          const written = await store.commit(changes);
          if (state === "up") return written;
          state = "cut";
          throw cut();
        },
      },
    };
  };
  const first = await setup({ openStore });
  await first.createQueue({ name: "common" });
  return {
    first,
    /** Cuts the first server's call; the second server does `work`. */
    async between(how: "cut" | "cut after a commit", work: (second: Bundle) => Promise<unknown>) {
      state = how;
      const lost = await first.begin(() => first.engine.produce(produceOf("common", ["first"])));
      const second = await setup({
        openStore: async () => openMemoryStore({ tag: "", image }),
      });
      await work(second);
      await second.run(() => second.engine.close());
      state = "up";
      await first.clock.advance(2 * limits.restartMsMax);
      return lost;
    },
  };
}

test("other server: a queue that it created exists, and its items go to no other queue", async () => {
  const { first, between } = await setupFirst();
  await between("cut", async (second) => {
    await second.createQueue({ name: "of-second" });
    await second.produce("of-second", "secret");
  });
  await first.createQueue({ name: "of-first" });
  expect(await first.listed("of-first")).toEqual([]);
  expect(await first.listed("of-second")).toEqual(["secret"]);
});

test("other server: a queue that it deleted does not exist", async () => {
  const { first, between } = await setupFirst();
  await between("cut", (second) =>
    second.run(() => second.engine.deleteQueue({ name: "common", force: true })),
  );
  expect(await first.ending(() => first.engine.produce(produceOf("common", ["a"])))).toMatchObject({
    code: "invalid",
  });
});

test("overview: after another server has written, each queue is counted once", async () => {
  const { first, between } = await setupFirst();
  const before = first.engine.overview("").overview;
  await between("cut", async (second) => {
    await second.produce("common", "second");
    await second.createQueue({ name: "of-second" });
  });
  const { rows, totals, isWhole } = first.engine.overview(before.since).overview;
  const counts = rows.map(({ queue, ready }) => [queue, ready]);
  expect({ counts, isWhole, queues: totals.queues }).toEqual({
    counts: [
      ["common", 1],
      ["of-second", 0],
    ],
    isWhole: true,
    queues: 2,
  });
});

test.each([1, 70])(
  "other server: a call whose answer was lost is not repeated behind %i turns of it",
  async (count) => {
    const { first, between } = await setupFirst();
    const lost = await between("cut after a commit", async (second) => {
      for (let index = 0; index < count; index += 1) await second.produce("common", "second");
    });
    expect(lost.ending).toMatchObject({ ok: false, code: "unknown" });
    const texts = await first.listed("common");
    expect(texts.filter((text) => text === "first")).toEqual(["first"]);
  },
);

/** Each store can be open once at a time; `log` records the openings. */
async function setupExclusive(shardCount: number) {
  const images = Array.from({ length: shardCount }, () => new MemoryImage("0123456789Ab"));
  const log: string[] = [];
  const open = new Set<number>();
  const found = { lostCommits: 0 };
  const fault: { next: StoreError | null } = { next: null };
  let gate: Promise<void> = Promise.resolve();
  const bundle = await setup({
    shardCount,
    openStore: async (shard): Promise<Backend> => {
      if (shard === 0) await gate;
      log.push(`opened ${shard}`);
      if (open.has(shard)) throw new StoreError("locked", "it is in use");
      open.add(shard);
      const { lostCommits } = found;
      found.lostCommits = 0;
      const { store, maintenance } = openMemoryStore({
        tag: "",
        image: images[shard] as MemoryImage,
      });
      return {
        ...{ maintenance, lostCommits },
        store: {
          load: (what) => store.load(what),
          read: (plan) => store.read(plan),
          async commit(changes) {
            const cause = fault.next;
            fault.next = null;
            if (cause !== null) throw cause;
            return store.commit(changes);
          },
          async close() {
            open.delete(shard);
            log.push(`closed ${shard}`);
            await store.close();
          },
        },
      };
    },
  });
  return {
    bundle,
    images,
    log,
    found,
    fault,
    /** Blocks opening shard 0 until the returned function is called. */
    hold: (): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
  };
}

test("other server: a shard that has reported a loss leaves its store to the reopened engine", async () => {
  const { bundle, fault, hold } = await setupExclusive(2);
  const name = nameIn(1, 2);
  await bundle.createQueue({ name });
  const release = hold();
  fault.next = new StoreError("lost", "a commit is gone");
  await bundle.begin(() => bundle.engine.produce(produceOf(name, ["a"])));
  await bundle.clock.advance(second);
  release();
  await bundle.clock.advance(minute);
  await bundle.produce(name, "b");
  expect(bundle.notices.at(-1)).toMatchObject({ kind: "shard_up" });
});

test("close: no store is opened after a close, even while stores are reopening", async () => {
  const { bundle, fault, hold, log } = await setupExclusive(3);
  const name = nameIn(0, 3);
  await bundle.createQueue({ name });
  const release = hold();
  fault.next = new StoreError("lost", "a commit is gone");
  await bundle.begin(() => bundle.engine.produce(produceOf(name, ["a"])));
  await bundle.clock.advance(second);
  log.length = 0;
  const closed = await bundle.begin(() => bundle.engine.close());
  release();
  await bundle.clock.advance(second);
  expect(closed.ending).toMatchObject({ ok: true });
  expect(log.filter((line) => line.startsWith("opened"))).toEqual(["opened 0"]);
  expect(log.indexOf("closed 0")).toBeGreaterThan(log.indexOf("opened 0"));
});

test("other server: commits that an abandoned opening found to be lost are reported", async () => {
  const { bundle, fault, found, images } = await setupExclusive(1);
  await bundle.createQueue({ name: "orders" });
  await bundle.produce("orders", "a");
  images[0]?.turns.pop();
  found.lostCommits = 1;
  fault.next = new StoreError("failed", "no");
  await bundle.begin(() => bundle.engine.produce(produceOf("orders", ["b"])));
  await bundle.clock.advance(minute);
  expect(bundle.notices).toContainEqual({ kind: "commits_lost", shard: 0, count: 1 });
});
