// Checks of requests. Each function throws `QueueError` with code `invalid`, mostly with reason
// `malformed`. The order of the checks and the texts are part of the contract.

import type { Pause } from "../../stores/queue.ts";
import type {
  ClearRequest,
  FindRequest,
  GroupChange,
  GroupListRequest,
  ImportItem,
  ItemState,
  LeaseRequest,
  ListRequest,
  PayloadRange,
  ProduceItem,
  QueueSettings,
  Repair,
  RepairRequest,
  RetryItem,
  SummarizeRequest,
  TaskRequest,
  TransactRequest,
} from "./api.ts";
import { formatDuration, never, pending } from "./duration.ts";
import { failure, malformedId, QueueError } from "./errors.ts";
import type { Filter } from "./filter.ts";
import { isId } from "./ids.ts";
import { parseRate } from "./lease-rate.ts";
import { limits } from "./limits.ts";
import type { OwnSettings, Past } from "./provenance.ts";
import { parseBackoff } from "./retry-backoff.ts";

/** Throws `invalid`: the request is malformed. */
export function refuse(message: string): never {
  throw QueueError.from(failure("malformed", message));
}

function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** For create, update and delete; other calls only look up the name. */
export function checkQueueName(name: string): void {
  checkLength("queue name", byteLength(name), limits.queueNameBytesMax);
  checkLookupName(name);
  checkNoWhitespace("queue name", name);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the check is for control characters.
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name)) {
    refuse("queue name is invalid; it cannot contain control characters");
  }
  if (!name.isWellFormed()) refuse("queue name is invalid; it is not well-formed Unicode");
}

export function checkLookupName(name: string): void {
  if (name.trim() === "") refuse("queue name is invalid; queue name cannot be empty");
  checkNoTilde("queue name", name);
}

/** `length` and `max` in bytes or characters, depending on the bound. */
export function checkLength(what: string, length: number, max: number): void {
  if (length > max) refuse(`${what} is invalid; cannot be greater than '${max}' characters`);
}

function checkMost(what: string, value: number, max: number): void {
  if (value > max) refuse(`${what} is invalid; cannot be greater than ${max}`);
}

function checkNoTilde(what: string, text: string): void {
  if (text.includes("~")) refuse(`${what} is invalid; '${text}' cannot contain '~' character`);
}

function checkNoWhitespace(what: string, text: string): void {
  if (/\s/u.test(text)) refuse(`${what} is invalid; '${text}' cannot contain whitespace`);
}

export function unknownQueue(name: string): never {
  const message = `queue does not exist; no such queue named '${name}'`;
  throw QueueError.from(failure("no_such_queue", message));
}

/** Checks only the name; the catalog decides whether the queue may be a dead queue. */
export function checkDeadQueueName(name: string): void {
  checkLength("dead queue", byteLength(name), limits.deadQueueBytesMax);
  checkNoWhitespace("dead queue", name);
  checkNoTilde("dead queue", name);
}

