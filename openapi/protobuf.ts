// The protobuf form of the contract: a field number for each key, and the messages of
// each operation. The numbers are those that clients of the protocol use already, so
// none of them may ever change; those of keys that are Holdfast's own begin at 100.
// `proto-file.ts` writes them as a .proto file.

import type { TSchema } from "@sinclair/typebox";
import { bounds } from "./bounds.ts";
import type { ReplyCode } from "./codes.ts";
import type { OperationId } from "./operations.ts";
import * as schemas from "./schemas.ts";

/**
 * How a key's value crosses. `instant`: a `google.protobuf.Timestamp`. `duration`: text,
 * in replies in its canonical form. `reasons`: texts by text.
 */
export type Kind = "text" | "whole" | "flag" | "bytes" | "instant" | "duration" | "reasons";

export interface Field {
  readonly number: number;
  readonly kind: Kind | Message;
  readonly isList?: true;
  /** What a request says that leaves the field out; absent = nothing, as in JSON. */
  readonly unset?: string | number | boolean;
  /** Tells a zero that was sent from one that was not. */
  readonly hasPresence?: true;
  /** An instant that is not set is sent as the first of year one, not left out. */
  readonly isAlwaysSent?: true;
  /** What every reply has here, because JSON has no such key. */
  readonly constant?: string;
  /** Said of the field where the words for the key's JSON do not hold. */
  readonly says?: string;
}

export interface Message {
  readonly name: string;
  readonly schema: TSchema;
  /** By key, in the order of their numbers. */
  readonly fields: Readonly<Record<string, Field>>;
  /** Numbers that clients of the protocol send and that mean nothing here. */
  readonly reserved: readonly number[];
}

export interface OperationMessages {
  readonly request: Message;
  readonly reply: Message;
}

/** Of the keys of `T`, none may be left out. */
function message<T>(
  name: string,
  schema: TSchema,
  fields: { readonly [Key in keyof T]-?: Field },
  reserved: readonly number[] = [],
): Message {
  return { name, schema, fields, reserved };
}

type Options = Omit<Field, "number" | "kind">;

const text = (number: number, options: Options = {}): Field => ({
  number,
  kind: "text",
  ...options,
});
const whole = (number: number, options: Options = {}): Field => ({
  number,
  kind: "whole",
  ...options,
});
const flag = (number: number, options: Options = {}): Field => ({
  number,
  kind: "flag",
  ...options,
});
const instant = (number: number, options: Options = {}): Field => ({
  number,
  kind: "instant",
  ...options,
});
const duration = (number: number, options: Options = {}): Field => ({
  number,
  kind: "duration",
  ...options,
});
const payload = (number: number, says = "The payload."): Field => ({
  number,
  kind: "bytes",
  says,
});
const list = (number: number, kind: "text" | "whole" | Message): Field => ({
  number,
  kind,
  isList: true,
});

/** A key that JSON requires and protobuf leaves out when it is zero. */
const required = { unset: "" } as const;
const requiredWhole = { unset: 0 } as const;
const requiredFlag = { unset: false } as const;

const Reply = message<schemas.Reply>("Reply", schemas.Reply, {
  code: whole(1),
  code_text: text(2),
  message: text(3),
  details: { number: 4, kind: "reasons" },
  reason: text(100),
});

const ProduceReply = message<schemas.ProduceReply>("ProduceReply", schemas.ProduceReply, {
  code: whole(1),
  code_text: text(2),
  message: text(3),
  // Not the number of another key of `Reply`: clients may take it for one.
  duplicates: list(101, "whole"),
});

const ProduceItem = message<schemas.ProduceItem>("ProduceItem", schemas.ProduceItem, {
  encoding: text(1),
  kind: text(2),
  reference: text(3),
  enqueue_at: instant(4, { says: "Not offered before it. Not set, or past: offered at once." }),
  bytes: payload(5, "The payload. If `utf8` is given too, `bytes` wins and `utf8` is dropped."),
  utf8: text(6),
  unique_key: text(100),
});

const ProduceRequest = message<schemas.ProduceRequest>("ProduceRequest", schemas.ProduceRequest, {
  queue_name: text(1, required),
  request_timeout: duration(2, required),
  items: list(3, ProduceItem),
});

