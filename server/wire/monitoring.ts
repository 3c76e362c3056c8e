// Converts the replies for a console: findings, clients and the overview of all queues.

import type * as engine from "../../engine/model/api.ts";
import type * as wire from "../../openapi/schemas.ts";
import { instantText, instantTextOrNull } from "./fields.ts";
import { taskInfo } from "./tasks.ts";

export function explainReply(explained: engine.Explanation): wire.QueueExplainReply {
  return {
    queue_name: explained.queue,
    as_of: instantText(explained.asOf),
    health: explained.health,
    findings: explained.findings.map(({ kind, since, count, nextAt, text }) => ({
      ...{ kind, since: instantText(since), count },
      ...{ next_at: instantTextOrNull(nextAt), text },
    })),
  };
}

export function clientsReply(clients: engine.QueueClients): wire.QueueClientsReply {
  return {
    queue_name: clients.queue,
    as_of: instantText(clients.asOf),
    waiting_count: clients.waitingCount,
    waiting: clients.waiting.map(({ client, since, batchSize, position }) => ({
      ...{ client_id: client, since: instantText(since), batch_size: batchSize, position },
    })),
    holding_count: clients.holdingCount,
    holding: clients.holding.map(({ client, items, partitions, nextLapseAt }) => ({
      ...{ client_id: client, items, partitions: [...partitions] },
      next_lapse_at: instantText(nextLapseAt),
    })),
    partial: clients.isPartial,
  };
}

/** The part of the overview that comes from the engine. */
export function overviewReply(
  overview: engine.EngineOverview,
  isShown: engine.IsShown = () => true,
): Omit<wire.ServerOverviewReply, "now" | "machine_now" | "poll_after_ms" | "machine"> {
  const { asOf, since, isWhole: whole, totals, rows, removed, shard, alarms, tasks } = overview;
  return {
    ...{ as_of: instantText(asOf), since, whole, unreached: [] },
    totals: {
      ...{ queues: totals.queues, ready: totals.ready, leased: totals.held },
      ...{ scheduled: totals.scheduled, waiting_leases: totals.waiting },
      ...countersOf((name) => totals[name]),
    },
    queues: {
      queue_name: rows.map(({ queue }) => queue),
      health: rows.map(({ health }) => health),
      health_since_ms: rows.map(({ healthSince }) => healthSince),
      health_count: rows.map(({ healthCount }) => healthCount),
      next_at_ms: rows.map(({ nextAt }) => nextAt),
      ready: rows.map(({ ready }) => ready),
      leased: rows.map(({ held }) => held),
      scheduled: rows.map(({ scheduled }) => scheduled),
      waiting_leases: rows.map(({ waiting }) => waiting),
      oldest_ready_at_ms: rows.map(({ oldestReadyAt }) => oldestReadyAt),
      next_due_at_ms: rows.map(({ nextDueAt }) => nextDueAt),
      paused_since_ms: rows.map(({ pausedSince }) => pausedSince),
      shard: rows.map(({ shard }) => shard),
      ...countersOf((name) => rows.map((row) => row[name])),
    },
    removed: [...removed],
    shards: [overviewShard(shard)],
    alarms: alarms.map(({ kind, since: began, count, queue, shard, text }) => ({
      ...{ kind, since: instantTextOrNull(began), count, queue_name: queue },
      ...{ shard: shard ?? -1, text },
    })),
    tasks: tasks.map((task) => taskInfo(task, isShown)),
  };
}

function countersOf<T>(of: (name: keyof engine.QueueCounters) => T) {
  return {
    produced_total: of("produced"),
    leased_total: of("leased"),
    completed_total: of("completed"),
    retried_total: of("retried"),
    released_total: of("released"),
    extended_total: of("extended"),
    lapsed_total: of("lapsed"),
    expired_total: of("expired"),
    dead_total: of("dead"),
    discarded_total: of("discarded"),
    removed_total: of("removed"),
    arrived_total: of("arrived"),
    redriven_total: of("redriven"),
  };
}

function overviewShard(shard: engine.ShardGlance): wire.OverviewShard {
  return {
    ...{ shard: shard.shard, state: shard.state, since: instantTextOrNull(shard.since) },
    commit_p50_us: shard.commitP50Us ?? 0,
    commit_p99_us: shard.commitP99Us ?? 0,
    waiting: shard.waiting,
    ...{ restarts: shard.restarts, failures: shard.failures },
    ...{ quarantined: shard.quarantined, miscounted: shard.miscounted },
    ...{ log_bytes: shard.walBytes, file_bytes: shard.fileBytes },
    items_per_second: shard.itemsPerSecond,
  };
}
