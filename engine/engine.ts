// The engine: one method per operation. It decides where (which partition, which
// waiting lease); the shards decide what. Nothing is answered before the shard
// that did it has committed.

import type { PartitionPlace, QueueDefinition } from "../stores/queue.ts";
import { Advance } from "./advance.ts";
import type * as api from "./api.ts";
import { assert } from "./assert.ts";
import {
  type CallKey,
  callKey,
  importedText,
  type KeyedOperation,
  producedText,
  retriedText,
  uniqueDigest,
} from "./call-key.ts";
import { Catalog } from "./catalog.ts";
import { Checkups } from "./checkups.ts";
import { clearPlaces } from "./clearing.ts";
import { queueClients } from "./clients.ts";
import { TestClock, type Timer } from "./clock.ts";
import { Courier } from "./courier.ts";
import {
  closingFailure,
  deletedFailure,
  type Failure,
  failure,
  type Late,
  lateComplete,
  lateExtend,
  lateLong,
  lateLook,
  lateProduce,
  lateRelease,
  lateRetry,
  lateTransact,
  noTestClock,
  pausedProduce,
  QueueError,
  reopeningFailure,
} from "./errors.ts";
import { queueInspection, queueStats, shardStatus } from "./figures.ts";
import { newImport, newItem, storedItems } from "./items.ts";
import type { Request } from "./kinds.ts";
import { Leases } from "./leases.ts";
import { limits } from "./limits.ts";
import type { Value } from "./messages.ts";
import { Overview } from "./overview.ts";
import { type ShardPort, succeeded, type Timing } from "./port.ts";
import { eachShard, type InFlight, type LogicalQueue } from "./queue.ts";
import { Registrar } from "./registrar.ts";
import { Search } from "./search.ts";
import { SeriesKeeper } from "./series.ts";
import { Settings } from "./settings.ts";
import { isUnique } from "./shard/unique.ts";
import { Shards, type ShardsEvents, type ShardsOptions } from "./shards.ts";
import { Tasks } from "./tasks.ts";
import {
  type Done,
  firstQueue,
  hasUniqueKeys,
  type InnerPart,
  nothingAsked,
  onlyProduces,
  planTransact,
  type TransactPlan,
  transactedOf,
  transactedText,
} from "./transacts.ts";
import {
  checkClear,
  checkClientsLimit,
  checkCompleteIds,
  checkDeleteIds,
  checkExpect,
  checkImportItems,
  checkLeaseTimeout,
  checkPause,
  checkProduceItems,
  checkQueuesList,
  checkRequestTimeout,
  checkRetryItems,
  checkSeries,
  checkStorageList,
  checkTransact,
  unknownPartition,
} from "./validate.ts";

export type { Notice } from "./api.ts";

