// Changes of the shard's queues, one at a time: each is checked, committed, and takes effect. A
// dead queue in another shard is claimed before the change. All else that waits for other shards
// follows it, so that no change waits for the store of another shard. What is unfinished when the
// engine ends continues at the next start.

import type { CatalogEntry, PartitionPlace, Pause } from "../stores/queue.ts";
import type {
  DeleteQueueRequest,
  DeleteQueueRules,
  Deletion,
  Guard,
  IsShown,
  ItemCounts,
  QueueChange,
  QueueSettings,
} from "./model/api.ts";
import type { Clock } from "./model/clock.ts";
import {
  countChanged,
  deletedFailure,
  deletedInPart,
  type Failure,
  failure,
  lateChange,
  QueueError,
  undeliveredBackup,
  unknownOutcome,
} from "./model/errors.ts";
import { limits } from "./model/limits.ts";
import { checkQueueName } from "./model/validate.ts";
import type { Request } from "./operations.ts";
import type { Others } from "./others.ts";
import type { Introductions } from "./relay/introductions.ts";
import type { Claim, ReferenceChange } from "./relay/other-shard.ts";
import type { OutboxRelay } from "./relay/outbox-relay.ts";
import { type Catalog, type Deleted, type QueuePlan, quotedIf } from "./state/catalog.ts";
import { itemsIn, type LogicalQueue, sumOf } from "./state/queue.ts";
import { type Shard, succeeded } from "./turn/shard.ts";

export interface CatalogChangesOptions {
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly outboxRelay: OutboxRelay;
  readonly shard: () => Shard;
  readonly others: Others;
  readonly introductions: Introductions;
  /** Why no change is accepted any more; `null` = changes are accepted. */
  readonly refusal: () => Failure | null;
}

interface Begin {
  readonly deadline: number;
  readonly late: Failure;
  /** Before the engine accepts calls. */
  readonly isFirst?: boolean;
}

/** Blocks changes and sending until it is released. */
export interface Hold {
  readonly release: () => void;
}

/** How long a delete waits for the replies of other shards about the queue. */
const askedMsMax = 5_000;

type CatalogChange = Omit<Extract<Request, { kind: "catalog" }>, "kind">;

export class CatalogChanges {
  readonly #options: CatalogChangesOptions;
  /** Settles when the latest change is over. */
  #last: Promise<unknown> = Promise.resolve();
  /** Claims of dead queues in other shards. */
  readonly #claims = new Set<Claim>();
  /** Owners of queues to which other shards must send nothing any more. */
  readonly #retiring = new Set<number>();
  /** Queues with partitions to be removed; the value ends the pause before the next attempt. */
  readonly #reaping = new Map<LogicalQueue, () => void>();

  constructor(options: CatalogChangesOptions) {
    this.#options = options;
  }

