// Between the wire and the engine, both ways, and nowhere else: snake_case and
// camelCase, base64 and bytes, RFC 3339 and epoch milliseconds, `60m` and
// milliseconds. What is malformed as text is refused here, because only here is
// it text; rules about values are the engine's. Runs in the shards' workers too,
// so it imports types and forms of the contract and nothing that serves HTTP.

import type * as engine from "../engine/api.ts";
import { formatDuration, never, neverText, parseDuration } from "../engine/duration.ts";
import { limits } from "../engine/limits.ts";
import { checkLength, refuse } from "../engine/validate.ts";
import { forms } from "../openapi/forms.ts";
import type { RequestOf } from "../openapi/operations.ts";
import type * as wire from "../openapi/schemas.ts";
import type { NodesSeen } from "../stores/nodes.ts";
import { doneReply } from "./reply.ts";

type QueueDefinition = ReturnType<engine.Engine["queueInfo"]>;

/** Characters of a refused text that are quoted back. */
const quotedMax = 40;

// Requests. A key that may be absent may also be `null`, which says the same.

export function produceRequest(body: RequestOf<"produce">): engine.ProduceRequest {
  return {
    queue: body.queue_name,
    items: body.items.map(produceItem),
    requestTimeoutMs: requestTimeout(body.request_timeout),
    returnIds: body.return_ids === true,
  };
}

function produceItem(item: wire.ProduceItem, index: number): engine.ProduceItem {
  const produced = {
    payload: item.bytes ? bytesOf(item.bytes, index, "bytes") : (item.utf8 ?? ""),
    kind: item.kind ?? "",
    encoding: item.encoding ?? "",
    reference: item.reference ?? "",
    enqueueAt: instantOf(item.enqueue_at, index, "enqueue_at"),
    uniqueKey: item.unique_key ?? "",
  };
  return item.headers ? { ...produced, headers: item.headers } : produced;
}

export function leaseRequest(body: RequestOf<"lease">, signal: AbortSignal): engine.LeaseRequest {
  return {
    queue: body.queue_name,
    clientId: body.client_id,
    batchSize: body.batch_size ?? 1,
    requestTimeoutMs: requestTimeout(body.request_timeout),
    leaseTimeoutMs: leaseTimeout(body.lease_timeout),
    signal,
  };
}

export function extendRequest(body: RequestOf<"extend">): engine.ExtendRequest {
  const { queue_name: queue, partition, ids } = body;
  const leaseTimeoutMs = leaseTimeout(body.lease_timeout);
  return { queue, partition, ids, leaseTimeoutMs, ...ownRequestTimeout(body) };
}

export function releaseRequest(body: RequestOf<"release">): engine.ReleaseRequest {
  const { queue_name: queue, partition, ids } = body;
  return { queue, partition, ids, ...ownRequestTimeout(body) };
}

export function retryRequest(body: RequestOf<"retry">): engine.RetryRequest {
  return {
    queue: body.queue_name,
    partition: body.partition,
    items: body.items.map(retryItem),
    ...ownRequestTimeout(body),
  };
}

function retryItem(item: wire.RetryItem, index: number): engine.RetryItem {
  return {
    id: item.id,
    retryAt: instantOf(item.retry_at, index, "retry_at"),
    dead: item.dead ?? false,
    ...(item.reason && { reason: item.reason }),
  };
}

export function completeRequest(body: RequestOf<"complete">): engine.CompleteRequest {
  return {
    queue: body.queue_name,
    partition: body.partition,
    requestTimeoutMs: requestTimeout(body.request_timeout),
    ids: body.ids,
  };
}

export function transactRequest(body: RequestOf<"transact">): engine.TransactRequest {
  return {
    requestTimeoutMs: requestTimeout(body.request_timeout),
    complete: (body.complete ?? []).map(({ queue_name: queue, partition, ids }) => {
      return { queue, partition, ids };
    }),
    retry: (body.retry ?? []).map(({ queue_name: queue, partition, items }) => {
      return { queue, partition, items: items.map(retryItem) };
    }),
    produce: (body.produce ?? []).map(({ queue_name: queue, items }) => {
      return { queue, items: items.map(produceItem) };
    }),
  };
}

export function transactReply({ produced }: engine.Transacted): wire.TransactReply {
  return {
    produced: produced.map(({ queue: queue_name, partition, delivered, duplicates }) => ({
      queue_name,
      partition,
      delivered,
      ...(duplicates.length > 0 && { duplicates: [...duplicates] }),
    })),
  };
}