export interface EngineOptions<Items> extends ShardsOptions {
  /** What the stores promise, for `status`. */
  readonly durability: api.Durability;
  /** Turns the text in which a shard tells leased items into what `lease` returns. */
  readonly readLeased: (text: string) => Items;
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

/** A request that counts as inside its queue. */
type InnerCall = Extract<Request, { kind: Exclude<keyof InFlight, "lease"> }>;

function outcomeOf({ replayed }: Done): api.Outcome {
  return { replayed };
}

function producedOf({ value, replayed }: Done): api.Produced {
  if (value.kind === "produced") {
    const { duplicates, ids } = value;
    return { replayed, duplicates, ...(ids && { ids }) };
  }
  return { replayed, duplicates: value.kind === "recalled" ? value.values : [] };
}

/** One that is gone may have done before what a key asks for again. */
function checkPartition(
  queue: LogicalQueue,
  { partition, requestKey }: api.Repeatable & { readonly partition: number },
): void {
  if (requestKey === undefined) queue.place(partition);
}

interface Planning {
  readonly timing: Timing;
  readonly key?: CallKey;
}

/** All that is known beside the stores. */
interface Parts<Items> {
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
}

function partsOf<Items>(
  options: EngineOptions<Items>,
  { refusal, lost }: PartsEvents,
): Parts<Items> {
  const { clock, readLeased, waitingLeasesMax = limits.waitingLeasesMax } = options;
  const port = (shard: number): ShardPort => shards.port(shard);
  const courier = new Courier({ clock, port, isInTurn: clock instanceof TestClock });
  const { receiptsWindowMs, historyBytes } = options.turnLimits ?? limits;
  const catalog = new Catalog({
    clock,
    receiptsWindowMs,
    isTargeted: (shard, slot) => courier.isTargeted(shard, slot),
    isUp: (shard) => port(shard).isUp,
  });
  const settings = new Settings({ catalog, port });
  const registrar = new Registrar({ clock, catalog, courier, settings, port, refusal });
  const left = registrar.left.bind(registrar);
  const bounds = { waitingLeasesMax, receiptsWindowMs };
  const leases = new Leases({ clock, port, readLeased, ...bounds, left });
  const ports = () => shards.ports;
  const checkups = new Checkups({ catalog, clock, ports });
  const listeners = { catalog, checkups, courier, leases, registrar, settings };
  const shards = new Shards({ ...options, lost }, listeners);
  const advance =
    clock instanceof TestClock ? new Advance({ clock, ports, courier, leases }) : null;
  const targetOf = catalog.targetIn.bind(catalog);
  const search = new Search({ catalog, clock, ports, keepsHistory: historyBytes > 0 });
  const tasks = new Tasks({ catalog, clock, ports, search, targetOf });
  return { catalog, leases, registrar, shards, advance, checkups, search, tasks };
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
    });
    return parts;
  }

  get #catalog(): Catalog {
    return this.#parts.catalog;
  }

  get #leases(): Leases<Items> {
    return this.#parts.leases;
  }

  get #registrar(): Registrar {
    return this.#parts.registrar;
  }

  get #shards(): Shards {
    return this.#parts.shards;
  }

  get #advance(): Advance | null {
    return this.#parts.advance;
  }

  get #checkups(): Checkups {
    return this.#parts.checkups;
  }

  get #search(): Search {
    return this.#parts.search;
  }

  get #tasks(): Tasks {
    return this.#parts.tasks;
  }

  /** Forgets all that may be newer than what is stored, and begins from that. */
  async #reopen(): Promise<void> {
    const { clock, notice } = this.#options;
    if (this.#isReopening || this.#closing !== null) return;
    this.#isReopening = true;
    this.#tasks.close();
    this.#endLeases(reopeningFailure);
    await this.#shards.abandon(reopeningFailure);
    while (this.#closing === null) {
      this.#parts = this.#begin();
      try {
        await this.open();
        break;
      } catch (cause) {
        if (this.#closing !== null) return;
        notice?.({ kind: "shard_down", shard: this.#shards.failedShard, cause });
      }
      await new Promise<void>((resolve) => {
        clock.machine.at(clock.machine.now() + limits.restartMsMin, resolve);
      });
    }
    if (this.#closing !== null) return;
    this.#isReopening = false;
    for (const { shard } of this.#shards.ports) notice?.({ kind: "shard_up", shard });
  }

  async open(): Promise<void> {
    this.#tasks.adopt(await this.#shards.open());
    try {
      await this.#advance?.begin();
    } catch (cause) {
      await this.close();
      throw cause;
    }
    if ((this.#options.seriesBytes ?? 0) > 0) this.#lookLater();
  }

  /** For `series`, as long as the engine is there. */
  #lookLater(): void {
    const { clock } = this.#options;
    this.#look?.cancel();
    this.#look = clock.at(this.#series.nextAt, () => {
      const [queues, shards] = [this.#catalog.queues, this.#shards.ports];
      this.#series.look({ queues, shards, now: clock.now() });
      this.#lookLater();
    });
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
    return this.#catalog.find(name);
  }

  /** Asks the shard of a place; the call counts as inside until it is settled. */
  #call(
    queue: LogicalQueue,
    { shard, partition }: PartitionPlace,
    request: InnerCall,
    timing: Timing,
  ): Promise<Done> {
    const { kind: verb } = request;
    const count = verb === "produce" ? request.items.length : 0;
    return this.#callIn([{ queue, verb, partition, count }], shard, request, timing);
  }

  /** The same of a call that is inside several partitions. */
  #callIn(
    parts: readonly InnerPart[],
    shard: number,
    request: Request,
    timing: Timing,
  ): Promise<Done> {
    const registrar = this.#registrar;
    for (const { queue, verb, partition, count } of parts) queue.entered(verb, partition, count);
    return new Promise((resolve, reject) => {
      this.#shards.port(shard).put(
        request,
        (result) => {
          for (const { queue, verb, partition, count } of parts) {
            queue.left(verb, partition, count);
            registrar.left(queue, partition);
          }
          if (!result.ok) reject(QueueError.from(result));
          else resolve({ value: result.value, replayed: result.replayed === true });
        },
        timing,
      );
    });
  }

  /** The same of held items. */
  #finish(
    queue: LogicalQueue,
    partition: number,
    request: (slot: number) => InnerCall,
    timing: Timing,
  ): Promise<Done> {
    const place = queue.places.get(partition);
    if (place === undefined) return this.#finished(partition, request(0).key, timing);
    return this.#call(queue, place, request(place.slot), timing);
  }

  /** A partition goes when nothing of it is left; what was done there is known for longer. */
  async #finished(partition: number, key: CallKey | undefined, timing: Timing): Promise<Done> {
    return (await this.#known(key, timing)) ?? unknownPartition(partition);
  }

  /** What any shard did for the key, if one did. */
  async #known(key: CallKey | undefined, timing: Timing): Promise<Done | null> {
    for (const { shard } of key === undefined ? [] : this.#shards.ports) {
      const value = await this.#recall(shard, key as CallKey, timing);
      if (value !== null) return { value, replayed: true };
    }
    return null;
  }

  /** What the shard did for the key, if it did. */
  async #recall(shard: number, key: CallKey, { deadline, late }: Timing): Promise<Value | null> {
    const timing = { deadline, late: { ...late, taken: late.untaken } };
    const value = succeeded(await this.#shards.port(shard).ask({ kind: "recall", key }, timing));
    return value.kind === "recalled" ? value : null;
  }

  /** Without a timeout: of a call that has no `request_timeout`, or was given none. */
  #timing(late: Late, timeoutMs: number = limits.requestTimeoutMsDefault): Timing {
    checkRequestTimeout(timeoutMs, "5m");
    return { deadline: this.#options.clock.machine.now() + timeoutMs, late };
  }

  async #ask(shard: number, request: Request, late: Late): Promise<Value> {
    return succeeded(await this.#shards.port(shard).ask(request, this.#timing(late)));
  }

  async produce(request: api.ProduceRequest): Promise<api.Produced> {
    const queue = this.#find(request.queue);
    const timing = this.#timing(lateProduce, request.requestTimeoutMs);
    checkProduceItems(request.items);
    const { returnIds = false } = request;
    const { pause } = queue.definition;
    // With a key it may have been done before; its shard knows.
    if (pause?.produce === true && request.requestKey === undefined) {
      throw QueueError.from(pausedProduce(pause));
    }
    const items = request.items.map((item) =>
      newItem(item, uniqueDigest(item.uniqueKey, queue.lasting)),
    );
    const key = this.#key(queue, "produce", request, () => producedText(items, returnIds));
    const hasUniques = items.some(isUnique);
    let place = hasUniques ? queue.uniqueHome : queue.placeForProduce(key?.key);
    if (key !== undefined && !hasUniques && queue.former.length > 0) {
      const home = await this.#home(queue, { ...key, returnIds }, timing);
      if ("value" in home) return producedOf(home);
      place = home;
    }
    const { slot, partition } = place;
    const plain = { kind: "produce", slot, deadline: timing.deadline, items } as const;
    const asked = key || returnIds ? { ...plain, ...key, ...(returnIds && { returnIds }) } : plain;
    const written = this.#call(queue, place, asked, timing);
    this.#leases.accompany(queue, partition, items);
    return producedOf(await written);
  }

  async transact(asked: api.TransactRequest): Promise<api.Transacted> {
    this.#refuseClosing();
    const name = firstQueue(asked);
    const first = name === null ? nothingAsked() : this.#find(name);
    const timing = this.#timing(lateTransact, asked.requestTimeoutMs);
    checkTransact(asked);
    const keyed = this.#key(first, "transact", asked, () => transactedText(asked));
    try {
      const home = await this.#transactHome(asked, { first, timing, ...keyed });
      if (home !== null && "value" in home) return transactedOf(asked, home, []);
      const find = (name: string) => this.#find(name);
      const plan = planTransact(asked, { find, home, isKeyed: keyed !== undefined });
      return transactedOf(asked, await this.#transact(plan, { timing, ...keyed }), plan.told);
    } catch (cause) {
      // A queue or a partition that it names may be gone since it was done.
      const isUnplanned = cause instanceof QueueError && cause.code === "invalid";
      const known = isUnplanned ? await this.#known(keyed?.key, timing) : null;
      if (known === null) throw cause;
      return transactedOf(asked, known, []);
    }
  }

  /** Where it is decided if nothing is finished, or what was done for its key; `null`: where that is. */
  async #transactHome(
    asked: api.TransactRequest,
    { first, timing, key }: Planning & { readonly first: LogicalQueue },
  ): Promise<PartitionPlace | Done | null> {
    const [part] = asked.produce ?? [];
    if (part === undefined || !onlyProduces(asked)) return null;
    if (hasUniqueKeys(part)) return first.uniqueHome;
    if (key === undefined || first.former.length === 0) return first.placeForProduce(key);
    return this.#home(first, { key, returnIds: false }, timing);
  }

  #transact(plan: TransactPlan, { timing, key }: Planning): Promise<Done> {
    const { shard, parts, outputs } = plan;
    const request = { kind: "transact", deadline: timing.deadline, ...plan.request } as const;
    const done = this.#callIn(parts, shard, { ...request, ...(key && { key }) }, timing);
    for (const { queue, partition, output } of outputs) {
      if (output.shard === shard) this.#leases.accompany(queue, partition, output.items);
    }
    return done;
  }

  /** Spread into a request: nothing where the caller gave no key. */
  #key(
    queue: LogicalQueue,
    operation: KeyedOperation,
    { requestKey }: api.Repeatable,
    asked: () => string,
  ): { readonly key: CallKey } | undefined {
    if (requestKey === undefined) return undefined;
    return { key: callKey(requestKey, { queue: queue.lasting, operation, asked: asked() }) };
  }

  /**
   * The partition that follows from the key. Where it was another until lately, and what was asked
   * was done there, what came of it.
   */
  async #home(
    queue: LogicalQueue,
    { key, returnIds }: { readonly key: CallKey; readonly returnIds: boolean },
    timing: Timing,
  ): Promise<PartitionPlace | Done> {
    let { former } = queue;
    for (const asked = new Set<number>(); ; ) {
      if (queue.deleted) throw QueueError.from(deletedFailure);
      const home = queue.homeOf(key);
      const shards = queue.formerShardsOf(key, this.#options.clock.now());
      const shard = shards.find((one) => one !== home.shard && !asked.has(one));
      if (shard === undefined) return home;
      const value = await this.#recall(shard, key, timing);
      // Its ids are for that shard to say.
      if (value?.kind === "recalled" && returnIds)
        return { ...home, shard, slot: value.values[0] ?? 0 };
      if (value !== null) return { value, replayed: true };
      // It may have been done there since, if that was its place once more.
      if (queue.former !== former) asked.clear();
      else asked.add(shard);
      ({ former } = queue);
    }
  }

  async lease(request: api.LeaseRequest): Promise<api.Lease<Items>> {
    return this.#leases.lease(this.#find(request.queue), request);
  }

  async complete(request: api.CompleteRequest): Promise<api.Outcome> {
    const queue = this.#find(request.queue);
    const { partition, ids } = request;
    checkPartition(queue, request);
    checkCompleteIds(ids);
    const timing = this.#timing(lateComplete, request.requestTimeoutMs);
    const key = this.#key(queue, "complete", request, () => `${partition}/${ids}`);
    const { deadline } = timing;
    const asked = (slot: number) => ({ kind: "complete", slot, deadline, ids, ...key }) as const;
    return outcomeOf(await this.#finish(queue, partition, asked, timing));
  }

  async retry(request: api.RetryRequest): Promise<api.Outcome> {
    const queue = this.#find(request.queue);
    const { partition, items } = request;
    checkPartition(queue, request);
    checkRetryItems(items);
    const timing = this.#timing(lateRetry, request.requestTimeoutMs);
    const key = this.#key(queue, "retry", request, () => retriedText(request));
    const { deadline } = timing;
    const asked = (slot: number) => ({ kind: "retry", slot, deadline, items, ...key }) as const;
    return outcomeOf(await this.#finish(queue, partition, asked, timing));
  }

  async extend(request: api.ExtendRequest): Promise<api.Extended> {
    const queue = this.#find(request.queue);
    const { partition, ids, leaseTimeoutMs = null } = request;
    checkPartition(queue, request);
    checkCompleteIds(ids);
    checkLeaseTimeout(leaseTimeoutMs);
    const timing = this.#timing(lateExtend, request.requestTimeoutMs);
    const key = this.#key(
      queue,
      "extend",
      request,
      () => `${partition}/${leaseTimeoutMs ?? ""}/${ids}`,
    );
    const batch = { deadline: timing.deadline, ids, leaseTimeoutMs, ...key };
    const asked = (slot: number) => ({ kind: "extend", slot, ...batch }) as const;
    const { value, replayed } = await this.#finish(queue, partition, asked, timing);
    if (value.kind === "recalled") return { leaseDeadline: value.values[0] ?? 0, replayed };
    assert(value.kind === "extended", "an extend was answered with something else");
    return { leaseDeadline: value.leaseDeadline, replayed };
  }

  async release(request: api.ReleaseRequest): Promise<api.Outcome> {
    const queue = this.#find(request.queue);
    const { partition, ids } = request;
    checkPartition(queue, request);
    checkCompleteIds(ids);
    const timing = this.#timing(lateRelease, request.requestTimeoutMs);
    const key = this.#key(queue, "release", request, () => `${partition}/${ids}`);
    const batch = { deadline: timing.deadline, ids, ...key };
    const asked = (slot: number) => ({ kind: "release", slot, ...batch }) as const;
    return outcomeOf(await this.#finish(queue, partition, asked, timing));
  }

  async createQueue(settings: api.QueueSettings): Promise<void> {
    this.#refuseClosing();
    await this.#registrar.create(settings);
  }

  async updateQueue(change: api.QueueChange & api.Guard): Promise<api.ItemCounts> {
    checkExpect(change.expect);
    return this.#registrar.update(change);
  }

  async deleteQueue(request: api.DeleteQueueRequest): Promise<api.Deletion> {
    checkExpect(request.expect);
    return this.#registrar.delete(request);
  }

  listQueues(request: { pivot: string; limit: number }): readonly QueueDefinition[] {
    this.#refuseClosing();
    checkQueuesList(request);
    return this.#catalog.list(request.pivot, request.limit);
  }

  queueInfo(name: string): QueueDefinition {
    return this.#find(name).definition;
  }

  async pause(request: api.PauseRequest): Promise<void> {
    const { queue, produce = false, lease = !produce, reason = "" } = request;
    const pause = { lease, produce, reason };
    this.requireQueue(queue);
    checkPause(pause);
    await this.#registrar.pause(queue, pause);
  }

  async resume(queue: string): Promise<void> {
    if (this.#find(queue).definition.pause === undefined) return;
    await this.#registrar.pause(queue, null);
  }

  async stats(name: string): Promise<api.QueueStats> {
    const port = (shard: number) => this.#shards.port(shard);
    return queueStats(this.#find(name), port, this.#timing(lateLook));
  }

  series(request: api.SeriesRequest): api.Series {
    this.#refuseClosing();
    checkSeries(request, this.#shards.ports.length);
    const { queue } = request;
    return this.#series.read(request, queue === undefined ? undefined : this.#find(queue));
  }

  async inspect(name: string): Promise<api.QueueInspection> {
    const queue = this.#find(name);
    return queueInspection(queue, this.#catalog.deadQueueOf(queue));
  }

  explain(name: string): api.Explanation {
    return this.#checkups.explain(this.#find(name));
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
      port: (shard) => this.#shards.port(shard),
    });
  }

  overview(
    since: string,
    isShown?: (queue: string) => boolean,
  ): { readonly now: number; readonly overview: api.EngineOverview } {
    this.#refuseClosing();
    const { clock } = this.#options;
    const machineNow = clock.machine.now();
    // Everyone who asks within it is told of the same moment.
    if (machineNow - this.#overviewAt >= limits.overviewMs) {
      this.#overviewAt = machineNow;
      const [catalog, checkups] = [this.#catalog, this.#checkups];
      const [ports, tasks] = [this.#shards.ports, this.#tasks.running()];
      this.#overview.make({ now: clock.now(), catalog, checkups, ports, tasks });
    }
    return { now: clock.now(), overview: this.#overview.take(since, isShown) };
  }

  async clear(request: api.ClearRequest): Promise<api.ItemCounts | null> {
    const { places } = this.#find(request.queue);
    checkClear(request);
    const { ready, scheduled, retried, destructive, dryRun = false, expect } = request;
    checkExpect(expect);
    return clearPlaces({
      places: places.values(),
      what: { ready, leased: ready && destructive, scheduled, retried },
      dryRun,
      ...(expect !== undefined && { expect }),
      ask: (shard, asked) => this.#ask(shard, asked, lateLong),
    });
  }

  async reload(name: string): Promise<void> {
    await eachShard(this.#find(name).places.values(), (shard, slots) =>
      this.#ask(shard, { kind: "recount", slots }, lateLong),
    );
  }

  listItems(request: api.ListRequest): Promise<readonly api.StoredItem[]> {
    return this.#list(request, { scheduled: false });
  }

  listScheduled(request: api.ListRequest): Promise<readonly api.StoredItem[]> {
    return this.#list(request, { scheduled: true });
  }

  async #list(request: api.ListRequest, which: { scheduled: boolean }): Promise<api.StoredItem[]> {
    const queue = this.#find(request.queue);
    const { shard, slot } = queue.place(request.partition);
    checkStorageList(request);
    const { pivot, limit } = request;
    const listed = await this.#ask(shard, { kind: "list", slot, ...which, pivot, limit }, lateLook);
    return storedItems(listed, queue.definition);
  }

  async importItems(request: api.ImportRequest): Promise<api.Imported> {
    const queue = this.#find(request.queue);
    const place = queue.place(request.partition);
    checkImportItems(request.items);
    if (place.state === "draining") {
      const text = `partition takes no new items; '${request.partition}' is draining`;
      throw QueueError.from(failure("partition_draining", text));
    }
    const items = request.items.map(newImport);
    const key = this.#key(queue, "import", request, () => importedText(place.partition, items));
    const asked = { kind: "import", slot: place.slot, items, ...key } as const;
    const { value, replayed } = await this.#call(queue, place, asked, this.#timing(lateLong));
    return { items: storedItems(value, queue.definition), replayed };
  }

  async deleteItems(request: api.DeleteItemsRequest): Promise<api.ItemCounts | null> {
    const { queue, partition, ids, dryRun = false, expect } = request;
    const { shard, slot } = this.#find(queue).place(partition);
    checkDeleteIds(ids);
    checkExpect(expect);
    const guard = {
      ...(expect !== undefined && { expect }),
      ...(dryRun && ({ isDry: true } as const)),
    };
    const value = await this.#ask(shard, { kind: "delete", slot, ids, ...guard }, lateLong);
    if (value.kind !== "counted") return null;
    const { kind: _, ...counts } = value;
    return counts;
  }

  async findItems(request: api.FindRequest): Promise<api.Found<api.FoundItem>> {
    return this.#search.find(this.#find(request.queue), request);
  }

  async groupItems(request: api.GroupsRequest): Promise<api.Found<api.Group>> {
    return this.#search.group(this.#find(request.queue), request);
  }

  async redrive(request: api.RedriveRequest): Promise<api.TaskBegun> {
    return this.#tasks.redrive(this.#find(request.queue), request);
  }

  async repair(request: api.RepairRequest): Promise<api.TaskBegun> {
    return this.#tasks.repair(this.#find(request.queue), request);
  }

  listTasks(queue?: string): readonly api.TaskInfo[] {
    this.#refuseClosing();
    if (queue !== undefined) this.#find(queue);
    return this.#tasks.list(queue);
  }

  taskInfo(taskId: string): api.TaskInfo {
    this.#refuseClosing();
    return this.#tasks.info(taskId);
  }

  async cancelTask(taskId: string): Promise<api.TaskInfo> {
    this.#refuseClosing();
    return this.#tasks.cancel(taskId);
  }

  async getItem(
    id: string,
    range: api.PayloadRange = {},
    isShown: (queue: string) => boolean = () => true,
  ): Promise<api.FoundItem> {
    this.#refuseClosing();
    return this.#search.get(id, range, isShown);
  }

  async explainItem(id: string): Promise<api.ItemExplained> {
    this.#refuseClosing();
    return this.#search.explain(id);
  }

  async backup(folder: string): Promise<readonly api.StoreCopy[]> {
    this.#refuseClosing();
    return this.#registrar.undisturbed(() => this.#shards.copy(folder));
  }

  async advance(byMs: number): Promise<number> {
    this.#refuseClosing();
    if (this.#advance === null) throw QueueError.from(noTestClock);
    return this.#advance.advance(byMs);
  }

  requireQueue(name: string, partition?: number): void {
    const queue = this.#find(name);
    if (partition !== undefined) queue.place(partition);
  }

  status(): api.EngineStatus {
    const queues = [...this.#catalog.queues].map((queue) => queue.gauges());
    return {
      now: this.#options.clock.now(),
      durability: this.#options.durability,
      waitingLeases: queues.reduce((sum, { waitingLeases }) => sum + waitingLeases, 0),
      shards: this.#shards.ports.map(shardStatus),
      queues,
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  abandon(): void {
    this.#closing ??= Promise.resolve();
    this.#tasks.close();
    this.#endLeases(closingFailure);
    void this.#shards.abandon(closingFailure);
  }

  async #close(): Promise<void> {
    this.#tasks.close();
    this.#endLeases(closingFailure);
    await this.#shards.close();
  }

  #endLeases(why: Failure): void {
    this.#look?.cancel();
    for (const queue of this.#catalog.queues) {
      for (const lease of queue.line.clear()) lease.settle(why);
    }
    this.#leases.close();
  }
}
