// The calls of producers and consumers: each is checked and becomes a request to the shard, with
// its key if it has one.

import type * as api from "./model/api.ts";
import { assert } from "./model/assert.ts";
import type { Clock } from "./model/clock.ts";
import {
  drainingFailure,
  type Late,
  lateCancel,
  lateComplete,
  lateExtend,
  lateProduce,
  lateRelease,
  lateRetry,
  lateTransact,
  lateWrite,
  pausedProduce,
  QueueError,
} from "./model/errors.ts";
import {
  type IdempotencyKey,
  idempotencyKey,
  importedText,
  type KeyedOperation,
  producedText,
  retriedText,
  uniqueDigest,
} from "./model/idempotency-key.ts";
import { newImport, newItem, storedItems } from "./model/items.ts";
import { limits } from "./model/limits.ts";
import {
  checkCancelIds,
  checkCompleteIds,
  checkImportItems,
  checkLeaseTimeout,
  checkProduceItems,
  checkRequestTimeout,
  checkRetryItems,
  checkTransact,
  unknownPartition,
} from "./model/validate.ts";
import { cancelledStates } from "./operations/cancel.ts";
import type { Request } from "./operations.ts";
import type { Catalog } from "./state/catalog.ts";
import type { InFlight, LogicalQueue } from "./state/queue.ts";
import {
  type Done,
  firstQueue,
  type InnerPart,
  nothingAsked,
  planTransact,
  type Reached,
  type TransactPlan,
  transactedOf,
  transactedText,
} from "./transacts.ts";
import type { Timing } from "./turn/inbox.ts";
import { type Shard, succeeded } from "./turn/shard.ts";

export interface CallsOptions {
  readonly catalog: Pick<Catalog, "placeIn">;
  readonly clock: Clock;
  readonly shard: () => Shard;
  /** Throws if there is no such queue, or if the engine accepts no calls. */
  readonly find: (name: string) => LogicalQueue;
  /** Like `find`, for a queue in any shard. */
  readonly reach: (name: string) => Reached;
}

/** A request counted as in flight in its queue. */
type InnerCall = Extract<Request, { kind: keyof InFlight }>;

type ImportCall = Extract<Request, { kind: "import" }>;

interface ProducePlan {
  readonly timing: Timing;
  readonly key?: IdempotencyKey;
}

/** The common arguments of calls about leased items. */
interface HeldRequest extends api.Repeatable {
  readonly queue: string;
  readonly partition: number;
  readonly requestTimeoutMs?: number;
}

interface HeldCall {
  readonly operation: KeyedOperation;
  readonly late: Late;
  /** The arguments as a text: equal for equal arguments only. */
  readonly argumentsText: () => string;
}

interface HeldPlace {
  readonly slot: number;
  readonly deadline: number;
  readonly key?: IdempotencyKey;
}

/** Without `timeoutMs`: for a call that has no `request_timeout`, or was given none. */
export function timingOf(
  clock: Clock,
  late: Late,
  timeoutMs: number = limits.requestTimeoutMsDefault,
): Timing {
  checkRequestTimeout(timeoutMs, "5m");
  return { deadline: clock.machine.now() + timeoutMs, late };
}

function outcomeOf({ replayed }: Done): api.Outcome {
  return { replayed };
}

function producedOf({ value, replayed }: Done): api.Produced {
  if (value.kind === "produced") {
    const { duplicates, ids } = value;
    return { replayed, duplicates, ...(ids && { ids }) };
  }
  return { replayed, duplicates: [] };
}