export function queueSettings(body: RequestOf<"createQueue">): engine.QueueSettings {
  const timeouts = queueTimeouts(body.lease_timeout, body.expire_timeout);
  checkNamespace(body.namespace);
  return {
    name: body.queue_name,
    ...timeouts,
    deadQueue: body.dead_queue ?? "",
    reference: body.reference ?? "",
    maxAttempts: body.max_attempts ?? 0,
    requestedPartitions: body.requested_partitions ?? 1,
    leasedMax: body.leased_max ?? 0,
    leaseRate: body.lease_rate ?? "",
    ...uniqueFor(body.unique_for ?? ""),
  };
}

/** Absent keys keep their value. */
export function queueChange(body: RequestOf<"updateQueue">): engine.QueueChange & engine.Guard {
  const timeouts = queueTimeouts(body.lease_timeout ?? null, body.expire_timeout ?? null);
  checkNamespace(body.namespace);
  const { leaseTimeoutMs, leaseTimeoutText, expireTimeoutMs, expireTimeoutText } = timeouts;
  return {
    name: body.queue_name,
    ...(isGiven(body.lease_timeout) && { leaseTimeoutMs, leaseTimeoutText }),
    ...(isGiven(body.expire_timeout) && { expireTimeoutMs, expireTimeoutText }),
    ...(isGiven(body.dead_queue) && { deadQueue: body.dead_queue }),
    ...(isGiven(body.reference) && { reference: body.reference }),
    ...(isGiven(body.max_attempts) && { maxAttempts: body.max_attempts }),
    ...(isGiven(body.requested_partitions) && { requestedPartitions: body.requested_partitions }),
    ...(isGiven(body.leased_max) && { leasedMax: body.leased_max }),
    ...(isGiven(body.lease_rate) && { leaseRate: body.lease_rate }),
    ...(isGiven(body.unique_for) && uniqueFor(body.unique_for)),
    ...guardOf(body),
  };
}

export function queuesPage(body: RequestOf<"listQueues">): { pivot: string; limit: number } {
  checkNamespace(body.namespace);
  return { pivot: body.pivot, limit: body.limit };
}

/** Either key names the queue. */
export function queueNamed(body: RequestOf<"queueInfo">): string {
  return body.name ?? body.queue_name ?? refuse("name is required; expected a string");
}

export function pauseRequest(body: RequestOf<"pause">): engine.PauseRequest {
  const { queue_name: queue, lease, produce, reason } = body;
  return {
    queue,
    ...(isGiven(lease) && { lease }),
    ...(isGiven(produce) && { produce }),
    ...(isGiven(reason) && { reason }),
  };
}

export function nodesPage(seen: NodesSeen | undefined): wire.NodesListReply {
  const { nodes = [], owner = null, epoch = 0 } = seen ?? {};
  return {
    items: nodes.map(({ url, version, startedAt, seenAt, isDraining, isLive }) => ({
      url,
      version,
      started_at: instantText(startedAt),
      seen_at: instantText(seenAt),
      owner: owner?.url === url,
      draining: isDraining,
      live: isLive,
    })),
    epoch,
  };
}

export function advanceMs({ by }: RequestOf<"advance">): number {
  checkLength("by", by.length, limits.durationTextMax);
  return durationOf(by, "by", "30s, 10m or 24h");
}

/** Of a call that removes items. */
export function guardOf(body: {
  readonly dry_run?: boolean | null;
  readonly expect?: number | null;
}): engine.Guard {
  return {
    ...(body.dry_run === true && { dryRun: true }),
    ...(isGiven(body.expect) && { expect: body.expect }),
  };
}

export function isGuarded(guard: engine.Guard): boolean {
  return guard.dryRun === true || guard.expect !== undefined;
}