export function checkQueueSettings(settings: QueueSettings): void {
  checkLength("reference field", byteLength(settings.reference), limits.queueReferenceBytesMax);
  const { maxAttempts, requestedPartitions, leaseTimeoutMs, expireTimeoutMs } = settings;
  checkCount("max attempts", maxAttempts, limits.maxAttemptsMax);
  const { leasedMax = 0, leaseRate = "", waitingMax = 0, uniqueForMs = 0 } = settings;
  checkCount("leased max", leasedMax, limits.leasedMaxMax);
  checkCount("waiting max", waitingMax, limits.waitingMaxMax);
  checkRate("lease rate", leaseRate);
  const { retryBackoff = "" } = settings;
  if (retryBackoff !== "" && parseBackoff(retryBackoff) === null) {
    const expected = "expected its first and its longest delay, such as '1s..5m'";
    const got = retryBackoff.slice(0, limits.quotedMax);
    refuse(`retry backoff is invalid; ${expected}, got '${got}'`);
  }
  checkGroupSettings(settings);
  if (uniqueForMs !== 0 && uniqueForMs !== pending) checkTimeout("unique for", uniqueForMs);
  const { priorityAgingMs = never } = settings;
  if (priorityAgingMs !== never) checkTimeout("priority aging", priorityAgingMs);
  if (requestedPartitions < 1) refuse("partitions is invalid; cannot be less than 1");
  checkMost("partitions", requestedPartitions, limits.partitionsMax);
  checkWhole("partitions", requestedPartitions);
  checkTimeout("lease timeout", leaseTimeoutMs);
  if (expireTimeoutMs !== never) checkTimeout("expire timeout", expireTimeoutMs);
  if (leaseTimeoutMs > expireTimeoutMs) {
    const lease = formatDuration(leaseTimeoutMs);
    const expire = formatDuration(expireTimeoutMs);
    const limit = `cannot be greater than the expire timeout ${expire}`;
    refuse(`lease timeout is too long; ${lease} ${limit}`);
  }
}

function checkRate(what: string, rate: string): void {
  if (rate === "" || parseRate(rate) !== null) return;
  const expected = "expected items per interval, such as '100/1s'";
  refuse(`${what} is invalid; ${expected}, got '${rate.slice(0, limits.quotedMax)}'`);
}

function checkGroupSettings(settings: QueueSettings): void {
  const { groupLeasedMax = 0, groupRate = "", groupWaitingMax = 0 } = settings;
  checkCount("group leased max", groupLeasedMax, limits.leasedMaxMax);
  checkCount("group waiting max", groupWaitingMax, limits.waitingMaxMax);
  checkRate("group rate", groupRate);
  const { grouped, groupOrder, groupOnDead, requestedPartitions } = settings;
  const rules = groupOrder === "strict" || groupOnDead === "block";
  const others = groupLeasedMax || groupRate || groupWaitingMax || rules;
  if (!grouped && others) refuse("group settings are invalid; the queue is not grouped");
  if (grouped && requestedPartitions !== 1) {
    const why = "its groups are in one order, so it has exactly one partition";
    refuse(`partitions is invalid; the queue is grouped: ${why}, got ${requestedPartitions}`);
  }
}

export function checkGroupsList({ pivot, limit }: GroupListRequest): void {
  checkLimit(limit, limits.groupsListMax);
  checkGroup(pivot);
}

export function checkGroupChange(change: GroupChange): void {
  const { group, leasedMax = 0, rate = "", weight = 1 } = change;
  checkGroup(group);
  checkCount("leased max", leasedMax, limits.leasedMaxMax);
  checkRate("rate", rate);
  checkWhole("weight", weight);
  if (weight < 1 || weight > limits.groupWeightMax) {
    refuse(`weight is invalid; expected from 1 to ${limits.groupWeightMax}, got ${weight}`);
  }
}

function checkCount(what: string, value: number, max: number): void {
  checkMost(what, value, max);
  if (value < 0) refuse(`${what} is invalid; cannot be negative number`);
  checkWhole(what, value);
}

export function checkWhole(what: string, value: number): void {
  if (!Number.isSafeInteger(value))
    refuse(`${what} is invalid; expected a whole number, got ${value}`);
}

function checkTimeout(what: string, ms: number): void {
  if (ms === 0) refuse(`${what} is invalid; cannot be empty`);
  checkWhole(what, ms);
  if (ms < 0) refuse(`${what} is invalid; cannot be negative`);
  if (ms > limits.durationMsMax) {
    const most = formatDuration(limits.durationMsMax);
    refuse(`${what} is invalid; cannot be greater than '${most}'`);
  }
}

