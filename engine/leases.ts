// Leases from their arrival to their answer: served at once where a partition has
// items to spare, else in the line of their queue until something makes one ready.

import type { PartitionPlace } from "../stores/queue.ts";
import type { Lease, LeaseRequest } from "./model/api.ts";
import { type CallKey, callKey, keyTaken } from "./model/call-key.ts";
import type { Clock, Timer } from "./model/clock.ts";
import {
  deletedFailure,
  emptyLease,
  type Failure,
  failure,
  leaseOver,
  limitedLease,
  pausedLease,
  QueueError,
  tooMany,
  unknownOutcome,
  unreachableLease,
} from "./model/errors.ts";
import { limits } from "./model/limits.ts";
import type { LeaseKey, NewItem } from "./model/messages.ts";
import { checkLease, checkRequestTimeout } from "./model/validate.ts";
import type { Result } from "./operations/kind.ts";
import { dueAtOf } from "./operations/produce.ts";
import { GrantedSlots } from "./state/granted-slots.ts";
import type { LogicalQueue } from "./state/queue.ts";
import type { WaitingLease } from "./state/waiting.ts";
import type { Shard } from "./turn/shard.ts";

const clientGone = failure("client_gone", "the client has left; nothing was leased");
const duplicateClient = failure(
  "duplicate_client",
  "duplicate client id; a client cannot make multiple leased requests to the same queue",
);

const repeated = failure("repeated", "the lease was asked for again; the repetition is answered");

function keyOf(queue: LogicalQueue, request: LeaseRequest): CallKey | undefined {
  const { requestKey, batchSize, leaseTimeoutMs } = request;
  if (requestKey === undefined) return undefined;
  const asked = `${batchSize}/${leaseTimeoutMs ?? ""}`;
  return callKey(requestKey, { queue: queue.lasting, operation: "lease", asked });
}

/** Whoever waits for the answer of a lease by now. */
function latest(lease: WaitingLease): WaitingLease {
  let last = lease;
  while (last.next !== null) last = last.next;
  return last;
}

export interface LeasesOptions {
  readonly clock: Clock;
  readonly port: (shard: number) => Shard;
  /** Over all queues. */
  readonly waitingLeasesMax: number;
  readonly receiptsWindowMs: number;
  /** A lease that was on its way to the partition has come back. */
  readonly left: (queue: LogicalQueue, partition: number) => void;
  readonly bounded: (key: CallKey) => CallKey;
}

export class Leases<Items> {
  readonly #options: LeasesOptions;
  /** Queues whose waiting leases may have something to take. */
  readonly #ready = new Set<LogicalQueue>();
  /** Those with a key, by its digest, until they are answered and no grant is on its way to them. */
  readonly #keyed = new Map<string, WaitingLease>();
  readonly #granted = new GrantedSlots();
  /** By queue, when its rate next allows more to its line. */
  readonly #wakes = new Map<LogicalQueue, { readonly deadline: number; readonly timer: Timer }>();
  #arrivalLast = 0;
  #waitingLeases = 0;
  #sentCount = 0;
  #sentLast = 0;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** Takes note where leases were granted that may be asked for again, at a start. */
  recall(keys: readonly LeaseKey[]): void {
    for (const { digest, slot, at } of keys.toSorted((a, b) => a.at - b.at)) {
      this.#granted.note(digest, slot, at);
    }
  }

