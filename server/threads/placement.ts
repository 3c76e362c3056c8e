// Which thread has which shards: each has as many as any other, or one more. The main thread is the first,
// has the first shard, and never more than another, as it also answers for the server as a whole.

import { availableParallelism } from "node:os";
import { shareOf } from "../../engine/model/placement.ts";
import type { Config, PlacedConfig } from "../config/settings.ts";

/** Resolves the numbers of shards and threads. `found`: what the data folder has. */
export function resolvePlacement(config: Config, found: { readonly shards: number }): PlacedConfig {
  const { shards = found.shards, threads = availableParallelism() } = config;
  // A test clock is one thread's, and so are the connections to a database.
  const isOne = config.testClock || config.store === "postgres";
  return { ...config, shards, threads: isOne ? 1 : Math.min(threads, shards) };
}

type Placed = Pick<PlacedConfig, "shards" | "threads">;

export function threadOf(shard: number, { shards, threads }: Placed): number {
  const fromLast = Math.floor(((shards - 1 - shard) * threads) / shards);
  return threads - 1 - fromLast;
}

/** In the order of their numbers. */
export function shardsOf(thread: number, placed: Placed): number[] {
  const numbers = Array.from({ length: placed.shards }, (_, shard) => shard);
  return numbers.filter((shard) => threadOf(shard, placed) === thread);
}

/** A thread's share of what is bounded for the server as a whole; the largest bodies fit into it. */
export function threadConfig(config: PlacedConfig): PlacedConfig {
  const { threads, bodiesMax, importBodyMax } = config;
  const connectionsMax = shareOf(config.connectionsMax, threads);
  const bodies = Math.max(shareOf(bodiesMax, threads), 2 * importBodyMax);
  return { ...config, connectionsMax, bodiesMax: Math.min(bodiesMax, bodies) };
}