/** `recommended`: the duration that the message suggests for this call. */
export function checkRequestTimeout(ms: number, recommended: string): void {
  if (ms === 0) {
    refuse(`request timeout is required; '${recommended}' is recommended, 15m is the maximum`);
  }
  if (ms > limits.requestTimeoutMsMax) {
    const got = formatDuration(ms);
    refuse(`request timeout is invalid; maximum timeout is '15m' but '${got}' was requested`);
  }
  if (!(ms >= limits.requestTimeoutMsMin)) {
    const got = ms < 0 ? `-${formatDuration(-ms)}` : formatDuration(ms);
    refuse(`request timeout is invalid; minimum timeout is '10ms' but '${got}' was requested`);
  }
}

/** `now`: the time of the clock to advance. */
export function checkAdvance(byMs: number, now: number): void {
  const most = limits.durationMsMax;
  if (!Number.isSafeInteger(byMs) || byMs < 1 || byMs > most) {
    const expected = `expected a duration from 1ms to ${formatDuration(most)}`;
    refuse(`advance is invalid; ${expected}, got ${byMs >= 0 ? formatDuration(byMs) : byMs}`);
  }
  if (now + byMs > limits.instantMax) {
    refuse("advance is too long; the clock cannot pass the end of the year 9999");
  }
}

export function checkHandlerTimeout(ms = 1): void {
  const most = limits.handlerTimeoutMsMax;
  if (Number.isSafeInteger(ms) && ms >= 1 && ms <= most) return;
  const expected = `expected a duration from 1ms to ${formatDuration(most)}`;
  refuse(`handler timeout is invalid; ${expected}, got ${ms >= 0 ? formatDuration(ms) : ms}`);
}

function checkBatch(what: string, count: number, bound: { name: string; max: number }): void {
  const { name, max } = bound;
  if (count > max) refuse(`${what} is invalid; ${name} is ${max} but received ${count}`);
}

export function checkProduceItems(items: readonly ProduceItem[]): void {
  if (items.length === 0) refuse("items cannot be empty; at least one item is required");
  const max = limits.produceItemsMax;
  checkBatch("items", items.length, { name: "max_produce_batch_size", max });
  for (const item of items) {
    const { uniqueKey, priority = 0, group } = item;
    if (!isPriority(priority)) refusePriority(items);
    checkOwnSettings(item);
    if (group) checkGroup(group);
    if (!uniqueKey) continue;
    checkLength("unique key", byteLength(uniqueKey), limits.uniqueKeyBytesMax);
    if (!uniqueKey.isWellFormed()) refuse("unique key is invalid; it is not well-formed Unicode");
  }
  checkHeaders(items);
}

/** The settings of an item; 0 = as the queue has it. */
function checkOwnSettings({ maxAttempts = 0, leaseTimeoutMs = 0 }: OwnSettings): void {
  checkCount("max attempts", maxAttempts, limits.maxAttemptsMax);
  if (leaseTimeoutMs !== 0) checkTimeout("lease timeout", leaseTimeoutMs);
}

function checkGroup(group: string): void {
  checkLength("group", byteLength(group), limits.groupBytesMax);
  if (!group.isWellFormed()) refuse("group is invalid; it is not well-formed Unicode");
}

function checkHeaders(items: readonly Pick<ProduceItem, "headers">[]): void {
  for (const { headers } of items) {
    if (headers === undefined) continue;
    const bytes = byteLength(JSON.stringify(headers));
    const max = limits.headersBytesMax;
    if (bytes > max)
      refuse(`headers is invalid; expected at most ${max} bytes as JSON, got ${bytes}`);
  }
}

function isPriority(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= limits.priorityMax;
}

/** Apart from the check, which runs for every item and so builds no text. */
function refusePriority(items: readonly Pick<ProduceItem, "priority">[]): never {
  const index = items.findIndex(({ priority = 0 }) => !isPriority(priority));
  return notPriority(`priority of item ${index}`, items[index]?.priority);
}

function notPriority(what: string, got: number | undefined): never {
  const expected = `expected a whole number from 0 to ${limits.priorityMax}`;
  return refuse(`${what} is invalid; ${expected}, got ${got ?? "none"}`);
}

