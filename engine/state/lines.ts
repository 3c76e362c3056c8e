// The waiting leases of a shard: which queues' lines the next turn looks at, and who was granted items
// by a turn that is not answered yet. They outlive the shard's store, and nothing of them is stored.

import type { CallKey } from "../model/call-key.ts";
import { deletedFailure, type Failure } from "../model/errors.ts";
import { Heap } from "../model/heap.ts";
import type { Grant, LogicalQueue, WaitingLease } from "./queue.ts";

/** What a turn has decided for a waiting lease. */
export interface Granted {
  readonly lease: WaitingLease;
  readonly outcome: Failure | Grant;
  readonly slot: number;
  /** Numbers of the items. */
  readonly seqs: readonly number[];
}

/** What a turn is to look at. */
export interface Looking {
  readonly queues: Iterable<LogicalQueue>;
  /** Leases that may have been granted before. */
  readonly repeated: readonly WaitingLease[];
}

interface Wake {
  readonly at: number;
  readonly queue: LogicalQueue;
}

/** Leases that one turn looks up: it may read all that they were granted. */
const repeatedMax = 8;

/** Whoever waits for the answer of a lease by now. */
function latest(lease: WaitingLease): WaitingLease {
  let last = lease;
  while (last.next !== null) last = last.next;
  return last;
}

export class Lines {
  /** Queues whose first in line may find items. */
  #ready = new Set<LogicalQueue>();
  /** Leases that may have been granted before. */
  readonly #repeated = new Set<WaitingLease>();
  /** Leases that arrived since the last turn and may find something. */
  #arrived: WaitingLease[] = [];
  /** Leases that the running turn looks at for the first time. */
  #inTurn: readonly WaitingLease[] = [];
  /** Digests of keys whose grants are being taken back. */
  readonly #withdrawing = new Set<string>();
  /** Items that the next turn is asked for. */
  #asked = 0;
  /** With how many items. */
  readonly #granted = new Map<WaitingLease, number>();
  /** By the digest of its key, until it is answered and no turn has granted it anything. */
  readonly #keyed = new Map<string, WaitingLease>();
  readonly #wakeAt = new Map<LogicalQueue, number>();
  readonly #wakes = new Heap<Wake>({
    less: (a, b) => a.at < b.at,
    isLive: ({ at, queue }) => this.#wakeAt.get(queue) === at,
  });
  #grantedCount = 0;

  /**
   * `mayFind`: otherwise it waits until a turn finds something for it. `isRepeated`: a call with its key
   * may have been done.
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

  /** Takes the place of one with the same key. */
  follow(before: WaitingLease, lease: WaitingLease, isRepeated: boolean): void {
    if (!before.isGranted) {
      this.join(lease, true, isRepeated);
      return;
    }
    before.next = lease;
    lease.isGranted = true;
    this.#keyed.set(lease.key?.digest ?? "", lease);
  }

  /** It is answered, or given up. */
  leave(lease: WaitingLease): void {
    lease.queue.line.leave(lease);
    this.#repeated.delete(lease);
    // A repetition gets what was granted, if it can follow it.
    if (!lease.isGranted) this.#forget(lease);
  }

  /** The one with this key that is not answered, or will be granted something. */
  withKey({ digest }: CallKey): WaitingLease | undefined {
    return this.#keyed.get(digest);
  }

  #forget({ key }: WaitingLease): void {
    if (key !== undefined) this.#keyed.delete(key.digest);
  }

  /** The queue may have items for its line, of which so many are asked for. */
  ready(queue: LogicalQueue, asked = 0): void {
    if (queue.line.size === 0) return;
    this.#ready.add(queue);
    this.#asked += asked;
  }

  /** Nothing but time may have to pass until the line is served on. */
  rest(queue: LogicalQueue): void {
    const at = queue.allowance.moreAt ?? Number.POSITIVE_INFINITY;
    if ((this.#wakeAt.get(queue) ?? Number.POSITIVE_INFINITY) <= at) return;
    this.#wakeAt.set(queue, at);
    this.#wakes.push({ at, queue });
  }

  get isReady(): boolean {
    return this.#ready.size + this.#repeated.size > 0;
  }

  /** When a turn has to look at one of them; infinite = never. */
  nextAt(now: number): number {
    return this.isReady ? now : (this.#wakes.peek()?.at ?? Number.POSITIVE_INFINITY);
  }

  /** Roughly the items that leases ask for which the next turn may serve at once; some leases may have left. */
  get asked(): number {
    return this.#asked + this.#repeated.size;
  }

  take(now: number): Looking {
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

  /** The turn is through: those that it has granted nothing wait on. */
  turnEnded(): void {
    for (const lease of this.#inTurn) if (!lease.isGranted) lease.listen();
    this.#inTurn = [];
  }

  /** What was granted to a lease with this key is taken back; until then, no other is served. */
  withdrawing({ digest }: CallKey): void {
    this.#withdrawing.add(digest);
  }

  withdrawn({ digest }: CallKey): void {
    this.#withdrawing.delete(digest);
    const lease = this.#keyed.get(digest);
    if (lease === undefined || lease.isGranted) return;
    this.#repeated.add(lease);
    this.ready(lease.queue);
  }

  /** What it was granted is looked up by the next turn, or once that has been taken back. */
  lookUp(lease: WaitingLease): void {
    if (!this.#withdrawing.has(lease.key?.digest ?? "")) this.#repeated.add(lease);
  }

  /** It was not granted before. */
  isNew(lease: WaitingLease): void {
    this.#repeated.delete(lease);
  }

  /** A turn that has granted them items may be committed. */
  grant(granted: readonly Granted[]): void {
    for (const { lease, outcome } of granted) {
      const { queue } = lease;
      const count = "code" in outcome || outcome.replayed ? 0 : outcome.count;
      queue.line.leave(lease);
      queue.allowance.granted(count);
      this.#repeated.delete(lease);
      lease.isGranted = true;
      this.#granted.set(lease, count);
      this.#grantedCount += 1;
    }
  }

  /** The turn came to nothing: they have their places again. */
  giveBack(granted: readonly Granted[]): void {
    for (const { lease } of granted) this.#giveBack(lease);
  }

  /** Of all that no turn answers any more. */
  giveBackAll(): void {
    for (const lease of this.#granted.keys()) this.#giveBack(lease);
    this.turnEnded();
  }

  #giveBack(lease: WaitingLease): void {
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

  /** Returns who is to be told. */
  answered(lease: WaitingLease): WaitingLease {
    const { queue } = lease;
    queue.allowance.granted(-(this.#granted.get(lease) ?? 0));
    this.#granted.delete(lease);
    // What its turn has not spent of the rate is left for others.
    if (queue.allowance.hasRate) this.ready(queue);
    const last = latest(lease);
    last.isGranted = false;
    if (last.over) this.#forget(last);
    return last;
  }

  get isGranting(): boolean {
    return this.#granted.size > 0;
  }

  /** How often a lease was granted something; it only rises. */
  get grantedCount(): number {
    return this.#grantedCount;
  }
}
