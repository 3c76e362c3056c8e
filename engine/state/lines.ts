// The waiting leases of a shard: the lines that the next turn serves, and the leases that a turn
// without an answer has granted. They outlive an opening of the store and are not stored.

import { deletedFailure, type Failure } from "../model/errors.ts";
import { Heap } from "../model/heap.ts";
import type { IdempotencyKey } from "../model/idempotency-key.ts";
import type { LeaseGrant, LogicalQueue, WaitingLease } from "./queue.ts";

/** What a turn has decided for a waiting lease. */
export interface Granted {
  readonly lease: WaitingLease;
  readonly outcome: Failure | LeaseGrant;
  readonly slot: number;
  readonly seqs: readonly number[];
}

export interface LinesToServe {
  readonly queues: Iterable<LogicalQueue>;
  /** Leases that may have been granted before. */
  readonly repeated: readonly WaitingLease[];
}

interface Wake {
  readonly at: number;
  readonly queue: LogicalQueue;
}

/** Repeated leases per turn; a turn may read all items of their grants. */
const repeatedMax = 8;

/** The latest repetition of a lease, which gets the answer. */
function latest(lease: WaitingLease): WaitingLease {
  let last = lease;
  while (last.next !== null) last = last.next;
  return last;
}

export class Lines {
  /** Queues whose line may find items. */
  #ready = new Set<LogicalQueue>();
  /** Leases that may have been granted before. */
  readonly #repeated = new Set<WaitingLease>();
  /** Leases that arrived since the last turn and may find items. */
  #arrived: WaitingLease[] = [];
  /** Leases that are in a turn for the first time. */
  #inTurn: readonly WaitingLease[] = [];
  /** Digests of keys whose grants are being withdrawn. */
  readonly #withdrawing = new Set<string>();
  /** Items that leases ask the next turn for. */
  #asked = 0;
  /** Granted leases that are not answered, with their counts of items. */
  readonly #granted = new Map<WaitingLease, number>();
  /** By the digest of the key. A lease is removed once it is over and has no pending grant. */
  readonly #keyed = new Map<string, WaitingLease>();
  readonly #wakeAt = new Map<LogicalQueue, number>();
  readonly #wakes = new Heap<Wake>({
    less: (a, b) => a.at < b.at,
    isLive: ({ at, queue }) => this.#wakeAt.get(queue) === at,
  });
  #grantedCount = 0;

  /**
   * `mayFind`: the next turn serves it; otherwise it waits until its queue is ready. `isRepeated`:
   * a call with its key may have been done.
   */
  join(lease: WaitingLease, mayFind: boolean, isRepeated = false): void {
    const { queue, request } = lease;
    this.#place(lease);
    if (isRepeated) this.lookUp(lease);
    if (!mayFind) {
      lease.listen();
      this.rest(queue);
      return;
    }
    this.#ready.add(queue);
    this.#arrived.push(lease);
    this.#asked += request.batchSize;
  }

  #place(lease: WaitingLease): void {
    const { queue, key } = lease;
    queue.line.join(lease);
    if (key !== undefined) this.#keyed.set(key.digest, lease);
  }

  /** Takes the place of an earlier lease with the same key. */
  follow(before: WaitingLease, lease: WaitingLease, isRepeated: boolean): void {
    if (!before.isGranted) {
      this.join(lease, true, isRepeated);
      return;
    }
    before.next = lease;
    lease.isGranted = true;
    this.#keyed.set(lease.key?.digest ?? "", lease);
  }

  /** The lease is answered, or its client disconnected. */
  leave(lease: WaitingLease): void {
    lease.queue.line.leave(lease);
    this.#repeated.delete(lease);
    // A granted lease keeps its key, so that a repetition can follow it and get the grant.
    if (!lease.isGranted) this.#forget(lease);
  }

  /** The lease with this key that is not over, or has a pending grant. */
  withKey({ digest }: IdempotencyKey): WaitingLease | undefined {
    return this.#keyed.get(digest);
  }

  #forget({ key }: WaitingLease): void {
    if (key !== undefined) this.#keyed.delete(key.digest);
  }

  /** The queue may have items for its line, which asks for `asked` of them. */
  ready(queue: LogicalQueue, asked = 0): void {
    if (queue.line.size === 0) return;
    this.#ready.add(queue);
    this.#asked += asked;
  }

  /** Serves the line again when its rate limit allows more items, or at `openAt`. */
  rest(queue: LogicalQueue, openAt = Number.POSITIVE_INFINITY): void {
    const at = Math.min(queue.leaseLimiter.moreAt ?? Number.POSITIVE_INFINITY, openAt);
    if ((this.#wakeAt.get(queue) ?? Number.POSITIVE_INFINITY) <= at) return;
    this.#wakeAt.set(queue, at);
    this.#wakes.push({ at, queue });
  }

  get isReady(): boolean {
    return this.#ready.size + this.#repeated.size > 0;
  }

  /** When a turn has to serve a line; infinite = never. */
  nextAt(now: number): number {
    return this.isReady ? now : (this.#wakes.peek()?.at ?? Number.POSITIVE_INFINITY);
  }

  /** Roughly the items that the next turn may grant; it includes leases that have left since. */
  get asked(): number {
    return this.#asked + this.#repeated.size;
  }

  take(now: number): LinesToServe {
    for (let wake = this.#wakes.peek(); wake !== undefined && wake.at <= now; ) {
      this.#wakeAt.delete(wake.queue);
      this.ready(wake.queue);
      wake = this.#wakes.peek();
    }
    const queues = this.#ready;
    this.#ready = new Set();
    this.#inTurn = this.#arrived;
    this.#arrived = [];
    this.#asked = 0;
    return { queues, repeated: [...this.#repeated.values().take(repeatedMax)] };
  }

  /** The turn is decided; leases without a grant continue to wait. */
  turnEnded(): void {
    for (const lease of this.#inTurn) if (!lease.isGranted) lease.listen();
    this.#inTurn = [];
  }

  /** The grant of this key is being withdrawn; until then no lease with the key is served. */
  withdrawing({ digest }: IdempotencyKey): void {
    this.#withdrawing.add(digest);
  }

  withdrawn({ digest }: IdempotencyKey): void {
    this.#withdrawing.delete(digest);
    const lease = this.#keyed.get(digest);
    if (lease === undefined || lease.isGranted) return;
    this.#repeated.add(lease);
    this.ready(lease.queue);
  }

  /** The next turn looks up the earlier grant of the key, or the turn after a withdrawal of it. */
  lookUp(lease: WaitingLease): void {
    if (!this.#withdrawing.has(lease.key?.digest ?? "")) this.#repeated.add(lease);
  }

  /** The lease has no earlier grant. */
  isNew(lease: WaitingLease): void {
    this.#repeated.delete(lease);
  }

  /** Moves the leases that a turn has granted out of their lines, before its commit. */
  grant(granted: readonly Granted[]): void {
    for (const { lease, outcome } of granted) {
      const { queue } = lease;
      const count = "code" in outcome || outcome.replayed ? 0 : outcome.count;
      queue.line.leave(lease);
      queue.leaseLimiter.granted(count);
      this.#repeated.delete(lease);
      lease.isGranted = true;
      this.#granted.set(lease, count);
      this.#grantedCount += 1;
    }
  }

  /** The turn is void: its leases return to their places. */
  restore(granted: readonly Granted[]): void {
    for (const { lease } of granted) this.#restore(lease);
  }

  /** Returns all leases that no turn will answer to their places. */
  giveBackAll(): void {
    for (const lease of this.#granted.keys()) this.#restore(lease);
    this.turnEnded();
  }

  #restore(lease: WaitingLease): void {
    const last = this.answered(lease);
    if (last.over) return;
    if (last.queue.deleted) {
      last.settle(deletedFailure);
      return;
    }
    this.#place(last);
    this.#ready.add(last.queue);
    last.listen();
    last.timeUp();
  }

  /** Returns the lease that gets the answer. */
  answered(lease: WaitingLease): WaitingLease {
    const { queue } = lease;
    queue.leaseLimiter.granted(-(this.#granted.get(lease) ?? 0));
    this.#granted.delete(lease);
    // The part of the rate that the turn did not use is free for other leases.
    if (queue.leaseLimiter.hasRate) this.ready(queue);
    const last = latest(lease);
    last.isGranted = false;
    if (last.over) this.#forget(last);
    return last;
  }

  get isGranting(): boolean {
    return this.#granted.size > 0;
  }

  /** The number of grants; it never decreases. */
  get grantedCount(): number {
    return this.#grantedCount;
  }
}
