// A client of one node. It calls the server's routes with wire JSON behind the engine's interface,
// so that worlds with and without nodes are checked in the same way.

import type {
  CancelItemsRequest,
  Cancelled,
  ClearRequest,
  CompleteRequest,
  ExtendRequest,
  GroupBlock,
  GroupChange,
  GroupInfo,
  GroupListRequest,
  GroupPage,
  LeasedItem,
  LeaseRequest,
  PauseRequest,
  ProduceItem,
  ProduceRequest,
  QueueChange,
  QueueSettings,
  RedriveRequest,
  ReleaseRequest,
  RepairRequest,
  Repeatable,
  RetryItem,
  RetryRequest,
  TaskBegun,
  TaskRequest,
  TransactRequest,
} from "../../../engine/model/api.ts";
import { never, neverText, pending, pendingText } from "../../../engine/model/duration.ts";
import type { OperationId } from "../../../openapi/operations.ts";
import type * as wire from "../../../openapi/schemas.ts";
import type { Payload } from "../../../stores/item.ts";
import { Caller, JsonText, type Route, type Routes } from "../../routes/route.ts";
import { leaseTimeout } from "../../wire/fields.ts";

type NodeRoutes = Partial<Routes>;

function ms(duration: number): string {
  return `${duration}ms`;
}

function uniqueForOf({ uniqueForMs = 0 }: QueueSettings): string | null {
  if (uniqueForMs === pending) return pendingText;
  return uniqueForMs === 0 ? null : ms(uniqueForMs);
}

function instant(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : new Date(at).toISOString();
}

function payload(given: Payload): { bytes: string } | { utf8: string } {
  return typeof given === "string" ? { utf8: given } : { bytes: given.toBase64() };
}

function producedItem({ payload: given, enqueueAt, uniqueKey, ...text }: ProduceItem) {
  const { kind, encoding, reference, headers, priority, group } = text;
  const { maxAttempts: max_attempts, leaseTimeoutMs = 0 } = text;
  return {
    ...{ ...payload(given), kind, encoding, reference, headers, priority },
    ...{ max_attempts, lease_timeout: ms(leaseTimeoutMs), group },
    ...{ enqueue_at: instant(enqueueAt), unique_key: uniqueKey },
  };
}

function retriedItem({ id, retryAt, retryAfterMs, dead, reason }: RetryItem) {
  const retry_after = retryAfterMs == null ? null : ms(retryAfterMs);
  return { id, dead, reason, retry_at: instant(retryAt), retry_after };
}

function taskOf({ queue, ids, filter, perSecond, limit, dryRun }: TaskRequest) {
  const which = { ids: ids && [...ids], filter };
  return { queue_name: queue, ...which, per_second: perSecond, limit, dry_run: dryRun };
}

function taskReply({ reply, replayed }: Replied): TaskBegun {
  const { task_id: taskId, matched } = reply as wire.TaskBegun;
  return { taskId, matched, destinations: [], replayed };
}

interface Replied {
  readonly reply: unknown;
  readonly replayed: boolean;
}

export class NodeCaller {
  readonly #routes: NodeRoutes;

  constructor(routes: NodeRoutes) {
    this.#routes = routes;
  }

