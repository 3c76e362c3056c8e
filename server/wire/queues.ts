// Converts queues and their settings.

import type * as engine from "../../engine/model/api.ts";
import { refuse } from "../../engine/model/validate.ts";
import { bounds } from "../../openapi/bounds.ts";
import type { RequestOf } from "../../openapi/operations.ts";
import type * as wire from "../../openapi/schemas.ts";
import {
  checkNamespace,
  given,
  instantText,
  isGiven,
  priorityAging,
  queueTimeouts,
  uniqueFor,
  wordOf,
} from "./fields.ts";
import { guardedReply, guardOf } from "./guards.ts";

export function queueSettings(body: RequestOf<"createQueue">): engine.QueueSettings {
  const timeouts = queueTimeouts(body.lease_timeout, body.expire_timeout);
  checkNamespace(body.namespace);
  return {
    name: body.queue_name,
    ...timeouts,
    deadQueue: body.dead_queue ?? "",
    reference: body.reference ?? "",
    maxAttempts: body.max_attempts ?? 0,
    requestedPartitions: body.requested_partitions ?? 1,
    leasedMax: body.leased_max ?? 0,
    leaseRate: body.lease_rate ?? "",
    waitingMax: body.waiting_max ?? 0,
    retryBackoff: body.retry_backoff ?? "",
    grouped: body.grouped ?? false,
    groupLeasedMax: body.group_leased_max ?? 0,
    groupRate: body.group_rate ?? "",
    groupWaitingMax: body.group_waiting_max ?? 0,
    groupOrder: groupOrderOf(body.group_order ?? "loose"),
    groupOnDead: groupOnDeadOf(body.group_on_dead ?? "continue"),
    ...uniqueFor(body.unique_for ?? ""),
    ...(isGiven(body.priority_aging) && priorityAging(body.priority_aging)),
  };
}

const groupOrderOf = (text: string) => wordOf(text, "group order", ["loose", "strict"] as const);
const groupOnDeadOf = (text: string) =>
  wordOf(text, "group on dead", ["continue", "block"] as const);

type Durations = ReturnType<typeof queueTimeouts> &
  ReturnType<typeof uniqueFor> &
  ReturnType<typeof priorityAging>;

/** Absent keys leave their settings unchanged. */
export function queueChange(body: RequestOf<"updateQueue">): engine.QueueChange & engine.Guard {
  const timeouts = queueTimeouts(body.lease_timeout ?? null, body.expire_timeout ?? null);
  checkNamespace(body.namespace);
  const { leaseTimeoutMs, leaseTimeoutText, expireTimeoutMs, expireTimeoutText } = timeouts;
  return {
    name: body.queue_name,
    ...(isGiven(body.lease_timeout) && { leaseTimeoutMs, leaseTimeoutText }),
    ...(isGiven(body.expire_timeout) && { expireTimeoutMs, expireTimeoutText }),
    ...(isGiven(body.unique_for) && uniqueFor(body.unique_for)),
    ...(isGiven(body.priority_aging) && priorityAging(body.priority_aging)),
    ...given<Omit<engine.QueueChange, "name" | keyof Durations>>({
      deadQueue: body.dead_queue,
      reference: body.reference,
      maxAttempts: body.max_attempts,
      requestedPartitions: body.requested_partitions,
      leasedMax: body.leased_max,
      leaseRate: body.lease_rate,
      waitingMax: body.waiting_max,
      retryBackoff: body.retry_backoff,
      grouped: body.grouped,
      groupLeasedMax: body.group_leased_max,
      groupRate: body.group_rate,
      groupWaitingMax: body.group_waiting_max,
      groupOrder: isGiven(body.group_order) ? groupOrderOf(body.group_order) : null,
      groupOnDead: isGiven(body.group_on_dead) ? groupOnDeadOf(body.group_on_dead) : null,
    }),
    ...guardOf(body),
  };
}

export function queuesPage(body: RequestOf<"listQueues">): { pivot: string; limit: number } {
  checkNamespace(body.namespace);
  return { pivot: body.pivot, limit: body.limit };
}

/** Either key names the queue. */
export function queueNamed(body: RequestOf<"queueInfo">): string {
  return body.name ?? body.queue_name ?? refuse("name is required; expected a string");
}

export function queueInfo(queue: ReturnType<engine.Engine["queueInfo"]>): wire.QueueInfo {
  return {
    queue_name: queue.name,
    created_at: instantText(queue.createdAt),
    updated_at: instantText(queue.updatedAt),
    dead_queue: queue.deadQueue,
    reference: queue.reference,
    lease_timeout: queue.leaseTimeoutText,
    expire_timeout: queue.expireTimeoutText,
    max_attempts: queue.maxAttempts,
    requested_partitions: queue.requestedPartitions,
    leased_max: queue.leasedMax ?? 0,
    lease_rate: queue.leaseRate ?? "",
    unique_for: queue.uniqueForText ?? "",
    priority_aging: queue.priorityAgingText ?? bounds.priorityAgingDefault,
    waiting_max: queue.waitingMax ?? 0,
    retry_backoff: queue.retryBackoff ?? "",
    grouped: queue.grouped ?? false,
    group_leased_max: queue.groupLeasedMax ?? 0,
    group_rate: queue.groupRate ?? "",
    group_waiting_max: queue.groupWaitingMax ?? 0,
    group_order: queue.groupOrder ?? "loose",
    group_on_dead: queue.groupOnDead ?? "continue",
    lease_paused: queue.pause?.lease ?? false,
    produce_paused: queue.pause?.produce ?? false,
    pause_reason: queue.pause?.reason ?? "",
  };
}

export function deletionReply(deletion: engine.Deletion): wire.GuardedReply {
  const { counts, waitingLeases: waiting_leases, dependents } = deletion;
  return guardedReply(counts, { waiting_leases, dependents: [...dependents] });
}