const ownRequestTimeout = { says: "How long the request may take. Not set: 5 minutes." };
const ownTimeout = "How long to hold the items. Not set: as long as the queue says.";

const LeaseRequest = message<schemas.LeaseRequest>("LeaseRequest", schemas.LeaseRequest, {
  queue_name: text(1, required),
  batch_size: whole(2),
  client_id: text(3, required),
  request_timeout: duration(4, required),
  lease_timeout: duration(100, { says: ownTimeout }),
});

const LeaseItem = message<schemas.LeaseItem>("LeaseItem", schemas.LeaseItem, {
  encoding: text(1),
  kind: text(2),
  reference: text(3),
  id: text(4),
  attempts: whole(5),
  lease_deadline: instant(6),
  bytes: payload(7, "The payload, however it was produced."),
});

const LeaseReply = message<schemas.LeaseReply>("LeaseReply", schemas.LeaseReply, {
  queue_name: text(1),
  partition: whole(2),
  items: list(3, LeaseItem),
  max_attempts: whole(100),
});

const ExtendRequest = message<schemas.ExtendRequest>("ExtendRequest", schemas.ExtendRequest, {
  queue_name: text(1, required),
  partition: whole(2, requiredWhole),
  ids: list(3, "text"),
  lease_timeout: duration(4, { says: ownTimeout }),
  request_timeout: duration(5, ownRequestTimeout),
});

const ExtendReply = message<schemas.ExtendReply>("ExtendReply", schemas.ExtendReply, {
  lease_deadline: instant(1),
});

const ReleaseRequest = message<schemas.ReleaseRequest>("ReleaseRequest", schemas.ReleaseRequest, {
  queue_name: text(1, required),
  partition: whole(2, requiredWhole),
  ids: list(3, "text"),
  request_timeout: duration(4, ownRequestTimeout),
});

const CompleteRequest = message<schemas.CompleteRequest>(
  "CompleteRequest",
  schemas.CompleteRequest,
  {
    queue_name: text(1, required),
    partition: whole(2, requiredWhole),
    request_timeout: duration(3, required),
    ids: list(4, "text"),
  },
);

const RetryItem = message<schemas.RetryItem>("RetryItem", schemas.RetryItem, {
  id: text(1, required),
  retry_at: instant(2, {
    says: "Not offered again before it. Not set, or past: it joins the tail at once.",
  }),
  dead: flag(3),
});

const RetryRequest = message<schemas.RetryRequest>("RetryRequest", schemas.RetryRequest, {
  queue_name: text(1, required),
  partition: whole(2, requiredWhole),
  items: list(3, RetryItem),
  request_timeout: duration(100, ownRequestTimeout),
});

const TransactComplete = message<schemas.TransactComplete>(
  "TransactComplete",
  schemas.TransactComplete,
  {
    queue_name: text(100, required),
    partition: whole(101, requiredWhole),
    ids: list(102, "text"),
  },
);

const TransactRetry = message<schemas.TransactRetry>("TransactRetry", schemas.TransactRetry, {
  queue_name: text(100, required),
  partition: whole(101, requiredWhole),
  items: list(102, RetryItem),
});

const TransactProduce = message<schemas.TransactProduce>(
  "TransactProduce",
  schemas.TransactProduce,
  { queue_name: text(100, required), items: list(101, ProduceItem) },
);

const TransactRequest = message<schemas.TransactRequest>(
  "TransactRequest",
  schemas.TransactRequest,
  {
    request_timeout: duration(100, required),
    complete: list(101, TransactComplete),
    retry: list(102, TransactRetry),
    produce: list(103, TransactProduce),
  },
);

const TransactProduced = message<schemas.TransactProduced>(
  "TransactProduced",
  schemas.TransactProduced,
  {
    queue_name: text(100),
    partition: whole(101),
    delivered: flag(102),
    duplicates: list(103, "whole"),
  },
);

const TransactReply = message<schemas.TransactReply>("TransactReply", schemas.TransactReply, {
  produced: list(101, TransactProduced),
});

/** The one namespace there is. */
const namespaceSays = "Empty or `_system`: there is no other namespace.";
const canonical = "in its canonical form, such as `1h0m0s`.";

