// A failed start leaves nothing behind, and an advance survives a reopening of all shards.

import { expect, test } from "bun:test";
import type { Backend } from "../stores/backend.ts";
import { MemoryImage, openMemoryStore } from "../stores/memory/store.ts";
import { StoreError } from "../stores/store.ts";
import type { Clock, Timer } from "./model/clock.ts";
import { openShards } from "./shards.ts";
import {
  type Bundle,
  hour,
  minute,
  nameIn,
  produceOf,
  second,
  setup,
} from "./simulation/bundle.ts";

const [near, far] = [nameIn(0, 2), nameIn(1, 2)];

test("start: if the second shard fails to start, the first one stops too", async () => {
  const images = [new MemoryImage("0123456789Ab"), new MemoryImage("0123456789Ac")];
  const openStore = async (shard: number): Promise<Backend> =>
    openMemoryStore({ tag: "", image: images[shard] as MemoryImage });
  const bundle = await setup({ shardCount: 2, openStore });
  for (const name of [near, far]) await bundle.createQueue({ name });
  await bundle.produceMany(near, 1_000);
  // A long task.
  await bundle.run(() =>
    bundle.engine.repair({ queue: near, action: "delete", filter: {}, perSecond: 1 }),
  );
  await bundle.run(() => bundle.engine.produce(produceOf(far, ["later"], bundle.now + minute)));
  bundle.kill();
  const { clock } = bundle;
  clock.advanceTo(clock.now() + minute);
  let timers = 0;
  const counting = new Proxy(clock, {
    get(target, name) {
      if (name === "machine") return counting;
      if (name === "at") {
        return (deadline: number, run: () => void): Timer => {
          timers += 1;
          return clock.at(deadline, run);
        };
      }
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  }) as unknown as Clock;
  let opened: unknown = null;
  openShards({
    shardCount: 2,
    clock: counting,
    durability: "none",
    renderLeased: (items) => items,
    openStore: async (shard) => {
      const backend = await openStore(shard);
      if (shard === 0) return backend;
      const { store } = backend;
      const failing = {
        load: (what?: { readonly receipts: boolean }) => store.load(what),
        read: (plan: Parameters<typeof store.read>[0]) => store.read(plan),
        close: () => store.close(),
        commit: async () => {
          throw new StoreError("damaged", "injected failure");
        },
      };
      return { ...backend, store: failing };
    },
  }).then(
    () => (opened = "opened"),
    (cause) => (opened = cause),
  );
  await clock.settle();
  expect(opened).toBeInstanceOf(StoreError);
  timers = 0;
  await clock.advance(hour);
  expect(timers).toBe(0);
});

test("advance: an advance that waits behind another while all shards reopen loses no dead letter", async () => {
  const images = [new MemoryImage("0123456789Ab"), new MemoryImage("0123456789Ac")];
  let isSlow = false;
  const bundle: Bundle = await setup({
    shardCount: 2,
    hasTestClock: true,
    openStore: async (shard) => {
      if (shard === 1 && isSlow) {
        await new Promise<void>((resolve) => bundle.clock.at(bundle.clock.now() + second, resolve));
      }
      return openMemoryStore({ tag: "", image: images[shard] as MemoryImage });
    },
  });
  await bundle.createQueue({ name: far });
  await bundle.createQueue({ name: near, deadQueue: far, expireTimeoutMs: minute });
  await bundle.produce(near, "a");
  isSlow = true;
  bundle.store(0).fail({ fault: "lost" });
  const all = Promise.allSettled(
    Array.from({ length: 12 }, () => bundle.engine.advance(2 * minute)),
  );
  await bundle.clock.advance(10 * minute);
  await all;
  await bundle.clock.advance(minute);
  await bundle.begin(() => bundle.engine.advance(2 * minute));
  await bundle.clock.advance(10 * minute);
  expect(bundle.notices.map(({ kind }) => kind)).not.toContain("items_discarded");
  expect(await bundle.listed(far)).toEqual(["a"]);
});

const script = `
  import { openShards } from "./shards.ts";
  import { systemClock } from "./model/clock.ts";
  import { openMemoryStore } from "../stores/memory/store.ts";
  import { StoreError } from "../stores/store.ts";
  openShards({
    shardCount: 2, clock: systemClock(), durability: "none", seriesBytes: 16 << 20, renderLeased: (items) => items,
    openStore: async (shard) => {
      const backend = openMemoryStore({ tag: "0123456789A" + shard });
      if (shard === 0) return backend;
      const commit = async () => { await Bun.sleep(50); throw new StoreError("failed", "injected failure"); };
      const { store } = backend;
      return { ...backend, store: { load: (what) => store.load(what), read: (plan) => store.read(plan), close: () => store.close(), commit } };
    },
  }).catch((cause) => console.log("start failed:", cause.message));
`;

test("start: a process whose start fails ends by itself", async () => {
  const child = Bun.spawn(["bun", "-e", script], { cwd: import.meta.dir, stdout: "pipe" });
  const ended = await Promise.race([child.exited, Bun.sleep(15_000).then(() => "still running")]);
  child.kill();
  expect(await new Response(child.stdout).text()).toBe("start failed: injected failure\n");
  expect(ended).toBe(0);
}, 20_000);