  async #call(
    operation: OperationId,
    body: object,
    { requestKey, signal }: Repeatable & { readonly signal?: AbortSignal } = {},
  ): Promise<Replied> {
    const route = this.#routes[operation] as Route<OperationId> | undefined;
    if (route === undefined) throw new Error(`the node has no route for ${operation}`);
    const client = signal === undefined ? new AbortController() : { signal };
    const caller = new Caller({ client, requestKey: requestKey ?? null });
    // Converts the body as the wire would.
    const reply = await route(JSON.parse(JSON.stringify(body)) as never, caller);
    const parsed = reply instanceof JsonText ? JSON.parse(reply.text) : reply;
    return { reply: parsed, replayed: caller.isReplayed };
  }

  async produce({ queue, requestTimeoutMs, items, requestKey }: ProduceRequest) {
    const body = {
      queue_name: queue,
      request_timeout: ms(requestTimeoutMs),
      items: items.map(producedItem),
    };
    const { reply, replayed } = await this.#call("produce", body, keyed(requestKey));
    const { duplicates = [] } = reply as wire.ProduceReply;
    return { replayed, duplicates };
  }

  async lease(request: LeaseRequest) {
    const { queue, clientId, batchSize, requestTimeoutMs, leaseTimeoutMs } = request;
    const { priorityMin, groupRuns, signal, requestKey } = request;
    const body = {
      ...{ queue_name: queue, client_id: clientId, batch_size: batchSize },
      request_timeout: ms(requestTimeoutMs),
      lease_timeout: leaseTimeoutMs == null ? null : ms(leaseTimeoutMs),
      ...(priorityMin !== undefined && { priority_min: priorityMin }),
      ...(groupRuns !== undefined && { group_runs: groupRuns }),
    };
    const options = { ...keyed(requestKey), ...(signal === undefined ? {} : { signal }) };
    const { reply, replayed } = await this.#call("lease", body, options);
    const { partition, max_attempts: maxAttempts, items } = reply as wire.LeaseReply;
    return { queue, partition, maxAttempts, replayed, items: items.map(leasedItem) };
  }

  async complete({ queue, partition, requestTimeoutMs, ids, requestKey }: CompleteRequest) {
    const body = { queue_name: queue, partition, request_timeout: ms(requestTimeoutMs), ids };
    return outcomeOf(await this.#call("complete", body, keyed(requestKey)));
  }

  async retry({ queue, partition, items, requestKey }: RetryRequest) {
    const body = {
      ...{ queue_name: queue, partition },
      items: items.map(retriedItem),
    };
    return outcomeOf(await this.#call("retry", body, keyed(requestKey)));
  }

  async extend({ queue, partition, ids, leaseTimeoutMs, requestKey }: ExtendRequest) {
    const lease_timeout = leaseTimeoutMs == null ? null : ms(leaseTimeoutMs);
    const body = { queue_name: queue, partition, ids, lease_timeout };
    const { reply, replayed } = await this.#call("extend", body, keyed(requestKey));
    const { lease_deadline: until } = reply as { readonly lease_deadline: string };
    return { leaseDeadline: Date.parse(until), replayed };
  }

  async release({ queue, partition, ids, requestKey }: ReleaseRequest) {
    const body = { queue_name: queue, partition, ids };
    return outcomeOf(await this.#call("release", body, keyed(requestKey)));
  }

  async cancelItems({ queue, ids, requestKey }: CancelItemsRequest): Promise<Cancelled> {
    const body = { queue_name: queue, ids };
    const { reply, replayed } = await this.#call("cancelItems", body, keyed(requestKey));
    const { items } = reply as Pick<Cancelled, "items">;
    return { items, replayed };
  }

  async transact({ requestTimeoutMs, requestKey, ...parts }: TransactRequest) {
    const { complete = [], retry = [], produce = [] } = parts;
    const body = {
      request_timeout: ms(requestTimeoutMs),
      complete: complete.map(({ queue, partition, ids }) => ({
        queue_name: queue,
        partition,
        ids,
      })),
      retry: retry.map(({ queue, partition, items }) => ({
        ...{ queue_name: queue, partition },
        items: items.map(retriedItem),
      })),
      produce: produce.map(({ queue, items }) => {
        return { queue_name: queue, items: items.map(producedItem) };
      }),
    };
    const { reply, replayed } = await this.#call("transact", body, keyed(requestKey));
    const { produced } = reply as wire.TransactReply;
    return {
      replayed,
      produced: produced.map(({ queue_name: queue, partition, delivered, duplicates = [] }) => {
        return { queue, partition: partition ?? null, delivered, duplicates };
      }),
    };
  }

  async redrive(request: RedriveRequest) {
    return taskReply(await this.#call("redrive", taskOf(request), keyed(request.requestKey)));
  }

  async repair(request: RepairRequest) {
    const { action, state, holder, reason, priority, requestKey } = request;
    const body = { ...taskOf(request), action, state, holder, reason, priority };
    return taskReply(await this.#call("repair", body, keyed(requestKey)));
  }

  async createQueue(settings: QueueSettings): Promise<void> {
    await this.#call("createQueue", {
      queue_name: settings.name,
      dead_queue: settings.deadQueue,
      lease_timeout: ms(settings.leaseTimeoutMs),
      expire_timeout: ms(settings.expireTimeoutMs),
      max_attempts: settings.maxAttempts,
      requested_partitions: settings.requestedPartitions,
      leased_max: settings.leasedMax,
      lease_rate: settings.leaseRate,
      waiting_max: settings.waitingMax,
      retry_backoff: settings.retryBackoff,
      ...groupSettingsOf(settings),
      unique_for: uniqueForOf(settings),
      priority_aging: settings.priorityAgingMs === never ? neverText : null,
    });
  }

  async updateQueue(change: QueueChange): Promise<void> {
    const { name, requestedPartitions, leasedMax, leaseRate, waitingMax } = change;
    await this.#call("updateQueue", {
      ...{ queue_name: name, requested_partitions: requestedPartitions },
      ...{ leased_max: leasedMax, lease_rate: leaseRate, waiting_max: waitingMax },
      ...groupSettingsOf(change),
    });
  }

  async listGroups(request: GroupListRequest): Promise<GroupPage> {
    const { queue: queue_name, pivot, limit, blocked } = request;
    const { reply } = await this.#call("listGroups", { queue_name, pivot, limit, blocked });
    const { items, next_pivot: nextPivot } = reply as wire.GroupsListReply;
    return { groups: items.map(groupInfo), nextPivot };
  }

  async setGroup({ queue, leasedMax, ...change }: GroupChange): Promise<GroupInfo> {
    const body = { queue_name: queue, leased_max: leasedMax, ...change };
    return groupInfo((await this.#call("setGroup", body)).reply as wire.GroupInfo);
  }

  async pause({ queue, lease, produce }: PauseRequest): Promise<void> {
    await this.#call("pause", { queue_name: queue, lease, produce });
  }

  async resume(queue: string): Promise<void> {
    await this.#call("resume", { queue_name: queue });
  }

  async clear({ queue, ready, scheduled, retried, destructive, dryRun }: ClearRequest) {
    const { reply } = await this.#call("clear", {
      ...{ queue_name: queue, queue: ready, retry: retried, scheduled, destructive },
      dry_run: dryRun,
    });
    return (reply as wire.GuardedReply).counts ?? null;
  }
}

