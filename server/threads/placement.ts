// Which thread has which shards: they are dealt out in turn, so that each has as many as any other, or
// one more. The main thread is the first.

import { availableParallelism } from "node:os";
import type { Config, PlacedConfig } from "../config.ts";

/** `found`: what the data folder has, where nothing else was given. */
export function placedConfig(config: Config, found: { readonly shards: number }): PlacedConfig {
  const { shards = found.shards, threads = availableParallelism() } = config;
  // A test clock is one thread's, and so are the connections to a database.
  const isOne = config.testClock || config.store === "postgres";
  return { ...config, shards, threads: isOne ? 1 : Math.min(threads, shards) };
}

type Placed = Pick<PlacedConfig, "shards" | "threads">;

export function threadOf(shard: number, { threads }: Placed): number {
  return shard % threads;
}

/** In the order of their numbers. */
export function shardsOf(thread: number, placed: Placed): number[] {
  const numbers = Array.from({ length: placed.shards }, (_, shard) => shard);
  return numbers.filter((shard) => threadOf(shard, placed) === thread);
}

/** A thread's part of what is bounded for the server as a whole; the largest bodies fit into it. */
export function partOf(config: PlacedConfig): PlacedConfig {
  const part = (whole: number): number => Math.ceil(whole / config.threads);
  const { connectionsMax, bodiesMax, importBodyMax } = config;
  const bodies = Math.min(bodiesMax, Math.max(part(bodiesMax), 2 * importBodyMax));
  return { ...config, connectionsMax: part(connectionsMax), bodiesMax: bodies };
}