export function seriesRequest(body: RequestOf<"series">): engine.SeriesRequest {
  const { queue_name: queue, shard, names, from, step } = body;
  return {
    ...(isGiven(queue) && { queue }),
    ...(isGiven(shard) && { shard }),
    // What is none of them is refused by the engine.
    names: names as engine.SeriesRequest["names"],
    ...(isGiven(from) && { from: fromOf(from) }),
    ...(isGiven(step) && { stepMs: stepOf(step) }),
  };
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

export function listRequest(body: RequestOf<"listItems">): engine.ListRequest {
  return {
    queue: body.queue_name,
    partition: body.partition,
    pivot: body.pivot,
    limit: body.limit,
  };
}

export function findRequest(body: RequestOf<"findItems">): engine.FindRequest {
  return {
    ...searched(body),
    ...(body.order && { order: wordOf(body.order, "order", orders) }),
    limit: body.limit ?? findLimitDefault,
    payloadHead: body.payload_head ?? 0,
  };
}

const findLimitDefault = 100;

export function payloadRange(body: RequestOf<"getItem">): engine.PayloadRange {
  const { payload_from: payloadFrom, payload_limit: payloadLimit } = body;
  return { payloadFrom: payloadFrom ?? 0, ...(payloadLimit != null && { payloadLimit }) };
}

const orders = ["newest"] as const;
const states = ["ready", "leased", "scheduled"] as const;

function searched(body: RequestOf<"groupItems" | "findItems">): Omit<engine.GroupsRequest, "by"> {
  return {
    queue: body.queue_name,
    partition: body.partition ?? null,
    state: body.state ? wordOf(body.state, "state", states) : null,
    ...(body.holder && { holder: body.holder }),
    pivot: body.pivot ?? "",
    filter: filterOf(body.filter),
  };
}

const groupings = {
  reason: "reason",
  death: "death",
  kind: "kind",
  origin_queue: "originQueue",
} as const;

export function groupsRequest(body: RequestOf<"groupItems">): engine.GroupsRequest {
  const words = Object.keys(groupings) as (keyof typeof groupings)[];
  return { ...searched(body), by: groupings[wordOf(body.by, "by", words)] };
}

function filterOf(filter: wire.ItemFilter | null | undefined): engine.Filter {
  if (!isGiven(filter)) return {};
  const { kind, reference, origin_id, origin_queue, death, reason } = filter;
  const { attempts_min, redriven_max, payload_contains } = filter;
  const createdBefore = instantNamed(filter.created_before, "created_before");
  return {
    ...(isGiven(kind) && { kind }),
    ...(isGiven(reference) && { reference }),
    ...(isGiven(origin_id) && { originId: origin_id }),
    ...(isGiven(origin_queue) && { originQueue: origin_queue }),
    ...(death && { death: wordOf(death, "death", deaths) }),
    ...(isGiven(reason) && { reason }),
    ...(isGiven(attempts_min) && { attemptsMin: attempts_min }),
    ...(createdBefore !== null && { createdBefore }),
    ...(isGiven(redriven_max) && { redrivenMax: redriven_max }),
    ...(payload_contains && { payloadContains: payload_contains }),
  };
}

const repairs = ["promote", "reject", "delete"] as const;
const idleStates = ["ready", "scheduled"] as const;

function wordOf<T extends string>(text: string, what: string, words: readonly T[]): T {
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  const expected = `expected ${words.map((word) => `'${word}'`).join(" or ")}`;
  return refuse(`${what} is invalid; ${expected}, got '${text.slice(0, quotedMax)}'`);
}

export function redriveRequest(body: RequestOf<"redrive">): engine.RedriveRequest {
  return { ...taskRequest(body), ...(body.to && { to: body.to }) };
}

export function repairRequest(body: RequestOf<"repair">): engine.RepairRequest {
  const { action, state, reason } = body;
  return {
    ...taskRequest(body),
    action: wordOf(action, "action", repairs),
    ...(state && { state: wordOf(state, "state", idleStates) }),
    ...(reason && { reason }),
  };
}

function taskRequest(
  body: Omit<RequestOf<"redrive">, "to"> | RequestOf<"repair">,
): engine.TaskRequest {
  const { queue_name: queue, ids, filter, limit, per_second, dry_run, expect } = body;
  return {
    queue,
    ...(ids && { ids }),
    ...(filter && { filter: filterOf(filter) }),
    ...(isGiven(limit) && { limit }),
    ...(isGiven(per_second) && { perSecond: per_second }),
    ...(dry_run === true && { dryRun: true }),
    ...(isGiven(expect) && { expect }),
  };
}

export function importRequest(body: RequestOf<"importItems">): engine.ImportRequest {
  return {
    queue: body.queue_name,
    partition: body.partition,
    items: body.items.map(importItem),
  };
}

function importItem(item: wire.ImportItem, index: number): engine.ImportItem {
  return {
    payload: item.payload ? bytesOf(item.payload, index, "payload") : "",
    sourceId: item.source_id ?? "",
    isLeased: item.is_leased ?? false,
    leaseDeadline: instantOf(item.lease_deadline, index, "lease_deadline"),
    expireDeadline: instantOf(item.expire_deadline, index, "expire_deadline"),
    createdAt: instantOf(item.created_at, index, "created_at"),
    enqueueAt: instantOf(item.enqueue_at, index, "enqueue_at"),
    attempts: item.attempts ?? 0,
    reference: item.reference ?? "",
    encoding: item.encoding ?? "",
    kind: item.kind ?? "",
    ...(item.headers && { headers: item.headers }),
    past: pastOf(item, index),
  };
}

function pastOf(item: wire.ImportItem, index: number): engine.Past {
  const { origin_id: origin, reason, death, origin_queue: queue } = item;
  const { origin_attempts: attempts, redriven } = item;
  const createdAt = instantOf(item.origin_created_at, index, "origin_created_at");
  return {
    ...(origin && { origin }),
    ...(reason && { reason }),
    ...(death && { death: wordOf(death, `death of item ${index}`, deaths) }),
    ...(queue && { queue }),
    ...(attempts && { attempts }),
    ...(createdAt !== null && { createdAt }),
    ...(redriven && { redriven }),
  };
}

const deaths = ["failed", "expired", "rejected"] as const;

// Replies. Each returns the type of the contract, so that a forgotten field does not compile.

export function produceReply({ duplicates, ids }: engine.Produced): wire.ProduceReply {
  return {
    ...doneReply,
    ...(duplicates.length > 0 && { duplicates: [...duplicates] }),
    ...(ids && { ids: [...ids] }),
  };
}

/** What goes along with an item; nothing where there is nothing to say. */
function carried({
  headers,
  past = {},
}: Pick<engine.StoredItem, "headers" | "past">): Pick<
  wire.StorageItem,
  | "headers"
  | "origin_id"
  | "reason"
  | "death"
  | "origin_queue"
  | "origin_attempts"
  | "origin_created_at"
  | "redriven"
> {
  const { origin, reason, death, queue, attempts, createdAt, redriven } = past;
  return {
    ...(headers && { headers: { ...headers } }),
    ...(origin !== undefined && { origin_id: origin }),
    ...(reason !== undefined && { reason }),
    ...(death !== undefined && { death }),
    ...(queue !== undefined && { origin_queue: queue }),
    ...(attempts !== undefined && { origin_attempts: attempts }),
    ...(createdAt !== undefined && { origin_created_at: instantText(createdAt) }),
    ...(redriven !== undefined && { redriven }),
  };
}

export function foundItem(item: engine.FoundItem): wire.FoundItem {
  const { queue: queue_name, partition, state, holder, payloadBytes: payload_bytes } = item;
  return { queue_name, partition, state, holder, payload_bytes, ...storageItem(item) };
}

export function itemGroup({ value, count, ...group }: engine.Group): wire.ItemGroup {
  const [first_at, last_at] = [instantText(group.firstAt), instantText(group.lastAt)];
  return { value, count, first_at, last_at, sample_id: group.sampleId };
}

export function itemExplained(explained: engine.ItemExplained): wire.ItemExplained {
  const { id, item, ahead, isAllAhead: ahead_is_all, why, historySince } = explained;
  return {
    id,
    ...(item && { item: foundItem(item) }),
    ...{ ahead, ahead_is_all, why: [...why], history: explained.history.map(itemEvent) },
    history_since: instantTextOrNull(historySince),
  };
}

function itemEvent({ at, what, by, id, queue, partition }: engine.ItemEvent): wire.ItemEvent {
  return { at: instantText(at), what, id, queue_name: queue, partition, by };
}

function filterText(filter: engine.Filter): wire.ItemFilter {
  const { kind, reference, originId, originQueue, death, reason } = filter;
  const { attemptsMin, createdBefore, redrivenMax, payloadContains } = filter;
  return {
    ...(kind !== undefined && { kind }),
    ...(reference !== undefined && { reference }),
    ...(originId !== undefined && { origin_id: originId }),
    ...(originQueue !== undefined && { origin_queue: originQueue }),
    ...(death !== undefined && { death }),
    ...(reason !== undefined && { reason }),
    ...(attemptsMin !== undefined && { attempts_min: attemptsMin }),
    ...(createdBefore !== undefined && { created_before: instantText(createdBefore) }),
    ...(redrivenMax !== undefined && { redriven_max: redrivenMax }),
    ...(payloadContains !== undefined && { payload_contains: payloadContains }),
  };
}

export function taskInfo(task: engine.TaskInfo): wire.TaskInfo {
  return {
    task_id: task.taskId,
    action: task.action,
    state: task.state,
    queue_name: task.queue,
    to: task.to,
    filter: filterText(task.filter),
    per_second: task.perSecond,
    matched: task.matched,
    moved: task.moved,
    skipped: task.skipped,
    by: task.by,
    created_at: instantText(task.createdAt),
    ended_at: instantTextOrNull(task.endedAt),
  };
}

export function queueInfo(queue: QueueDefinition): wire.QueueInfo {
  return {
    queue_name: queue.name,
    created_at: instantText(queue.createdAt),
    updated_at: instantText(queue.updatedAt),
    dead_queue: queue.deadQueue,
    reference: queue.reference,
    lease_timeout: queue.leaseTimeoutText,
    expire_timeout: queue.expireTimeoutText,
    max_attempts: queue.maxAttempts,
    requested_partitions: queue.requestedPartitions,
    leased_max: queue.leasedMax ?? 0,
    lease_rate: queue.leaseRate ?? "",
    unique_for: queue.uniqueForText ?? "",
    lease_paused: queue.pause?.lease ?? false,
    produce_paused: queue.pause?.produce ?? false,
    pause_reason: queue.pause?.reason ?? "",
  };
}

/** What a guarded call removed, or would; where it is not known, no more than that it was done. */
export function guardedReply(
  counts: engine.ItemCounts | null,
  more: Pick<wire.GuardedReply, "waiting_leases" | "dependents"> = {},
): wire.GuardedReply {
  const { code, code_text, message } = doneReply;
  if (counts === null) return { code, code_text, message };
  const { ready, leased, scheduled, retried } = counts;
  return { code, code_text, message, counts: { ready, leased, scheduled, retried }, ...more };
}

export function deletionReply(deletion: engine.Deletion): wire.GuardedReply {
  const { counts, waitingLeases: waiting_leases, dependents } = deletion;
  return guardedReply(counts, { waiting_leases, dependents: [...dependents] });
}

export function explainReply(explained: engine.Explanation): wire.QueueExplainReply {
  return {
    queue_name: explained.queue,
    as_of: instantText(explained.asOf),
    health: explained.health,
    findings: explained.findings.map(({ what, since, count, nextAt, text }) => ({
      ...{ what, since: instantText(since), count },
      ...{ next_at: instantTextOrNull(nextAt), text },
    })),
  };
}

export function clientsReply(clients: engine.QueueClients): wire.QueueClientsReply {
  return {
    queue_name: clients.queue,
    as_of: instantText(clients.asOf),
    asking_count: clients.askingCount,
    asking: clients.asking.map(({ client, since, batchSize, place }) => ({
      ...{ client_id: client, since: instantText(since), batch_size: batchSize, place },
    })),
    holding_count: clients.holdingCount,
    holding: clients.holding.map(({ client, items, partitions, nextLapseAt }) => ({
      ...{ client_id: client, items, partitions: [...partitions] },
      next_lapse_at: instantText(nextLapseAt),
    })),
    partial: clients.isPartial,
  };
}

/** Of the overview all but what is of the server and of the moment. */
export function overviewReply(
  overview: engine.EngineOverview,
): Pick<
  wire.ServerOverviewReply,
  "as_of" | "since" | "whole" | "totals" | "queues" | "removed" | "shards" | "alarms" | "tasks"
> {
  const { asOf, since, isWhole: whole, totals, rows, removed, shards, alarms, tasks } = overview;
  return {
    ...{ as_of: instantText(asOf), since, whole },
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
      ...countersOf((name) => rows.map((row) => row[name])),
    },
    removed: [...removed],
    shards: shards.map(overviewShard),
    alarms: alarms.map(({ what, since: began, count, queue, shard, text }) => ({
      ...{ what, since: instantTextOrNull(began), count, queue_name: queue },
      ...{ shard: shard ?? -1, text },
    })),
    tasks: tasks.map(taskInfo),
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
  };
}

