// A call to an engine in another thread or another node, and its answer.

import type { Failure } from "../../engine/model/errors.ts";
import type { OtherShard } from "../../engine/relay/other-shard.ts";
import type { OperationId, PageId } from "../../openapi/operations.ts";
import type { Reason } from "../../openapi/reasons.ts";
import type { NodeRow } from "../../stores/nodes.ts";
import type { KeyIdentity } from "../auth/key-rights.ts";

/** A call from a shard to a shard of another node. */
export type ShardOperation = `shard.${keyof OtherShard}`;

export interface Call {
  /** A client's operation, a page of the server as a whole, or a call from another shard. */
  readonly operation: OperationId | PageId | ShardOperation;
  /** The shard that performs the call; `null` = the server as a whole performs it. */
  readonly shard: number | null;
  /** JSON of a validated body, or of arguments; `""` for a page. */
  readonly body: string;
  readonly requestKey: string | null;
  /** Identity of the API key, which was checked; only for operations that need the caller. */
  readonly identity?: KeyIdentity;
}

/**
 * `moved`: the call had no effect, because another node owns the shard; `owner` is that node, if
 * it is known. `lost`: the effect of the call is unknown. `failed`: a bug, which the other end has
 * logged.
 */
export type Answer =
  | { readonly is: "done"; readonly text: string; readonly isReplayed: boolean }
  | { readonly is: "failure"; readonly failure: Failure }
  | { readonly is: "refusal"; readonly reason: Reason; readonly message: string }
  | { readonly is: "moved"; readonly owner: NodeRow | null }
  | { readonly is: "lost" }
  | { readonly is: "failed" };

/** `call` is `null` if the client of the call has hung up. */
export interface NumberedCall {
  readonly number: number;
  readonly call: Call | null;
}

export interface NumberedAnswer {
  readonly number: number;
  readonly answer: Answer;
}
