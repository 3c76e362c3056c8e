// The optional keys of an item, which are the same in every reply with items.

import type * as engine from "../../engine/model/api.ts";
import { formatDuration } from "../../engine/model/duration.ts";
import type * as wire from "../../openapi/schemas.ts";
import { instantText } from "./fields.ts";

/** Keys without a value are absent. */
export function carried({
  headers,
  group,
  past = {},
}: Pick<engine.StoredItem, "headers" | "group" | "past">): Pick<
  wire.StorageItem,
  | "headers"
  | "origin_id"
  | "reason"
  | "death"
  | "origin_queue"
  | "origin_attempts"
  | "origin_created_at"
  | "redriven"
  | "own_max_attempts"
  | "own_lease_timeout"
  | "group"
> {
  const { origin, reason, death, queue, attempts, createdAt, redriven } = past;
  const { maxAttempts, leaseTimeoutMs } = past;
  return {
    ...(headers && { headers: { ...headers } }),
    ...(origin !== undefined && { origin_id: origin }),
    ...(reason !== undefined && { reason }),
    ...(death !== undefined && { death }),
    ...(queue !== undefined && { origin_queue: queue }),
    ...(attempts !== undefined && { origin_attempts: attempts }),
    ...(createdAt !== undefined && { origin_created_at: instantText(createdAt) }),
    ...(redriven !== undefined && { redriven }),
    ...(maxAttempts !== undefined && { own_max_attempts: maxAttempts }),
    ...(group && { group }),
    ...(leaseTimeoutMs !== undefined && { own_lease_timeout: formatDuration(leaseTimeoutMs) }),
  };
}