/** `isInColumns`: lists of figures in the place of the partitions. */
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
    retried: queue.retried,
    scheduled: queue.scheduled,
    dead_letter: queue.deadLetter,
  };
}

export function storageItem(item: engine.StoredItem): wire.StorageItem {
  return {
    id: item.id,
    source_id: item.sourceId,
    is_leased: item.isLeased,
    lease_deadline: instantTextOrNull(item.leaseDeadline),
    dead_deadline: instantTextOrNull(item.deadDeadline),
    expire_deadline: instantText(item.expireDeadline),
    created_at: instantText(item.createdAt),
    updated_at: instantText(item.updatedAt),
    enqueue_at: instantTextOrNull(item.enqueueAt),
    attempts: item.attempts,
    max_attempts: item.maxAttempts,
    reference: item.reference,
    encoding: item.encoding,
    kind: item.kind,
    payload: item.payload.toBase64(),
    ...carried(item),
  };
}

/**
 * The `items` of a lease reply as JSON text. A shard calls it in its own thread, and from
 * there to the socket the text is only copied. Spelled out, 1,000 items take 0.6 of the time
 * that `JSON.stringify` takes.
 */
export function renderLeased(items: readonly engine.LeasedItem[]): string {
  let text = "[";
  let before: engine.LeasedItem | null = null;
  let described = "";
  for (const item of items) {
    // Neighbours mostly share what stands between id and payload, so that is written once per change.
    if (before === null || !isDescribedAs(before, item)) described = descriptionOf(item);
    text += before === null ? '{"id":"' : ',{"id":"';
    text += item.id + described + item.payload.toBase64();
    const hasMore = item.headers !== undefined || item.past !== undefined;
    text += hasMore ? `",${JSON.stringify(carried(item)).slice(1)}` : '"}';
    before = item;
  }
  return `${text}]`;
}

