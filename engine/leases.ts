// Leases from their arrival to their answer: served at once where a partition has
// items to spare, else in the line of their queue until something makes one ready.

import type { PartitionPlace } from "../stores/queue.ts";
import type { Lease, LeaseRequest } from "./api.ts";
import type { Clock, Timer } from "./clock.ts";
import {
  deletedFailure,
  type Failure,
  failure,
  late,
  pausedLease,
  QueueError,
  tooMany,
} from "./errors.ts";
import type { NewItem } from "./messages.ts";
import type { ShardPort } from "./port.ts";
import type { LogicalQueue } from "./queue.ts";
import type { Result } from "./shard/kind.ts";
import { checkLease, checkRequestTimeout } from "./validate.ts";
import type { WaitingLease } from "./waiting.ts";

const emptyLease = late("no items are in the queue");
const limitedLease = late("the queue's limits allowed no more items");
const clientGone = failure("empty", "the client has left; nothing was leased");
const duplicateClient = failure(
  "invalid",
  "duplicate client id; a client cannot make multiple leased requests to the same queue",
);

export interface LeasesOptions<Items> {
  readonly clock: Clock;
  readonly port: (shard: number) => ShardPort;
  readonly readLeased: (text: string) => Items;
  /** Over all queues. */
  readonly waitingLeasesMax: number;
  /** A lease that was on its way to the partition has come back. */
  readonly left: (queue: LogicalQueue, partition: number) => void;
}

export class Leases<Items> {
  readonly #options: LeasesOptions<Items>;
  /** Queues whose waiting leases may have something to take. */
  readonly #ready = new Set<LogicalQueue>();
  /** By queue, when its rate next allows more to its line. */
  readonly #wakes = new Map<LogicalQueue, { readonly deadline: number; readonly timer: Timer }>();
  #arrivalLast = 0;
  #waitingLeases = 0;

  constructor(options: LeasesOptions<Items>) {
    this.#options = options;
  }

  lease(queue: LogicalQueue, request: LeaseRequest): Promise<Lease<Items>> {
    const { clock, readLeased, waitingLeasesMax } = this.#options;
    checkLease(request);
    checkRequestTimeout(request.requestTimeoutMs, "1m");
    // One whose connection broke may be back before its last request is answered.
    const same = queue.clients.get(request.clientId);
    if (same?.request.signal?.aborted) same.settle(clientGone);
    else if (same !== undefined) throw QueueError.from(duplicateClient);
    if (request.signal?.aborted) throw QueueError.from(clientGone);
    // Only who is first in line may be served at once.
    const partition = queue.line.size === 0 ? queue.leaseFrom(clock.now()) : -1;
    if (partition < 0 && this.#waitingLeases >= waitingLeasesMax) {
      throw tooMany("full", "leases wait", waitingLeasesMax);
    }
    return new Promise((resolve, reject) => {
      this.#arrivalLast += 1;
      const lease: WaitingLease = {
        request,
        arrival: this.#arrivalLast,
        deadline: clock.now() + request.requestTimeoutMs,
        timer: null,
        hangUp: null,
        over: false,
        settle: (outcome) => {
          if (lease.over) return;
          lease.over = true;
          lease.timer?.cancel();
          if (lease.hangUp !== null) request.signal?.removeEventListener("abort", lease.hangUp);
          queue.line.leave(lease);
          queue.clients.delete(request.clientId);
          this.#waitingLeases -= 1;
          if ("code" in outcome) reject(QueueError.from(outcome));
          else {
            const { maxAttempts } = queue.definition;
            const items = readLeased(outcome.items);
            resolve({ ...outcome, queue: request.queue, maxAttempts, items });
          }
        },
      };
      queue.clients.set(request.clientId, lease);
      this.#waitingLeases += 1;
      if (partition >= 0) this.#grant(queue, lease, partition);
      else this.#line(queue, lease);
    });
  }

  #line(queue: LogicalQueue, lease: WaitingLease): void {
    // Only of who waits: to listen costs about as much as the rest of a lease.
    if (lease.hangUp === null) {
      lease.hangUp = () => lease.settle(clientGone);
      lease.request.signal?.addEventListener("abort", lease.hangUp);
    }
    const { clock } = this.#options;
    queue.line.join(lease, (expired) => expired.settle(nothingIn(queue, clock.now())));
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
    for (const { enqueueAt } of items) {
      const lease = queue.line.first();
      if (lease === undefined || queue.allowance.items(now) <= 0) return;
      if (enqueueAt !== null && enqueueAt > now) continue;
      queue.line.leave(lease);
      this.#grant(queue, lease, partition);
    }
  }

  #grant(queue: LogicalQueue, lease: WaitingLease, partition: number): void {
    // A shard may take longer than the client waits; what it grants then goes back.
    const { clock, port, left } = this.#options;
    lease.timer ??= clock.at(lease.deadline, () => lease.settle(nothingIn(queue, clock.now())));
    const { deadline, request } = lease;
    const { leaseTimeoutMs } = request;
    const batchSize = Math.min(request.batchSize, queue.allowance.items(clock.now()));
    const own = typeof leaseTimeoutMs === "number" ? { leaseTimeoutMs } : {};
    const place = queue.place(partition);
    queue.entered("lease", partition, batchSize);
    queue.allowance.asked(batchSize);
    port(place.shard).put(
      { kind: "lease", slot: place.slot, deadline, batchSize, ...own },
      (result, op) => {
        queue.left("lease", partition, batchSize);
        queue.allowance.granted(countOf(result), { asked: batchSize, now: clock.now() });
        this.#granted(queue, lease, place, result, op);
        this.ready(queue);
        left(queue, partition);
      },
      // Once it is taken, its own timer answers it, and what it is granted then goes back.
      { deadline, late: { untaken: emptyLease, taken: null } },
    );
  }

  #granted(
    queue: LogicalQueue,
    lease: WaitingLease,
    place: PartitionPlace,
    result: Result,
    op: number,
  ): void {
    const { clock, port } = this.#options;
    const { shard, slot, partition } = place;
    if (!result.ok) {
      lease.settle(result);
      return;
    }
    const { value } = result;
    if (lease.request.signal?.aborted) lease.settle(clientGone);
    if (value.kind === "leased") {
      // Nobody was told of these items, so they go back as if they had not been leased.
      if (lease.over) port(shard).put({ kind: "withdraw", slot, leaseOp: op }, () => undefined);
      else lease.settle({ partition, items: value.items });
      return;
    }
    // Whatever was counted: until the shard counts again, nobody else is sent there for nothing.
    if (value.kind === "nothing" && !value.more) queue.balance.update(partition, { ready: 0 });
    if (lease.over) return;
    if (queue.deleted) lease.settle(deletedFailure);
    else if (lease.deadline <= clock.now()) lease.settle(nothingIn(queue, clock.now()));
    else this.#line(queue, lease);
  }
}

/** What a lease is told whose time is up. */
function nothingIn({ definition, allowance, balance }: LogicalQueue, now: number): Failure {
  const { pause } = definition;
  if (pause?.lease === true) return pausedLease(pause);
  return balance.leaseFrom >= 0 && allowance.items(now) <= 0 ? limitedLease : emptyLease;
}

/** Items that a lease was granted. */
function countOf(result: Result): number {
  return result.ok && result.value.kind === "leased" ? result.value.count : 0;
}
