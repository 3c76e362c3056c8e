// Two servers that start at the same time.

import { expect, test } from "bun:test";
import type { Backend } from "../stores/backend.ts";
import { MemoryImage, openMemoryStore } from "../stores/memory/store.ts";
import { StoreError } from "../stores/store.ts";
import { Bundle } from "./simulation/bundle.ts";

test("start: if two servers start at once, the one with the first store gets the others too", async () => {
  const images = [new MemoryImage("0123456789Ab"), new MemoryImage("0123456789Ac")];
  const held = new Set<number>();
  /** `quick`: the shard whose store this server opens first. */
  const server = (quick: number): Bundle =>
    new Bundle({
      shardCount: 2,
      openStore: async (shard): Promise<Backend> => {
        for (let step = 0; shard !== quick && step < 10; step += 1) await Promise.resolve();
        if (held.has(shard)) throw new StoreError("locked", "it is in use");
        held.add(shard);
        const { store, maintenance } = openMemoryStore({
          tag: "",
          image: images[shard] as MemoryImage,
        });
        const close = async () => void held.delete(shard);
        return {
          maintenance,
          store: {
            load: (what) => store.load(what),
            read: (plan) => store.read(plan),
            commit: (changes) => store.commit(changes),
            close,
          },
        };
      },
    });
  const [one, other] = [server(0), server(1)];
  const started = await Promise.all([one.tryOpen(), other.tryOpen()]);
  expect(started.filter((is) => is)).toHaveLength(1);
});

test("start: no other store is opened before the first one is", async () => {
  const opened: number[] = [];
  const bundle = new Bundle({
    shardCount: 3,
    openStore: async (shard) => {
      opened.push(shard);
      if (shard === 0) throw new StoreError("locked", "it is in use");
      return openMemoryStore({ tag: "", image: new MemoryImage("0123456789Ab") });
    },
  });
  expect(await bundle.tryOpen()).toBe(false);
  expect(opened).toEqual([0]);
});
