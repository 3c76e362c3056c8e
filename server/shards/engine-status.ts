// Merges the status of several engines, for metrics, health and readiness.

import type { Durability, EngineStatus } from "../../engine/model/api.ts";

/** The weakest promise first. */
const durabilities: readonly Durability[] = ["none", "normal", "full"];

/** `statuses`: at least one. */
export function mergeStatuses(statuses: readonly EngineStatus[]): EngineStatus {
  const promised = new Set(statuses.map(({ durability }) => durability));
  return {
    now: Math.max(...statuses.map(({ now }) => now)),
    // Only the promise of the weakest store holds for all queues.
    durability: durabilities.find((one) => promised.has(one)) ?? "none",
    shards: statuses.flatMap(({ shards }) => shards).toSorted((a, b) => a.shard - b.shard),
    queues: statuses.flatMap(({ queues }) => queues),
    waitingLeases: statuses.reduce((sum, { waitingLeases }) => sum + waitingLeases, 0),
  };
}
