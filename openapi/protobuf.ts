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
 * How a key's value crosses. `long`: a whole number that may be beyond 32 bits. `instant`: a
 * `google.protobuf.Timestamp`. `duration`: text, in replies in its canonical form. `texts`: texts
 * by text.
 */
export type Kind = "text" | "whole" | "long" | "flag" | "bytes" | "instant" | "duration" | "texts";

export interface Field {
  readonly number: number;
  readonly kind: Kind | Message;
  readonly isList?: true;
  /** What a request says that leaves the field out; absent = nothing, as in JSON. */
  readonly unset?: string | number | boolean;
  /** Tells a zero that was sent from one that was not; of a list, that none of it was sent. */
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
const long = (number: number, options: Options = {}): Field => ({
  number,
  kind: "long",
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
const texts = (number: number): Field => ({ number, kind: "texts" });
const list = (
  number: number,
  kind: "text" | "whole" | "long" | Message,
  options: Options = {},
): Field => ({
  number,
  kind,
  isList: true,
  ...options,
});

/** One message; the words of its own schema are said of it, unless others are. */
const one = (number: number, kind: Message, says = String(kind.schema["description"])): Field => ({
  number,
  kind,
  says,
});

/** Not set is not the same as zero. */
const optional = { hasPresence: true } as const;

/** A key that JSON requires and protobuf leaves out when it is zero. */
const required = { unset: "" } as const;
const requiredWhole = { unset: 0 } as const;
const requiredFlag = { unset: false } as const;

const Reply = message<schemas.Reply>("Reply", schemas.Reply, {
  code: whole(1),
  code_text: text(2),
  message: text(3),
  details: texts(4),
  reason: text(100),
});

const ProduceReply = message<schemas.ProduceReply>("ProduceReply", schemas.ProduceReply, {
  code: whole(1),
  code_text: text(2),
  message: text(3),
  // Not the number of another key of `Reply`: clients may take it for one.
  duplicates: list(101, "whole"),
  ids: list(102, "text"),
});

/** What goes along with an item for its life. */
const carried = {
  headers: texts(100),
  origin_id: text(101),
  reason: text(102),
  death: text(103),
  origin_queue: text(104),
  origin_attempts: whole(105),
  origin_created_at: instant(106),
  redriven: whole(107),
};

const ProduceItem = message<schemas.ProduceItem>("ProduceItem", schemas.ProduceItem, {
  encoding: text(1),
  kind: text(2),
  reference: text(3),
  enqueue_at: instant(4, { says: "Not offered before it. Not set, or past: offered at once." }),
  bytes: payload(5, "The payload. If `utf8` is given too, `bytes` wins and `utf8` is dropped."),
  utf8: text(6),
  unique_key: text(100),
  headers: texts(101),
});

const ProduceRequest = message<schemas.ProduceRequest>("ProduceRequest", schemas.ProduceRequest, {
  queue_name: text(1, required),
  request_timeout: duration(2, required),
  items: list(3, ProduceItem),
  return_ids: flag(100),
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
  ...carried,
});

const LeaseReply = message<schemas.LeaseReply>("LeaseReply", schemas.LeaseReply, {
  queue_name: text(1),
  partition: whole(2),
  items: list(3, LeaseItem),
  max_attempts: whole(100),
  now: instant(101),
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
  now: instant(2),
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
  reason: text(100),
  retry_after: duration(101, {
    says: "Not offered again for so long. Not set: `retry_at` says when.",
  }),
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

/** The numbers are those that all guarded calls share. */
const guard = {
  dry_run: flag(110),
  expect: whole(111, {
    hasPresence: true,
    says: "How many items may be removed at most; where it would be more, nothing is and the call is answered 453. Not set: any number.",
  }),
};

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
    ...guard,
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
  { items: list(1, QueueInfo), unreached: list(100, "whole") },
);

const QueueInfoRequest = message<Pick<schemas.QueueInfoRequest, "queue_name">>(
  "QueueInfoRequest",
  schemas.QueueInfoRequest,
  { queue_name: text(1, { ...required, says: "Name of the queue." }) },
);

const QueueDeleteRequest = message<schemas.QueueDeleteRequest>(
  "QueueDeleteRequest",
  schemas.QueueDeleteRequest,
  { queue_name: text(1, required), force: flag(2, requiredFlag), ...guard },
);

const QueueStatsRequest = message<schemas.QueueStatsRequest>(
  "QueueStatsRequest",
  schemas.QueueStatsRequest,
  { queue_name: text(1, required), columns: flag(100) },
);

const PartitionColumns = message<schemas.PartitionColumns>(
  "PartitionColumns",
  schemas.PartitionColumns,
  {
    partition: list(100, "whole"),
    total: list(101, "whole"),
    total_leased: list(102, "whole"),
    scheduled: list(103, "whole"),
    failures: list(104, "whole"),
    average_age_seconds: list(105, "whole"),
    average_leased_age_seconds: list(106, "whole"),
  },
);

const PartitionStats = message<schemas.PartitionStats>("PartitionStats", schemas.PartitionStats, {
  partition: whole(1),
  total: whole(2),
  total_leased: whole(3),
  failures: whole(4),
  average_age: duration(5),
  average_leased_age: duration(6),
  scheduled: whole(7),
  oldest_ready_at: instant(100, {
    says: "Since when its oldest ready item has been ready, or a little before. Not set: none is.",
  }),
  next_due_at: instant(101, {
    says: "When its first scheduled item is due, or a little before. Not set: none is scheduled.",
  }),
});

const QueueCounters = message<schemas.QueueCounters>("QueueCounters", schemas.QueueCounters, {
  produced: long(100),
  leased: long(101),
  completed: long(102),
  retried: long(103),
  released: long(104),
  extended: long(105),
  lapsed: long(106),
  expired: long(107),
  dead: long(108),
  discarded: long(109),
  removed: long(110),
  arrived: long(111),
  redriven: long(112),
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
    counters: { number: 100, kind: QueueCounters },
    columns: { number: 101, kind: PartitionColumns, says: "Set where `columns` were asked for." },
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
  leased: whole(100),
});

const ItemCounts = message<schemas.ItemCounts>("ItemCounts", schemas.ItemCounts, {
  ready: whole(100),
  leased: whole(101),
  scheduled: whole(102),
  retried: whole(103),
});

const GuardedReply = message<schemas.GuardedReply>("GuardedReply", schemas.GuardedReply, {
  code: whole(1),
  code_text: text(2),
  message: text(3),
  // Not the numbers of other keys of `Reply`.
  counts: { number: 101, kind: ItemCounts, says: "What was removed, or would be." },
  waiting_leases: whole(102),
  dependents: list(103, "text"),
});

const QueueExplainRequest = message<schemas.QueueExplainRequest>(
  "QueueExplainRequest",
  schemas.QueueExplainRequest,
  { queue_name: text(100, required) },
);

const Finding = message<schemas.Finding>("Finding", schemas.Finding, {
  what: text(100),
  since: instant(101),
  count: whole(102),
  next_at: instant(103, { says: "When time alone may change it. Not set: it does not." }),
  text: text(104),
});

const QueueExplainReply = message<schemas.QueueExplainReply>(
  "QueueExplainReply",
  schemas.QueueExplainReply,
  {
    queue_name: text(100),
    as_of: instant(101),
    health: text(102),
    findings: list(103, Finding),
  },
);

const QueueClientsRequest = message<schemas.QueueClientsRequest>(
  "QueueClientsRequest",
  schemas.QueueClientsRequest,
  { queue_name: text(100, required), limit: whole(101) },
);

const AskingClient = message<schemas.AskingClient>("AskingClient", schemas.AskingClient, {
  client_id: text(100),
  since: instant(101),
  batch_size: whole(102),
  place: whole(103),
});

const HoldingClient = message<schemas.HoldingClient>("HoldingClient", schemas.HoldingClient, {
  client_id: text(100, { says: "As it named itself. Not set: not known." }),
  items: whole(101),
  partitions: list(102, "whole"),
  next_lapse_at: instant(103),
});

const QueueClientsReply = message<schemas.QueueClientsReply>(
  "QueueClientsReply",
  schemas.QueueClientsReply,
  {
    queue_name: text(100),
    as_of: instant(101),
    asking_count: whole(102),
    asking: list(103, AskingClient),
    holding_count: whole(104),
    holding: list(105, HoldingClient),
    partial: flag(106),
  },
);

const ServerOverviewRequest = message<schemas.ServerOverviewRequest>(
  "ServerOverviewRequest",
  schemas.ServerOverviewRequest,
  {
    since: text(100, {
      says: "The `since` of an earlier reply: only queues that have changed come then. Not set: all.",
    }),
  },
);

const OverviewTotals = message<schemas.OverviewTotals>("OverviewTotals", schemas.OverviewTotals, {
  queues: whole(100),
  ready: long(101),
  leased: long(102),
  scheduled: long(103),
  waiting_leases: long(104),
  produced_total: long(107),
  leased_total: long(108),
  completed_total: long(109),
  retried_total: long(110),
  released_total: long(111),
  extended_total: long(112),
  lapsed_total: long(113),
  expired_total: long(114),
  dead_total: long(115),
  discarded_total: long(116),
  removed_total: long(117),
  arrived_total: long(118),
  redriven_total: long(119),
});

const OverviewQueues = message<schemas.OverviewQueues>("OverviewQueues", schemas.OverviewQueues, {
  queue_name: list(119, "text"),
  health: list(120, "text"),
  health_count: list(121, "long"),
  health_since_ms: list(100, "long"),
  next_at_ms: list(118, "long"),
  ready: list(101, "long"),
  leased: list(102, "long"),
  scheduled: list(103, "long"),
  waiting_leases: list(104, "long"),
  oldest_ready_at_ms: list(105, "long"),
  next_due_at_ms: list(106, "long"),
  produced_total: list(107, "long"),
  leased_total: list(108, "long"),
  completed_total: list(109, "long"),
  retried_total: list(110, "long"),
  released_total: list(111, "long"),
  extended_total: list(112, "long"),
  lapsed_total: list(113, "long"),
  expired_total: list(114, "long"),
  dead_total: list(115, "long"),
  discarded_total: list(116, "long"),
  removed_total: list(117, "long"),
  arrived_total: list(122, "long"),
  redriven_total: list(123, "long"),
  paused_since_ms: list(124, "long"),
  shard: list(125, "whole"),
});

const OverviewShard = message<schemas.OverviewShard>("OverviewShard", schemas.OverviewShard, {
  shard: whole(100),
  state: text(101),
  since: instant(102, { says: "Since when it is full or down. Not set: it is up." }),
  commit_p50_us: whole(103),
  commit_p99_us: whole(104),
  waiting: whole(105),
  restarts: whole(106),
  failures: whole(107),
  quarantined: whole(108),
  miscounted: whole(109),
  log_bytes: long(110),
  file_bytes: long(111),
  items_per_second: whole(112),
});

const OverviewAlarm = message<schemas.OverviewAlarm>("OverviewAlarm", schemas.OverviewAlarm, {
  what: text(100),
  since: instant(101, { says: "When it began. Not set: not known." }),
  count: long(102),
  queue_name: text(103, { says: "The queue. Not set: it is of no queue." }),
  shard: whole(104),
  text: text(105),
});

const OverviewMachine = message<schemas.OverviewMachine>(
  "OverviewMachine",
  schemas.OverviewMachine,
  {
    name: text(100),
    version: text(101),
    started_at: instant(102),
    disk_bytes: long(103),
    disk_free_bytes: long(104),
    last_backup_at: instant(105, { says: "Of the newest backup. Not set: there is none." }),
    store: text(106),
    memory_bytes: long(107),
  },
);

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
    ...guard,
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
  {
    by: duration(100, required),
    handler_timeout: duration(101, {
      says: "How long workers have at each instant. Not set: they are not waited for.",
    }),
  },
);

const ClockAdvanceReply = message<schemas.ClockAdvanceReply>(
  "ClockAdvanceReply",
  schemas.ClockAdvanceReply,
  { now: instant(100) },
);

const ServerSeriesRequest = message<schemas.ServerSeriesRequest>(
  "ServerSeriesRequest",
  schemas.ServerSeriesRequest,
  {
    queue_name: text(100),
    names: list(101, "text"),
    from: instant(102, { says: "From when on to tell. Not set: as far back as there are points." }),
    step: duration(103, {
      says: "From one point to the next: `10s`, kept for an hour, or `1m`, kept for a day.",
    }),
    shard: whole(104, {
      ...optional,
      says: "Which shard, in the place of a queue. Not set: none.",
    }),
  },
);

const NamedSeries = message<schemas.NamedSeries>("NamedSeries", schemas.NamedSeries, {
  name: text(100),
  values: list(101, "long"),
});

const ServerSeriesReply = message<schemas.ServerSeriesReply>(
  "ServerSeriesReply",
  schemas.ServerSeriesReply,
  {
    queue_name: text(100),
    since: instant(101, { says: "From when on points are kept. Not set: none are." }),
    from: instant(102),
    step: duration(103),
    series: list(104, NamedSeries),
    shard: whole(105),
  },
);

const NodesListRequest = message<schemas.NodesListRequest>(
  "NodesListRequest",
  schemas.NodesListRequest,
  {},
);

const NodesDrainRequest = message<schemas.NodesDrainRequest>(
  "NodesDrainRequest",
  schemas.NodesDrainRequest,
  {
    url: text(100, required),
    draining: flag(101, {
      hasPresence: true,
      says: "Not set: it is to drain. False: it takes shards again.",
    }),
  },
);

const NodeInfo = message<schemas.NodeInfo>("NodeInfo", schemas.NodeInfo, {
  url: text(100),
  version: text(101),
  started_at: instant(102),
  seen_at: instant(103),
  shards: list(104, "whole"),
  draining: flag(105),
  live: flag(106),
});

const ShardOwner = message<schemas.ShardOwner>("ShardOwner", schemas.ShardOwner, {
  shard: whole(100),
  node: text(101),
  epoch: whole(102),
  taken_at: instant(103, { says: "Of the last takeover. Not set: there was none." }),
});

const NodesListReply = message<schemas.NodesListReply>("NodesListReply", schemas.NodesListReply, {
  items: list(100, NodeInfo),
  shards: list(101, ShardOwner),
});

const ConfirmLossRequest = message<schemas.ConfirmLossRequest>(
  "ConfirmLossRequest",
  schemas.ConfirmLossRequest,
  {
    expect: whole(100, {
      hasPresence: true,
      says: "How many commits may be confirmed at most; where it would be more, none is and the call is answered 453. Not set: any number.",
    }),
  },
);

const ConfirmLossReply = message<schemas.ConfirmLossReply>(
  "ConfirmLossReply",
  schemas.ConfirmLossReply,
  { lost_commits: whole(100) },
);

const WhoAmIRequest = message<schemas.WhoAmIRequest>("WhoAmIRequest", schemas.WhoAmIRequest, {});

const KeyRight = message<schemas.KeyRight>("KeyRight", schemas.KeyRight, {
  roles: list(100, "text"),
  queues: list(101, "text"),
});

const WhoAmIReply = message<schemas.WhoAmIReply>("WhoAmIReply", schemas.WhoAmIReply, {
  name: text(100),
  roles: list(101, "text"),
  queues: list(102, "text"),
  keys_required: flag(103),
  rights: list(104, KeyRight),
});

const KeysListRequest = message<schemas.KeysListRequest>(
  "KeysListRequest",
  schemas.KeysListRequest,
  {},
);

const KeyInfo = message<schemas.KeyInfo>("KeyInfo", schemas.KeyInfo, {
  digest: text(100),
  name: text(101),
  roles: list(102, "text"),
  queues: list(103, "text"),
  last_used_at: instant(104, {
    says: "When it made its last call, to the second; not set: none since the process started.",
  }),
  refusals: whole(105),
  rights: list(106, KeyRight),
});

const KeysListReply = message<schemas.KeysListReply>("KeysListReply", schemas.KeysListReply, {
  items: list(100, KeyInfo),
});

const ActionsListRequest = message<schemas.ActionsListRequest>(
  "ActionsListRequest",
  schemas.ActionsListRequest,
  {
    limit: whole(100, requiredWhole),
    pivot: whole(101),
    queue_name: text(102),
  },
);

const Action = message<schemas.Action>("Action", schemas.Action, {
  id: whole(100),
  at: instant(101),
  key_name: text(102),
  operation: text(103),
  queue_name: text(104),
  items: whole(105),
  code: whole(106),
  to_queues: list(107, "text"),
});

const ActionsListReply = message<schemas.ActionsListReply>(
  "ActionsListReply",
  schemas.ActionsListReply,
  { items: list(100, Action), since: instant(101), unreached: list(102, "whole") },
);

const storageItem = {
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
  ...carried,
};

const StorageItem = message<schemas.StorageItem>("StorageItem", schemas.StorageItem, storageItem);

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

const InGroups = message<schemas.InGroups>("InGroups", schemas.InGroups, {
  by: text(100, required),
  values: list(101, "text"),
});

const ItemFilter = message<schemas.ItemFilter>("ItemFilter", schemas.ItemFilter, {
  kind: text(100, optional),
  reference: text(101, optional),
  origin_id: text(102, optional),
  origin_queue: text(103, optional),
  death: text(104),
  reason: text(105, optional),
  attempts_min: whole(106),
  created_before: instant(107, { says: "When it was produced before; not set: at any time." }),
  redriven_max: whole(108, optional),
  payload_contains: text(109),
  groups: one(110, InGroups),
});

const stateSays = { says: "`ready`, `leased` or `scheduled`; empty: all." };
const pivotSays = { says: "The `next_pivot` of the page before; empty: from the start." };

const FindItemsRequest = message<schemas.FindItemsRequest>(
  "FindItemsRequest",
  schemas.FindItemsRequest,
  {
    queue_name: text(100, required),
    partition: whole(101, { ...optional, says: "This partition alone. Not set: all." }),
    state: text(102, stateSays),
    filter: one(103, ItemFilter),
    pivot: text(104, pivotSays),
    limit: whole(105, { unset: 100 }),
    payload_head: whole(106),
    holder: text(107),
    order: text(108, { says: "`newest`: those that came last come first; empty: by partition." }),
  },
);

const found = {
  looked_at: whole(101),
  next_pivot: text(102),
};

const FoundItem = message<schemas.FoundItem>("FoundItem", schemas.FoundItem, {
  ...storageItem,
  queue_name: text(110),
  partition: whole(111),
  state: text(112),
  payload_bytes: whole(113),
  holder: text(114),
});

const FindItemsReply = message<schemas.FindItemsReply>("FindItemsReply", schemas.FindItemsReply, {
  items: list(100, FoundItem),
  ...found,
});

const GroupItemsRequest = message<schemas.GroupItemsRequest>(
  "GroupItemsRequest",
  schemas.GroupItemsRequest,
  {
    queue_name: text(100, required),
    by: text(101, required),
    partition: whole(102, { ...optional, says: "This partition alone. Not set: all." }),
    state: text(103, stateSays),
    filter: one(104, ItemFilter),
    pivot: text(105, pivotSays),
    holder: text(106),
    top: whole(107, { ...optional, says: "The most groups to return. Not set: all." }),
  },
);

const ItemGroup = message<schemas.ItemGroup>("ItemGroup", schemas.ItemGroup, {
  value: text(100),
  count: whole(101),
  first_at: instant(102),
  last_at: instant(103),
  sample_id: text(104),
});

const GroupItemsReply = message<schemas.GroupItemsReply>(
  "GroupItemsReply",
  schemas.GroupItemsReply,
  { groups: list(100, ItemGroup), ...found, other_items: whole(103) },
);

const GetItemRequest = message<schemas.GetItemRequest>("GetItemRequest", schemas.GetItemRequest, {
  id: text(100, required),
  payload_from: whole(101),
  payload_limit: whole(102, {
    ...optional,
    says: "The most bytes of its payload to return. Not set: all that follow.",
  }),
});

const ExplainItemRequest = message<schemas.ExplainItemRequest>(
  "ExplainItemRequest",
  schemas.ExplainItemRequest,
  { id: text(100, required) },
);

const ItemEvent = message<schemas.ItemEvent>("ItemEvent", schemas.ItemEvent, {
  at: instant(100),
  what: text(101),
  id: text(102),
  queue_name: text(103),
  partition: whole(104, {
    ...optional,
    says: "Where it was. Not set: that is not there any more.",
  }),
  by: text(105),
});

const ItemExplained = message<schemas.ItemExplained>("ItemExplained", schemas.ItemExplained, {
  id: text(100),
  item: one(101, FoundItem, "The item as it is now, without its payload; not set: it is nowhere."),
  ahead: whole(102),
  ahead_is_all: flag(103),
  why: list(104, "text"),
  history: list(105, ItemEvent),
  history_since: instant(106, {
    says: "Nothing that happened from then on is missing. Not set: nothing is kept.",
  }),
});

const RedriveRequest = message<schemas.RedriveRequest>("RedriveRequest", schemas.RedriveRequest, {
  queue_name: text(100, required),
  to: text(101),
  ids: list(102, "text", optional),
  filter: one(103, ItemFilter),
  limit: whole(104),
  per_second: whole(105),
  dry_run: flag(106),
  expect: whole(107, optional),
});

const RepairRequest = message<schemas.RepairRequest>("RepairRequest", schemas.RepairRequest, {
  queue_name: text(100, required),
  action: text(101, required),
  state: text(102, optional),
  reason: text(103, optional),
  ids: list(104, "text", optional),
  filter: one(105, ItemFilter),
  limit: whole(106),
  per_second: whole(107),
  dry_run: flag(108),
  expect: whole(109, optional),
  holder: text(110),
});

const Destination = message<schemas.Destination>("Destination", schemas.Destination, {
  queue_name: text(100),
  count: whole(101),
});

const TaskBegun = message<schemas.TaskBegun>("TaskBegun", schemas.TaskBegun, {
  task_id: text(100),
  matched: whole(101),
  destinations: list(102, Destination),
});

const TaskInfo = message<schemas.TaskInfo>("TaskInfo", schemas.TaskInfo, {
  task_id: text(100),
  state: text(101),
  queue_name: text(102),
  to: text(103),
  filter: one(104, ItemFilter),
  per_second: whole(105),
  matched: whole(106),
  moved: whole(107),
  skipped: whole(108),
  created_at: instant(109),
  ended_at: instant(110, { says: "When it ended; not set while it runs." }),
  action: text(111),
  by: text(112),
  holder: text(113),
});

const TasksListRequest = message<schemas.TasksListRequest>(
  "TasksListRequest",
  schemas.TasksListRequest,
  { queue_name: text(100) },
);

const TasksListReply = message<schemas.TasksListReply>("TasksListReply", schemas.TasksListReply, {
  tasks: list(100, TaskInfo),
  unreached: list(101, "whole"),
});

const ServerOverviewReply = message<schemas.ServerOverviewReply>(
  "ServerOverviewReply",
  schemas.ServerOverviewReply,
  {
    now: instant(100),
    as_of: instant(101),
    since: text(102),
    whole: flag(103),
    poll_after_ms: whole(104),
    totals: { number: 105, kind: OverviewTotals, says: "All queues together." },
    queues: { number: 106, kind: OverviewQueues, says: "Queues, as columns." },
    removed: list(107, "text"),
    shards: list(108, OverviewShard),
    alarms: list(109, OverviewAlarm),
    machine: { number: 110, kind: OverviewMachine, says: "The machine of the server." },
    tasks: list(111, TaskInfo),
    machine_now: instant(112),
    unreached: list(113, "whole"),
  },
);

const TaskRequest = message<schemas.TaskRequest>("TaskRequest", schemas.TaskRequest, {
  task_id: text(100, required),
});

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
  ...carried,
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
    ...guard,
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
  updateQueue: { request: QueueUpdateRequest, reply: GuardedReply },
  queueInfo: { request: QueueInfoRequest, reply: QueueInfo },
  deleteQueue: { request: QueueDeleteRequest, reply: GuardedReply },
  stats: { request: QueueStatsRequest, reply: QueueStatsReply },
  inspect: { request: InspectRequest, reply: Inspect },
  explain: { request: QueueExplainRequest, reply: QueueExplainReply },
  clients: { request: QueueClientsRequest, reply: QueueClientsReply },
  overview: { request: ServerOverviewRequest, reply: ServerOverviewReply },
  pause: { request: QueuePauseRequest, reply: Reply },
  resume: { request: QueueResumeRequest, reply: Reply },
  clear: { request: QueueClearRequest, reply: GuardedReply },
  reload: { request: QueueReloadRequest, reply: Reply },
  advance: { request: ClockAdvanceRequest, reply: ClockAdvanceReply },
  series: { request: ServerSeriesRequest, reply: ServerSeriesReply },
  listNodes: { request: NodesListRequest, reply: NodesListReply },
  drainNode: { request: NodesDrainRequest, reply: NodeInfo },
  confirmLoss: { request: ConfirmLossRequest, reply: ConfirmLossReply },
  whoAmI: { request: WhoAmIRequest, reply: WhoAmIReply },
  listKeys: { request: KeysListRequest, reply: KeysListReply },
  listActions: { request: ActionsListRequest, reply: ActionsListReply },
  listItems: { request: StorageListRequest, reply: StorageListReply },
  listScheduled: { request: StorageListRequest, reply: StorageListReply },
  findItems: { request: FindItemsRequest, reply: FindItemsReply },
  groupItems: { request: GroupItemsRequest, reply: GroupItemsReply },
  getItem: { request: GetItemRequest, reply: FoundItem },
  explainItem: { request: ExplainItemRequest, reply: ItemExplained },
  redrive: { request: RedriveRequest, reply: TaskBegun },
  repair: { request: RepairRequest, reply: TaskBegun },
  listTasks: { request: TasksListRequest, reply: TasksListReply },
  taskInfo: { request: TaskRequest, reply: TaskInfo },
  cancelTask: { request: TaskRequest, reply: TaskInfo },
  importItems: { request: StorageImportRequest, reply: StorageImportReply },
  deleteItems: { request: StorageDeleteRequest, reply: GuardedReply },
};
