// Changes of the shard's queues, one after the other: each is checked, committed, and takes effect. A dead
// queue in another shard is claimed before; whatever else has to wait for other shards comes after, so that
// no change waits for the store of another. What is not finished when the engine ends is continued at the
// next start.

import type { CatalogEntry, PartitionPlace, Pause } from "../stores/queue.ts";
import type { Request } from "./kinds.ts";
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
import type { Others } from "./others.ts";
import type { Courier } from "./relay/courier.ts";
import type { Introductions } from "./relay/introductions.ts";
import type { Claim, ReferenceChange } from "./relay/other-shard.ts";
import { type Catalog, type Deleted, type QueuePlan, quotedIf } from "./state/catalog.ts";
import { itemsIn, type LogicalQueue } from "./state/queue.ts";
import { type Shard, succeeded } from "./turn/shard.ts";

export interface RegistrarOptions {
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly courier: Courier;
  readonly shard: () => Shard;
  readonly others: Others;
  readonly introductions: Introductions;
  /** Why nothing is changed any more; `null`: it is. */
  readonly refusal: () => Failure | null;
}

interface Begin {
  readonly deadline: number;
  readonly late: Failure;
  /** Before the engine takes calls. */
  readonly isFirst?: boolean;
}

/** Nothing moves until it is released. */
export interface Hold {
  readonly release: () => void;
}

/** How long a delete waits for what other shards say of the queue. */
const askedMsMax = 5_000;

type CatalogChange = Omit<Extract<Request, { kind: "catalog" }>, "kind">;

export class Registrar {
  readonly #options: RegistrarOptions;
  /** The end of the last change that was begun. */
  #last: Promise<unknown> = Promise.resolve();
  /** Of dead queues in other shards. */
  readonly #claims = new Set<Claim>();
  /** Owners of queues that other shards are to send nothing to any more. */
  readonly #retiring = new Set<number>();
  /** Queues of which partitions are about to go; each with what ends a pause in between. */
  readonly #reaping = new Map<LogicalQueue, () => void>();

