// The tables of the documentation that come from the server's own constants, so
// that the two cannot tell different things.

import { fileURLToPath } from "node:url";
import { limits as engineLimits } from "../../engine/limits.ts";
import { bounds } from "../../openapi/bounds.ts";
import { replyCodes } from "../../openapi/codes.ts";
import { reasons } from "../../openapi/reasons.ts";
import { configReference } from "../../server/config.ts";

const settings = configReference();

const codes = Object.entries(replyCodes).map(([code, { text, meaning, reaction }]) => {
  return { code, text, meaning, reaction };
});

const reasonRows = Object.entries(reasons).map(([reason, { codes: its, meaning }]) => {
  return { reason, codes: its.join(", "), meaning };
});

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

type BoundBy<End extends string> = keyof typeof bounds extends infer Name
  ? Name extends `${infer Of}${End}`
    ? Of
    : never
  : never;

function range(of: BoundBy<"Min"> & BoundBy<"Max">): string {
  return `${count(bounds[`${of}Min` as const])} to ${count(bounds[`${of}Max` as const])}`;
}

const minutesMax = bounds.requestTimeoutMsMax / 60_000;
const daysMax = engineLimits.durationMsMax / 24 / 3_600_000;

const limits = [
  ["produce-items", "Items in one produce", range("produceItems")],
  ["lease-batch", "`batch_size` of one lease", range("leaseBatch")],
  ["complete-ids", "Ids in one complete", range("completeIds")],
  ["retry-items", "Items in one retry", range("retryItems")],
  ["queues-list", "`limit` of a list of queues", range("queuesList")],
  ["storage-list", "`limit` of a list of stored items", range("storageList")],
  ["storage-bytes", "Payload of one page of stored items", size(bounds.storageListBytesMax)],
  [
    "request-timeout",
    "`request_timeout`",
    `${bounds.requestTimeoutMsMin} ms to ${minutesMax} minutes`,
  ],
  [
    "produce-timeout",
    "`request_timeout` of produce, as clients send it",
    bounds.produceRequestTimeoutDefault,
  ],
  [
    "lease-timeout",
    "`request_timeout` of lease, as clients send it",
    bounds.leaseRequestTimeoutDefault,
  ],
  ["queue-name", "Length of a queue's name", size(bounds.queueNameBytesMax)],
  ["dead-queue", "Length of a dead queue's name", size(bounds.deadQueueBytesMax)],
  ["reference", "Length of a queue's `reference`", size(bounds.queueReferenceBytesMax)],
  ["duration-text", "Length of a duration's text", `${bounds.durationTextMax} characters`],
  ["max-attempts", "`max_attempts`; 0 means without end", range("maxAttempts")],
  ["partitions", "Partitions of one queue", range("partitions")],
  ["queues", "Queues of one server", count(bounds.queuesMax)],
  ["produce-body", "Size of a produce request", size(bounds.produceBodyBytesMax)],
  ["import-body", "Size of an import request", size(bounds.importBodyBytesMax)],
  ["body", "Size of any other request", size(bounds.bodyBytesMax)],
  ["waiting-leases", "Leases that wait at once", count(engineLimits.waitingLeasesMax)],
  ["timeouts", "Longest `lease_timeout` and `expire_timeout`, except `never`", `${daysMax} days`],
  ["shards", "Shards of one server", count(engineLimits.shardsMax)],
].map(([id = "", what = "", value = ""]) => ({ id, what, value }));

/** Not imported above: Vite would bundle the program, its stores and their SQL with its configuration. */
const commandRows = fileURLToPath(new URL("./command-rows.ts", import.meta.url));

/** `virtual:reference`: pages import data, not modules of the server with their schemas. */
export async function referenceModule(): Promise<object> {
  const { commands, sharedFlags } = (await import(
    commandRows
  )) as typeof import("./command-rows.ts");
  return { ...referenceRows, commands, sharedFlags };
}

export const referenceRows = { settings, limits, codes, reasons: reasonRows };
