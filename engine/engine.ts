// The engine: one method per operation. It decides where (which partition, which
// waiting lease); the shards decide what. Nothing is answered before the shard
// that did it has committed.

import type { QueueDefinition } from "../stores/queue.ts";
import { Advance, type Sampling } from "./advance.ts";
import { Barrier } from "./barrier.ts";
import { Calls, timingOf } from "./calls.ts";
import { Checkups } from "./insight/checkups.ts";
import { queueClients } from "./insight/clients.ts";
import { queueInspection, queueStats, shardStatus } from "./insight/figures.ts";
import { Overview } from "./insight/overview.ts";
import { Search } from "./insight/search.ts";
import { checkSeries, SeriesKeeper } from "./insight/series.ts";
import type { Request } from "./kinds.ts";
import { Leases } from "./leases.ts";
import type * as api from "./model/api.ts";
import { assert } from "./model/assert.ts";
import { TestClock, type Timer } from "./model/clock.ts";
import {
  closingFailure,
  type Failure,
  type Late,
  lateLook,
  lateWrite,
  noTestClock,
  QueueError,
  reopeningFailure,
  unknownOutcome,
} from "./model/errors.ts";
import { storedItems } from "./model/items.ts";
import { limits } from "./model/limits.ts";
import type { Value } from "./model/messages.ts";
import { shareOf } from "./model/placement.ts";
import {
  checkClear,
  checkClientsLimit,
  checkDeleteIds,
  checkExpect,
  checkPause,
  checkQueuesList,
  checkStorageList,
} from "./model/validate.ts";
import { Registrar } from "./registrar.ts";
import { Courier } from "./relay/courier.ts";
import { Shards, type ShardsEvents, type ShardsOptions } from "./shards.ts";
import { Catalog } from "./state/catalog.ts";
import type { LogicalQueue, WaitingLease } from "./state/queue.ts";
import { Tasks } from "./tasks/tasks.ts";
import { type Shard, succeeded } from "./turn/shard.ts";

export type { Notice } from "./model/api.ts";

export interface EngineOptions<Items> extends ShardsOptions<Items> {
  /** What the stores promise, for `status`. */
  readonly durability: api.Durability;
  readonly waitingLeasesMax?: number;
  /** Bytes for what `series` tells; default 0, which is nothing. */
  readonly seriesBytes?: number;
}

export interface OpenEngine<Items> extends api.Engine<Items> {
  /**
   * Ends at once, whatever the stores are doing: what they have and did not answer is told
   * `unknown`. For shards that have become another's.
   */
  abandon(): void;
}

/** Opens every shard and reads the catalog. Throws `StoreError` when a store cannot be opened. */
export async function openEngine<Items>(options: EngineOptions<Items>): Promise<OpenEngine<Items>> {
  const engine = new ShardedEngine(options);
  await engine.open();
  return engine;
}

/** All that is known beside the stores. */
interface Parts<Items> {
  readonly calls: Calls;
  readonly catalog: Catalog;
  readonly leases: Leases<Items>;
  readonly registrar: Registrar;
  readonly shards: Shards;
  readonly advance: Advance | null;
  readonly checkups: Checkups;
  readonly search: Search;
  readonly tasks: Tasks;
}

interface PartsEvents extends ShardsEvents {
  readonly refusal: () => Failure | null;
  /** Throws where there is none of the name, or the engine takes no calls. */
  readonly find: (name: string) => LogicalQueue;
  readonly sampling: Sampling;
}

function partsOf<Items>(
  options: EngineOptions<Items>,
  { refusal, lost, find, sampling }: PartsEvents,
): Parts<Items> {
  const { clock, waitingLeasesMax = limits.waitingLeasesMax } = options;
  const port = (shard: number): Shard => shards.port(shard);
  const courier = new Courier({
    clock,
    port,
    isInTurn: clock instanceof TestClock,
    setAside: (source, count) => shards.wereSetAside(source, count),
  });
  const { receiptsWindowMs, receiptsMax, historyBytes } = options.turnLimits ?? limits;
  const catalog = new Catalog({
    clock,
    shardCount: options.shardCount,
    isUp: (shard) => port(shard).isUp,
  });
  const barrier = new Barrier({ catalog, port });
  const registrar = new Registrar({ clock, catalog, courier, barrier, port, refusal });
  const leases = new Leases<Items>({ clock, port, waitingLeasesMax });
  const ports = () => shards.ports;
  const calls = new Calls({ clock, port, find });
  const checkups = new Checkups({ catalog, clock, ports });
  const listeners = { catalog, checkups, courier, leases, registrar, barrier };
  // A shard does not know what the others remember.
  const receiptsShare = shareOf(receiptsMax, options.shardCount);
  const turnLimits = { ...(options.turnLimits ?? limits), receiptsMax: receiptsShare };
  const shards = new Shards({ ...options, turnLimits, lost }, listeners);
  const advance =
    clock instanceof TestClock ? new Advance({ clock, catalog, ports, courier, sampling }) : null;
  const search = new Search({ catalog, checkups, clock, ports, keepsHistory: historyBytes > 0 });
  const tasks = new Tasks({ catalog, clock, ports, search, receiptsWindowMs });
  return { calls, catalog, leases, registrar, shards, advance, checkups, search, tasks };
}

