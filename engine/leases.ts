// Leases from arrival to reply. Each waits in the line of its queue until a turn of the shard
// grants it items, its deadline passes, or its client disconnects.

import type { Lease, LeaseRequest } from "./model/api.ts";
import type { Clock } from "./model/clock.ts";
import {
  deletedFailure,
  emptyLease,
  type Failure,
  failure,
  limitedLease,
  pausedLease,
  QueueError,
  tooMany,
  unknownOutcome,
  unreachableLease,
} from "./model/errors.ts";
import { type IdempotencyKey, idempotencyKey, keyTaken } from "./model/idempotency-key.ts";
import { limits } from "./model/limits.ts";
import { checkLease, checkRequestTimeout } from "./model/validate.ts";
import type { Granted } from "./state/lines.ts";
import type { LogicalQueue, WaitingLease } from "./state/queue.ts";
import type { Shard } from "./turn/shard.ts";

const clientGone = failure("client_gone", "the client has left; nothing was leased");
const duplicateClient = failure(
  "duplicate_client",
  "duplicate client id; a client cannot make multiple leased requests to the same queue",
);

const repeated = failure("repeated", "the lease was asked for again; the repetition is answered");

function keyOf(queue: LogicalQueue, request: LeaseRequest): IdempotencyKey | undefined {
  const { requestKey, batchSize, leaseTimeoutMs, priorityMin = 0, groupRuns = false } = request;
  if (requestKey === undefined) return undefined;
  const argumentsText = `${batchSize}/${leaseTimeoutMs ?? ""}/${priorityMin}/${groupRuns}`;
  return idempotencyKey(requestKey, { queue: queue.lasting, operation: "lease", argumentsText });
}

export interface LeasesOptions {
  readonly clock: Clock;
  readonly shard: () => Shard;
  /** Over all queues of the shard. */
  readonly waitingLeasesMax: number;
}

