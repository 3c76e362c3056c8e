// The engine of one shard: one method per operation. It finds the queue, and the turns of the shard
// decide. No reply is sent before the shard has committed.

import type { QueueDefinition } from "../stores/queue.ts";
import type { Sampling } from "./advance.ts";
import { Calls, timingOf } from "./calls.ts";
import { CatalogChanges, type Hold } from "./catalog-changes.ts";
import { queueClients } from "./insight/clients.ts";
import { HealthMonitor } from "./insight/health-monitor.ts";
import { Overview } from "./insight/overview.ts";
import { queueInspection, queueStats, shardStatus } from "./insight/queue-stats.ts";
import { Search } from "./insight/search.ts";
import { checkSeries, SeriesRecorder } from "./insight/series.ts";
import { Leases } from "./leases.ts";
import type * as api from "./model/api.ts";
import { assert } from "./model/assert.ts";
import { after, TestClock, type Timer } from "./model/clock.ts";
import {
  closingFailure,
  type Failure,
  failure,
  type Late,
  lateLook,
  lateWrite,
  QueueError,
  reopeningFailure,
  unknownOutcome,
  unknownShardFailure,
} from "./model/errors.ts";
import { newTag } from "./model/ids.ts";
import { storedItems } from "./model/items.ts";
import { limits } from "./model/limits.ts";
import type { Passed, Value } from "./model/messages.ts";
import { shardOf, shareOf } from "./model/placement.ts";
import { systemRandom } from "./model/random.ts";
import {
  checkClear,
  checkClientsLimit,
  checkDeleteIds,
  checkExpect,
  checkGroupChange,
  checkGroupsList,
  checkLookupName,
  checkPause,
  checkQueuesList,
  checkStorageList,
  refuse,
  unknownQueue,
} from "./model/validate.ts";
import type { Request } from "./operations.ts";
import { Others } from "./others.ts";
import { Introductions } from "./relay/introductions.ts";
import type { OtherShard, Requester, Standing } from "./relay/other-shard.ts";
import { OutboxRelay } from "./relay/outbox-relay.ts";
import { numbersPassedOver, stepBackOf, takenFrom } from "./relay/passed.ts";
import { Reports } from "./reports.ts";
import { Catalog, type Deleted } from "./state/catalog.ts";
import { LogicalQueue, type WaitingLease } from "./state/queue.ts";
import { Tasks } from "./tasks/tasks.ts";
import type { Reached } from "./transacts.ts";
import { Shard, type ShardOptions, succeeded } from "./turn/shard.ts";

/** Operations on all shards of the server together. */
export interface Whole extends Pick<api.Engine, "backup" | "advance" | "close"> {
  /** A shard was reopened after a loss. */
  readonly reopened?: () => Promise<void>;
}

export interface EngineOptions<Items> extends ShardOptions<Items> {
  readonly shard: number;
  /** The guarantee of the stores, for `status`. */
  readonly durability: api.Durability;
  readonly waitingLeasesMax?: number;
  /** Bytes of memory for `series`; default 0 = off. */
  readonly seriesBytes?: number;
  /** Events that an operator should know about; no error is thrown for them. */
  readonly notice?: (notice: api.Notice) => void;
  readonly reach: (shard: number) => OtherShard;
  readonly whole: Whole;
}

/** Everything in memory that is rebuilt when the store is reopened. */
interface Parts<Items> {
  readonly calls: Calls;
  readonly catalog: Catalog;
  readonly outboxRelay: OutboxRelay;
  readonly introductions: Introductions;
  readonly leases: Leases<Items>;
  readonly others: Others;
  readonly catalogChanges: CatalogChanges;
  readonly reports: Reports;
  readonly shard: Shard;
  readonly healthMonitor: HealthMonitor;
  readonly overview: Overview;
  readonly search: Search;
  readonly tasks: Tasks;
  /** Resolves at the start; rejects if the shard is dropped. Calls of other shards wait for it. */
  readonly started: PromiseWithResolvers<void>;
  /** Queues whose deletion has to be finished. */
  deleted: readonly Deleted[];
  /** The last numbers exchanged with other shards, from the store; `null` = not open yet. */
  opened: Passed | null;
  /** Held until the shard starts. */
  hold: Hold | null;
}

