// Changes of the catalog, one after the other in each shard: each is checked, committed by the queue's
// shard, and takes effect. Whatever has to wait for other shards comes after that, so that no shard waits
// for another. What is not finished when the engine ends is continued at the next start.

import type { CatalogEntry, PartitionPlace, Pause } from "../stores/queue.ts";
import type { Barrier } from "./barrier.ts";
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
import { shardOf } from "./model/placement.ts";
import { checkQueueName } from "./model/validate.ts";
import type { Courier } from "./relay/courier.ts";
import { type Catalog, type Deleted, type QueuePlan, quotedIf } from "./state/catalog.ts";
import { itemsIn, type LogicalQueue } from "./state/queue.ts";
import { type Shard, succeeded } from "./turn/shard.ts";

export interface RegistrarOptions {
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly courier: Courier;
  readonly barrier: Barrier;
  readonly port: (shard: number) => Shard;
  /** Why nothing is changed any more; `null`: it is. */
  readonly refusal: () => Failure | null;
}

type CatalogChange = Omit<Extract<Request, { kind: "catalog" }>, "kind">;

export class Registrar {
  readonly #options: RegistrarOptions;
  /** By shard, the end of the last change that was begun. */
  readonly #turns = new Map<number, Promise<void>>();
  /** Queues of which partitions are about to go; each with what ends a pause in between. */
  readonly #reaping = new Map<LogicalQueue, () => void>();

  constructor(options: RegistrarOptions) {
    this.#options = options;
  }

