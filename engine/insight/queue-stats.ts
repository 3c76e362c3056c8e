// Counts of queues and shards: for health and metrics, stats and inspection.

import type { PartitionStats, QueueInspection, QueueStats, ShardStatus } from "../model/api.ts";
import type { PartitionAges } from "../model/messages.ts";
import { earliest, type LogicalQueue, sumOf } from "../state/queue.ts";
import type { Timing } from "../turn/inbox.ts";
import { type Shard, succeeded } from "../turn/shard.ts";

export function shardStatus({ shard, isUp: up, counters }: Shard): ShardStatus {
  const { itemsPerCommit, commitSeconds } = counters;
  const histograms = {
    itemsPerCommit: itemsPerCommit.copy(),
    commitSeconds: commitSeconds.copy(),
  };
  return { shard, up, ...counters, ...histograms };
}

export async function queueStats(
  queue: LogicalQueue,
  shard: Shard,
  timing: Timing,
): Promise<QueueStats> {
  const { inFlight } = queue;
  const { import: _, ...verbs } = inFlight;
  const calls = Object.values(verbs).reduce((sum, count) => sum + count, 0);
  const counted = {
    produceWaiting: inFlight.produce,
    leaseWaiting: queue.line.size,
    completeWaiting: inFlight.complete,
    inFlight: calls,
  };
  const places = [...queue.places.values()].sort((a, b) => a.partition - b.partition);
  const slots = places.map(({ slot }) => slot);
  const averages = await agesOf(slots, shard, timing);
  const { failures } = shard.counters;
  const partitions = places.map((place): PartitionStats => {
    const { partition } = place;
    const counts = queue.countsOf(place);
    const { ready, leased, scheduled, retried } = sumOf(counts);
    const { averageAgeMs = 0, averageLeasedAgeMs = 0 } = averages.get(place.slot) ?? {};
    const items = { total: ready + leased, totalLeased: leased, scheduled: scheduled + retried };
    const oldestReadyAt = earliest(counts.map((one) => one.oldestReadyAt));
    const nextDueAt = earliest(counts.map((one) => one.nextDueAt));
    const ages = { averageAgeMs, averageLeasedAgeMs, oldestReadyAt, nextDueAt };
    return { partition, ...items, failures, ...ages };
  });
  const leased = partitions.reduce((sum, { totalLeased }) => sum + totalLeased, 0);
  const ageSum = partitions.reduce((sum, one) => sum + one.averageLeasedAgeMs * one.totalLeased, 0);
  const averageLeasedAgeMs = leased === 0 ? 0 : Math.round(ageSum / leased);
  const counters = { ...queue.counters };
  return { queue: queue.definition.name, averageLeasedAgeMs, ...counted, partitions, counters };
}

async function agesOf(
  slots: readonly number[],
  shard: Shard,
  timing: Timing,
): Promise<Map<number, PartitionAges>> {
  const value = succeeded(await shard.ask({ kind: "stats", slots }, timing));
  const ages = value.kind === "ages" ? value.ages : [];
  return new Map(ages.map((one) => [one.slot, one]));
}

/** `deadLetter`: items in its dead queue. */
export function queueInspection(queue: LogicalQueue, deadLetter: number): QueueInspection {
  const { queue: name, queued, leased, scheduled, retried } = queue.gauges();
  const partitions = queue.places.size;
  return { queue: name, partitions, queued, leased, scheduled, retried, deadLetter };
}