  constructor(options: RegistrarOptions) {
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
    await this.#makeKnown(async (deadline) => {
      const entry = catalog.planCreate(settings, clock.stamp(), isShown);
      return await this.#naming(entry, { own: null, deadline }, async () => {
        await this.#write({ put: [entry], isNew: true }, deadline);
        return catalog.create(entry);
      });
    });
  }

  /** Returns what the partitions hold that are to be emptied by it, or would be. */
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

  /** Ends when no shard goes by what was before; `null`: nothing of it is paused any more. */
  async pause(name: string, pause: Pause | null): Promise<void> {
    const plan = (now: number) => this.#options.catalog.planPause(name, pause, now);
    await this.#change(plan, { isPause: true });
  }

  /** `plan`: when it is its turn, as changes before it may be under way. */
  async #change(
    plan: (now: number) => QueuePlan | null,
    how: Pick<ReferenceChange, "isPause"> = {},
  ): Promise<void> {
    const { catalog, clock } = this.#options;
    await this.#makeKnown(async (deadline) => {
      const planned = plan(clock.stamp());
      if (planned === null) return { told: Promise.resolve() };
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

  /** Others hear of it once its turn is over: a shard that is slow to hear keeps no change of another queue waiting. */
  async #makeKnown(
    work: (deadline: number) => Promise<{ readonly told: Promise<unknown> }>,
  ): Promise<void> {
    const { deadline, ending } = await this.#begin(work);
    const told = ending.then((change) => change.told);
    await this.#inTime(told, deadline, unknownOutcome);
  }

  /** The name is free once the delete is certain; it ends when nothing of the queue is left. */
  async delete(request: DeleteQueueRequest & DeleteQueueRules): Promise<Deletion> {
    if (request.dryRun) return (await this.#checkDelete(request)).deletion;
    const { deadline, ending } = await this.#begin((end) => this.#beginDelete(request, end));
    // Once it is certain it goes on, whether or not its caller still waits.
    const certain = ending.then(({ deletion, heard, ...deleted }) => {
      const finished = Promise.all([this.#finishDelete(deleted), heard]);
      behind(finished);
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

  /** No other shard sends to the queue from now on; throws if one has sent something. */
  async #retire(queue: LogicalQueue, deadline: number): Promise<void> {
    const { others, introductions } = this.#options;
    const { name } = queue.definition;
    this.#retiring.add(queue.owner);
    const asker = introductions.asker();
    const retiring = Promise.all(others.all.map((other) => other.retire(queue.owner, asker)));
    try {
      const sent = await this.#inTime(retiring, this.#askedUntil(deadline), lateChange.untaken);
      if (sent.includes(true)) throw QueueError.from(notEmpty(name, null));
      // It may have come by now.
      if (queue.itemCount > 0) throw QueueError.from(notEmpty(name, queue.itemCount));
      if (queue.isAdding) throw QueueError.from(notEmpty(name, null));
    } catch (cause) {
      this.#retiring.delete(queue.owner);
      behind(introductions.tell({ put: [queue.reference], removed: [] }));
      throw cause;
    }
  }

  /** Other shards have so long to say what the work needs. */
  #askedUntil(deadline: number): number {
    return Math.min(deadline, this.#options.clock.machine.now() + askedMsMax);
  }

  /** Throws where it is not to be deleted. */
  async #checkDelete(request: DeleteQueueRequest & DeleteQueueRules, deadline = this.#deadline()) {
    const { name, force, expect = Number.POSITIVE_INFINITY } = request;
    const { catalog, others } = this.#options;
    checkQueueName(name);
    const { owner } = catalog.find(name);
    // What is on its way goes with the queue.
    const asked = force ? [] : others.all.map((other) => other.isSending(owner));
    const until = this.#askedUntil(deadline);
    const sending = await this.#inTime(Promise.all(asked), until, lateChange.untaken);
    const queue = catalog.find(name);
    const names = catalog.dependentNames(name);
    if (!force) this.#requireUnused(queue, names, request.isShown);
    if (sending.includes(true)) throw QueueError.from(notEmpty(name, null));
    request.checkDependents?.(names);
    const { ready, leased, scheduled, retried } = queue.itemCounts;
    const counts = { ready, leased, scheduled, retried };
    // What is on its way may be written by then.
    const total = itemsIn(counts) + queue.producingCount;
    if (total > expect) throw QueueError.from(countChanged(total, expect));
    const deletion = { counts, waitingLeases: queue.line.size, dependents: names };
    return { queue, deletion };
  }

  /** Makes the delete certain, and takes the queue out of the catalog. */
  async #beginDelete(
    request: DeleteQueueRequest & DeleteQueueRules,
    deadline: number,
  ): Promise<Deleted & { readonly deletion: Deletion; readonly heard: Promise<void> }> {
    const { catalog, introductions } = this.#options;
    const { queue, deletion } = await this.#checkDelete(request, deadline);
    // An item that came meanwhile would go with the queue.
    if (!request.force) await this.#retire(queue, deadline);
    queue.isHidden = true;
    try {
      await this.#write({ put: [queue.entry({ deleting: true })] }, deadline);
    } catch (cause) {
      if (!request.force) behind(introductions.tell({ put: [queue.reference], removed: [] }));
      throw cause;
    } finally {
      queue.isHidden = false;
      this.#retiring.delete(queue.owner);
    }
    const { reference } = queue;
    const deleted = catalog.remove(queue);
    for (const other of catalog.dependents(reference.name)) catalog.cutLost(other);
    const heard = introductions.tell({ put: [], removed: [reference] });
    for (const lease of [...queue.line]) lease.settle(deletedFailure);
    return { ...deleted, deletion, heard };
  }

  /** Throws `refused` where the queue is a dead queue, holds items, or may soon hold some. */
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

  /** Where the engine closes meanwhile, the next start takes it up again. */
  finishDeleteSoon(deleted: Deleted): void {
    behind(this.#finishDelete(deleted));
  }

  /** What is left to do once a delete is certain; also after a crash in the middle of it. */
  async #finishDelete(deleted: Deleted): Promise<void> {
    const { shard } = this.#options;
    const { queueId, slots } = deleted;
    const what = { ready: true, leased: true, scheduled: true, retried: true };
    await this.#persist(async () => {
      succeeded(await shard().ask({ kind: "clear", slots, what }));
      await this.#inTurn((deadline) => this.#write({ remove: [queueId] }, deadline));
      return true;
    });
    // Whatever came before for its slots is decided.
    this.#options.catalog.free(slots);
  }

  /** The partition was counted. */
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
    behind(this.#persist(() => this.#reap(queue), sleeps));
  }

  /** Draining partitions that hold nothing. */
  #drained(queue: LogicalQueue): PartitionPlace[] {
    return [...queue.places.values()].filter((place) => {
      const counts = queue.counts.get(place.partition);
      const isEmpty = counts === undefined || itemsIn(counts) === 0;
      return place.state === "draining" && isEmpty;
    });
  }

  /** Whether all of them are gone. */
  async #reap(queue: LogicalQueue): Promise<boolean> {
    for (;;) {
      const drained = this.#drained(queue);
      await this.#reapThose(queue, new Set(drained));
      const left = this.#drained(queue);
      // Others may have been emptied meanwhile.
      if (left.length > 0 && left.some((place) => !drained.includes(place))) continue;
      if (left.length === 0) this.#reaping.delete(queue);
      return left.length === 0;
    }
  }

  async #reapThose(queue: LogicalQueue, drained: ReadonlySet<PartitionPlace>): Promise<void> {
    const { catalog, shard } = this.#options;
    // A turn that was decided before they began to drain may have written there.
    succeeded(await shard().ask({ kind: "refresh", slots: [] }));
    await this.#inTurn(async (deadline) => {
      // One that was wanted again meanwhile has a place of its own, and is not among them.
      const gone = this.#drained(queue).filter((place) => drained.has(place));
      if (gone.length === 0) return;
      const places = [...queue.places.values()].filter((place) => !gone.includes(place));
      await this.#write({ put: [queue.entry({ places })] }, deadline);
      for (const place of gone) catalog.disown(queue, place);
      catalog.free(gone.map(({ slot }) => slot));
    });
  }

  /**
   * Until `release`, no queue of the shard is created, changed or deleted, and nothing sets out from its
   * outbox. A delete that is committed continues, but stays in the catalog: what is copied meanwhile can be
   * deleted by whoever opens the copy.
   */
  async hold({ isFirst = false } = {}): Promise<Hold> {
    const { clock, courier } = this.#options;
    const deadline = clock.machine.now() + limits.holdMsMax;
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    await this.#begin(() => over, { deadline, late: undeliveredBackup, isFirst });
    try {
      const { release } = await courier.hold(undeliveredBackup);
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

  /**
   * Resolves when the work has begun, which is when nothing else changes; what cannot begin in time
   * never does.
   */
  async #begin<T>(
    work: (deadline: number) => Promise<T>,
    { deadline, late, isFirst }: Begin = { deadline: this.#deadline(), late: lateChange.untaken },
  ): Promise<{ readonly deadline: number; readonly ending: Promise<T> }> {
    if (!isFirst) this.#refuse();
    const before = this.#last;
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    // Not the end of this one alone: it may give up before the change before it has ended.
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

  /** Throws where nothing is changed any more. */
  #refuse(): void {
    const refused = this.#options.refusal();
    if (refused !== null) throw QueueError.from(refused);
  }

  /** Of a call that has none of its own. */
  #deadline(): number {
    return this.#options.clock.machine.now() + limits.requestTimeoutMsDefault;
  }

  /** What ends at its deadline, as a change does that no shard has taken, says more than that it is late. */
  #inTime<T>(work: Promise<T>, deadline: number, late: Failure): Promise<T> {
    const { machine } = this.#options.clock;
    return new Promise((resolve, reject) => {
      const timer = machine.at(deadline, () => machine.soon(() => reject(QueueError.from(late))));
      void work.finally(() => timer.cancel()).then(resolve, reject);
    });
  }

  /**
   * Does the work until it is done: otherwise it would wait for the next start. `sleeps` is given
   * what ends the pause before the next attempt.
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
   * Writes a queue. While it is not known whether it is written, or heard of, the dead queue that it newly
   * names is not deleted without force, and gets no dead queue of its own.
   */
  async #naming(
    { definition: { name, deadQueue }, deadOwner }: CatalogEntry,
    { own, deadline }: { readonly own: LogicalQueue | null; readonly deadline: number },
    write: () => Promise<LogicalQueue>,
    how: Pick<ReferenceChange, "isPause"> = {},
  ): Promise<{ readonly told: Promise<unknown> }> {
    const isNaming = deadOwner !== 0 && deadOwner !== own?.deadOwner;
    if (own !== null) own.isNaming = isNaming;
    let unclaim = (): void => undefined;
    try {
      if (isNaming) unclaim = await this.#claim(deadQueue, name, deadline);
      const queue = await write();
      const { introductions, shard } = this.#options;
      const change = { put: [queue.reference], removed: [], ...how };
      const heard = introductions.tell(change).finally(unclaim);
      return { told: Promise.all([heard, shard().decided(queue.slots)]) };
    } catch (cause) {
      unclaim();
      throw cause;
    } finally {
      if (own !== null) own.isNaming = false;
    }
  }

  /** Returns what ends the claim. */
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
      other.unclaim(claim, introductions.asker()).catch(() => introductions.missed(shard));
    };
    try {
      const claiming = other.claim(claim, introductions.asker());
      await this.#inTime(claiming, deadline, lateChange.untaken);
    } catch (cause) {
      // It may come about later.
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

/** Work that nobody waits for. It fails only where the engine closes, or is wrong. */
function behind(work: Promise<unknown>): void {
  void work.catch((cause) => {
    if (!(cause instanceof QueueError)) throw cause;
  });
}

/** `null` = what it will hold is on its way. */
function notEmpty(name: string, itemCount: number | null): Failure {
  const why =
    itemCount === null
      ? `items are on their way to '${name}'`
      : `'${name}' holds ${itemCount} items`;
  return failure("queue_not_empty", `queue is not empty; ${why}`);
}

const noItems: ItemCounts = { ready: 0, leased: 0, scheduled: 0, retried: 0 };

/** What the partitions hold that a plan begins to empty; throws where that is too much. */
function drainedBy({ queue, entry }: QueuePlan, expect: number): ItemCounts {
  const counts = { ...noItems } as { -readonly [state in keyof ItemCounts]: number };
  for (const { partition, state } of entry.places) {
    const before = queue.places.get(partition)?.state;
    const held = queue.counts.get(partition);
    if (state !== "draining" || before !== "active" || held === undefined) continue;
    counts.ready += held.ready;
    counts.leased += held.leased;
    counts.scheduled += held.scheduled;
    counts.retried += held.retried;
  }
  const total = itemsIn(counts);
  if (total > expect) throw QueueError.from(countChanged(total, expect));
  return counts;
}
