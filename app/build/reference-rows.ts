// The tables of the documentation that come from the server's own constants, so
// that the two cannot tell different things.

import { limits as engineLimits } from "../../engine/limits.ts";
import { bounds } from "../../openapi/bounds.ts";
import { replyCodes } from "../../openapi/codes.ts";
import { reasons } from "../../openapi/reasons.ts";
import { configReference } from "../../server/config.ts";

export interface SettingRow {
  readonly flag: string;
  readonly env: string;
  readonly key: string;
  readonly default: string;
  readonly values: string;
  readonly meaning: string;
}

export interface LimitRow {
  readonly id: string;
  readonly what: string;
  readonly value: string;
}

export interface CodeRow {
  readonly code: string;
  readonly text: string;
  readonly meaning: string;
  readonly reaction: string;
}

export interface ReasonRow {
  readonly reason: string;
  readonly codes: string;
  readonly meaning: string;
}

const settings: readonly SettingRow[] = configReference();

const codes: readonly CodeRow[] = Object.entries(replyCodes).map(
  ([code, { text, meaning, reaction }]) => ({ code, text, meaning, reaction }),
);

const reasonRows: readonly ReasonRow[] = Object.entries(reasons).map(
  ([reason, { codes: its, meaning }]) => ({ reason, codes: its.join(", "), meaning }),
);

function count(value: number): string {
  return value.toLocaleString("en-US");
}

const sizeUnits = [
  ["GB", 1_000_000_000],
  ["GiB", 1024 ** 3],
  ["MB", 1_000_000],
  ["MiB", 1024 ** 2],
  ["kB", 1_000],
  ["KiB", 1024],
] as const;

/** In the largest unit that says it exactly. */
function size(bytes: number): string {
  const [unit, unitBytes] = sizeUnits.find(([, each]) => bytes % each === 0) ?? ["bytes", 1];
  return `${count(bytes / unitBytes)} ${unit}`;
}

function range(min: number, max: number): string {
  return `${count(min)} to ${count(max)}`;
}

function row(id: string, what: string, value: string): LimitRow {
  return { id, what, value };
}

const limits: readonly LimitRow[] = [
  row(
    "produce-items",
    "Items in one produce",
    range(bounds.produceItemsMin, bounds.produceItemsMax),
  ),
  row(
    "lease-batch",
    "`batch_size` of one lease",
    range(bounds.leaseBatchMin, bounds.leaseBatchMax),
  ),
  row("complete-ids", "Ids in one complete", range(bounds.completeIdsMin, bounds.completeIdsMax)),
  row("retry-items", "Items in one retry", range(bounds.retryItemsMin, bounds.retryItemsMax)),
  row(
    "queues-list",
    "`limit` of a list of queues",
    range(bounds.queuesListMin, bounds.queuesListMax),
  ),
  row(
    "storage-list",
    "`limit` of a list of stored items",
    range(bounds.storageListMin, bounds.storageListMax),
  ),
  row("storage-bytes", "Payload of one page of stored items", size(bounds.storageListBytesMax)),
  row(
    "request-timeout",
    "`request_timeout`",
    `${bounds.requestTimeoutMsMin} ms to ${bounds.requestTimeoutMsMax / 60_000} minutes`,
  ),
  row(
    "produce-timeout",
    "`request_timeout` of produce, as clients send it",
    bounds.produceRequestTimeoutDefault,
  ),
  row(
    "lease-timeout",
    "`request_timeout` of lease, as clients send it",
    bounds.leaseRequestTimeoutDefault,
  ),
  row("queue-name", "Length of a queue's name", size(bounds.queueNameBytesMax)),
  row("dead-queue", "Length of a dead queue's name", size(bounds.deadQueueBytesMax)),
  row("reference", "Length of a queue's `reference`", size(bounds.queueReferenceBytesMax)),
  row("duration-text", "Length of a duration's text", `${bounds.durationTextMax} characters`),
  row(
    "max-attempts",
    "`max_attempts`; 0 means without end",
    range(bounds.maxAttemptsMin, bounds.maxAttemptsMax),
  ),
  row("partitions", "Partitions of one queue", range(bounds.partitionsMin, bounds.partitionsMax)),
  row("queues", "Queues of one server", count(bounds.queuesMax)),
  row("produce-body", "Size of a produce request", size(bounds.produceBodyBytesMax)),
  row("import-body", "Size of an import request", size(bounds.importBodyBytesMax)),
  row("body", "Size of any other request", size(bounds.bodyBytesMax)),
  row("waiting-leases", "Leases that wait at once", count(engineLimits.waitingLeasesMax)),
  row(
    "timeouts",
    "Longest `lease_timeout` and `expire_timeout`, except `never`",
    `${engineLimits.durationMsMax / 3_600_000 / 24} days`,
  ),
  row("shards", "Shards of one server", count(engineLimits.shardsMax)),
];

export const referenceRows = { settings, limits, codes, reasons: reasonRows };
