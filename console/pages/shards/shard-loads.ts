// How many queues live in each shard, and how many of their items are ready.

import type { QueueRow } from "../../state/overview-state.ts";

export interface ShardLoad {
  readonly queues: number;
  readonly ready: number;
}

export const noLoad: ShardLoad = { queues: 0, ready: 0 };

/** By the number of the shard; shards without queues are absent. */
export function loadsOf(
  rows: Iterable<Pick<QueueRow, "shard" | "ready">>,
): ReadonlyMap<number, ShardLoad> {
  const loads = new Map<number, ShardLoad>();
  for (const { shard, ready } of rows) {
    const load = loads.get(shard) ?? noLoad;
    loads.set(shard, { queues: load.queues + 1, ready: load.ready + ready });
  }
  return loads;
}