  lease(queue: LogicalQueue, request: LeaseRequest): Promise<Lease<Items>> {
    const { waitingLeasesMax } = this.#options;
    checkLease(request);
    checkRequestTimeout(request.requestTimeoutMs, "1m");
    const key = keyOf(queue, request);
    const before = key && this.#keyed.get(key.digest);
    if (before !== undefined && before.key?.fingerprint !== key?.fingerprint) {
      throw QueueError.from(keyTaken(key as CallKey));
    }
    // One whose connection broke may be back before its last request is answered.
    const same = queue.clients.get(request.clientId);
    if (same !== undefined && same !== before) {
      if (!same.request.signal?.aborted) throw QueueError.from(duplicateClient);
      same.settle(clientGone);
    }
    if (request.signal?.aborted) throw QueueError.from(clientGone);
    if (before !== undefined) return this.#follow(queue, before, request);
    // Only who is first in line may be served at once, or who was served there before.
    const partition = this.#grantedAt(queue, key) ?? this.#freeAt(queue);
    if (partition < 0 && this.#waitingLeases >= waitingLeasesMax) {
      throw tooMany("full", "leases wait", waitingLeasesMax);
    }
    this.#arrivalLast += 1;
    const { lease, answer } = this.#enter(queue, request, { key, arrival: this.#arrivalLast });
    if (partition >= 0) this.#grant(queue, lease, partition);
    else this.#line(queue, lease);
    return answer;
  }

  #freeAt(queue: LogicalQueue): number {
    return queue.line.size === 0 ? queue.leaseFrom(this.#options.clock.now()) : -1;
  }

