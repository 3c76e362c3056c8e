// What follows from one attempt of a call, by a shard of this node or by another node. Pure, so
// that each case is a row of a test.

import { type Failure, isFailure, unknownShardFailure } from "../../engine/model/errors.ts";
import { type OperationId, operationsThat } from "../../openapi/operations.ts";
import type { CallOutcome } from "../calls/call-client.ts";

const readOnlyOperations = new Set(operationsThat("reads"));
/**
 * Operations that commit nothing if there is nothing to change. Their reply may come from memory,
 * and they may be repeated. A repeated clear also removes what was produced meanwhile, as a later
 * one would.
 */
const repeatableOperations = new Set([...operationsThat("reads", "same"), "clear"]);

/** `moved`: the call had no effect. `lost`: its effect is unknown, and it may be repeated. */
type Unanswered = "moved" | "lost";

interface Attempt {
  readonly operation: OperationId;
  /** The call has an `Idempotency-Key`. */
  readonly isKeyed: boolean;
}

interface Replied {
  readonly isReplayed: boolean;
  /** No other node can own the shard yet. */
  readonly isTrusted: boolean;
}

/** After a reply by a shard of this node: valid if a commit confirms it or memory is current. */
export function afterReply(
  operation: OperationId,
  { isReplayed, isTrusted }: Replied,
): "done" | Unanswered {
  const isFromMemory = repeatableOperations.has(operation) || isReplayed;
  if (isTrusted || !isFromMemory) return "done";
  return readOnlyOperations.has(operation) ? "moved" : "lost";
}

interface Failed extends Attempt {
  /** This node owns the shard. */
  readonly isOwner: boolean;
  readonly isTrusted: boolean;
  /** The time of the call is up. */
  readonly isLate: boolean;
}

/** After a failure of a shard of this node; `failed`: the failure is the reply. */
export function afterFailure(
  failure: Pick<Failure, "code" | "message" | "reason">,
  { operation, isKeyed, isOwner, isTrusted, isLate }: Failed,
): "failed" | Unanswered {
  const { code, reason } = failure;
  // Another shard is unreachable.
  if (isFailure(failure, unknownShardFailure)) return "failed";
  // A shard that is not ready yet may become so until the call's time is up.
  if (code === "closing" && !(reason === "not_ready" && isLate)) return "moved";
  // The failure describes what was committed.
  if (reason === "in_part") return "failed";
  const isRepeatable = repeatableOperations.has(operation) || isKeyed;
  if (code === "unknown") return isRepeatable && !isOwner ? "lost" : "failed";
  return isTrusted ? "failed" : "moved";
}

/** After another node's answer. `unknown`: repeating the call might double its effect. */
export function afterAnswer(
  answer: CallOutcome,
  { operation, isKeyed }: Attempt,
): "done" | "unknown" | Unanswered {
  switch (answer.is) {
    case "moved":
    case "unsent":
      return "moved";
    case "lost":
      // Another node may serve a lease; what the lost answer granted lapses.
      if (operation === "lease") return "lost";
      return isKeyed || repeatableOperations.has(operation) ? "lost" : "unknown";
    case "failure":
      // This node called it back.
      return answer.failure.reason === "client_gone" ? "moved" : "done";
    case "done":
    case "refusal":
    case "failed":
      return "done";
  }
}