interface PartsEvents {
  readonly refusal: () => Failure | null;
  readonly find: (name: string) => LogicalQueue;
  readonly reach: (name: string) => Reached;
  readonly lost: () => void;
  readonly metLate: (standing: Standing) => void;
}

function partsOf<Items>(
  options: EngineOptions<Items>,
  { refusal, find, reach, lost, metLate }: PartsEvents,
): Parts<Items> {
  const { clock, shard: number, shardCount, turnLimits: bounds = limits } = options;
  // A bound for the server is divided, because a shard does not know the usage of the others.
  const share = (total: number): number => shareOf(total, shardCount);
  const { waitingLeasesMax = limits.waitingLeasesMax } = options;
  const shard = (): Shard => own;
  const notice = (one: Omit<api.Notice, "shard">): void =>
    options.notice?.({ shard: number, ...one });
  const others = new Others(options);
  const outboxRelay = new OutboxRelay({
    ...{ clock, shard, other: (target) => others.at(target) },
    setAside: (count) => {
      own.counters.quarantined += count;
      notice({ kind: "items_set_aside", count });
    },
  });
  const catalog = new Catalog({ clock, shard: number, shardCount });
  const { random = systemRandom } = options;
  const introductions = new Introductions({
    ...{ clock: clock.machine, shard: number, others, run: newTag(random) },
    own: () => {
      const { claims, retiring } = catalogChanges;
      return { now: clock.now(), queues: catalog.references, claims, retiring };
    },
    knownRun: (other) => catalog.directory.runOf(other),
    isCurrent: (other, version) => catalog.directory.isCurrent(other, version),
    met: (standing) => {
      // Keeps the clocks of the shards together; otherwise an item from one shard could already be
      // expired in the next.
      clock.advanceTo(standing.now);
      catalog.meet(standing);
    },
    metLate,
    agree: (taken) => reports.agree(taken),
  });
  const catalogChanges = new CatalogChanges({
    ...{ clock, catalog, outboxRelay, shard, others, introductions, refusal },
  });
  const leases = new Leases<Items>({ clock, shard, waitingLeasesMax });
  const calls = new Calls({ clock, shard, catalog, find, reach });
  const healthMonitor = new HealthMonitor({ catalog, clock, shard });
  const reports = new Reports({
    ...{ clock, shard, catalog, outboxRelay, leases, catalogChanges, healthMonitor, notice, lost },
  });
  const historyBytes = share(bounds.historyBytes);
  const turnLimits = { ...bounds, receiptsMax: share(bounds.receiptsMax), historyBytes };
  const { receiptsWindowMs } = bounds;
  const keepsHistory = historyBytes > 0;
  const search = new Search({ catalog, healthMonitor, clock, shard, others, keepsHistory });
  const tasks = new Tasks({ catalog, clock, shard, shardCount, search, receiptsWindowMs });
  const overview = new Overview({ catalog, healthMonitor, clock, shard, tasks, random });
  const started = Promise.withResolvers<void>();
  started.promise.catch(() => undefined);
  const own = new Shard(number, { ...options, turnLimits }, reports);
  return {
    ...{
      calls,
      catalog,
      outboxRelay,
      introductions,
      leases,
      others,
      catalogChanges,
      reports,
      shard: own,
    },
    ...{ healthMonitor, overview, search, tasks, started },
    ...{ deleted: [], opened: null, hold: null },
  };
}