export function checkLease(request: LeaseRequest): void {
  const { clientId, batchSize, leaseTimeoutMs, priorityMin = 0 } = request;
  if (clientId.trim() === "") refuse("invalid client id; cannot be empty");
  if (!(batchSize > 0)) refuse("invalid batch size; must be greater than zero");
  const max = limits.leaseBatchMax;
  if (batchSize > max) {
    const got = `but ${batchSize} was requested`;
    refuse(`invalid batch size; max_lease_batch_size is ${max}, ${got}`);
  }
  checkWhole("batch size", batchSize);
  checkLeaseTimeout(leaseTimeoutMs);
  if (!isPriority(priorityMin)) notPriority("priority min", priorityMin);
}

/** For one lease; the queue has its own timeout. */
export function checkLeaseTimeout(ms: number | null | undefined): void {
  if (typeof ms === "number") checkTimeout("lease timeout", ms);
}

export function checkCompleteIds(ids: readonly string[]): void {
  if (ids.length === 0) refuse("ids is invalid; list of ids cannot be empty");
  checkBatch("ids", ids.length, { name: "max_complete_batch_size", max: limits.completeIdsMax });
}

export function checkRetryItems(items: readonly RetryItem[]): void {
  const count = items.length;
  if (count === 0) refuse("items is invalid; list of items cannot be empty");
  checkBatch("items", count, { name: "max_complete_batch_size", max: limits.retryItemsMax });
  for (const { reason = "", retryAt, retryAfterMs } of items) {
    checkLength("reason", byteLength(reason), limits.retryReasonBytesMax);
    if (retryAfterMs == null) continue;
    if (retryAt !== null) refuse("retry is invalid; expected retry_at or retry_after, got both");
    checkWithin("retry after", retryAfterMs, { min: 0, max: limits.durationMsMax });
  }
}

export function checkTransact(asked: TransactRequest): void {
  const { complete = [], retry = [], produce = [] } = asked;
  const entries = [
    ...complete.map(({ ids }) => ids.length),
    ...[...retry, ...produce].map(({ items }) => items.length),
  ];
  for (const { ids } of complete) checkCompleteIds(ids);
  for (const { items } of retry) checkRetryItems(items);
  for (const { items } of produce) checkProduceItems(items);
  const count = entries.reduce((sum, one) => sum + one, 0);
  const max = limits.transactEntriesMax;
  checkBatch("entries", count, { name: "max_transact_batch_size", max });
}

export function unknownPartition(partition: number): never {
  const message = `partition is invalid; '${partition}' is not a valid partition`;
  throw QueueError.from(failure("no_such_partition", message));
}

export function checkLimit(limit: number, max: number): void {
  if (limit < 0) refuse("limit is invalid; limit cannot be negative");
  if (limit === 0) refuse("limit is invalid; must be greater than zero");
  checkMost("limit", limit, max);
  checkWhole("limit", limit);
}

export function checkClientsLimit(limit: number): void {
  checkLimit(limit, limits.clientsMax);
}

export function checkQueuesList({ pivot, limit }: { pivot: string; limit: number }): void {
  checkLimit(limit, limits.queuesListMax);
  checkNoTilde("pivot", pivot);
}

export function checkStorageList({ pivot, limit }: ListRequest): void {
  if (pivot !== "") checkId(pivot);
  checkLimit(limit, limits.storageListMax);
}

export function checkTask(
  { ids, filter, limit, perSecond, expect }: TaskRequest,
  what: "redrive" | "repair",
): void {
  if (ids !== undefined) {
    checkBatch("ids", ids.length, { name: `the most of one ${what}`, max: limits.taskIdsMax });
    checkDeleteIds(ids);
    if (filter !== undefined) refuse(`${what} is invalid; expected ids or a filter, got both`);
  }
  if (filter !== undefined) checkFilter(filter);
  for (const [name, value] of Object.entries({ limit, "per second": perSecond })) {
    if (value === undefined) continue;
    checkWhole(name, value);
    if (value < 1) refuse(`${name} is invalid; cannot be less than 1`);
  }
  checkExpect(expect);
  checkMost("per second", perSecond ?? 0, limits.taskPerSecondMax);
}