const QueueInfo = message<schemas.QueueInfo & { namespace: string }>(
  "QueueInfo",
  schemas.QueueInfo,
  {
    queue_name: text(1),
    created_at: instant(2),
    updated_at: instant(3),
    dead_queue: text(4),
    reference: text(5),
    lease_timeout: duration(6, { says: `How long a consumer holds an item, ${canonical}` }),
    expire_timeout: duration(7, {
      says: `How long an item may wait before it moves to the dead queue, ${canonical}`,
    }),
    max_attempts: whole(8),
    requested_partitions: whole(9),
    namespace: text(11, { constant: "_system", says: "Always `_system`." }),
    lease_paused: flag(100),
    produce_paused: flag(101),
    pause_reason: text(102),
    leased_max: whole(103),
    lease_rate: text(104),
    unique_for: duration(105, { says: `For how long a \`unique_key\` is taken, ${canonical}` }),
  },
  [10],
);

const ignored = "Accepted, so that a reply can be sent back as it came, and ignored.";

const ignoredPause = {
  lease_paused: flag(100, { says: ignored }),
  produce_paused: flag(101, { says: ignored }),
  pause_reason: text(102, { says: ignored }),
};

const QueueCreateRequest = message<schemas.QueueCreateRequest>(
  "QueueCreateRequest",
  schemas.QueueCreateRequest,
  {
    queue_name: text(1, required),
    created_at: instant(2, { says: ignored }),
    updated_at: instant(3, { says: ignored }),
    dead_queue: text(4),
    reference: text(5),
    lease_timeout: duration(6, required),
    expire_timeout: duration(7, required),
    max_attempts: whole(8),
    requested_partitions: whole(9),
    namespace: text(11, { says: namespaceSays }),
    ...ignoredPause,
    leased_max: whole(103),
    lease_rate: text(104),
    unique_for: duration(105),
  },
  [10],
);

const keeps = "Not set: as it was.";

/**
 * Clients of the protocol send no zeros, so a setting whose zero means something is reset by a
 * message without it. The others have no zero, and stay.
 */
const QueueUpdateRequest = message<schemas.QueueUpdateRequest>(
  "QueueUpdateRequest",
  schemas.QueueUpdateRequest,
  {
    queue_name: text(1, required),
    created_at: instant(2, { says: ignored }),
    updated_at: instant(3, { says: ignored }),
    dead_queue: text(4, {
      ...required,
      says: "Name of the queue that takes failed and expired items. Not set: none.",
    }),
    reference: text(5, { ...required, says: "Free text for owner or metadata. Not set: empty." }),
    lease_timeout: duration(6, {
      hasPresence: true,
      says: `How long a consumer holds an item. ${keeps}`,
    }),
    expire_timeout: duration(7, { hasPresence: true, says: `How long an item may wait. ${keeps}` }),
    max_attempts: whole(8, {
      ...requiredWhole,
      says: "Leases granted before a retry or a lapse fails an item. Not set: no limit.",
    }),
    requested_partitions: whole(9, { hasPresence: true, says: `Partitions asked for. ${keeps}` }),
    namespace: text(11, { says: namespaceSays }),
    ...ignoredPause,
    leased_max: whole(103, { hasPresence: true }),
    lease_rate: text(104, { hasPresence: true }),
    unique_for: duration(105, { hasPresence: true }),
  },
  [10],
);

const QueuesListRequest = message<schemas.QueuesListRequest>(
  "QueuesListRequest",
  schemas.QueuesListRequest,
  {
    pivot: text(2, required),
    limit: whole(3, {
      unset: bounds.queuesListMax,
      says: `The most queues to return, ${bounds.queuesListMin} to ${bounds.queuesListMax}; not set: ${bounds.queuesListMax}.`,
    }),
    namespace: text(4, { says: namespaceSays }),
  },
  [1],
);

const QueuesListReply = message<schemas.QueuesListReply>(
  "QueuesListReply",
  schemas.QueuesListReply,
  { items: list(1, QueueInfo) },
);

const QueueInfoRequest = message<Pick<schemas.QueueInfoRequest, "queue_name">>(
  "QueueInfoRequest",
  schemas.QueueInfoRequest,
  { queue_name: text(1, { ...required, says: "Name of the queue." }) },
);

const QueueDeleteRequest = message<schemas.QueueDeleteRequest>(
  "QueueDeleteRequest",
  schemas.QueueDeleteRequest,
  { queue_name: text(1, required), force: flag(2, requiredFlag) },
);

