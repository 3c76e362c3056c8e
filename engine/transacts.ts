// Plans a transact: which shard decides it, and where each of its parts goes.

import type { Outcome, Transacted, TransactProduce, TransactRequest } from "./model/api.ts";
import { failure, pausedProduce, QueueError } from "./model/errors.ts";
import { producedText, retriedText, uniqueDigest } from "./model/idempotency-key.ts";
import { newItem } from "./model/items.ts";
import type { Value } from "./model/messages.ts";
import { refuse } from "./model/validate.ts";
import type { Output, Transact } from "./operations/transact.ts";
import type { QueueReference } from "./relay/other-shard.ts";
import { type InFlight, LogicalQueue } from "./state/queue.ts";

/** A call as it is counted in a queue while in flight. */
export interface InnerPart {
  readonly queue: LogicalQueue;
  readonly verb: keyof InFlight;
  /** New items. */
  readonly count: number;
}

export interface Done extends Outcome {
  readonly value: Value;
}

/** A queue of this shard, or what is known of a queue in another shard. */
export type Reached = LogicalQueue | QueueReference;

export interface TransactPlan {
  readonly request: Pick<Transact, "complete" | "retry" | "produce">;
  readonly parts: readonly InnerPart[];
}

const apart = failure(
  "different_stores",
  "items cannot be finished together; their queues are in different shards, which one {tag} in both names prevents",
);

/** The queue to which the key is scoped; `null` = the request names none. */
export function firstQueue(asked: TransactRequest): string | null {
  const { complete = [], retry = [], produce = [] } = asked;
  return [...complete, ...retry, ...produce][0]?.queue ?? null;
}

export function nothingAsked(): never {
  return refuse("transact is invalid; expected complete, retry or produce to name something");
}

/** Equal for equal arguments only; no queue has to exist. */
export function transactedText({
  complete = [],
  retry = [],
  produce = [],
}: TransactRequest): string {
  const finished = [
    complete.map(({ queue, partition, ids }) => [queue, partition, ids]),
    retry.map((part) => [part.queue, retriedText(part)]),
  ];
  const written = produce.map(({ queue, items }) => [
    queue,
    producedText(
      items.map((item) => newItem(item, item.uniqueKey ?? "")),
      false,
    ),
  ]);
  return JSON.stringify([...finished, written]);
}

interface PlanContext {
  readonly reach: (name: string) => Reached;
  /** The call may be a repetition, which the shard answers. */
  readonly isKeyed: boolean;
}

/**
 * Throws `QueueError` if a queue or partition does not exist, or if the completed and retried items
 * are in several shards.
 */
export function planTransact(asked: TransactRequest, planning: PlanContext): TransactPlan {
  const at = <T extends { readonly queue: string; readonly partition: number }>(part: T) => {
    const queue = planning.reach(part.queue);
    if (!(queue instanceof LogicalQueue)) throw QueueError.from(apart);
    return { part, queue, ...queue.place(part.partition) };
  };
  const complete = (asked.complete ?? []).map(at);
  const retry = (asked.retry ?? []).map(at);
  const finished = [
    ...complete.map(({ queue }) => ({ queue, verb: "complete" as const, count: 0 })),
    ...retry.map(({ queue }) => ({ queue, verb: "retry" as const, count: 0 })),
  ];
  const outputs = (asked.produce ?? []).map((part) => outputOf(part, planning));
  const written = outputs.flatMap(({ queue, output }) =>
    queue === null ? [] : [{ queue, verb: "produce" as const, count: output.items.length }],
  );
  return {
    request: {
      complete: complete.map(({ slot, part: { ids } }) => ({ slot, ids })),
      retry: retry.map(({ slot, part: { items } }) => ({ slot, items })),
      produce: outputs.map(({ output }) => output),
    },
    parts: [...finished, ...written],
  };
}

/** `queue`: `null` = it is in another shard. */
function outputOf(
  part: TransactProduce,
  { reach, isKeyed }: PlanContext,
): { readonly queue: LogicalQueue | null; readonly output: Output } {
  const queue = reach(part.queue);
  const isHere = queue instanceof LogicalQueue;
  const { pause } = isHere ? queue.definition : queue;
  if (pause?.produce === true && !isKeyed) throw QueueError.from(pausedProduce(pause));
  if (isHere) {
    const { lasting, queueId } = queue;
    const items = part.items.map((item) => newItem(item, uniqueDigest(item.uniqueKey, lasting)));
    return { queue, output: { queueId, items } };
  }
  if (part.items.some(({ uniqueKey = "" }) => uniqueKey !== "")) {
    refuse(
      `unique key is invalid; '${queue.name}' is in another shard than the queue that decides this call, which one {tag} in both names prevents`,
    );
  }
  const items = part.items.map((item) => newItem(item, ""));
  return { queue: null, output: { queueId: 0, items, far: queue } };
}

export function transactedOf(
  { produce = [] }: TransactRequest,
  { value, replayed }: Done,
): Transacted {
  const places = value.kind === "recalled" ? value.values : [];
  const duplicates = places.slice(produce.length);
  let before = 0;
  const produced = produce.map(({ queue, items }, index) => {
    const place = places[index] ?? 0;
    const from = before;
    before += items.length;
    const own = duplicates.filter((one) => one >= from && one < before).map((one) => one - from);
    const delivered = place % 2 === 1;
    return { queue, partition: delivered ? place >> 1 : null, delivered, duplicates: own };
  });
  return { replayed, produced };
}