function isDescribedAs(one: engine.LeasedItem, other: engine.LeasedItem): boolean {
  return (
    one.kind === other.kind &&
    one.encoding === other.encoding &&
    one.reference === other.reference &&
    one.attempts === other.attempts &&
    one.leaseDeadline === other.leaseDeadline
  );
}

/** From the end of the id to where the payload begins. */
function descriptionOf(item: engine.LeasedItem): string {
  const texts = `","encoding":${jsonText(item.encoding)},"kind":${jsonText(item.kind)},"reference":${jsonText(item.reference)}`;
  return `${texts},"attempts":${item.attempts},"lease_deadline":"${deadlineText(item.leaseDeadline)}","bytes":"`;
}

let deadlineBefore = { at: Number.NaN, text: "" };

/** What a turn leases mostly ends at one instant. */
function deadlineText(at: number): string {
  if (deadlineBefore.at !== at) deadlineBefore = { at, text: instantText(at) };
  return deadlineBefore.text;
}

/** The whole lease reply around the text that `renderLeased` made. */
export function leaseReplyText(lease: Omit<engine.Lease<string>, "replayed">): string {
  const { queue, partition, maxAttempts, items } = lease;
  const head = `"queue_name":${jsonText(queue)},"partition":${partition}`;
  return `{${head},"max_attempts":${maxAttempts},"items":${items}}`;
}