/** The states of the items to which each repair applies. */
export const repairStates: Readonly<Record<Repair, readonly ItemState[]>> = {
  promote: ["scheduled"],
  reject: ["ready", "scheduled"],
  retry: ["leased"],
  prioritize: ["ready", "scheduled"],
  delete: ["ready", "scheduled"],
};

/** Requires an explicit choice of items, because a mistake would be expensive. */
export function checkRepair(request: RepairRequest): void {
  const { action, state, holder, reason, priority, ids, filter } = request;
  if (!Object.hasOwn(repairStates, action)) {
    const got = String(action).slice(0, limits.quotedMax);
    const expected = "expected 'promote', 'reject', 'retry', 'prioritize' or 'delete'";
    refuse(`action is invalid; ${expected}, got '${got}'`);
  }
  if (ids === undefined && filter === undefined && holder === undefined) {
    refuse("repair is invalid; expected ids, a filter or a holder, got none of them");
  }
  if (state != null && !repairStates[action].includes(state)) {
    const got = String(state).slice(0, limits.quotedMax);
    const expected = repairStates[action].map((one) => `'${one}'`).join(" or ");
    refuse(`state is invalid; expected ${expected} for '${action}', got '${got}'`);
  }
  if (holder !== undefined && action !== "retry") {
    refuse(`holder is invalid; only leased items have one, got it with '${action}'`);
  }
  if (reason !== undefined) {
    if (action !== "reject" && action !== "retry") {
      refuse(`reason is invalid; '${action}' does not take one`);
    }
    checkLength("reason", byteLength(reason), limits.retryReasonBytesMax);
  }
  if (action !== "prioritize") {
    if (priority !== undefined) refuse(`priority is invalid; '${action}' does not take one`);
  } else if (!isPriority(priority ?? -1)) notPriority("priority", priority);
  checkTask(request, "repair");
}

function checkFilter(filter: Filter): void {
  for (const [key, value] of Object.entries(filter)) {
    const name = key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    if (typeof value === "number") {
      checkWhole(name, value);
      if (key === "createdBefore") continue;
      if (value < 0) refuse(`${name} is invalid; cannot be negative`);
      checkMost(name, value, limits.filterCountMax);
    } else if (typeof value === "string") {
      checkLength(name, byteLength(value), limits.filterBytesMax);
    } else {
      const { values } = value;
      if (values.length === 0) refuse("values is invalid; cannot be empty");
      checkBatch("values", values.length, {
        name: "the most of one filter",
        max: limits.filterValuesMax,
      });
      for (const one of values) checkLength("values", byteLength(one), limits.filterBytesMax);
    }
  }
}

export function checkFind(request: FindRequest): void {
  const { limit, state, holder, order, filter, payloadHead = 0 } = request;
  if (order !== undefined && order !== "newest") {
    const got = String(order).slice(0, limits.quotedMax);
    refuse(`order is invalid; expected 'newest' or none, got '${got}'`);
  }
  checkLimit(limit, limits.findItemsMax);
  if (state != null && !["ready", "leased", "scheduled"].includes(state)) {
    const got = state.slice(0, limits.quotedMax);
    refuse(`state is invalid; expected 'ready', 'leased' or 'scheduled', got '${got}'`);
  }
  if (holder !== undefined && (state ?? "leased") !== "leased") {
    refuse(`holder is invalid; only leased items have one, got it with state '${state}'`);
  }
  checkMost("payload head", payloadHead, limits.findPayloadHeadMax);
  if (payloadHead < 0) refuse("payload head is invalid; cannot be negative");
  checkWhole("payload head", payloadHead);
  checkFilter(filter);
}