export class Calls {
  readonly #options: CallsOptions;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** To spread into a request; `undefined` if the caller gave no key. */
  #keyOf(
    queue: LogicalQueue,
    operation: KeyedOperation,
    { requestKey }: api.Repeatable,
    argumentsText: () => string,
  ): { readonly key: IdempotencyKey } | undefined {
    if (requestKey === undefined) return undefined;
    return {
      key: idempotencyKey(requestKey, {
        queue: queue.lasting,
        operation,
        argumentsText: argumentsText(),
      }),
    };
  }

  async produce(request: api.ProduceRequest): Promise<api.Produced> {
    const queue = this.#options.find(request.queue);
    const timing = timingOf(this.#options.clock, lateProduce, request.requestTimeoutMs);
    checkProduceItems(request.items);
    const { returnIds = false } = request;
    const { pause } = queue.definition;
    // A call with a key may be a repetition, which the shard answers.
    if (pause?.produce === true && request.requestKey === undefined) {
      throw QueueError.from(pausedProduce(pause));
    }
    const { lasting } = queue;
    const items = request.items.map((item) => newItem(item, uniqueDigest(item.uniqueKey, lasting)));
    const key = this.#keyOf(queue, "produce", request, () => producedText(items, returnIds));
    const { queueId } = queue;
    const plain = { kind: "produce", queueId, deadline: timing.deadline, items } as const;
    const argumentsText =
      key || returnIds ? { ...plain, ...key, ...(returnIds && { returnIds }) } : plain;
    return producedOf(await this.#call(queue, argumentsText, timing));
  }

  async transact(argumentsText: api.TransactRequest): Promise<api.Transacted> {
    const name = firstQueue(argumentsText);
    const first = name === null ? nothingAsked() : this.#options.find(name);
    const timing = timingOf(this.#options.clock, lateTransact, argumentsText.requestTimeoutMs);
    checkTransact(argumentsText);
    const keyed = this.#keyOf(first, "transact", argumentsText, () =>
      transactedText(argumentsText),
    );
    try {
      const { reach } = this.#options;
      const plan = planTransact(argumentsText, { reach, isKeyed: keyed !== undefined });
      return transactedOf(argumentsText, await this.#transact(plan, { timing, ...keyed }));
    } catch (cause) {
      // Since the call was done, a queue or a partition may have been deleted, or a reshard may
      // have separated its queues.
      const isUnplanned =
        cause instanceof QueueError &&
        (cause.code === "invalid" || cause.reason === "different_stores");
      const known = isUnplanned ? await this.#known(keyed?.key, timing) : null;
      if (known === null) throw cause;
      return transactedOf(argumentsText, known);
    }
  }

  #transact(plan: TransactPlan, { timing, key }: ProducePlan): Promise<Done> {
    const request = { kind: "transact", deadline: timing.deadline, ...plan.request } as const;
    return this.#callIn(plan.parts, { ...request, ...(key && { key }) }, timing);
  }

  async complete(request: api.CompleteRequest): Promise<api.Outcome> {
    const queue = this.#queueOf(request);
    const { partition, ids } = request;
    checkCompleteIds(ids);
    const argumentsText = () => `${partition}/${ids}`;
    const call = { operation: "complete", late: lateComplete, argumentsText } as const;
    return outcomeOf(
      await this.#finish(queue, request, call, (place) => ({ kind: "complete", ids, ...place })),
    );
  }

  async retry(request: api.RetryRequest): Promise<api.Outcome> {
    const queue = this.#queueOf(request);
    const { items } = request;
    checkRetryItems(items);
    const argumentsText = () => retriedText(request);
    const call = { operation: "retry", late: lateRetry, argumentsText } as const;
    return outcomeOf(
      await this.#finish(queue, request, call, (place) => ({ kind: "retry", items, ...place })),
    );
  }

  async extend(request: api.ExtendRequest): Promise<api.Extended> {
    const queue = this.#queueOf(request);
    const { partition, ids, leaseTimeoutMs = null } = request;
    checkCompleteIds(ids);
    checkLeaseTimeout(leaseTimeoutMs);
    const argumentsText = () => `${partition}/${leaseTimeoutMs ?? ""}/${ids}`;
    const call = { operation: "extend", late: lateExtend, argumentsText } as const;
    const batch = { kind: "extend", ids, leaseTimeoutMs } as const;
    const { value, replayed } = await this.#finish(queue, request, call, (place) => ({
      ...batch,
      ...place,
    }));
    const now = this.#options.clock.now();
    if (value.kind === "recalled") return { leaseDeadline: value.values[0] ?? 0, now, replayed };
    assert(value.kind === "extended", "an extend was answered with something else");
    return { leaseDeadline: value.leaseDeadline, now, replayed };
  }

  async release(request: api.ReleaseRequest): Promise<api.Outcome> {
    const queue = this.#queueOf(request);
    const { partition, ids } = request;
    checkCompleteIds(ids);
    const argumentsText = () => `${partition}/${ids}`;
    const call = { operation: "release", late: lateRelease, argumentsText } as const;
    return outcomeOf(
      await this.#finish(queue, request, call, (place) => ({ kind: "release", ids, ...place })),
    );
  }

  async cancelItems(request: api.CancelItemsRequest): Promise<api.Cancelled> {
    const { catalog, clock, find, shard } = this.#options;
    const { ids, requestTimeoutMs } = request;
    const queue = find(request.queue);
    checkCancelIds(ids);
    const timing = timingOf(clock, lateCancel, requestTimeoutMs);
    const keyed = this.#keyOf(queue, "cancel", request, () => ids.join());
    const { epochs } = shard();
    const places = ids.map((id) => catalog.placeIn(queue, id, epochs));
    const { deadline } = timing;
    const { queueId } = queue;
    const call = { kind: "cancel", queueId, deadline, places, ...keyed } as const;
    const { value, replayed } = await this.#callIn([], call, timing);
    assert(value.kind === "recalled", "a cancel was answered with something else");
    const items = ids.map((id, index) => {
      const was = cancelledStates[value.values[index] ?? 0] ?? "not_found";
      return { id, was };
    });
    return { items, replayed };
  }

  async importItems(request: api.ImportRequest): Promise<api.Imported> {
    const { partition } = request;
    const queue = this.#queueOf(request);
    checkImportItems(request.items);
    const place = queue.places.get(partition);
    const isOpen = place !== undefined && place.state !== "draining";
    // A call with a key may be a repetition, which the shard answers.
    if (!isOpen && request.requestKey === undefined) {
      throw QueueError.from(drainingFailure(partition));
    }
    const items = request.items.map(newImport);
    const keyed = this.#keyOf(queue, "import", request, () => importedText(partition, items));
    const draining = !isOpen && { draining: partition };
    const argumentsText = {
      kind: "import",
      slot: place?.slot ?? 0,
      items,
      ...keyed,
      ...draining,
    } as const;
    const timing = timingOf(this.#options.clock, lateWrite);
    const { value, replayed } = await (place === undefined
      ? this.#importedBefore(partition, argumentsText, timing)
      : this.#call(queue, argumentsText, timing));
    return { items: storedItems(value, queue.definition), replayed };
  }

  /** Reads the result from the shard's receipt. */
  async #importedBefore(
    partition: number,
    argumentsText: ImportCall,
    timing: Timing,
  ): Promise<Done> {
    await this.#finished(partition, argumentsText.key, timing);
    const result = await this.#options.shard().ask(argumentsText, timing);
    return { value: succeeded(result), replayed: true };
  }

  /** With a key the partition need not exist any more: the call may have been done before. */
  #queueOf({ queue: name, partition, requestKey }: HeldRequest): LogicalQueue {
    const queue = this.#options.find(name);
    if (requestKey === undefined) queue.place(partition);
    return queue;
  }

  async #finish(
    queue: LogicalQueue,
    request: HeldRequest,
    { operation, late, argumentsText }: HeldCall,
    requestAt: (place: HeldPlace) => InnerCall,
  ): Promise<Done> {
    const timing = timingOf(this.#options.clock, late, request.requestTimeoutMs);
    const keyed = this.#keyOf(queue, operation, request, argumentsText);
    const place = queue.places.get(request.partition);
    if (place === undefined) {
      return this.#finished(request.partition, keyed?.key, timing);
    }
    const { deadline } = timing;
    return this.#call(queue, requestAt({ slot: place.slot, deadline, ...keyed }), timing);
  }

  /** Sends the request to the shard; the call counts as in flight until it is settled. */
  #call(queue: LogicalQueue, request: InnerCall, timing: Timing): Promise<Done> {
    const { kind: verb } = request;
    const count = verb === "produce" ? request.items.length : 0;
    return this.#callIn([{ queue, verb, count }], request, timing);
  }

  /** Like `#call`, for a call that counts in several queues. */
  #callIn(parts: readonly InnerPart[], request: Request, timing: Timing): Promise<Done> {
    for (const { queue, verb, count } of parts) queue.entered(verb, count);
    return new Promise((resolve, reject) => {
      this.#options.shard().put(
        request,
        (result) => {
          for (const { queue, verb, count } of parts) queue.left(verb, count);
          if (!result.ok) reject(QueueError.from(result));
          else resolve({ value: result.value, replayed: result.replayed === true });
        },
        timing,
      );
    });
  }

  /** A partition is removed once it is empty, but its receipts are kept longer. */
  async #finished(
    partition: number,
    key: IdempotencyKey | undefined,
    timing: Timing,
  ): Promise<Done> {
    return (await this.#known(key, timing)) ?? unknownPartition(partition);
  }

  /** The shard's result for the key; `null` = none. */
  async #known(key: IdempotencyKey | undefined, { deadline, late }: Timing): Promise<Done | null> {
    if (key === undefined) return null;
    const timing = { deadline, late: { ...late, taken: late.beforeSend } };
    const value = succeeded(await this.#options.shard().ask({ kind: "recall", key }, timing));
    return value.kind === "recalled" ? { value, replayed: true } : null;
  }
}