/** What JSON cannot hold as it stands: quotes, backslashes, controls and surrogates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/;

function jsonText(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`;
}

// Durations.

function requestTimeout(text: string): number {
  return durationOf(text, "request timeout", "900ms, 5m or 15m");
}

/** Of a call that can do without. */
function ownRequestTimeout({ request_timeout: text }: { request_timeout?: string | null }) {
  return !isGiven(text) || text === "" ? {} : { requestTimeoutMs: requestTimeout(text) };
}

/** Of one lease; `null` = that of the queue. */
function leaseTimeout(text: string | null | undefined): number | null {
  if (!isGiven(text) || text === "") return null;
  checkLength("lease timeout", text.length, limits.durationTextMax);
  return durationOf(text, "lease timeout", "8m, 15m or 1h");
}

/** `null` = not given. The order of the checks is the reference's. */
function queueTimeouts(leaseTimeout: string | null, expireTimeout: string | null) {
  const leaseTimeoutText = leaseTimeout ?? "";
  const expireTimeoutText = expireTimeout ?? "";
  checkLength("lease timeout", leaseTimeoutText.length, limits.durationTextMax);
  checkLength("expire timeout", expireTimeoutText.length, limits.durationTextMax);
  const expireTimeoutMs =
    expireTimeoutText === neverText
      ? never
      : durationOf(expireTimeoutText, "expire timeout", "60m, 2h or 24h");
  const leaseTimeoutMs = durationOf(leaseTimeoutText, "lease timeout", "8m, 15m or 1h");
  return { leaseTimeoutMs, leaseTimeoutText, expireTimeoutMs, expireTimeoutText };
}

