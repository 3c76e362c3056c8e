// How shards are placed on threads, and each thread's share of the limits.

import { expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { limits } from "../../engine/model/limits.ts";
import { defaultConfig } from "../testing/memory-engine.ts";
import { resolvePlacement, shardsOf, threadConfig, threadOf } from "./placement.ts";

test("each shard is in one thread, the first in the main thread, and threads differ by at most one shard", () => {
  for (let shards = 1; shards <= limits.shardsMax; shards += 1) {
    for (const threads of [1, 2, 3, 8, 64]) {
      const placed = resolvePlacement(defaultConfig({ shards, threads }), { shards: 1 });
      expect(placed.threads).toBe(Math.min(shards, threads));
      const shardsByThread = Array.from({ length: placed.threads }, (_, thread) =>
        shardsOf(thread, placed),
      );
      for (const [thread, own] of shardsByThread.entries()) {
        for (const shard of own) expect(threadOf(shard, placed)).toBe(thread);
      }
      expect(shardsByThread.flat().toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: shards }, (_, shard) => shard),
      );
      expect(shardsByThread[0]?.[0]).toBe(0);
      const counts = shardsByThread.map(({ length }) => length);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(2);
      expect(counts[0]).toBe(Math.min(...counts));
    }
  }
});

test("threads: one per core, and at most one per shard", () => {
  const placed = (change: object) => resolvePlacement(defaultConfig(change), { shards: 5 });
  expect(placed({})).toMatchObject({ shards: 5, threads: Math.min(5, availableParallelism()) });
  expect(placed({ shards: 2, threads: 3 })).toMatchObject({ shards: 2, threads: 2 });
});

test.each([
  ["a test clock", { testClock: true }],
  ["PostgreSQL", { store: "postgres" }],
] as const)("with %s, all shards are in one thread", (_, change) => {
  const placed = resolvePlacement(defaultConfig({ ...change, threads: 4 }), { shards: 4 });
  expect(placed).toMatchObject({ shards: 4, threads: 1 });
});

test("the server's limits are divided among its threads", () => {
  const given = defaultConfig({ connectionsMax: 10, bodiesMax: 900_000_000, threads: 3 });
  const config = resolvePlacement(given, { shards: 6 });
  const { connectionsMax, bodiesMax, ...rest } = threadConfig(config);
  expect({ connectionsMax, bodiesMax }).toEqual({ connectionsMax: 4, bodiesMax: 300_000_000 });
  expect(rest).toEqual(expect.objectContaining({ shards: 6, receiptsMax: config.receiptsMax }));
});

test("the largest import fits into a thread's share, beside other bodies", () => {
  const config = resolvePlacement(defaultConfig({ threads: 16 }), { shards: 16 });
  expect(threadConfig(config).bodiesMax).toBe(2 * config.importBodyMax);
});