  get claims(): Claim[] {
    return [...this.#claims];
  }

  get retiring(): number[] {
    return [...this.#retiring];
  }

  async create(settings: QueueSettings, isShown?: IsShown): Promise<void> {
    const { catalog, clock } = this.#options;
    await this.#announce(async (deadline) => {
      const entry = catalog.planCreate(settings, clock.stamp(), isShown);
      return await this.#naming(entry, { own: null, deadline }, async () => {
        await this.#write({ put: [entry], isNew: true }, deadline);
        return catalog.create(entry);
      });
    });
  }

  /** Returns the counts of the partitions that the update empties, or would empty. */
  async update(change: QueueChange & Guard, isShown?: IsShown): Promise<ItemCounts> {
    const { catalog, clock } = this.#options;
    const { dryRun = false, expect = Number.POSITIVE_INFINITY } = change;
    if (dryRun) return drainedBy(catalog.planUpdate(change, clock.stamp(), isShown), expect);
    let drained: ItemCounts = noItems;
    await this.#change((now) => {
      const plan = catalog.planUpdate(change, now, isShown);
      drained = drainedBy(plan, expect);
      return plan;
    });
    return drained;
  }

  /** Ends when no shard decides by the previous pause any more; `null` = resume. */
  async pause(name: string, pause: Pause | null): Promise<void> {
    const plan = (now: number) => this.#options.catalog.planPause(name, pause, now);
    await this.#change(plan, { isPause: true });
  }

  /** `plan` runs when it is the change's turn, because earlier changes may be in progress. */
  async #change(
    plan: (now: number) => QueuePlan | null,
    how: Pick<ReferenceChange, "isPause"> = {},
  ): Promise<void> {
    const { catalog, clock } = this.#options;
    await this.#announce(async (deadline) => {
      const planned = plan(clock.stamp());
      if (planned === null) return { announced: Promise.resolve() };
      const { queue, entry } = planned;
      const write = async (): Promise<LogicalQueue> => {
        await this.#write({ put: [entry] }, deadline);
        catalog.apply(queue, entry);
        this.reapSoon(queue);
        return queue;
      };
      return await this.#naming(entry, { own: queue, deadline }, write, how);
    });
  }

  /** Notifies other shards afterwards, so that a slow one delays no change of another queue. */
  async #announce(
    work: (deadline: number) => Promise<{ readonly announced: Promise<unknown> }>,
  ): Promise<void> {
    const { deadline, ending } = await this.#begin(work);
    const announced = ending.then((change) => change.announced);
    await this.#inTime(announced, deadline, unknownOutcome);
  }

  /** The name is free once the delete is certain; the call ends when the queue is gone. */
  async delete(request: DeleteQueueRequest & DeleteQueueRules): Promise<Deletion> {
    if (request.dryRun) return (await this.#checkDelete(request)).deletion;
    const { deadline, ending } = await this.#begin((end) => this.#beginDelete(request, end));
    // Once certain, the delete continues even if its caller has stopped waiting.
    const certain = ending.then(({ deletion, announced, ...deleted }) => {
      const finished = Promise.all([this.#finishDelete(deleted), announced]);
      inBackground(finished);
      return { deletion, finished };
    });
    const { deletion, finished } = await this.#inTime(certain, deadline, unknownOutcome);
    try {
      await this.#inTime(finished, this.#deadline(), deletedInPart("store"));
    } catch (cause) {
      throw cause instanceof QueueError ? QueueError.from(deletedInPart(cause.code)) : cause;
    }
    return deletion;
  }

  /** Stops all other shards from sending to the queue; throws if one has sent something. */
  async #retire(queue: LogicalQueue, deadline: number): Promise<void> {
    const { others, introductions } = this.#options;
    const { name } = queue.definition;
    this.#retiring.add(queue.owner);
    const requester = introductions.requester();
    const retiring = Promise.all(others.all.map((other) => other.retire(queue.owner, requester)));
    try {
      const sent = await this.#inTime(retiring, this.#askedUntil(deadline), lateChange.beforeSend);
      if (sent.includes(true)) throw QueueError.from(notEmpty(name, null));
      // It may have arrived by now.
      if (queue.itemCount > 0) throw QueueError.from(notEmpty(name, queue.itemCount));
      if (queue.isAdding) throw QueueError.from(notEmpty(name, null));
    } catch (cause) {
      this.#retiring.delete(queue.owner);
      inBackground(introductions.announce({ put: [queue.reference], removed: [] }));
      throw cause;
    }
  }

  /** How long other shards have to reply. */
  #askedUntil(deadline: number): number {
    return Math.min(deadline, this.#options.clock.machine.now() + askedMsMax);
  }

  /** Throws if the queue must not be deleted. */
  async #checkDelete(request: DeleteQueueRequest & DeleteQueueRules, deadline = this.#deadline()) {
    const { name, force, expect = Number.POSITIVE_INFINITY } = request;
    const { catalog, others } = this.#options;
    checkQueueName(name);
    const { owner } = catalog.find(name);
    // Items on their way are deleted with the queue.
    const asked = force ? [] : others.all.map((other) => other.isSending(owner));
    const until = this.#askedUntil(deadline);
    const sending = await this.#inTime(Promise.all(asked), until, lateChange.beforeSend);
    const queue = catalog.find(name);
    const names = catalog.dependentNames(name);
    if (!force) this.#requireUnused(queue, names, request.isShown);
    if (sending.includes(true)) throw QueueError.from(notEmpty(name, null));
    request.checkDependents?.(names);
    const { ready, leased, scheduled, retried } = queue.itemCounts;
    const counts = { ready, leased, scheduled, retried };
    // Items on their way may be written by then.
    const total = itemsIn(counts) + queue.producingCount;
    if (total > expect) throw QueueError.from(countChanged(total, expect));
    const deletion = { counts, waitingLeases: queue.line.size, dependents: names };
    return { queue, deletion };
  }

  /** Makes the delete certain, and removes the queue from the catalog. */
  async #beginDelete(
    request: DeleteQueueRequest & DeleteQueueRules,
    deadline: number,
  ): Promise<Deleted & { readonly deletion: Deletion; readonly announced: Promise<void> }> {
    const { catalog, introductions } = this.#options;
    const { queue, deletion } = await this.#checkDelete(request, deadline);
    // An item that arrives meanwhile would be deleted with the queue.
    if (!request.force) await this.#retire(queue, deadline);
    queue.isHidden = true;
    try {
      await this.#write({ put: [queue.entry({ deleting: true })] }, deadline);
    } catch (cause) {
      if (!request.force)
        inBackground(introductions.announce({ put: [queue.reference], removed: [] }));
      throw cause;
    } finally {
      queue.isHidden = false;
      this.#retiring.delete(queue.owner);
    }
    const { reference } = queue;
    const deleted = catalog.remove(queue);
    for (const other of catalog.dependents(reference.name)) catalog.cutLost(other);
    const announced = introductions.announce({ put: [], removed: [reference] });
    for (const lease of [...queue.line]) lease.settle(deletedFailure);
    return { ...deleted, deletion, announced };
  }

  /** Throws `refused` if the queue is a dead queue, holds items, or may soon hold some. */
  #requireUnused(queue: LogicalQueue, [dependent]: readonly string[], isShown?: IsShown): void {
    const { name } = queue.definition;
    if (dependent !== undefined) {
      const other = quotedIf(dependent, isShown);
      const text = `queue is in use; '${name}' is the dead_queue of ${other}`;
      throw QueueError.from(failure("queue_in_use", text));
    }
    const { itemCount, isAdding } = queue;
    if (itemCount > 0) throw QueueError.from(notEmpty(name, itemCount));
    if (isAdding) throw QueueError.from(notEmpty(name, null));
  }

  /** If the engine closes meanwhile, the next start finishes the delete. */
  finishDeleteSoon(deleted: Deleted): void {
    inBackground(this.#finishDelete(deleted));
  }

  /** The rest of a certain delete; also after a crash in the middle of it. */
  async #finishDelete(deleted: Deleted): Promise<void> {
    const { shard } = this.#options;
    const { queueId, slots } = deleted;
    const what = { ready: true, leased: true, scheduled: true, retried: true };
    await this.#persist(async () => {
      succeeded(await shard().ask({ kind: "clear", slots, what }));
      await this.#inTurn((deadline) => this.#write({ remove: [queueId] }, deadline));
      return true;
    });
    // All earlier requests for its slots are decided.
    this.#options.catalog.free(slots);
  }

  /** Called when the counts of the partition have changed. */
  counted(queue: LogicalQueue, partition: number): void {
    if (queue.places.get(partition)?.state === "draining") this.reapSoon(queue);
  }

  reapSoon(queue: LogicalQueue): void {
    if (this.#drained(queue).length === 0) return;
    const wake = this.#reaping.get(queue);
    if (wake !== undefined) {
      wake();
      return;
    }
    const sleeps = (end: () => void): void => void this.#reaping.set(queue, end);
    sleeps(() => undefined);
    inBackground(this.#persist(() => this.#reap(queue), sleeps));
  }

  /** Draining partitions that are empty. */
  #drained(queue: LogicalQueue): PartitionPlace[] {
    return [...queue.places.values()].filter((place) => {
      return place.state === "draining" && itemsIn(sumOf(queue.countsOf(place))) === 0;
    });
  }

  /** Whether all drained partitions are removed. */
  async #reap(queue: LogicalQueue): Promise<boolean> {
    for (;;) {
      const drained = this.#drained(queue);
      await this.#reapDrained(queue, new Set(drained));
      const left = this.#drained(queue);
      // Others may have been emptied meanwhile.
      if (left.length > 0 && left.some((place) => !drained.includes(place))) continue;
      if (left.length === 0) this.#reaping.delete(queue);
      return left.length === 0;
    }
  }

  async #reapDrained(queue: LogicalQueue, drained: ReadonlySet<PartitionPlace>): Promise<void> {
    const { catalog, shard } = this.#options;
    // A turn decided before they began to drain may have written there.
    succeeded(await shard().ask({ kind: "refresh", slots: [] }));
    await this.#inTurn(async (deadline) => {
      // A partition that was requested again meanwhile has a new place, and is not among them.
      const removable = this.#drained(queue).filter((place) => drained.has(place));
      if (removable.length === 0) return;
      const places = [...queue.places.values()].filter((place) => !removable.includes(place));
      await this.#write({ put: [queue.entry({ places })] }, deadline);
      for (const place of removable) catalog.disown(queue, place);
      catalog.free(removable.map(({ slot }) => slot));
    });
  }

  /**
   * Until `release`, no queue of the shard is created, changed or deleted, and nothing is sent from
   * its outbox. A committed delete continues, but stays in the catalog, so that a process that
   * opens the copy can finish it.
   */
  async hold({ isFirst = false } = {}): Promise<Hold> {
    const { clock, outboxRelay } = this.#options;
    const deadline = clock.machine.now() + limits.holdMsMax;
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    await this.#begin(() => over, { deadline, late: undeliveredBackup, isFirst });
    try {
      const { release } = await outboxRelay.hold(undeliveredBackup);
      return {
        release: () => {
          release();
          end();
        },
      };
    } catch (cause) {
      end();
      throw cause;
    }
  }

  async #inTurn<T>(work: (deadline: number) => Promise<T>): Promise<T> {
    const { ending } = await this.#begin(work);
    return await ending;
  }

  /** Resolves when the work has begun, as the only change in progress. Late work never begins. */
  async #begin<T>(
    work: (deadline: number) => Promise<T>,
    { deadline, late, isFirst }: Begin = {
      deadline: this.#deadline(),
      late: lateChange.beforeSend,
    },
  ): Promise<{ readonly deadline: number; readonly ending: Promise<T> }> {
    if (!isFirst) this.#refuse();
    const before = this.#last;
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    // Both, because this change may give up before the previous one has ended.
    this.#last = Promise.all([before, over]);
    try {
      await this.#inTime(before, deadline, late);
      if (!isFirst) this.#refuse();
    } catch (cause) {
      end();
      throw cause;
    }
    return { deadline, ending: work(deadline).finally(end) };
  }

  #refuse(): void {
    const refused = this.#options.refusal();
    if (refused !== null) throw QueueError.from(refused);
  }

  /** For a call without a timeout of its own. */
  #deadline(): number {
    return this.#options.clock.machine.now() + limits.requestTimeoutMsDefault;
  }

  /** A change that no shard took also fails at its deadline; its more precise error wins. */
  #inTime<T>(work: Promise<T>, deadline: number, late: Failure): Promise<T> {
    const { machine } = this.#options.clock;
    return new Promise((resolve, reject) => {
      const timer = machine.at(deadline, () =>
        machine.nextTick(() => reject(QueueError.from(late))),
      );
      void work.finally(() => timer.cancel()).then(resolve, reject);
    });
  }

  /**
   * Repeats the work until it is done; otherwise it would wait for the next start. `sleeps`
   * receives a function that ends the pause before the next attempt.
   */
  async #persist(
    work: () => Promise<boolean>,
    sleeps: (end: () => void) => void = () => undefined,
  ): Promise<void> {
    const { machine } = this.#options.clock;
    for (;;) {
      try {
        if (await work()) return;
      } catch (cause) {
        if (!(cause instanceof QueueError) || this.#options.refusal() !== null) throw cause;
      }
      await new Promise<void>((resolve) => {
        const timer = machine.at(machine.now() + limits.restartMsMax, resolve);
        sleeps(() => {
          timer.cancel();
          resolve();
        });
      });
    }
  }

  /**
   * Writes a queue that may newly name a dead queue. Until the write is certain and the other
   * shards know it, only a forced delete removes the dead queue. Meanwhile the dead queue gets none
   * of its own.
   */
  async #naming(
    { definition: { name, deadQueue }, deadOwner }: CatalogEntry,
    { own, deadline }: { readonly own: LogicalQueue | null; readonly deadline: number },
    write: () => Promise<LogicalQueue>,
    how: Pick<ReferenceChange, "isPause"> = {},
  ): Promise<{ readonly announced: Promise<unknown> }> {
    const isNaming = deadOwner !== 0 && deadOwner !== own?.deadOwner;
    if (own !== null) own.isNaming = isNaming;
    let unclaim = (): void => undefined;
    try {
      if (isNaming) unclaim = await this.#claim(deadQueue, name, deadline);
      const queue = await write();
      const { introductions, shard } = this.#options;
      const change = { put: [queue.reference], removed: [], ...how };
      const announced = introductions.announce(change).finally(unclaim);
      return { announced: Promise.all([announced, shard().decided(queue.slots)]) };
    } catch (cause) {
      unclaim();
      throw cause;
    } finally {
      if (own !== null) own.isNaming = false;
    }
  }

  /** Returns a function that ends the claim. */
  async #claim(deadQueue: string, by: string, deadline: number): Promise<() => void> {
    const { catalog, others, introductions } = this.#options;
    const claim = { deadQueue, by };
    const shard = others.shardWith(deadQueue);
    if (shard === null) {
      this.claim(claim);
      return () => catalog.unclaim(claim);
    }
    const other = others.at(shard);
    this.#claims.add(claim);
    const unclaim = (): void => {
      this.#claims.delete(claim);
      other.unclaim(claim, introductions.requester()).catch(() => introductions.missed(shard));
    };
    try {
      const claiming = other.claim(claim, introductions.requester());
      await this.#inTime(claiming, deadline, lateChange.beforeSend);
    } catch (cause) {
      // The claim may still take effect later.
      unclaim();
      throw cause;
    }
    return unclaim;
  }

  /** See `OtherShard`. */
  claim({ deadQueue, by }: Claim): void {
    this.#refuse();
    this.#options.catalog.nameable(deadQueue).namedBy.add(by);
  }

  async #write(change: Partial<CatalogChange>, deadline: number): Promise<void> {
    const request = { kind: "catalog", put: [], remove: [], ...change } as const;
    succeeded(await this.#options.shard().ask(request, { deadline, late: lateChange }));
  }
}

/** Runs work in the background. It may fail only because the engine closes, or because of a bug. */
function inBackground(work: Promise<unknown>): void {
  void work.catch((cause) => {
    if (!(cause instanceof QueueError)) throw cause;
  });
}

/** `null` = items are on their way to it. */
function notEmpty(name: string, itemCount: number | null): Failure {
  const why =
    itemCount === null
      ? `items are on their way to '${name}'`
      : `'${name}' holds ${itemCount} items`;
  return failure("queue_not_empty", `queue is not empty; ${why}`);
}

const noItems: ItemCounts = { ready: 0, leased: 0, scheduled: 0, retried: 0 };

/** The items in partitions that a plan begins to drain; throws if they are too many. */
function drainedBy({ queue, entry }: QueuePlan, expect: number): ItemCounts {
  const drained = entry.places.filter(({ partition, state }) => {
    return state === "draining" && queue.places.get(partition)?.state === "active";
  });
  const counts = sumOf(drained.flatMap((place) => queue.countsOf(place)));
  const total = itemsIn(counts);
  if (total > expect) throw QueueError.from(countChanged(total, expect));
  return counts;
}
