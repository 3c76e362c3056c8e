// The arguments of each method of an embedded engine, as shapes, so that a mistake is reported with
// its path. `validate.ts` checks bounds. The server does not need this: it has checked its requests
// against the contract.

import { seriesNames, shardSeriesNames } from "../insight/series.ts";
import type * as api from "../model/api.ts";
import { type AnyOf, type Filter, summaryFields } from "../model/filter.ts";
import type { Headers } from "../model/headers.ts";
import type { Past } from "../model/provenance.ts";
import {
  flag,
  instant,
  list,
  nullable,
  number,
  object,
  optional,
  shape,
  text,
  word,
} from "../model/runtime-types.ts";

const payload = shape(
  "a string or a Uint8Array",
  (value) => typeof value === "string" || value instanceof Uint8Array,
);
const signal = shape("an AbortSignal", (value) => value instanceof AbortSignal);
const headers = shape<Headers>(
  "texts by name",
  (value): value is Headers =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((one) => typeof one === "string"),
);
const past = object<Past>({
  origin: optional(text),
  reason: optional(text),
  death: optional(word("failed", "expired", "rejected")),
  queue: optional(text),
  attempts: optional(number),
  createdAt: optional(instant),
  redriven: optional(number),
  group: optional(text),
  rank: optional(number),
  maxAttempts: optional(number),
  leaseTimeoutMs: optional(number),
});
const summaryField = word(...summaryFields);
const anyOf = object<AnyOf>({ by: summaryField, values: list(text) });
const filter = object<Filter>({
  kind: optional(text),
  reference: optional(text),
  originId: optional(text),
  originQueue: optional(text),
  death: optional(word("failed", "expired", "rejected")),
  reason: optional(text),
  attemptsMin: optional(number),
  createdBefore: optional(instant),
  redrivenMax: optional(number),
  payloadContains: optional(text),
  anyOf: optional(anyOf),
  group: optional(text),
});
const searched = {
  queue: text,
  partition: optional(nullable(number)),
  state: optional(nullable(word("ready", "leased", "scheduled"))),
  holder: optional(text),
  pivot: text,
  filter,
};
const requestKey = optional(text);
const task = {
  queue: text,
  ids: optional(list(text)),
  filter: optional(filter),
  limit: optional(number),
  perSecond: optional(number),
  dryRun: optional(flag),
  expect: optional(number),
  by: optional(text),
  requestKey,
};
const item = {
  payload,
  kind: optional(text),
  encoding: optional(text),
  reference: optional(text),
  enqueueAt: optional(nullable(instant)),
  headers: optional(headers),
  priority: optional(number),
  group: optional(text),
};
const held = { queue: text, partition: number, ids: list(text) };
const produceItem = object<api.ProduceItem>({
  ...item,
  uniqueKey: optional(text),
  maxAttempts: optional(number),
  leaseTimeoutMs: optional(number),
});
const retryItem = object<api.RetryItem>({
  id: text,
  retryAt: nullable(instant),
  retryAfterMs: optional(nullable(number)),
  dead: flag,
  reason: optional(text),
});
const requestTimeoutMs = optional(number);
const leaseTimeoutMs = optional(nullable(number));
const guard = { dryRun: optional(flag), expect: optional(number) };
const groupSettings = {
  grouped: optional(flag),
  groupLeasedMax: optional(number),
  groupRate: optional(text),
  groupWaitingMax: optional(number),
  groupOrder: optional(word("loose", "strict")),
  groupOnDead: optional(word("continue", "block")),
};
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
  waitingMax: optional(number),
  retryBackoff: optional(text),
  uniqueForMs: optional(number),
  uniqueForText: optional(text),
  priorityAgingMs: optional(number),
  priorityAgingText: optional(text),
  ...groupSettings,
};

/** By the name of the method. */
export const requests = {
  produce: object<api.ProduceRequest>({
    queue: text,
    requestTimeoutMs: number,
    items: list(produceItem),
    returnIds: optional(flag),
    requestKey,
  }),
  lease: object<api.LeaseRequest>({
    queue: text,
    clientId: text,
    batchSize: number,
    requestTimeoutMs: number,
    leaseTimeoutMs,
    priorityMin: optional(number),
    groupRuns: optional(flag),
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
  createQueue: object<api.NewQueue>({
    ...{ name: text, ...settings },
    deadQueue: optional(text),
    reference: optional(text),
    maxAttempts: optional(number),
    requestedPartitions: optional(number),
  }),
  updateQueue: object<api.QueueChange & api.Guard>({
    name: text,
    ...guard,
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
    waitingMax: optional(number),
    retryBackoff: optional(text),
    uniqueForMs: optional(number),
    uniqueForText: optional(text),
    priorityAgingMs: optional(number),
    priorityAgingText: optional(text),
    ...groupSettings,
  }),
  series: object<api.SeriesRequest>({
    queue: optional(text),
    shard: optional(number),
    names: list(word(...seriesNames, ...shardSeriesNames)),
    from: optional(instant),
    stepMs: optional(number),
  }),
  pause: object<api.PauseRequest>({
    queue: text,
    lease: optional(flag),
    produce: optional(flag),
    reason: optional(text),
    by: optional(text),
  }),
  deleteQueue: object<api.DeleteQueueRequest>({ name: text, force: flag, ...guard }),
  clear: object<api.ClearRequest>({
    queue: text,
    ready: flag,
    scheduled: flag,
    retried: flag,
    destructive: flag,
    ...guard,
  }),
  clients: object<{ queue: string; limit: number }>({ queue: text, limit: number }),
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
        past: optional(past),
      }),
    ),
    requestKey,
  }),
  listGroups: object<api.GroupListRequest>({
    queue: text,
    pivot: text,
    limit: number,
    blocked: optional(flag),
  }),
  setGroup: object<api.GroupChange>({
    queue: text,
    group: text,
    leasedMax: optional(number),
    rate: optional(text),
    weight: optional(number),
    paused: optional(flag),
    unblock: optional(flag),
  }),
  findItems: object<api.FindRequest>({
    ...searched,
    order: optional(word("newest")),
    limit: number,
    payloadHead: optional(number),
  }),
  advance: object<api.AdvanceOptions>({ handlerTimeoutMs: optional(number) }),
  payloadRange: object<api.PayloadRange>({
    payloadOffset: optional(number),
    payloadLimit: optional(number),
  }),
  redrive: object<api.RedriveRequest>({ ...task, to: optional(text) }),
  repair: object<api.RepairRequest>({
    ...task,
    action: word("promote", "reject", "retry", "prioritize", "delete"),
    state: optional(nullable(word("ready", "leased", "scheduled"))),
    holder: optional(text),
    reason: optional(text),
    priority: optional(number),
  }),
  summarizeItems: object<api.SummarizeRequest>({
    ...searched,
    by: summaryField,
    top: optional(number),
  }),
  deleteItems: object<api.DeleteItemsRequest>({ ...held, ...guard }),
  cancelItems: object<api.CancelItemsRequest>({
    queue: text,
    ids: list(text),
    requestTimeoutMs,
    requestKey,
  }),
};
