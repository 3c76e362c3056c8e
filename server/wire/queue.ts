// Converts the requests and replies of operations on one queue.

import type * as engine from "../../engine/model/api.ts";
import { formatDuration } from "../../engine/model/duration.ts";
import { limits } from "../../engine/model/limits.ts";
import { checkLength, refuse } from "../../engine/model/validate.ts";
import type { RequestOf } from "../../openapi/operations.ts";
import type * as wire from "../../openapi/schemas.ts";
import {
  durationOf,
  given,
  instantText,
  instantTextOrNull,
  isGiven,
  parseInstant,
} from "./fields.ts";
import { guardOf } from "./guards.ts";

export function pauseRequest(body: RequestOf<"pause">): engine.PauseRequest {
  const { queue_name: queue, lease, produce, reason } = body;
  return given<Omit<engine.PauseRequest, "by">>({ queue, lease, produce, reason });
}

export function seriesRequest(body: RequestOf<"series">): engine.SeriesRequest {
  const { queue_name: queue, shard, names, from, step } = body;
  return given<engine.SeriesRequest>({
    ...{ queue, shard },
    // The engine refuses unknown names.
    names: names as engine.SeriesRequest["names"],
    from: isGiven(from) ? fromOf(from) : null,
    stepMs: isGiven(step) ? stepOf(step) : null,
  });
}

function fromOf(text: string): number {
  return (
    parseInstant(text) ?? refuse(`from is invalid; expected a date-time like 2026-01-01T00:00:00Z`)
  );
}

function stepOf(step: string): number {
  checkLength("step", step.length, limits.durationTextMax);
  return durationOf(step, "step", "10s or 1m");
}

export function clearRequest(body: RequestOf<"clear">): engine.ClearRequest {
  return {
    ...guardOf(body),
    queue: body.queue_name,
    ready: body.queue,
    scheduled: body.scheduled,
    retried: body.retry,
    destructive: body.destructive,
  };
}

/** `isInColumns`: the reply has a list per figure instead of the partitions. */
export function queueStats(stats: engine.QueueStats, isInColumns: boolean): wire.QueueStatsReply {
  const { partitions } = stats;
  const line: wire.LogicalQueueStats = {
    average_leased_age: formatDuration(Math.round(stats.averageLeasedAgeMs)),
    produce_waiting: stats.produceWaiting,
    lease_waiting: stats.leaseWaiting,
    complete_waiting: stats.completeWaiting,
    in_flight: stats.inFlight,
    partitions: isInColumns ? [] : partitions.map(partitionStats),
    ...(isInColumns && { columns: partitionColumns(partitions) }),
    counters: { ...stats.counters },
  };
  return { queue_name: stats.queue, logical_queues: [line] };
}

function partitionColumns(stats: readonly engine.PartitionStats[]): wire.PartitionColumns {
  const column = (figure: (one: engine.PartitionStats) => number): number[] => {
    const figures = stats.map(figure);
    return figures.every((one) => one === 0) ? [] : figures;
  };
  const isInRow = stats.every(({ partition }, index) => partition === index);
  return {
    partition: isInRow ? [] : stats.map(({ partition }) => partition),
    total: column(({ total }) => total),
    total_leased: column(({ totalLeased }) => totalLeased),
    scheduled: column(({ scheduled }) => scheduled),
    failures: column(({ failures }) => failures),
    average_age_seconds: column(({ averageAgeMs }) => Math.round(averageAgeMs / 1_000)),
    average_leased_age_seconds: column((one) => Math.round(one.averageLeasedAgeMs / 1_000)),
  };
}

function partitionStats(stats: engine.PartitionStats): wire.PartitionStats {
  return {
    partition: stats.partition,
    total: stats.total,
    total_leased: stats.totalLeased,
    scheduled: stats.scheduled,
    failures: stats.failures,
    average_age: formatDuration(Math.round(stats.averageAgeMs)),
    average_leased_age: formatDuration(Math.round(stats.averageLeasedAgeMs)),
    oldest_ready_at: instantTextOrNull(stats.oldestReadyAt),
    next_due_at: instantTextOrNull(stats.nextDueAt),
  };
}

export function seriesReply(
  { queue_name, shard, names }: RequestOf<"series">,
  { since, from, stepMs, values }: engine.Series,
): wire.ServerSeriesReply {
  return {
    queue_name: queue_name ?? "",
    shard: shard ?? -1,
    since: instantTextOrNull(since),
    from: instantText(from),
    step: formatDuration(stepMs),
    series: names.map((name, index) => ({ name, values: [...(values[index] ?? [])] })),
  };
}

export function inspect(queue: engine.QueueInspection): wire.Inspect {
  return {
    queue_name: queue.queue,
    partitions: queue.partitions,
    queued: queue.queued,
    leased: queue.leased,
    retried: queue.retried,
    scheduled: queue.scheduled,
    dead_letter: queue.deadLetter,
  };
}