/** An empty text: the queue takes no unique keys. */
function uniqueFor(uniqueForText: string) {
  checkLength("unique for", uniqueForText.length, limits.durationTextMax);
  return { uniqueForMs: durationOf(uniqueForText, "unique for", "1h, 24h or 7d"), uniqueForText };
}

/** An empty text is a duration that is not set, which is for the engine to refuse. */
function durationOf(text: string, what: string, formats: string): number {
  if (text === "") return 0;
  const parsed = parseDuration(text);
  if (parsed.ok) return parsed.ms;
  return refuse(`${what} is invalid; ${parsed.message} - expected format: ${formats}`);
}

/** The one that clients of the protocol call theirs when they are told of no other. */
const systemNamespace = "_system";

function checkNamespace(name: string | null | undefined): void {
  if (!name || name === systemNamespace) return;
  refuse(`namespace does not exist; '${shortened(name)}' was not found`);
}

// Instants.

/** Less than what `Temporal` reads. */
const dateTime = new RegExp(forms.dateTime);
const zone = /[Zz]$|[+-]\d\d:\d\d$/;

/** Absent, `null` and `""` are no instant. */
function instantNamed(text: string | null | undefined, key: string): number | null {
  if (text === undefined || text === null || text === "") return null;
  const got = text.slice(0, quotedMax);
  return (
    parseInstant(text) ??
    refuse(`${key} is invalid; expected a date-time like 2026-01-01T00:00:00Z, got '${got}'`)
  );
}

/** The same within a list. */
function instantOf(text: string | null | undefined, index: number, key: string): number | null {
  if (text === undefined || text === null || text === "") return null;
  const expected = "a date-time like 2026-01-01T00:00:00Z";
  return parseInstant(text) ?? refuseText(text, index, key, expected);
}

/**
 * Epoch milliseconds of a date-time; `null` when it is none, or names a day or time that is none.
 * A part of a millisecond counts as a whole one, so that nothing is due, lapses or expires before
 * the instant that was given.
 */
export function parseInstant(text: string): number | null {
  if (!dateTime.test(text)) return null;
  try {
    const instant = Temporal.Instant.from(zone.test(text) ? text : `${text}Z`);
    const ms = instant.round({ smallestUnit: "millisecond", roundingMode: "ceil" });
    return ms.epochMilliseconds <= limits.instantMax ? ms.epochMilliseconds : null;
  } catch {
    return null;
  }
}

function instantText(instant: number): string {
  return new Date(instant).toISOString();
}

function instantTextOrNull(instant: number | null): string | null {
  return instant === null ? null : instantText(instant);
}

// Bytes.

/** Either alphabet, with or without its padding; anything else that is not base64 is refused. */
function bytesOf(text: string, index: number, key: string): engine.Payload {
  return parseBase64(text) ?? refuseText(text, index, key, "base64");
}

/** Loose reading would drop bits of a text that was cut off. */
const standard = { alphabet: "base64", lastChunkHandling: "strict" } as const;
const urlSafe = { alphabet: "base64url", lastChunkHandling: "strict" } as const;

/** The bytes of a base64 text; `null` when it is none. */
export function parseBase64(text: string): Uint8Array | null {
  const missing = text.endsWith("=") ? 0 : -text.length & 3;
  const padded = missing === 0 ? text : text + "=".repeat(missing);
  try {
    return Uint8Array.fromBase64(padded, /[-_]/.test(text) ? urlSafe : standard);
  } catch {
    return null;
  }
}

// Refusals.

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

function refuseText(text: string, index: number, key: string, expected: string): never {
  const got = shortened(text);
  return refuse(`items[${index}].${key} is invalid; expected ${expected}, got '${got}'`);
}

function shortened(text: string): string {
  return text.length > quotedMax ? `${text.slice(0, quotedMax)}…` : text;
}