  async create(settings: QueueSettings, isShown?: IsShown): Promise<void> {
    const { catalog, clock } = this.#options;
    const { name } = settings;
    const shard = this.#shardOf(name);
    await this.#tellChange(shard, async (deadline) => {
      const entry = catalog.planCreate(settings, clock.stamp(), isShown);
      await this.#writeNaming(shard, entry, { deadline, isNew: true });
      return { told: this.#options.barrier.wait([catalog.create(entry, shard)]) };
    });
  }

  /** Returns what the partitions hold that are to be emptied by it, or would be. */
  async update(change: QueueChange & Guard, isShown?: IsShown): Promise<ItemCounts> {
    const { catalog, clock } = this.#options;
    const { dryRun = false, expect = Number.POSITIVE_INFINITY } = change;
    if (dryRun) return drainedBy(catalog.planUpdate(change, clock.stamp(), isShown), expect);
    let drained: ItemCounts = noItems;
    await this.#change(change.name, (now) => {
      const plan = catalog.planUpdate(change, now, isShown);
      drained = drainedBy(plan, expect);
      return plan;
    });
    return drained;
  }

  /** Ends when no shard goes by what was before; `null`: nothing of it is paused any more. */
  async pause(name: string, pause: Pause | null): Promise<void> {
    const { catalog, barrier } = this.#options;
    await this.#change(
      name,
      (now) => catalog.planPause(name, pause, now),
      () => barrier.waitForAllUp(),
    );
  }

  /** `plan`: when it is its turn, as changes before it may be under way. `tell`: what else has to be told before it ends. */
  async #change(
    name: string,
    plan: (now: number) => QueuePlan | null,
    tell: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const { catalog, clock, barrier } = this.#options;
    await this.#tellChange(this.#shardOf(name), async (deadline) => {
      const planned = plan(clock.stamp());
      if (planned === null) return { told: Promise.resolve() };
      const { queue, entry } = planned;
      await this.#writeNaming(queue.shard, entry, { deadline });
      catalog.apply(queue, entry);
      const told = Promise.all([barrier.wait([queue]), tell()]);
      this.reapSoon(queue);
      return { told };
    });
  }

  /** The shards are told once its turn is over: one that is down keeps no change of another queue waiting. */
  async #tellChange(
    shard: number,
    work: (deadline: number) => Promise<{ readonly told: Promise<unknown> }>,
  ): Promise<void> {
    const { deadline, ending } = await this.#begin([shard], work);
    const told = ending.then((change) => change.told);
    await this.#inTime(told, deadline, unknownOutcome);
  }

  /** The name is free once the delete is certain; it ends when nothing of the queue is left. */
  async delete(request: DeleteQueueRequest & DeleteQueueRules): Promise<Deletion> {
    if (request.dryRun) return this.#checkDelete(request).deletion;
    const shard = this.#shardOf(request.name);
    const { deadline, ending } = await this.#begin([shard], (end) =>
      this.#beginDelete(request, end),
    );
    // Once it is certain it goes on, whether or not its caller still waits.
    const certain = ending.then(({ deletion, ...deleted }) => {
      const finished = this.#finishDelete(deleted);
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

  /** Throws where it is not to be deleted. */
  #checkDelete(request: DeleteQueueRequest & DeleteQueueRules) {
    const { name, force, expect = Number.POSITIVE_INFINITY } = request;
    checkQueueName(name);
    const queue = this.#options.catalog.find(name);
    const dependents = this.#options.catalog.dependents(name);
    const names = [
      ...new Set([...dependents.map(({ definition }) => definition.name), ...queue.namedBy]),
    ];
    if (!force) this.#requireUnused(queue, names, request.isShown);
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
  ): Promise<Deleted & { readonly deletion: Deletion }> {
    const { queue, deletion } = this.#checkDelete(request);
    // An item that came meanwhile would go with the queue.
    queue.isHidden = true;
    try {
      await this.#write(queue.shard, { put: [queue.entry({ deleting: true })] }, deadline);
    } finally {
      queue.isHidden = false;
    }
    const { catalog, barrier } = this.#options;
    const deleted = catalog.remove(queue);
    const dependents = catalog.dependents(queue.definition.name);
    for (const other of dependents) catalog.cutLost(other);
    void barrier.wait(dependents);
    for (const lease of [...queue.line]) lease.settle(deletedFailure);
    return { ...deleted, deletion };
  }

  /** Throws `refused` where the queue is a dead queue, holds items, or may soon hold some. */
  #requireUnused(queue: LogicalQueue, [dependent]: readonly string[], isShown?: IsShown): void {
    const { name } = queue.definition;
    if (dependent !== undefined) {
      const other = quotedIf(dependent, isShown);
      const text = `queue is in use; '${name}' is the dead_queue of ${other}`;
      throw QueueError.from(failure("queue_in_use", text));
    }
    const { itemCount, isAdding, owner } = queue;
    const isFull = itemCount > 0;
    if (!isFull && !isAdding && !this.#options.courier.isTargeted(owner)) return;
    const why = isFull
      ? `'${name}' holds ${itemCount} items`
      : `items are on their way to '${name}'`;
    throw QueueError.from(failure("queue_not_empty", `queue is not empty; ${why}`));
  }

  /** Where the engine closes meanwhile, the next start takes it up again. */
  finishDeleteSoon(deleted: Deleted): void {
    behind(this.#finishDelete(deleted));
  }

  /** What is left to do once a delete is certain; also after a crash in the middle of it. */
  async #finishDelete(deleted: Deleted): Promise<void> {
    const { shard, queueId, slots } = deleted;
    const what = { ready: true, leased: true, scheduled: true, retried: true };
    await this.#persist(async () => {
      succeeded(await this.#options.port(shard).ask({ kind: "clear", slots, what }));
      await this.#inTurn(shard, (deadline) => this.#write(shard, { remove: [queueId] }, deadline));
      return true;
    });
    // Whatever came before for its slots is decided.
    this.#options.catalog.free(shard, slots);
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
    const { shard } = queue;
    // A turn that was decided before they began to drain may have written there.
    await this.#options.barrier.waitForShard(shard);
    await this.#inTurn(shard, async (deadline) => {
      // One that was wanted again meanwhile has a place of its own, and is not among them.
      const gone = this.#drained(queue).filter((place) => drained.has(place));
      if (gone.length === 0) return;
      const places = [...queue.places.values()].filter((place) => !gone.includes(place));
      await this.#write(shard, { put: [queue.entry({ places })] }, deadline);
      for (const place of gone) this.#options.catalog.disown(queue, place);
      this.#options.catalog.free(
        shard,
        gone.map(({ slot }) => slot),
      );
    });
  }

  /**
   * No queue is created, changed or deleted, and no dead letter travels, while the work lasts. A
   * delete that is certain goes on, but stays in the catalog: what is copied meanwhile can be
   * deleted by whoever opens the copy.
   */
  async undisturbed<T>(work: () => Promise<T>): Promise<T> {
    const { shardCount } = this.#options.catalog;
    const all = Array.from({ length: shardCount }, (_, shard) => shard);
    const held = async (): Promise<T> => {
      const { release } = await this.#options.courier.hold(undeliveredBackup);
      try {
        return await work();
      } finally {
        release();
      }
    };
    const deadline = this.#options.clock.machine.now() + limits.holdMsMax;
    const { ending } = await this.#begin(all, held, { deadline, late: undeliveredBackup });
    return await ending;
  }

  #shardOf(name: string): number {
    return shardOf(name, this.#options.catalog.shardCount);
  }

  async #inTurn<T>(shard: number, work: (deadline: number) => Promise<T>): Promise<T> {
    const { ending } = await this.#begin([shard], work);
    return await ending;
  }

  /**
   * Resolves when the work has begun, which is when nothing else changes in these shards; what cannot
   * begin in time never does.
   */
  async #begin<T>(
    shards: readonly number[],
    work: (deadline: number) => Promise<T>,
    { deadline, late } = { deadline: this.#deadline(), late: lateChange.untaken },
  ): Promise<{ readonly deadline: number; readonly ending: Promise<T> }> {
    this.#refuse();
    const before = Promise.all(shards.map((shard) => this.#turns.get(shard)));
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    for (const shard of shards) {
      // Not all that it waits for: it may give up before the change of another shard has ended.
      const last = Promise.all([this.#turns.get(shard), over]);
      this.#turns.set(
        shard,
        last.then(() => undefined),
      );
    }
    try {
      await this.#inTime(before, deadline, late);
      this.#refuse();
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
   * While it is not known whether it is written, the dead queue that it names is not deleted without
   * force, and gets no dead queue of its own.
   */
  async #writeNaming(
    shard: number,
    entry: CatalogEntry,
    { deadline, isNew }: { readonly deadline: number; readonly isNew?: true },
  ): Promise<void> {
    const { name, deadQueue } = entry.definition;
    const { catalog } = this.#options;
    const [own, dead] = [catalog.named(name), catalog.named(deadQueue)];
    dead?.namedBy.add(name);
    if (own !== undefined) own.isNaming = dead !== undefined;
    try {
      await this.#write(shard, { put: [entry], ...(isNew && { isNew }) }, deadline);
    } finally {
      dead?.namedBy.delete(name);
      if (own !== undefined) own.isNaming = false;
    }
  }

  async #write(shard: number, change: Partial<CatalogChange>, deadline: number): Promise<void> {
    const request = { kind: "catalog", put: [], remove: [], ...change } as const;
    succeeded(await this.#options.port(shard).ask(request, { deadline, late: lateChange }));
  }
}

/** Work that nobody waits for. It fails only where the engine closes, or is wrong. */
function behind(work: Promise<void>): void {
  void work.catch((cause) => {
    if (!(cause instanceof QueueError)) throw cause;
  });
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