export function checkSummarize({ top = 1, ...request }: SummarizeRequest): void {
  checkFind({ ...request, limit: 1 });
  checkWithin("top", top, { min: 1, max: limits.summariesMax });
}

/** `payloadBytes`: of the whole payload, once known. */
export function checkPayloadRange(
  range: PayloadRange,
  payloadBytes: number = limits.payloadRangeMax,
): void {
  const { payloadOffset = 0, payloadLimit = 0 } = range;
  checkWithin("payload offset", payloadOffset, { min: 0, max: payloadBytes });
  checkWithin("payload limit", payloadLimit, { min: 0, max: limits.payloadRangeMax });
}

interface Range {
  readonly min: number;
  readonly max: number;
}

export function checkWithin(what: string, value: number, { min, max }: Range): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  refuse(`${what} is invalid; expected ${min} to ${max}, got ${value}`);
}

function checkId(id: string): void {
  if (!isId(id)) refuse(malformedId(id));
}

export function checkDeleteIds(ids: readonly string[]): void {
  if (ids.length === 0) refuse("ids is invalid; cannot be empty");
  for (const id of ids) checkId(id);
}

export function checkCancelIds(ids: readonly string[]): void {
  checkCompleteIds(ids);
  for (const id of ids) checkId(id);
}

export function checkImportItems(items: readonly ImportItem[]): void {
  if (items.length === 0) refuse("items is invalid; cannot be empty");
  const max = limits.importItemsMax;
  checkBatch("items", items.length, { name: "max_import_batch_size", max });
  checkHeaders(items);
  for (const [index, item] of items.entries()) {
    if (item.isLeased === true && (item.leaseDeadline ?? null) === null) {
      refuse(`items is invalid; item ${index} is leased, expected a lease_deadline, got none`);
    }
    const attempts = item.attempts ?? 0;
    if (!Number.isSafeInteger(attempts) || attempts < 0) {
      const fault = `cannot be negative or a fraction, got ${attempts}`;
      refuse(`items is invalid; attempts of item ${index} ${fault}`);
    }
    if (attempts > limits.carriedCountMax) {
      const fault = `cannot be greater than ${limits.carriedCountMax}, got ${attempts}`;
      refuse(`items is invalid; attempts of item ${index} ${fault}`);
    }
    if (!isPriority(item.priority ?? 0)) refusePriority(items);
    if (item.past !== undefined) checkPast(item.past);
  }
}

/** Bounded, because it is read with every lookup of the item and returned in protobuf. */
function checkPast({
  origin = "",
  reason = "",
  queue = "",
  attempts = 0,
  redriven = 0,
  ...own
}: Past): void {
  checkOwnSettings(own);
  if (origin !== "") checkId(origin);
  checkLength("reason", byteLength(reason), limits.retryReasonBytesMax);
  checkLength("origin queue", byteLength(queue), limits.queueNameBytesMax);
  for (const [name, count] of Object.entries({ "origin attempts": attempts, redriven })) {
    checkWhole(name, count);
    if (count < 0) refuse(`${name} is invalid; cannot be negative`);
    checkMost(name, count, limits.carriedCountMax);
  }
}

export function checkPause({ lease, produce, reason }: Pause): void {
  checkLength("reason", byteLength(reason), limits.pauseReasonBytesMax);
  if (!lease && !produce) refuse("pause is invalid; expected lease or produce to be true");
}

/** The most items that a call may remove; absent = no bound. */
export function checkExpect(expect: number | undefined): void {
  if (expect === undefined) return;
  checkWhole("expect", expect);
  if (expect < 0) refuse("expect is invalid; cannot be less than 0");
  checkMost("expect", expect, limits.expectMax);
}

export function checkClear({ ready, scheduled, retried }: ClearRequest): void {
  if (ready || scheduled || retried) return;
  refuse("invalid clear request; one of 'queue', 'scheduled', 'retry' must be true");
}