export class Leases<Items> {
  readonly #options: LeasesOptions;
  #arrivalLast = 0;
  #waitingLeases = 0;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  lease(queue: LogicalQueue, request: LeaseRequest): Promise<Lease<Items>> {
    const { clock, waitingLeasesMax } = this.#options;
    checkLease(request);
    checkRequestTimeout(request.requestTimeoutMs, "1m");
    const shard = this.#options.shard();
    const key = keyOf(queue, request);
    const before = key && shard.lines.withKey(key);
    if (before !== undefined && before.key?.fingerprint !== key?.fingerprint) {
      throw QueueError.from(keyTaken(key as IdempotencyKey));
    }
    // A client whose connection broke may return before its last request is answered.
    const same = queue.clients.get(request.clientId);
    if (same !== undefined && same !== before) {
      if (!same.request.signal?.aborted) throw QueueError.from(duplicateClient);
      same.settle(clientGone);
    }
    if (request.signal?.aborted) throw QueueError.from(clientGone);
    const mayFind = shard.isUp && queue.mayLease(clock.now(), request.priorityMin ?? 0);
    const isRepeated = key !== undefined && shard.remembers(key);
    const isKnown = isRepeated || before !== undefined;
    if (!isKnown && !mayFind && this.#waitingLeases >= waitingLeasesMax) {
      throw tooMany("full", "leases wait", waitingLeasesMax);
    }
    this.#arrivalLast += 1;
    const arrival = before?.arrival ?? this.#arrivalLast;
    before?.settle(repeated);
    const { lease, answer } = this.#enter(queue, request, key, arrival);
    if (before === undefined) shard.lines.join(lease, mayFind, isRepeated);
    else shard.lines.follow(before, lease, isRepeated);
    shard.look();
    return answer;
  }

  #enter(
    queue: LogicalQueue,
    request: LeaseRequest,
    key: IdempotencyKey | undefined,
    arrival: number,
  ): { readonly lease: WaitingLease; readonly answer: Promise<Lease<Items>> } {
    const { clock, shard: shardOf } = this.#options;
    const { machine } = clock;
    const { promise: answer, resolve, reject } = Promise.withResolvers<Lease<Items>>();
    const { signal, clientId } = request;
    const now = clock.now();
    const deadline = machine.now() + request.requestTimeoutMs;
    const lease: WaitingLease = {
      ...{ queue, request, key, arrival, deadline, since: now },
      ...{ timer: null, hangUp: null, next: null },
      ...{ isGranted: false, over: false },
      settle: (outcome) => {
        if (lease.over) return;
        lease.over = true;
        lease.timer?.cancel();
        if (lease.hangUp !== null) signal?.removeEventListener("abort", lease.hangUp);
        shardOf().lines.leave(lease);
        queue.clients.delete(clientId);
        queue.activity.changedAt = clock.now();
        this.#waitingLeases -= 1;
        if ("code" in outcome) {
          reject(QueueError.from(outcome));
          return;
        }
        const { partition, replayed } = outcome;
        const { maxAttempts, retryBackoff } = queue.definition;
        const items = outcome.items as Items;
        resolve({
          partition,
          replayed,
          queue: request.queue,
          maxAttempts,
          ...(retryBackoff !== undefined && { retryBackoff }),
          now: clock.now(),
          items,
        });
      },
      listen: () => {
        if (lease.over || lease.hangUp !== null) return;
        lease.hangUp = () => lease.settle(clientGone);
        signal?.addEventListener("abort", lease.hangUp);
        if (signal?.aborted) lease.hangUp();
      },
      timeUp: () => {
        if (machine.now() < deadline) return;
        if (!lease.isGranted) lease.settle(this.#emptyReason(queue, request.priorityMin ?? 0));
        else lease.timer = machine.at(deadline + limits.leaseStallMsMax, stalled);
      },
    };
    // A turn granted items, but its store stalls before the reply: the outcome is unknown.
    const stalled = (): void => lease.settle(unknownOutcome);
    lease.timer = machine.at(deadline, lease.timeUp);
    queue.clients.set(clientId, lease);
    queue.activity.leaseRequested(clientId.slice(0, limits.holderNameMax), now);
    this.#waitingLeases += 1;
    return { lease, answer };
  }

  /** Handles the outcome that a turn decided; `isLate`: the store has failed since. */
  granted({ lease, outcome, slot, seqs }: Granted, isLate: boolean): void {
    const { clock, shard: shardOf } = this.#options;
    const { queue, key } = lease;
    if (lease.request.signal?.aborted) lease.settle(clientGone);
    if ("code" in outcome) {
      lease.settle(outcome);
      return;
    }
    // The reply could arrive after the pause call has ended.
    const isPaused = isLate && queue.definition.pause?.lease === true;
    if (!lease.over && (outcome.replayed || !isPaused)) {
      if (!outcome.replayed) queue.leaseLimiter.spend(outcome.count, clock.now());
      lease.settle(outcome);
      return;
    }
    // Its client received the reply when the items were granted.
    if (outcome.replayed) return;
    // No client received these items, so they are requeued as if they had not been leased.
    const shard = shardOf();
    const leaseKey = key && { leaseKey: key };
    if (key !== undefined) shard.lines.withdrawing(key);
    shard.put({ kind: "withdraw", slot, seqs, ...leaseKey }, () => {
      if (key !== undefined) shard.lines.withdrawn(key);
      shard.look();
    });
    if (lease.over) return;
    if (queue.deleted) {
      lease.settle(deletedFailure);
      return;
    }
    shard.lines.join(lease, true);
    lease.timeUp();
  }

  /** Why a lease was granted nothing by its deadline. */
  #emptyReason(queue: LogicalQueue, priorityMin: number): Failure {
    const { clock, shard } = this.#options;
    const { pause } = queue.definition;
    if (pause?.lease === true) return pausedLease(pause);
    // Without the shard it is unknown whether the queue has items.
    if (!shard().isUp) return unreachableLease;
    const isLimited =
      queue.levels.highestReady >= priorityMin && queue.itemsAllowed(clock.now()) <= 0;
    return isLimited ? limitedLease : emptyLease;
  }
}
