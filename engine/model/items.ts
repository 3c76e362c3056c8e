// Converts items between the forms of callers and of shards.

import type { Payload } from "../../stores/item.ts";
import type { QueueDefinition } from "../../stores/queue.ts";
import type { ImportItem, ProduceItem, StoredItem } from "./api.ts";
import { assert } from "./assert.ts";
import { headersText } from "./headers.ts";
import type { DescribedItem, ListedItem, NewImport, NewItem, Value } from "./messages.ts";
import { carriedFields, pastText, rulesFor } from "./provenance.ts";

/** `unique`: the digest of its unique key; `""` = none. */
export function newItem(item: ProduceItem, unique: string): NewItem {
  const { payload, kind, encoding, reference, headers, priority, enqueueAt } = item;
  const hasFields = kind || encoding || reference || headers || priority || unique || item.group;
  const isDescribed = hasFields || item.maxAttempts || item.leaseTimeoutMs || enqueueAt != null;
  return typeof payload === "string" && !isDescribed ? payload : described(item, unique);
}

function described(item: ProduceItem, unique: string): DescribedItem {
  const { group, maxAttempts, leaseTimeoutMs } = item;
  return {
    payload: owned(item.payload),
    kind: item.kind ?? "",
    encoding: item.encoding ?? "",
    reference: item.reference ?? "",
    headers: headersText(item.headers),
    priority: item.priority ?? 0,
    enqueueAt: item.enqueueAt ?? null,
    past: pastText({
      ...(group && { group }),
      ...(maxAttempts && { maxAttempts }),
      ...(leaseTimeoutMs && { leaseTimeoutMs }),
    }),
    unique,
  };
}

export function newImport(item: ImportItem): NewImport {
  const { unique: _, ...common } = described(item, "");
  return {
    ...common,
    sourceId: item.sourceId ?? "",
    leaseDeadline: item.isLeased === true ? (item.leaseDeadline ?? null) : null,
    expireDeadline: item.expireDeadline ?? null,
    createdAt: item.createdAt ?? null,
    attempts: item.attempts ?? 0,
    past: pastText({ ...item.past, ...(item.group && { group: item.group }) }),
  };
}

/** Copied: the caller may change its bytes after the call, and a Buffer has another JSON form. */
function owned(payload: Payload): Payload {
  return typeof payload === "string" ? payload : new Uint8Array(payload);
}

export function storedItems(value: Value, queue: QueueDefinition): StoredItem[] {
  assert(value.kind === "items", "a shard answered a storage call with something else");
  return value.items.map((item) => storedItem(item, queue));
}

export function storedItem(item: ListedItem, queue: QueueDefinition): StoredItem {
  const { leasedAt, queuedAt, dueAt, headers, past, ...same } = item;
  return {
    ...same,
    ...carriedFields({ headers, past }),
    isLeased: leasedAt !== null,
    deadDeadline: queue.deadQueue === "" ? null : same.expireDeadline,
    // It may be leased within the millisecond that `queuedAt` rounds up.
    updatedAt: Math.max(queuedAt, leasedAt ?? queuedAt),
    enqueueAt: dueAt,
    maxAttempts: rulesFor(past, queue).maxAttempts,
  };
}
