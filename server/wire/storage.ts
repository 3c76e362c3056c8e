// Converts the requests and replies about stored items: lists, searches and imports.

import type * as engine from "../../engine/model/api.ts";
import type { ItemSummary } from "../../engine/model/filter.ts";
import type { Past } from "../../engine/model/provenance.ts";
import type { RequestOf } from "../../openapi/operations.ts";
import type * as wire from "../../openapi/schemas.ts";
import { mapInPieces } from "../http/body/pieces.ts";
import { carried } from "./carried.ts";
import {
  bytesOf,
  instantOf,
  instantText,
  instantTextOrNull,
  leaseTimeout,
  ownRequestTimeout,
  wordOf,
} from "./fields.ts";
import { deaths, filterOf, summaryFieldOf } from "./filter.ts";

export function listRequest(body: RequestOf<"listItems">): engine.ListRequest {
  return {
    queue: body.queue_name,
    partition: body.partition,
    pivot: body.pivot,
    limit: body.limit,
  };
}

export function cancelRequest(body: RequestOf<"cancelItems">): engine.CancelItemsRequest {
  return { queue: body.queue_name, ids: body.ids, ...ownRequestTimeout(body) };
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
  const { payload_offset: payloadOffset, payload_limit: payloadLimit } = body;
  return { payloadOffset: payloadOffset ?? 0, ...(payloadLimit != null && { payloadLimit }) };
}

const orders = ["newest"] as const;

const states = ["ready", "leased", "scheduled"] as const;

function searched(
  body: RequestOf<"summarizeItems" | "findItems">,
): Omit<engine.SummarizeRequest, "by" | "top"> {
  return {
    queue: body.queue_name,
    partition: body.partition ?? null,
    state: body.state ? wordOf(body.state, "state", states) : null,
    ...(body.holder && { holder: body.holder }),
    pivot: body.pivot ?? "",
    filter: filterOf(body.filter),
  };
}

export function summarizeRequest(body: RequestOf<"summarizeItems">): engine.SummarizeRequest {
  const { by, top } = body;
  return { ...searched(body), by: summaryFieldOf(by), ...(top != null && { top }) };
}

export async function importRequest(body: RequestOf<"importItems">): Promise<engine.ImportRequest> {
  const payloadBytes = ({ payload }: wire.ImportItem) => payload?.length ?? 0;
  return {
    queue: body.queue_name,
    partition: body.partition,
    items: await mapInPieces(body.items, payloadBytes, importItem),
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
    priority: item.priority ?? 0,
    attempts: item.attempts ?? 0,
    reference: item.reference ?? "",
    encoding: item.encoding ?? "",
    kind: item.kind ?? "",
    group: item.group ?? "",
    ...(item.headers && { headers: item.headers }),
    past: pastOf(item, index),
  };
}

function pastOf(item: wire.ImportItem, index: number): Past {
  const { origin_id: origin, reason, death, origin_queue: queue } = item;
  const { origin_attempts: attempts, redriven, own_max_attempts: maxAttempts } = item;
  const leaseTimeoutMs = leaseTimeout(item.own_lease_timeout);
  const createdAt = instantOf(item.origin_created_at, index, "origin_created_at");
  return {
    ...(origin && { origin }),
    ...(reason && { reason }),
    ...(death && { death: wordOf(death, `death of item ${index}`, deaths) }),
    ...(queue && { queue }),
    ...(attempts && { attempts }),
    ...(createdAt !== null && { createdAt }),
    ...(redriven && { redriven }),
    ...(maxAttempts && { maxAttempts }),
    ...(leaseTimeoutMs && { leaseTimeoutMs }),
  };
}

export function foundItem(item: engine.FoundItem): wire.FoundItem {
  const { queue: queue_name, partition, state, holder, payloadBytes: payload_bytes } = item;
  return { queue_name, partition, state, holder, payload_bytes, ...storageItem(item) };
}

export function itemSummary({ value, count, ...summary }: ItemSummary): wire.ItemSummary {
  const [first_at, last_at] = [instantText(summary.firstAt), instantText(summary.lastAt)];
  return { value, count, first_at, last_at, sample_id: summary.sampleId };
}

export function itemExplained(explained: engine.ItemExplained): wire.ItemExplained {
  const { id, item, ahead, isAheadExact: ahead_is_exact, why, historySince } = explained;
  return {
    id,
    ...(item && { item: foundItem(item) }),
    ...{ ahead, ahead_is_exact, why: [...why], history: explained.history.map(itemEvent) },
    history_since: instantTextOrNull(historySince),
  };
}

function itemEvent({ at, kind, holder, id, queue, partition }: engine.ItemEvent): wire.ItemEvent {
  return { at: instantText(at), kind, id, queue_name: queue, partition, holder };
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
    priority: item.priority,
    attempts: item.attempts,
    max_attempts: item.maxAttempts,
    reference: item.reference,
    encoding: item.encoding,
    kind: item.kind,
    payload: item.payload.toBase64(),
    ...carried(item),
  };
}
