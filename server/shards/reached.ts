// Replies of several shards, some of which may be unreachable: the shard is on another node that
// does not answer, or has no owner, or its store is being reopened.

import { failure, QueueError } from "../../engine/model/errors.ts";

/** In the order of the shards; `null`: the shard was unreachable. */
export type ReachedReplies<T> = readonly (T | null)[];

/** How long a call about all shards waits for a shard on another node. */
export const elsewhereMsMax = 1_000;

export function isUnreached(error: unknown): error is QueueError {
  return error instanceof QueueError && error.code === "closing";
}

/**
 * A reply of `null` also counts as unreached. Any other error is thrown at once, even while other
 * shards still work. If no shard was reached, throws the error of the first.
 */
export async function reachedReplies<T>(
  asked: readonly Promise<T | null>[],
): Promise<ReachedReplies<T>> {
  const errors = new Map<number, QueueError>();
  const replies = await Promise.all(
    asked.map((reply, shard) =>
      reply.catch((error: unknown) => {
        if (!isUnreached(error)) throw error;
        errors.set(shard, error);
        return null;
      }),
    ),
  );
  const first = errors.get(0);
  if (first !== undefined && errors.size === replies.length) throw first;
  return replies;
}

export function reachedIn<T>(replies: ReachedReplies<T>): T[] {
  return replies.filter((reply) => reply !== null);
}

/** The numbers of the shards without a reply. */
export function unreachedIn(replies: ReachedReplies<unknown>): number[] {
  return replies.flatMap((reply, shard) => (reply === null ? [shard] : []));
}

/** `effect`: why the call fails without these shards, as a clause. */
export function unreachedError(shards: readonly number[], effect: string): QueueError {
  const named = `${shards.length === 1 ? "shard" : "shards"} ${shards.join(", ")}`;
  return QueueError.from(
    failure("not_ready", `${named} could not be reached; ${effect}, try again`),
  );
}