/** Call `load`, `meet` and `start` first, in this order. The shard reopens its store by itself. */
export class ShardEngine<Items> implements api.Engine<Items> {
  readonly shard: number;
  readonly #options: EngineOptions<Items>;
  readonly #series: SeriesRecorder;
  #sampleTimer: Timer | null = null;
  /** `null` before `load`. */
  #loaded: Parts<Items> | null = null;
  #hasStarted = false;
  /** Its store lost acknowledged commits. */
  #hasLost = false;
  #isReopening = false;
  #closing: Promise<void> | null = null;

  constructor(options: EngineOptions<Items>) {
    this.#options = options;
    this.shard = options.shard;
    const bytes = shareOf(options.seriesBytes ?? 0, options.shardCount);
    this.#series = new SeriesRecorder(bytes, options.clock.now());
  }

  get #parts(): Parts<Items> {
    if (this.#loaded === null) throw QueueError.from(reopeningFailure);
    return this.#loaded;
  }

  /** Throws `not_ready` while its store is not open. */
  get #open(): Parts<Items> {
    const parts = this.#parts;
    if (parts.opened === null) throw QueueError.from(reopeningFailure);
    return parts;
  }

  /** Throws `not_ready` until it has started. */
  get #started(): Parts<Items> {
    if (!this.#hasStarted) throw QueueError.from(reopeningFailure);
    return this.#parts;
  }

  #newParts(): Parts<Items> {
    const parts: Parts<Items> = partsOf(this.#options, {
      refusal: () => this.#refusal(this.#loaded !== parts || !this.#hasStarted),
      find: (name) => this.#find(name),
      reach: (name) => this.#reach(name),
      lost: () => {
        if (this.#loaded === parts) this.#lost();
      },
      metLate: (standing) => this.#noteStepBack(parts, [standing]),
    });
    return parts;
  }

  /** Opens the store; throws `StoreError` if that fails. */
  async load(): Promise<void> {
    const parts = this.#newParts();
    this.#loaded = parts;
    const opened = await parts.reports.firstOpened;
    if (this.#closing !== null) throw QueueError.from(closingFailure);
    parts.deleted = parts.catalog.adopt(opened.queues);
    parts.opened = opened.passed;
    parts.introductions.opened(opened.passed);
  }

  /** Learns the state of the other shards; until `start` no queue changes and nothing is sent. */
  async meet(): Promise<void> {
    const parts = this.#parts;
    const { introductions, others, catalogChanges, reports, opened } = parts;
    const { shard } = this.#options;
    assert(opened !== null, "a shard meets the others before its store is open");
    parts.hold = await catalogChanges.hold({ isFirst: true });
    const standings = await introductions.begin();
    this.#noteStepBack(parts, standings);
    // If this shard lost its last numbers, a shard that did not reply may have items under them.
    const isSure = standings.length === others.numbers.length;
    const issued = isSure ? [] : [[shard, opened.sent + numbersPassedOver] as const];
    await reports.meet([...takenFrom(shard, standings), ...issued]);
  }

  #noteStepBack({ opened }: Parts<Items>, others: readonly Standing[]): void {
    const { shard, notice } = this.#options;
    const count = opened === null ? 0 : stepBackOf(shard, opened, others);
    if (count > 0) notice?.({ kind: "store_went_back", shard, count });
  }

  /** From now on queues may change and items be sent. */
  start(): void {
    const { clock, seriesBytes = 0 } = this.#options;
    const { catalog, deleted, catalogChanges, reports, tasks, started } = this.#parts;
    reports.started();
    this.#hasStarted = true;
    started.resolve();
    const isByItself = !(clock instanceof TestClock);
    if (isByItself) this.letGo();
    for (const queue of deleted) catalogChanges.finishDeleteSoon(queue);
    for (const queue of catalog.queues) catalogChanges.reapSoon(queue);
    tasks.adopt(reports.tasks);
    if (isByItself && seriesBytes > 0) this.#sampleLater();
  }

  /** Allows changes and sending. With a test clock, every shard must reach the instant first. */
  letGo(): void {
    const parts = this.#parts;
    parts.hold?.release();
    parts.hold = null;
  }

  #lost(): void {
    this.#hasLost = true;
    if (!this.#isReopening && this.#closing === null) void this.#reopen();
  }

  /** Discards everything that may be newer than the store, and restarts from the stored state. */
  async #reopen(): Promise<void> {
    const { shard, notice, whole, clock } = this.#options;
    const { machine } = clock;
    this.#isReopening = true;
    while (this.#hasLost) {
      this.#hasLost = false;
      await this.#drop();
      if (this.#closing !== null) return;
      try {
        await this.load();
        await this.meet();
        this.start();
        await whole.reopened?.();
      } catch (cause) {
        if (this.#closing !== null) return;
        this.#hasLost = true;
        notice?.({ kind: "shard_down", shard, cause });
        await new Promise<void>((resolve) => {
          after(machine, limits.restartMsMin, resolve);
        });
      }
      if (this.#closing !== null) return;
    }
    this.#isReopening = false;
    notice?.({ kind: "shard_up", shard });
  }

  async #drop(): Promise<void> {
    this.#stop(reopeningFailure);
    await this.#loaded?.shard.abandon(reopeningFailure);
    // Its lock would block the next opening.
    await this.#loaded?.shard.storeClosed;
  }

  /** For a shard whose `load` or `meet` has thrown, or that cannot start because of another one. */
  async giveUp(): Promise<void> {
    this.#closing ??= Promise.resolve();
    this.#stop(closingFailure);
    const shard = this.#loaded?.shard;
    if (shard === undefined) return;
    await (shard.isUp ? shard.close() : shard.abandon(closingFailure)).catch(() => undefined);
  }

  #stop(why: Failure): void {
    this.#hasStarted = false;
    if (this.#loaded === null) return;
    const { introductions, tasks, started } = this.#loaded;
    introductions.end();
    tasks.close();
    started.reject(QueueError.from(why));
    this.letGo();
    this.#endLeases(why);
  }

  async hold(): Promise<Hold> {
    this.#refuseClosing();
    return await this.#parts.catalogChanges.hold();
  }

  async copy(folder: string): Promise<api.StoreCopy> {
    const { clock, shard } = this.#options;
    const timing = { deadline: clock.machine.now() + limits.holdMsMax, late: lateCopy };
    const value = succeeded(await this.#parts.shard.ask({ kind: "backup", folder }, timing));
    assert(value.kind === "copied", "a shard answered a backup with something else");
    return { shard, bytes: value.bytes };
  }

  /** For a test clock or a simulation; `null` before the start. */
  get advancing() {
    if (this.#loaded === null || !this.#hasStarted) return null;
    const { catalog, outboxRelay, shard } = this.#loaded;
    return { catalog, outboxRelay, shard, sampling: this.#sampling };
  }

  readonly #sampling: Sampling = {
    nextAt: () => this.#series.nextAt,
    sample: () => this.#sample(),
  };

  readonly other: OtherShard = {
    introduce: async (standing) => await this.#open.introductions.receive(standing),
    lastVersion: async () => this.#open.introductions.version,
    receive: async (sourceShard, items) => {
      const { shard, started } = this.#parts;
      await started.promise;
      // The sender may have lost these items by the time that the store is open again.
      if (!shard.isUp) throw QueueError.from(reopeningFailure);
      return await shard.ask({ kind: "receive", sourceShard, items });
    },
    receiveChange: async (change) => {
      const { catalog, shard } = this.#open;
      if (!catalog.receiveChange(change)) throw QueueError.from(unknownShardFailure);
      if (change.isPause && this.#hasStarted) await shard.decided();
    },
    claim: async (claim, requester) => {
      const { catalogChanges, started } = this.#parts;
      await started.promise;
      this.#admit(requester);
      catalogChanges.claim(claim);
    },
    unclaim: async (claim, requester) => {
      const { catalog, started } = this.#parts;
      // Not before the claim, which waits as well.
      await started.promise;
      this.#admit(requester);
      catalog.unclaim(claim);
    },
    isSending: async (owner) => this.#started.outboxRelay.isSending(owner),
    retire: async (owner, requester) => {
      const { catalog, outboxRelay, shard } = this.#started;
      this.#admit(requester);
      catalog.directory.retire(owner);
      if (!(await shard.decided())) throw QueueError.from(unknownShardFailure);
      return outboxRelay.isSending(owner);
    },
    itemCount: async (queue) => this.#started.catalog.itemCountOf(queue),
    historyOf: async (request) => await this.#started.search.historyOf(request),
    explainHere: async (id, askedId) => await this.#started.search.explainHere(id, askedId),
    explainFormer: async (queue, originId) =>
      await this.#started.search.explainFormer(queue, originId),
  };

  /** Refuses requests of an earlier opening of another shard, and of a shard not known here yet. */
  #admit(requester: Requester): void {
    if (!this.#parts.catalog.directory.admit(requester)) throw QueueError.from(unknownShardFailure);
  }

  /**
   * Before a queue is refused as unknown: fetches what the other shards know of these queues by
   * now. `null` = nothing is missing.
   */
  #fetchReferences(names: readonly string[]): Promise<unknown> | null {
    const { catalog, introductions, others } = this.#started;
    const unknown = names.filter((name) => {
      const { owner } = catalog.directory.named(name) ?? {};
      return others.withQueue(name) !== null && (owner === undefined || !catalog.isOpen(owner));
    });
    if (unknown.length === 0) return null;
    const shards = new Set(unknown.map((name) => shardOf(name, this.#options.shardCount)));
    return Promise.all([...shards].map((shard) => introductions.catchUp(shard)));
  }

  /** Samples for `series` as long as the engine exists. */
  #sampleLater(): void {
    this.#sampleTimer?.cancel();
    this.#sampleTimer = this.#options.clock.at(this.#series.nextAt, () => {
      this.#sample();
      this.#sampleLater();
    });
  }

  #sample(): void {
    const { catalog, shard } = this.#parts;
    this.#series.sample({ queues: catalog.queues, shard, now: this.#options.clock.now() });
  }

  #refusal(isOver: boolean): Failure | null {
    if (this.#closing !== null) return closingFailure;
    return isOver ? reopeningFailure : null;
  }

  #refuseClosing(): void {
    const refused = this.#refusal(!this.#hasStarted);
    if (refused !== null) throw QueueError.from(refused);
  }

  #find(name: string): LogicalQueue {
    this.#refuseClosing();
    return this.#parts.catalog.find(name);
  }

  #reach(name: string): Reached {
    const { catalog, others } = this.#parts;
    if (others.withQueue(name) === null) return this.#find(name);
    this.#refuseClosing();
    checkLookupName(name);
    catalog.requireKnown(name);
    const reference = catalog.directory.named(name);
    if (reference !== undefined && catalog.isOpen(reference.owner)) return reference;
    return unknownQueue(name);
  }

  async #ask(request: Request, late: Late): Promise<Value> {
    const timing = timingOf(this.#options.clock, late);
    return succeeded(await this.#parts.shard.ask(request, timing));
  }

  produce(request: api.ProduceRequest): Promise<api.Produced> {
    return this.#parts.calls.produce(request);
  }

  async transact(request: api.TransactRequest): Promise<api.Transacted> {
    const outputs = request.produce?.map(({ queue }) => queue) ?? [];
    const learning = outputs.length === 0 ? null : this.#fetchReferences(outputs);
    if (learning !== null) await learning;
    return await this.#parts.calls.transact(request);
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
    const { shard, shardCount } = this.#options;
    assert(shardOf(settings.name, shardCount) === shard, "a queue is created in another shard");
    const learning = this.#fetchReferences([settings.deadQueue]);
    if (learning !== null) await learning;
    await this.#parts.catalogChanges.create(settings, isShown);
  }

  async updateQueue(
    change: api.QueueChange & api.Guard,
    isShown?: api.IsShown,
  ): Promise<api.ItemCounts> {
    this.#refuseClosing();
    checkExpect(change.expect);
    const learning =
      change.deadQueue === undefined ? null : this.#fetchReferences([change.deadQueue]);
    if (learning !== null) await learning;
    return await this.#parts.catalogChanges.update(change, isShown);
  }

  async deleteQueue(
    request: api.DeleteQueueRequest,
    rules: api.DeleteQueueRules = {},
  ): Promise<api.Deletion> {
    this.#refuseClosing();
    checkExpect(request.expect);
    return this.#parts.catalogChanges.delete({ ...request, ...rules });
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
    await this.#parts.catalogChanges.pause(queue, pause);
    const named = this.#parts.catalog.named(queue);
    if (named !== undefined) named.activity.pausedBy = by;
  }

  async resume(queue: string): Promise<void> {
    this.requireQueue(queue);
    await this.#parts.catalogChanges.pause(queue, null);
  }

  async stats(name: string): Promise<api.QueueStats> {
    const queue = this.#find(name);
    return queueStats(queue, this.#parts.shard, timingOf(this.#options.clock, lateLook));
  }

  series(request: api.SeriesRequest): api.Series {
    this.#refuseClosing();
    checkSeries(request, this.#options.shardCount);
    const { queue } = request;
    return this.#series.read(request, queue === undefined ? undefined : this.#find(queue));
  }

  async inspect(name: string, isShown: api.IsShown = () => true): Promise<api.QueueInspection> {
    const queue = this.#find(name);
    const { deadQueue } = queue.definition;
    if (deadQueue === "" || !isShown(deadQueue)) return queueInspection(queue, 0);
    const holder = this.#parts.others.withQueue(deadQueue) ?? this.other;
    return queueInspection(queue, await holder.itemCount(deadQueue));
  }

  explain(name: string, isShown?: api.IsShown): api.Explanation {
    return this.#parts.healthMonitor.explain(this.#find(name), isShown);
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
      shard: this.#parts.shard,
    });
  }

  overview(
    since: string,
    isShown?: api.IsShown,
  ): { readonly now: number; readonly overview: api.EngineOverview } {
    this.#refuseClosing();
    const overview = this.#parts.overview.take(since, isShown);
    return { now: this.#options.clock.now(), overview };
  }

  async clear(request: api.ClearRequest): Promise<api.ItemCounts> {
    const { slots } = this.#find(request.queue);
    checkClear(request);
    const { ready, scheduled, retried, destructive, dryRun = false, expect } = request;
    checkExpect(expect);
    const what = { ready, leased: ready && destructive, scheduled, retried };
    const guard = guardOf({ dryRun, expect });
    // A clear that has begun continues, even if the reply is too late for its caller.
    const late = dryRun ? lateLook : lateWrite;
    return countsOf(await this.#ask({ kind: "clear", slots, what, ...guard }, late));
  }

  async reload(name: string): Promise<void> {
    const { slots } = this.#find(name);
    await this.#ask({ kind: "recount", slots }, lateWrite);
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
    const listed = await this.#ask({ kind: "list", slot, ...which, pivot, limit }, lateLook);
    return storedItems(listed, queue.definition);
  }

  async deleteItems(request: api.DeleteItemsRequest): Promise<api.ItemCounts> {
    const { partition, ids, dryRun = false, expect } = request;
    const queue = this.#find(request.queue);
    const { slot } = queue.place(partition);
    checkDeleteIds(ids);
    checkExpect(expect);
    const guard = guardOf({ dryRun, expect });
    return countsOf(await this.#ask({ kind: "delete", slot, ids, ...guard }, lateWrite));
  }

  cancelItems(request: api.CancelItemsRequest): Promise<api.Cancelled> {
    return this.#parts.calls.cancelItems(request);
  }

  async findItems(request: api.FindRequest): Promise<api.Found<api.FoundItem>> {
    return this.#parts.search.find(this.#find(request.queue), request);
  }

  async summarizeItems(request: api.SummarizeRequest): Promise<api.Summarized> {
    return this.#parts.search.summarize(this.#find(request.queue), request);
  }

  async listGroups(request: api.GroupListRequest): Promise<api.GroupPage> {
    const slot = this.#groupedSlot(request.queue);
    checkGroupsList(request);
    const { pivot, limit, blocked: isBlocked = false } = request;
    const value = await this.#ask({ kind: "groupsList", slot, pivot, limit, isBlocked }, lateLook);
    assert(value.kind === "groups", "a shard answered a list of groups with something else");
    return { groups: value.groups, nextPivot: value.next };
  }

  async setGroup({ queue, ...change }: api.GroupChange): Promise<api.GroupInfo> {
    const slot = this.#groupedSlot(queue);
    checkGroupChange({ queue, ...change });
    const value = await this.#ask({ kind: "groupSet", slot, change }, lateWrite);
    const [info] = value.kind === "groups" ? value.groups : [];
    assert(info !== undefined, "a shard answered a change of a group with something else");
    return info;
  }

  /** Throws `invalid` if the queue has no groups. */
  #groupedSlot(name: string): number {
    const queue = this.#find(name);
    if (!queue.definition.grouped) refuse(`queue is invalid; '${name}' is not grouped`);
    return queue.place(0).slot;
  }

  async redrive(request: api.RedriveRequest): Promise<api.TaskBegun> {
    const learning = request.to === undefined ? null : this.#fetchReferences([request.to]);
    if (learning !== null) await learning;
    return await this.#parts.tasks.redrive(this.#find(request.queue), request);
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
    return this.#options.whole.backup(folder);
  }

  async advance(byMs: number, options?: api.AdvanceOptions): Promise<number> {
    this.#refuseClosing();
    return this.#options.whole.advance(byMs, options);
  }

  requireQueue(name: string, partition?: number): void {
    const queue = this.#reach(name);
    // Another shard checks its own partitions.
    if (partition !== undefined && queue instanceof LogicalQueue) queue.place(partition);
  }

  status(): api.EngineStatus {
    const queues = [...this.#parts.catalog.queues].map((queue) => queue.gauges());
    return {
      now: this.#options.clock.now(),
      durability: this.#options.durability,
      waitingLeases: queues.reduce((sum, { waitingLeases }) => sum + waitingLeases, 0),
      shards: [shardStatus(this.#parts.shard)],
      queues,
    };
  }

  close(): Promise<void> {
    return this.#options.whole.close();
  }

  /** Closes this shard alone. */
  end(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  /**
   * Closes at once, without waiting for the store. Calls without a reply so far are answered
   * `unknown`. For a shard that another node now owns.
   */
  abandon(): void {
    this.#closing ??= Promise.resolve();
    this.#stop(closingFailure);
    void this.#loaded?.shard.abandon(closingFailure);
  }

  async #end(): Promise<void> {
    if (this.#loaded === null) return;
    const { introductions, tasks, shard } = this.#loaded;
    introductions.end();
    tasks.close();
    this.#endLeases(closingFailure, ({ line }) => line);
    await shard.close();
    this.#endLeases(closingFailure);
  }

  /** Items granted without a reply may be stored as leased; they lapse. */
  #endLeases(
    why: Failure,
    which = ({ clients }: LogicalQueue): Iterable<WaitingLease> => clients.values(),
  ): void {
    this.#sampleTimer?.cancel();
    for (const queue of this.#parts.catalog.queues) {
      for (const lease of [...which(queue)]) lease.settle(lease.isGranted ? unknownOutcome : why);
    }
  }
}

const lateCopy: Late = {
  beforeSend: failure("backup_failed", "no backup was made; a shard is down, try again later"),
  // A backup in progress is not timed out.
  afterSend: null,
};

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
