// A test clock, and dead letters of two shards for a third.

import { expect, test } from "bun:test";
import type { Backend } from "../stores/backend.ts";
import { MemoryImage, openMemoryStore } from "../stores/memory/store.ts";
import {
  type Bundle,
  hour,
  minute,
  nameIn,
  produceOf,
  second,
  setup,
} from "./simulation/bundle.ts";

function rng(seed: number) {
  let s = (seed * 2654435761) >>> 0 || 1;
  return (n: number) => {
    s ^= s << 13;
    s >>>= 0;
    s ^= s >>> 17;
    s ^= s << 5;
    s >>>= 0;
    return s % n;
  };
}
const [q0, q1, dead] = [nameIn(0, 3, "a"), nameIn(1, 3, "b"), nameIn(2, 3, "dead")];
async function run(seed: number, restart: boolean) {
  const r = rng(seed);
  const images = [0, 1, 2].map((i) => new MemoryImage(`0123456789A${i}`));
  const bundle: Bundle = await setup({
    shardCount: 3,
    hasTestClock: true,
    openStore: async (shard): Promise<Backend> => {
      for (let i = r(12); i > 0; i -= 1) await Promise.resolve();
      const { store, maintenance } = openMemoryStore({
        tag: "",
        image: images[shard] as MemoryImage,
      });
      return {
        maintenance,
        store: {
          load: (w) => store.load(w),
          read: async (w) => {
            for (let i = r(20); i > 0; i -= 1) await Promise.resolve();
            return store.read(w);
          },
          commit: async (c) => {
            for (let i = r(40); i > 0; i -= 1) await Promise.resolve();
            return store.commit(c);
          },
          close: () => store.close(),
        },
      };
    },
  });
  await bundle.createQueue({ name: dead, expireTimeoutMs: hour });
  for (const name of [q0, q1])
    await bundle.createQueue({
      name,
      deadQueue: dead,
      maxAttempts: 1,
      expireTimeoutMs: minute,
      leaseTimeoutMs: 10 * second,
    });
  for (let i = 0; i < 40; i += 1)
    for (const name of [q0, q1]) {
      await bundle.run(() =>
        bundle.engine.produce(produceOf(name, [`${name}/${i}`], bundle.now + 1 + (i % 7) * second)),
      );
    }
  for (const name of [q0, q1]) {
    await bundle.produceMany(name, 1500);
  }
  if (restart) {
    bundle.kill();
    await bundle.open({ now: bundle.now + 2 * minute });
  }
  await bundle.run(() => bundle.engine.advance(30 * second));
  await bundle.run(() => bundle.engine.advance(10 * minute));
  return (await bundle.listed(dead)).join(" ");
}
test.each([false, true])(
  "advance: dead letters arrive in the same order, however long stores take; after a start %s",
  async (restart) => {
    const first = await run(1, restart);
    let differs = 0;
    for (let seed = 2; seed < 8; seed += 1) if ((await run(seed, restart)) !== first) differs += 1;
    expect(differs).toBe(0);
  },
  60_000,
);
