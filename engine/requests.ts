// What each method of an embedded engine takes, as shapes, so that a slip is told in words. Bounds
// and texts beyond that are those of `validate.ts`. The server needs none of it: it has checked its
// requests against the contract.

import type * as api from "./api.ts";
import { flag, instant, list, nullable, number, object, optional, shape, text } from "./shapes.ts";

const payload = shape(
  "a string or a Uint8Array",
  (value) => typeof value === "string" || value instanceof Uint8Array,
);
const signal = shape("an AbortSignal", (value) => value instanceof AbortSignal);
const item = {
  payload,
  kind: optional(text),
  encoding: optional(text),
  reference: optional(text),
  enqueueAt: optional(nullable(instant)),
};
const held = { queue: text, partition: number, ids: list(text) };
const produceItem = object<api.ProduceItem>({ ...item, uniqueKey: optional(text) });
const retryItem = object<api.RetryItem>({ id: text, retryAt: nullable(instant), dead: flag });
const requestKey = optional(text);
const requestTimeoutMs = optional(number);
const leaseTimeoutMs = optional(nullable(number));
const settings = {
  deadQueue: text,
  reference: text,
  leaseTimeoutMs: number,
  expireTimeoutMs: number,
  maxAttempts: number,
  requestedPartitions: number,
  leaseTimeoutText: optional(text),
  expireTimeoutText: optional(text),
  leasedMax: optional(number),
  leaseRate: optional(text),
  uniqueForMs: optional(number),
  uniqueForText: optional(text),
};

/** What each method takes, by its name. */
export const requests = {
  produce: object<api.ProduceRequest>({
    queue: text,
    requestTimeoutMs: number,
    items: list(produceItem),
    requestKey,
  }),
  lease: object<api.LeaseRequest>({
    queue: text,
    clientId: text,
    batchSize: number,
    requestTimeoutMs: number,
    leaseTimeoutMs,
    signal: optional(signal),
    requestKey,
  }),
  complete: object<api.CompleteRequest>({ ...held, requestTimeoutMs: number, requestKey }),
  retry: object<api.RetryRequest>({
    queue: text,
    partition: number,
    items: list(retryItem),
    requestTimeoutMs,
    requestKey,
  }),
  extend: object<api.ExtendRequest>({
    ...held,
    leaseTimeoutMs,
    requestTimeoutMs,
    requestKey,
  }),
  release: object<api.ReleaseRequest>({ ...held, requestTimeoutMs, requestKey }),
  transact: object<api.TransactRequest>({
    requestTimeoutMs: number,
    complete: optional(list(object<api.TransactComplete>(held))),
    retry: optional(
      list(object<api.TransactRetry>({ queue: text, partition: number, items: list(retryItem) })),
    ),
    produce: optional(list(object<api.TransactProduce>({ queue: text, items: list(produceItem) }))),
    requestKey,
  }),
  listQueues: object<{ pivot: string; limit: number }>({ pivot: text, limit: number }),
  createQueue: object<api.QueueSettings>({ name: text, ...settings }),
  updateQueue: object<api.QueueChange>({
    name: text,
    deadQueue: optional(text),
    reference: optional(text),
    leaseTimeoutMs: optional(number),
    expireTimeoutMs: optional(number),
    maxAttempts: optional(number),
    requestedPartitions: optional(number),
    leaseTimeoutText: optional(text),
    expireTimeoutText: optional(text),
    leasedMax: optional(number),
    leaseRate: optional(text),
    uniqueForMs: optional(number),
    uniqueForText: optional(text),
  }),
  pause: object<api.PauseRequest>({
    queue: text,
    lease: optional(flag),
    produce: optional(flag),
    reason: optional(text),
  }),
  deleteQueue: object<api.DeleteQueueRequest>({ name: text, force: flag }),
  clear: object<api.ClearRequest>({
    queue: text,
    ready: flag,
    scheduled: flag,
    retried: flag,
    destructive: flag,
  }),
  list: object<api.ListRequest>({ queue: text, partition: number, pivot: text, limit: number }),
  importItems: object<api.ImportRequest>({
    queue: text,
    partition: number,
    items: list(
      object<api.ImportItem>({
        ...item,
        sourceId: optional(text),
        isLeased: optional(flag),
        leaseDeadline: optional(nullable(instant)),
        expireDeadline: optional(nullable(instant)),
        createdAt: optional(nullable(instant)),
        attempts: optional(number),
      }),
    ),
    requestKey,
  }),
  deleteItems: object<api.DeleteItemsRequest>(held),
};
