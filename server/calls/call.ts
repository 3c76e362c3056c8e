// A call on its way to whoever has the engine, in another thread or another node, and its answer.

import type { Failure } from "../../engine/model/errors.ts";
import type { OtherShard } from "../../engine/relay/other-shard.ts";
import type { OperationId, PageId } from "../../openapi/operations.ts";
import type { Reason } from "../../openapi/reasons.ts";
import type { NodeRow } from "../../stores/nodes.ts";
import type { Grant } from "../auth/key-rights.ts";

/** What a shard asks of one that another node has. */
export type ShardOperation = `shard.${keyof OtherShard}`;

export interface Call {
  /** An operation, or what is asked of the server as a whole, or of one shard by another. */
  readonly operation: OperationId | PageId | ShardOperation;
  /** The shard that is to do it; `null` = it concerns the server as a whole. */
  readonly shard: number | null;
  /** JSON of a body that was checked, or of arguments; `""` of a page. */
  readonly body: string;
  readonly requestKey: string | null;
  /** Of the API key, which was checked, where it is to be told. */
  readonly grant?: Grant;
}

/**
 * `moved`: nothing was done; the shard is elsewhere, at `owner` as far as is known. `lost`: what became of it is not known.
 * `failed`: a bug, which was logged there.
 */
export type Answer =
  | { readonly is: "done"; readonly text: string; readonly isReplayed: boolean }
  | { readonly is: "failure"; readonly failure: Failure }
  | { readonly is: "refusal"; readonly reason: Reason; readonly message: string }
  | { readonly is: "moved"; readonly owner: NodeRow | null }
  | { readonly is: "lost" }
  | { readonly is: "failed" };

/** `null` = the client of the call has hung up. */
export interface NumberedCall {
  readonly number: number;
  readonly call: Call | null;
}

export interface NumberedAnswer {
  readonly number: number;
  readonly answer: Answer;
}