  /** Where a lease with this key was granted; its partition may be gone, and its items with it. */
  #grantedAt(queue: LogicalQueue, key: CallKey | undefined): number | undefined {
    const { clock, receiptsWindowMs } = this.#options;
    if (key === undefined) return undefined;
    this.#granted.forget(clock.now() - receiptsWindowMs);
    const slot = this.#granted.find(key.digest);
    if (slot === undefined) return undefined;
    const partition = queue.partitionAt(slot);
    if (partition === undefined) throw QueueError.from(leaseOver);
    return partition;
  }

  /** The repetition of a lease that waits, or is on its way, takes its place. */
  #follow(queue: LogicalQueue, before: WaitingLease, request: LeaseRequest): Promise<Lease<Items>> {
    const { key, arrival, isSent } = before;
    before.settle(repeated);
    const { lease, answer } = this.#enter(queue, request, { key, arrival });
    if (isSent) {
      before.next = lease;
      lease.isSent = true;
      this.#watch(queue, lease);
    } else this.#line(queue, lease);
    return answer;
  }

  #enter(
    queue: LogicalQueue,
    request: LeaseRequest,
    { key, arrival }: Pick<WaitingLease, "key" | "arrival">,
  ): { readonly lease: WaitingLease; readonly answer: Promise<Lease<Items>> } {
    const { clock } = this.#options;
    const { promise: answer, resolve, reject } = Promise.withResolvers<Lease<Items>>();
    const now = clock.now();
    const lease: WaitingLease = {
      request,
      key,
      since: now,
      arrival,
      deadline: clock.machine.now() + request.requestTimeoutMs,
      timer: null,
      hangUp: null,
      isSent: false,
      next: null,
      over: false,
      settle: (outcome) => {
        if (lease.over) return;
        lease.over = true;
        lease.timer?.cancel();
        if (lease.hangUp !== null) request.signal?.removeEventListener("abort", lease.hangUp);
        queue.line.leave(lease);
        queue.clients.delete(request.clientId);
        queue.watch.changedAt = clock.now();
        // Its grant would be withdrawn though a repetition is told of it, if that could not follow it.
        if (!lease.isSent) this.#forget(lease);
        this.#waitingLeases -= 1;
        if ("code" in outcome) reject(QueueError.from(outcome));
        else {
          const { maxAttempts } = queue.definition;
          const items = outcome.items as Items;
          const now = clock.now();
          resolve({ ...outcome, queue: request.queue, maxAttempts, now, items });
        }
      },
    };
    queue.clients.set(request.clientId, lease);
    queue.watch.asked(request.clientId.slice(0, limits.holderNameMax), now);
    if (key !== undefined) this.#keyed.set(key.digest, lease);
    this.#waitingLeases += 1;
    return { lease, answer };
  }

  #forget({ key }: WaitingLease): void {
    if (key !== undefined) this.#keyed.delete(key.digest);
  }

  /**
   * Answers it at its deadline. A shard that has it then may have granted items, so it is answered
   * what the shard decides; only the outcome of a shard that stalls is unknown.
   */
  #watch(queue: LogicalQueue, lease: WaitingLease): void {
    if (lease.timer !== null) return;
    const { clock } = this.#options;
    const { machine } = clock;
    const stalled = (): void => lease.settle(unknownOutcome);
    lease.timer = machine.at(lease.deadline, () => {
      if (!lease.isSent) lease.settle(nothingIn(queue, clock.now()));
      else lease.timer = machine.at(lease.deadline + limits.leaseStallMsMax, stalled);
    });
  }

  #line(queue: LogicalQueue, lease: WaitingLease): void {
    // Only of who waits: to listen costs about as much as the rest of a lease.
    if (lease.hangUp === null) {
      lease.hangUp = () => lease.settle(clientGone);
      lease.request.signal?.addEventListener("abort", lease.hangUp);
    }
    queue.line.join(lease);
    this.#watch(queue, lease);
    this.#wakeFor(queue);
  }

  /** The queue has items that its line may be waiting for. */
  ready(queue: LogicalQueue): void {
    if (queue.line.size > 0) this.#ready.add(queue);
  }

  /** Nothing but time may have to pass until the line is served on. */
  #wakeFor(queue: LogicalQueue): void {
    const { clock } = this.#options;
    const deadline = queue.allowance.moreAt;
    const set = this.#wakes.get(queue);
    if (deadline === null || (set !== undefined && set.deadline <= deadline)) return;
    set?.timer.cancel();
    const timer = clock.at(deadline, () => {
      this.#wakes.delete(queue);
      this.ready(queue);
      this.dispatch();
    });
    this.#wakes.set(queue, { deadline, timer });
  }

  /** Whether leases are on their way to a partition. */
  get isSending(): boolean {
    return this.#sentCount > 0;
  }

  /** How many leases have been sent to a partition; it only rises. */
  get sendings(): number {
    return this.#sentLast;
  }

  /** Nobody is served any more. */
  close(): void {
    for (const { timer } of this.#wakes.values()) timer.cancel();
  }

  /** Sends the waiting leases of queues that are ready to where their items are. */
  dispatch(): void {
    for (const queue of this.#ready) {
      const now = this.#options.clock.now();
      for (;;) {
        const lease = queue.line.first();
        const partition = lease === undefined ? -1 : queue.leaseFrom(now);
        if (lease === undefined || partition < 0) break;
        queue.line.leave(lease);
        this.#grant(queue, lease, partition);
      }
      if (queue.line.size > 0) this.#wakeFor(queue);
    }
    this.#ready.clear();
  }

  /**
   * Items are on their way to a partition: the first in line go along, and are
   * served in the turn that writes what they waited for.
   */
  accompany(queue: LogicalQueue, partition: number, items: readonly NewItem[]): void {
    if (queue.line.size === 0) return;
    const now = this.#options.clock.now();
    for (const item of items) {
      const lease = queue.line.first();
      if (lease === undefined || queue.allowance.items(now) <= 0) return;
      if (dueAtOf(item, now) !== null) continue;
      queue.line.leave(lease);
      this.#grant(queue, lease, partition);
    }
  }

  #grant(queue: LogicalQueue, lease: WaitingLease, partition: number): void {
    const { clock, port, left, bounded } = this.#options;
    this.#watch(queue, lease);
    lease.isSent = true;
    this.#sentCount += 1;
    this.#sentLast += 1;
    const { deadline, request, key } = lease;
    const { leaseTimeoutMs } = request;
    const client = request.clientId.slice(0, limits.holderNameMax);
    const now = clock.now();
    const batchSize = Math.max(0, Math.min(request.batchSize, queue.allowance.items(now)));
    const own = typeof leaseTimeoutMs === "number" ? { leaseTimeoutMs } : {};
    const isRepeated = this.#isGranted(key);
    const keyed = key && { key: bounded(key), ...(isRepeated && { isRepeated }) };
    const place = queue.place(partition);
    queue.entered("lease", partition, batchSize);
    queue.allowance.asked(batchSize);
    queue.watch.changedAt = now;
    const { restarts } = port(queue.shard).counters;
    port(queue.shard).put(
      { kind: "lease", slot: place.slot, deadline, batchSize, client, ...own, ...keyed },
      (result, op) => {
        this.#sentCount -= 1;
        queue.left("lease", partition, batchSize);
        const asked = { asked: batchSize, now: clock.now() };
        const isTold = isReplayed(result) && (isRepeated || this.#isGranted(key));
        const waiting = latest(lease);
        waiting.isSent = false;
        if (waiting.request.signal?.aborted) waiting.settle(clientGone);
        if (waiting.over) this.#forget(waiting);
        queue.allowance.granted(isTold || waiting.over ? 0 : countOf(result), asked);
        // A store that failed may say later than the pause what it granted before.
        const hasFailed = port(queue.shard).counters.restarts > restarts;
        const isPaused = hasFailed && queue.definition.pause?.lease === true;
        this.#answered(queue, waiting, place, { result, op, isTold, isPaused });
        this.ready(queue);
        left(queue, partition);
      },
      // Once it is taken, its own timer answers it.
      { deadline, late: { untaken: emptyLease, taken: null } },
    );
  }

  /** Somebody heard of the grant: its receipt may be all that is left of a lost answer. */
  #isGranted(key: CallKey | undefined): boolean {
    return key !== undefined && this.#granted.find(key.digest) !== undefined;
  }

  #answered(
    queue: LogicalQueue,
    lease: WaitingLease,
    place: PartitionPlace,
    {
      result,
      op,
      isTold,
      isPaused,
    }: {
      readonly result: Result;
      readonly op: number;
      readonly isTold: boolean;
      readonly isPaused: boolean;
    },
  ): void {
    const { clock, port } = this.#options;
    const { slot, partition } = place;
    const { key } = lease;
    if (!result.ok && result !== emptyLease) {
      lease.settle(result);
      return;
    }
    const value = result.ok ? result.value : null;
    if (value?.kind === "leased") {
      if (!lease.over && (isTold || !isPaused)) {
        if (key !== undefined) this.#granted.note(key.digest, slot, clock.now());
        lease.settle({ partition, items: value.items, replayed: isReplayed(result) });
        return;
      }
      // Its client had the answer when they were granted.
      if (isTold) return;
      // No client has had these items, so they go back as if they had not been leased.
      const leaseKey = key && { leaseKey: key };
      port(queue.shard).put({ kind: "withdraw", slot, leaseOp: op, ...leaseKey }, () => undefined);
    }
    // Whatever was counted: until the shard counts again, nobody else is sent there for nothing.
    if (value?.kind === "nothing" && !value.more) queue.balance.update(partition, { ready: 0 });
    if (lease.over) return;
    if (queue.deleted) lease.settle(deletedFailure);
    else if (lease.deadline <= clock.machine.now()) lease.settle(nothingIn(queue, clock.now()));
    else this.#line(queue, lease);
  }
}

/** What a lease is told whose time is up. */
function nothingIn({ definition, allowance, balance }: LogicalQueue, now: number): Failure {
  const { pause } = definition;
  if (pause?.lease === true) return pausedLease(pause);
  // Whether it has items is not known then.
  if (!balance.isUp) return unreachableLease;
  return balance.leaseFrom >= 0 && allowance.items(now) <= 0 ? limitedLease : emptyLease;
}

function isReplayed(result: Result): boolean {
  return result.ok && result.replayed === true;
}

/** Items that a lease was granted. */
function countOf(result: Result): number {
  return result.ok && result.value.kind === "leased" ? result.value.count : 0;
}