function groupSettingsOf(settings: Partial<QueueSettings>) {
  return {
    grouped: settings.grouped,
    group_leased_max: settings.groupLeasedMax,
    group_rate: settings.groupRate,
    group_waiting_max: settings.groupWaitingMax,
    group_order: settings.groupOrder,
    group_on_dead: settings.groupOnDead,
  };
}

function groupInfo(info: wire.GroupInfo): GroupInfo {
  const { oldest_at, blocked_by, blocked_id, next_at, leased_max, ...same } = info;
  return {
    ...same,
    oldestAt: oldest_at === null ? null : Date.parse(oldest_at),
    blockedBy: blocked_by as GroupBlock,
    blockedId: blocked_id,
    nextAt: next_at === null ? null : Date.parse(next_at),
    leasedMax: leased_max,
  };
}

function keyed(requestKey: string | undefined): Repeatable {
  return requestKey === undefined ? {} : { requestKey };
}

function outcomeOf({ replayed }: Replied) {
  return { replayed };
}

function leasedItem(item: wire.LeaseReply["items"][number]): LeasedItem {
  const { id, kind, encoding, reference, priority, attempts, lease_deadline: until, bytes } = item;
  const leaseDeadline = Date.parse(until);
  const { headers, origin_id: origin, reason, death, origin_queue: queue, redriven } = item;
  const { origin_attempts: originAttempts, origin_created_at: createdAt } = item;
  const { own_max_attempts: maxAttempts, own_lease_timeout: ownTimeout, group } = item;
  const past = {
    ...(origin !== undefined && { origin }),
    ...(reason !== undefined && { reason }),
    ...(death !== undefined && { death: death as "failed" | "expired" | "rejected" }),
    ...(queue !== undefined && { queue }),
    ...(originAttempts !== undefined && { attempts: originAttempts }),
    ...(createdAt !== undefined && { createdAt: Date.parse(createdAt) }),
    ...(redriven !== undefined && { redriven }),
    ...(maxAttempts !== undefined && { maxAttempts }),
    ...(ownTimeout !== undefined && { leaseTimeoutMs: leaseTimeout(ownTimeout) ?? 0 }),
  };
  return {
    id,
    kind,
    encoding,
    reference,
    priority,
    attempts,
    leaseDeadline,
    payload: Uint8Array.fromBase64(bytes),
    past,
    ...(group && { group }),
    ...(headers && { headers }),
  };
}
