// Converts the requests and replies of operations on items, such as produce, lease and complete.

import type * as engine from "../../engine/model/api.ts";
import type { RequestOf } from "../../openapi/operations.ts";
import type * as wire from "../../openapi/schemas.ts";
import { doneReply } from "../http/reply.ts";
import {
  bytesOf,
  instantOf,
  leaseTimeout,
  ownRequestTimeout,
  requestTimeout,
  retryAfter,
} from "./fields.ts";

export function produceRequest(body: RequestOf<"produce">): engine.ProduceRequest {
  return {
    queue: body.queue_name,
    items: body.items.map(produceItem),
    requestTimeoutMs: requestTimeout(body.request_timeout),
    returnIds: body.return_ids === true,
  };
}

function produceItem(item: wire.ProduceItem, index: number): engine.ProduceItem {
  if (isText(item)) return { payload: item.utf8 ?? "" };
  const produced = {
    payload: item.bytes ? bytesOf(item.bytes, index, "bytes") : (item.utf8 ?? ""),
    kind: item.kind ?? "",
    encoding: item.encoding ?? "",
    reference: item.reference ?? "",
    enqueueAt: instantOf(item.enqueue_at, index, "enqueue_at"),
    uniqueKey: item.unique_key ?? "",
    priority: item.priority ?? 0,
    maxAttempts: item.max_attempts ?? 0,
    leaseTimeoutMs: leaseTimeout(item.lease_timeout) ?? 0,
    group: item.group ?? "",
  };
  return item.headers ? { ...produced, headers: item.headers } : produced;
}

function isText(item: wire.ProduceItem): boolean {
  for (const key in item) if (key !== "utf8") return false;
  return true;
}

export function leaseRequest(body: RequestOf<"lease">, signal: AbortSignal): engine.LeaseRequest {
  return {
    queue: body.queue_name,
    clientId: body.client_id,
    batchSize: body.batch_size ?? 1,
    requestTimeoutMs: requestTimeout(body.request_timeout),
    leaseTimeoutMs: leaseTimeout(body.lease_timeout),
    priorityMin: body.priority_min ?? 0,
    groupRuns: body.group_runs ?? false,
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
    ...(item.retry_after && { retryAfterMs: retryAfter(item.retry_after) }),
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
      ...(partition !== null && { partition }),
      delivered,
      ...(duplicates.length > 0 && { duplicates: [...duplicates] }),
    })),
  };
}

export function produceReply({ duplicates, ids }: engine.Produced): wire.ProduceReply {
  return {
    ...doneReply,
    ...(duplicates.length > 0 && { duplicates: [...duplicates] }),
    ...(ids && { ids: [...ids] }),
  };
}
