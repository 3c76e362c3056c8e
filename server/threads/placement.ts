// Places shards on threads, so that the numbers of shards differ by one at most. The main thread is
// the first and has the first shard. It never has more than another, because it also serves the
// calls about the server as a whole.

import { availableParallelism } from "node:os";
import { shareOf } from "../../engine/model/placement.ts";
import type { Config, PlacedConfig } from "../config/settings.ts";

/** Resolves the numbers of shards and threads. `found`: the number of shards in the data folder. */
export function resolvePlacement(config: Config, found: { readonly shards: number }): PlacedConfig {
  const { shards = found.shards, threads = availableParallelism() } = config;
  // A test clock needs a single thread, and so do the connections to a database.
  const isOne = config.testClock || config.store === "postgres";
  return { ...config, shards, threads: isOne ? 1 : Math.min(threads, shards) };
}

type Placed = Pick<PlacedConfig, "shards" | "threads">;

export function threadOf(shard: number, { shards, threads }: Placed): number {
  const fromLast = Math.floor(((shards - 1 - shard) * threads) / shards);
  return threads - 1 - fromLast;
}

/** Returns the shards of a thread, in order of number. */
export function shardsOf(thread: number, placed: Placed): number[] {
  const numbers = Array.from({ length: placed.shards }, (_, shard) => shard);
  return numbers.filter((shard) => threadOf(shard, placed) === thread);
}

/** Divides the server's limits among the threads. The largest bodies still fit into a share. */
export function threadConfig(config: PlacedConfig): PlacedConfig {
  const { threads, bodiesMax, importBodyMax } = config;
  const connectionsMax = shareOf(config.connectionsMax, threads);
  const bodies = Math.max(shareOf(bodiesMax, threads), 2 * importBodyMax);
  return { ...config, connectionsMax, bodiesMax: Math.min(bodiesMax, bodies) };
}