const QueueStatsRequest = message<schemas.QueueStatsRequest>(
  "QueueStatsRequest",
  schemas.QueueStatsRequest,
  { queue_name: text(1, required) },
);

const PartitionStats = message<schemas.PartitionStats>("PartitionStats", schemas.PartitionStats, {
  partition: whole(1),
  total: whole(2),
  total_leased: whole(3),
  failures: whole(4),
  average_age: duration(5),
  average_leased_age: duration(6),
  scheduled: whole(7),
});

const LogicalQueueStats = message<schemas.LogicalQueueStats>(
  "LogicalQueueStats",
  schemas.LogicalQueueStats,
  {
    produce_waiting: whole(6),
    lease_waiting: whole(7),
    complete_waiting: whole(8),
    in_flight: whole(10),
    partitions: list(11, PartitionStats),
    average_leased_age: duration(12),
  },
);

const QueueStatsReply = message<schemas.QueueStatsReply>(
  "QueueStatsReply",
  schemas.QueueStatsReply,
  { queue_name: text(1), logical_queues: list(2, LogicalQueueStats) },
);

const InspectRequest = message<schemas.InspectRequest>("InspectRequest", schemas.InspectRequest, {
  queue_name: text(1, required),
});

const Inspect = message<schemas.Inspect>("Inspect", schemas.Inspect, {
  queue_name: text(1),
  partitions: whole(2),
  queued: whole(3),
  retried: whole(4),
  scheduled: whole(5),
  dead_letter: whole(6),
});

const QueuePauseRequest = message<schemas.QueuePauseRequest>(
  "QueuePauseRequest",
  schemas.QueuePauseRequest,
  {
    queue_name: text(1, required),
    lease: flag(2, { says: "Lease nothing. With neither this nor `produce`, leases are paused." }),
    produce: flag(3),
    reason: text(4),
  },
);

const QueueResumeRequest = message<schemas.QueueResumeRequest>(
  "QueueResumeRequest",
  schemas.QueueResumeRequest,
  { queue_name: text(1, required) },
);

const QueueClearRequest = message<schemas.QueueClearRequest>(
  "QueueClearRequest",
  schemas.QueueClearRequest,
  {
    queue_name: text(1, required),
    retry: flag(2, requiredFlag),
    scheduled: flag(3, requiredFlag),
    queue: flag(4, requiredFlag),
    destructive: flag(5, requiredFlag),
  },
);

const QueueReloadRequest = message<schemas.QueueReloadRequest>(
  "QueueReloadRequest",
  schemas.QueueReloadRequest,
  { queue_name: text(1, required) },
);

const ClockAdvanceRequest = message<schemas.ClockAdvanceRequest>(
  "ClockAdvanceRequest",
  schemas.ClockAdvanceRequest,
  { by: duration(100, required) },
);

const ClockAdvanceReply = message<schemas.ClockAdvanceReply>(
  "ClockAdvanceReply",
  schemas.ClockAdvanceReply,
  { now: instant(100) },
);

const NodesListRequest = message<schemas.NodesListRequest>(
  "NodesListRequest",
  schemas.NodesListRequest,
  {},
);

const NodeInfo = message<schemas.NodeInfo>("NodeInfo", schemas.NodeInfo, {
  url: text(100),
  version: text(101),
  started_at: instant(102),
  seen_at: instant(103),
  owner: flag(104),
  draining: flag(105),
  live: flag(106),
});

const NodesListReply = message<schemas.NodesListReply>("NodesListReply", schemas.NodesListReply, {
  items: list(100, NodeInfo),
  epoch: whole(101),
});

const StorageItem = message<schemas.StorageItem>("StorageItem", schemas.StorageItem, {
  id: text(1),
  source_id: text(2),
  is_leased: flag(3),
  lease_deadline: instant(4, {
    isAlwaysSent: true,
    says: "When its lease lapses; 0001-01-01T00:00:00Z when it is not leased.",
  }),
  expire_deadline: instant(5),
  dead_deadline: instant(6, {
    says: "When it would move to the dead queue; not set when its queue has none.",
  }),
  created_at: instant(7),
  updated_at: instant(8),
  enqueue_at: instant(9, { says: "When it is due; not set unless it is scheduled." }),
  attempts: whole(10),
  max_attempts: whole(11),
  reference: text(12),
  encoding: text(13),
  kind: text(14),
  payload: payload(15),
});

