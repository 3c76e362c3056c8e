// Merges the status of several engines, for metrics, health and readiness.

import type { Durability, EngineStatus } from "../../engine/model/api.ts";

/** The weakest promise first. */
const durabilities: readonly Durability[] = ["none", "normal", "full"];

/** `statuses`: one at least. */
export function mergeStatuses(statuses: readonly EngineStatus[]): EngineStatus {
  const promised = new Set(statuses.map(({ durability }) => durability));
  return {
    now: Math.max(...statuses.map(({ now }) => now)),
    // What holds for all queues is what the weakest store promises.
    durability: durabilities.find((one) => promised.has(one)) ?? "none",
    shards: statuses.flatMap(({ shards }) => shards).toSorted((a, b) => a.shard - b.shard),
    queues: statuses.flatMap(({ queues }) => queues),
    waitingLeases: statuses.reduce((sum, { waitingLeases }) => sum + waitingLeases, 0),
  };
}