class ShardedEngine<Items> implements OpenEngine<Items> {
  readonly #options: EngineOptions<Items>;
  readonly #overview = new Overview();
  /** On the machine's clock. */
  #overviewAt = Number.NEGATIVE_INFINITY;
  readonly #series: SeriesKeeper;
  #look: Timer | null = null;
  #parts: Parts<Items>;
  #isReopening = false;
  #closing: Promise<void> | null = null;

  constructor(options: EngineOptions<Items>) {
    this.#options = options;
    this.#series = new SeriesKeeper(options.seriesBytes ?? 0, options.clock.now());
    this.#parts = this.#begin();
  }

  #begin(): Parts<Items> {
    const parts: Parts<Items> = partsOf(this.#options, {
      refusal: () => this.#refusal(this.#parts !== parts),
      lost: () => {
        if (this.#parts === parts) void this.#reopen();
      },
      find: (name) => this.#find(name),
      sampling: { nextAt: () => this.#series.nextAt, sample: () => this.#sample() },
    });
    return parts;
  }

  /** Forgets all that may be newer than what is stored, and begins from that. */
  async #reopen(): Promise<void> {
    const { clock, notice } = this.#options;
    if (this.#isReopening || this.#closing !== null) return;
    this.#isReopening = true;
    this.#parts.tasks.close();
    this.#endLeases(reopeningFailure);
    await this.#parts.shards.abandon(reopeningFailure);
    while (this.#closing === null) {
      this.#parts = this.#begin();
      try {
        await this.open();
        break;
      } catch (cause) {
        if (this.#closing !== null) return;
        notice?.({ kind: "shard_down", shard: this.#parts.shards.failedShard, cause });
      }
      await new Promise<void>((resolve) => {
        clock.machine.at(clock.machine.now() + limits.restartMsMin, resolve);
      });
    }
    if (this.#closing !== null) return;
    this.#isReopening = false;
    for (const { shard } of this.#parts.shards.ports) notice?.({ kind: "shard_up", shard });
  }

  async open(): Promise<void> {
    this.#parts.tasks.adopt(await this.#parts.shards.open());
    try {
      await this.#parts.advance?.begin();
    } catch (cause) {
      await this.close();
      throw cause;
    }
    const isByItself = this.#parts.advance === null;
    if (isByItself && (this.#options.seriesBytes ?? 0) > 0) this.#lookLater();
  }

  /** For `series`, as long as the engine is there. */
  #lookLater(): void {
    this.#look?.cancel();
    this.#look = this.#options.clock.at(this.#series.nextAt, () => {
      this.#sample();
      this.#lookLater();
    });
  }

  #sample(): void {
    const [queues, shards] = [this.#parts.catalog.queues, this.#parts.shards.ports];
    this.#series.look({ queues, shards, now: this.#options.clock.now() });
  }

  #refusal(isOver: boolean): Failure | null {
    if (this.#closing !== null) return closingFailure;
    return isOver ? reopeningFailure : null;
  }

  #refuseClosing(): void {
    const refused = this.#refusal(this.#isReopening);
    if (refused !== null) throw QueueError.from(refused);
  }

  #find(name: string): LogicalQueue {
    this.#refuseClosing();
    return this.#parts.catalog.find(name);
  }

  async #ask(shard: number, request: Request, late: Late): Promise<Value> {
    return succeeded(
      await this.#parts.shards.port(shard).ask(request, timingOf(this.#options.clock, late)),
    );
  }

  produce(request: api.ProduceRequest): Promise<api.Produced> {
    return this.#parts.calls.produce(request);
  }

  transact(request: api.TransactRequest): Promise<api.Transacted> {
    return this.#parts.calls.transact(request);
  }

  complete(request: api.CompleteRequest): Promise<api.Outcome> {
    return this.#parts.calls.complete(request);
  }

  retry(request: api.RetryRequest): Promise<api.Outcome> {
    return this.#parts.calls.retry(request);
  }

  extend(request: api.ExtendRequest): Promise<api.Extended> {
    return this.#parts.calls.extend(request);
  }

  release(request: api.ReleaseRequest): Promise<api.Outcome> {
    return this.#parts.calls.release(request);
  }

  importItems(request: api.ImportRequest): Promise<api.Imported> {
    return this.#parts.calls.importItems(request);
  }

  async lease(request: api.LeaseRequest): Promise<api.Lease<Items>> {
    return this.#parts.leases.lease(this.#find(request.queue), request);
  }

  async createQueue(settings: api.QueueSettings, isShown?: api.IsShown): Promise<void> {
    this.#refuseClosing();
    await this.#parts.registrar.create(settings, isShown);
  }

  async updateQueue(
    change: api.QueueChange & api.Guard,
    isShown?: api.IsShown,
  ): Promise<api.ItemCounts> {
    this.#refuseClosing();
    checkExpect(change.expect);
    return this.#parts.registrar.update(change, isShown);
  }

  async deleteQueue(
    request: api.DeleteQueueRequest,
    rules: api.DeleteQueueRules = {},
  ): Promise<api.Deletion> {
    this.#refuseClosing();
    checkExpect(request.expect);
    return this.#parts.registrar.delete({ ...request, ...rules });
  }

  listQueues(request: { pivot: string; limit: number }): readonly QueueDefinition[] {
    this.#refuseClosing();
    checkQueuesList(request);
    return this.#parts.catalog.list(request.pivot, request.limit);
  }

  queueInfo(name: string): QueueDefinition {
    return this.#find(name).definition;
  }

  async pause(request: api.PauseRequest): Promise<void> {
    const { queue, produce = false, lease = !produce, reason = "", by = "" } = request;
    const pause = { lease, produce, reason };
    this.requireQueue(queue);
    checkPause(pause);
    await this.#parts.registrar.pause(queue, pause);
    const named = this.#parts.catalog.named(queue);
    if (named !== undefined) named.watch.pausedBy = by;
  }

  async resume(queue: string): Promise<void> {
    this.requireQueue(queue);
    await this.#parts.registrar.pause(queue, null);
  }

  async stats(name: string): Promise<api.QueueStats> {
    const queue = this.#find(name);
    const shard = this.#parts.shards.port(queue.shard);
    return queueStats(queue, shard, timingOf(this.#options.clock, lateLook));
  }

  series(request: api.SeriesRequest): api.Series {
    this.#refuseClosing();
    checkSeries(request, this.#parts.shards.ports.length);
    const { queue } = request;
    return this.#series.read(request, queue === undefined ? undefined : this.#find(queue));
  }

  async inspect(name: string, isShown: api.IsShown = () => true): Promise<api.QueueInspection> {
    const queue = this.#find(name);
    const dead = this.#parts.catalog.deadQueueOf(queue);
    return queueInspection(queue, isShown(queue.definition.deadQueue) ? dead : undefined);
  }

  explain(name: string, isShown?: api.IsShown): api.Explanation {
    return this.#parts.checkups.explain(this.#find(name), isShown);
  }

  async clients({
    queue: name,
    limit,
  }: {
    queue: string;
    limit: number;
  }): Promise<api.QueueClients> {
    const queue = this.#find(name);
    checkClientsLimit(limit);
    const { clock } = this.#options;
    return queueClients(queue, {
      limit,
      now: clock.now(),
      deadline: clock.machine.now() + limits.clientsMsMax,
      shard: this.#parts.shards.port(queue.shard),
    });
  }

  overview(
    since: string,
    isShown?: api.IsShown,
  ): { readonly now: number; readonly overview: api.EngineOverview } {
    this.#refuseClosing();
    const { clock } = this.#options;
    const machineNow = clock.machine.now();
    // Everyone who asks within it is told of the same moment.
    if (machineNow - this.#overviewAt >= limits.overviewMs) {
      this.#overviewAt = machineNow;
      const [catalog, checkups] = [this.#parts.catalog, this.#parts.checkups];
      const [ports, tasks] = [this.#parts.shards.ports, this.#parts.tasks.running()];
      this.#overview.make({ now: clock.now(), catalog, checkups, ports, tasks });
    }
    return { now: clock.now(), overview: this.#overview.take(since, isShown) };
  }

  async clear(request: api.ClearRequest): Promise<api.ItemCounts> {
    const { shard, slots } = this.#find(request.queue);
    checkClear(request);
    const { ready, scheduled, retried, destructive, dryRun = false, expect } = request;
    checkExpect(expect);
    const what = { ready, leased: ready && destructive, scheduled, retried };
    const guard = guardOf({ dryRun, expect });
    // A clear that has begun continues, even if its caller is answered late.
    const late = dryRun ? lateLook : lateWrite;
    return countsOf(await this.#ask(shard, { kind: "clear", slots, what, ...guard }, late));
  }

  async reload(name: string): Promise<void> {
    const { shard, slots } = this.#find(name);
    await this.#ask(shard, { kind: "recount", slots }, lateWrite);
  }

  listItems(request: api.ListRequest): Promise<readonly api.StoredItem[]> {
    return this.#list(request, { scheduled: false });
  }

  listScheduled(request: api.ListRequest): Promise<readonly api.StoredItem[]> {
    return this.#list(request, { scheduled: true });
  }

  async #list(request: api.ListRequest, which: { scheduled: boolean }): Promise<api.StoredItem[]> {
    const queue = this.#find(request.queue);
    const { slot } = queue.place(request.partition);
    checkStorageList(request);
    const { pivot, limit } = request;
    const listed = await this.#ask(
      queue.shard,
      { kind: "list", slot, ...which, pivot, limit },
      lateLook,
    );
    return storedItems(listed, queue.definition);
  }

  async deleteItems(request: api.DeleteItemsRequest): Promise<api.ItemCounts> {
    const { partition, ids, dryRun = false, expect } = request;
    const queue = this.#find(request.queue);
    const { slot } = queue.place(partition);
    checkDeleteIds(ids);
    checkExpect(expect);
    const guard = guardOf({ dryRun, expect });
    return countsOf(
      await this.#ask(queue.shard, { kind: "delete", slot, ids, ...guard }, lateWrite),
    );
  }

  async findItems(request: api.FindRequest): Promise<api.Found<api.FoundItem>> {
    return this.#parts.search.find(this.#find(request.queue), request);
  }

  async groupItems(request: api.GroupsRequest): Promise<api.Grouped> {
    return this.#parts.search.group(this.#find(request.queue), request);
  }

  async redrive(request: api.RedriveRequest): Promise<api.TaskBegun> {
    return this.#parts.tasks.redrive(this.#find(request.queue), request);
  }

  async repair(request: api.RepairRequest): Promise<api.TaskBegun> {
    return this.#parts.tasks.repair(this.#find(request.queue), request);
  }

  listTasks(queue?: string): readonly api.TaskInfo[] {
    this.#refuseClosing();
    if (queue !== undefined) this.#find(queue);
    return this.#parts.tasks.list(queue);
  }

  taskInfo(taskId: string): api.TaskInfo {
    this.#refuseClosing();
    return this.#parts.tasks.info(taskId);
  }

  async cancelTask(taskId: string): Promise<api.TaskInfo> {
    this.#refuseClosing();
    return this.#parts.tasks.cancel(taskId);
  }

  async getItem(
    id: string,
    range: api.PayloadRange = {},
    isShown: (queue: string) => boolean = () => true,
  ): Promise<api.FoundItem> {
    this.#refuseClosing();
    return this.#parts.search.get(id, range, isShown);
  }

  async explainItem(id: string): Promise<api.ItemExplained> {
    this.#refuseClosing();
    return this.#parts.search.explain(id);
  }

  async backup(folder: string): Promise<readonly api.StoreCopy[]> {
    this.#refuseClosing();
    return this.#parts.registrar.undisturbed(() => this.#parts.shards.copy(folder));
  }

  async advance(byMs: number, options?: api.AdvanceOptions): Promise<number> {
    this.#refuseClosing();
    if (this.#parts.advance === null) throw QueueError.from(noTestClock);
    return this.#parts.advance.advance(byMs, options);
  }

  requireQueue(name: string, partition?: number): void {
    const queue = this.#find(name);
    if (partition !== undefined) queue.place(partition);
  }

  status(): api.EngineStatus {
    const queues = [...this.#parts.catalog.queues].map((queue) => queue.gauges());
    return {
      now: this.#options.clock.now(),
      durability: this.#options.durability,
      waitingLeases: queues.reduce((sum, { waitingLeases }) => sum + waitingLeases, 0),
      shards: this.#parts.shards.ports.map(shardStatus),
      queues,
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  abandon(): void {
    this.#closing ??= Promise.resolve();
    this.#parts.tasks.close();
    this.#endLeases(closingFailure);
    void this.#parts.shards.abandon(closingFailure);
  }

  async #close(): Promise<void> {
    this.#parts.tasks.close();
    this.#endLeases(closingFailure, ({ line }) => line);
    await this.#parts.shards.close();
    this.#endLeases(closingFailure);
  }

  /** What was granted and not told may be stored, and lapses. */
  #endLeases(
    why: Failure,
    which = ({ clients }: LogicalQueue): Iterable<WaitingLease> => clients.values(),
  ): void {
    this.#look?.cancel();
    for (const queue of this.#parts.catalog.queues) {
      for (const lease of [...which(queue)]) lease.settle(lease.isGranted ? unknownOutcome : why);
    }
  }
}

function guardOf({ dryRun, expect }: { dryRun: boolean; expect: number | undefined }) {
  return {
    ...(expect !== undefined && { expect }),
    ...(dryRun && ({ isDry: true } as const)),
  };
}

function countsOf(value: Value): api.ItemCounts {
  assert(value.kind === "counted", "a removal was answered with something else");
  const { kind: _, ...counts } = value;
  return counts;
}