const StorageListRequest = message<schemas.StorageListRequest>(
  "StorageListRequest",
  schemas.StorageListRequest,
  {
    queue_name: text(1, required),
    partition: whole(2, requiredWhole),
    pivot: text(3, required),
    limit: whole(4, {
      unset: bounds.queuesListMax,
      says: `The most items to return, ${bounds.storageListMin} to ${bounds.storageListMax}; not set: ${bounds.queuesListMax}. A page ends early at 32 MB of payload.`,
    }),
  },
);

const StorageListReply = message<schemas.StorageItemsReply>(
  "StorageListReply",
  schemas.StorageItemsReply,
  { items: list(1, StorageItem) },
);

const ImportItem = message<schemas.ImportItem>("ImportItem", schemas.ImportItem, {
  id: text(1),
  source_id: text(2),
  is_leased: flag(3),
  lease_deadline: instant(4),
  expire_deadline: instant(5, { says: "When it expires. Not set: as if it were produced now." }),
  dead_deadline: instant(6, { says: ignored }),
  created_at: instant(7, { says: "When it was first produced. Not set: now." }),
  updated_at: instant(8, { says: ignored }),
  enqueue_at: instant(9, { says: "Not offered before it. Not set, or past: offered at once." }),
  attempts: whole(10),
  max_attempts: whole(11),
  reference: text(12),
  encoding: text(13),
  kind: text(14),
  payload: payload(15),
});

const StorageImportRequest = message<schemas.StorageImportRequest>(
  "StorageImportRequest",
  schemas.StorageImportRequest,
  {
    queue_name: text(1, required),
    partition: whole(2, requiredWhole),
    items: list(3, ImportItem),
  },
);

const StorageImportReply = message<schemas.StorageItemsReply>(
  "StorageImportReply",
  schemas.StorageItemsReply,
  { items: list(2, StorageItem) },
);

const StorageDeleteRequest = message<schemas.StorageDeleteRequest>(
  "StorageDeleteRequest",
  schemas.StorageDeleteRequest,
  {
    queue_name: text(1, required),
    partition: whole(2, requiredWhole),
    ids: list(3, "text"),
  },
);

/** What a refusal is, whatever was asked. */
export const replyMessage = Reply;

/**
 * Codes whose message is sent as plain text: clients of the protocol take them for a proxy's,
 * and show the body as it came.
 */
export const textCodes: ReadonlySet<number> = new Set<ReplyCode>([413, 503, 504]);

export const operationMessages: { readonly [Id in OperationId]: OperationMessages } = {
  produce: { request: ProduceRequest, reply: ProduceReply },
  lease: { request: LeaseRequest, reply: LeaseReply },
  retry: { request: RetryRequest, reply: Reply },
  complete: { request: CompleteRequest, reply: Reply },
  extend: { request: ExtendRequest, reply: ExtendReply },
  release: { request: ReleaseRequest, reply: Reply },
  transact: { request: TransactRequest, reply: TransactReply },
  listQueues: { request: QueuesListRequest, reply: QueuesListReply },
  createQueue: { request: QueueCreateRequest, reply: Reply },
  updateQueue: { request: QueueUpdateRequest, reply: Reply },
  queueInfo: { request: QueueInfoRequest, reply: QueueInfo },
  deleteQueue: { request: QueueDeleteRequest, reply: Reply },
  stats: { request: QueueStatsRequest, reply: QueueStatsReply },
  inspect: { request: InspectRequest, reply: Inspect },
  pause: { request: QueuePauseRequest, reply: Reply },
  resume: { request: QueueResumeRequest, reply: Reply },
  clear: { request: QueueClearRequest, reply: Reply },
  reload: { request: QueueReloadRequest, reply: Reply },
  advance: { request: ClockAdvanceRequest, reply: ClockAdvanceReply },
  listNodes: { request: NodesListRequest, reply: NodesListReply },
  listItems: { request: StorageListRequest, reply: StorageListReply },
  listScheduled: { request: StorageListRequest, reply: StorageListReply },
  importItems: { request: StorageImportRequest, reply: StorageImportReply },
  deleteItems: { request: StorageDeleteRequest, reply: Reply },
};
