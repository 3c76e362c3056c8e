// The engine: one method per operation. It decides where (which partition, which
// waiting lease); the shards decide what. Nothing is answered before the shard
// that did it has committed.

import type { Payload } from "../stores/item.ts";
import type { CatalogEntry, PartitionPlace, QueueDefinition } from "../stores/queue.ts";
import type {
  ClearRequest,
  CompleteRequest,
  Durability,
  Engine,
  EngineStatus,
  ImportRequest,
  Lease,
  LeaseRequest,
  ListRequest,
  PartitionStats,
  ProduceRequest,
  QueueChange,
  QueueInspection,
  QueueSettings,
  QueueStats,
  RetryRequest,
  StoredItem,
} from "./api.ts";
import { assert } from "./assert.ts";
import { Catalog } from "./catalog.ts";
import type { Clock } from "./clock.ts";
import { Courier } from "./courier.ts";
import { type Failure, failure, QueueError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { LinkFactory } from "./link.ts";
import type {
  Clearing,
  ListedItem,
  Opened,
  PartitionCounts,
  PartitionSettings,
  Report,
  Request,
  Value,
} from "./messages.ts";
import {
  closingFailure,
  commitSecondsBounds,
  itemsPerCommitBounds,
  type Result,
  ShardPort,
} from "./port.ts";
import { type InFlight, itemsIn, type LogicalQueue } from "./queue.ts";
import {
  checkClear,
  checkCompleteIds,
  checkDeleteIds,
  checkImportItems,
  checkLease,
  checkProduceItems,
  checkQueueName,
  checkQueuesList,
  checkRequestTimeout,
  checkRetryItems,
  checkStorageList,
  unknownPartition,
} from "./validate.ts";
import type { WaitingLease } from "./waiting.ts";

export interface EngineOptions<Items> {
  /** At least 1. More are opened when the catalog knows partitions in them. */
  readonly shardCount: number;
  readonly links: LinkFactory;
  readonly clock: Clock;
  /** What the stores promise, for `status`. */
  readonly durability: Durability;
  /** Turns the text in which a shard tells leased items into what `lease` returns. */
  readonly readLeased: (text: string) => Items;
  readonly waitingLeasesMax?: number;
  /** What an operator should know of; nothing is thrown for it. */
  readonly notice?: (notice: Notice) => void;
}

/** Something that happened to a shard. */
export interface Notice {
  readonly kind: "shard_down" | "shard_up" | "store_full" | "items_quarantined" | "items_discarded";
  readonly shard: number;
  readonly count?: number;
  readonly cause?: unknown;
}

/** Opens every shard and reads the catalog. Throws `StoreError` when a store cannot be opened. */
export async function openEngine<Items>(options: EngineOptions<Items>): Promise<Engine<Items>> {
  const engine = new ShardedEngine(options);
  await engine.open();
  return engine;
}

const lateProduce = late("the items were not written");
const lateComplete = late("the items were not completed");
const lateRetry = late("the items were not retried");
const emptyLease = failure("empty", "request timeout; no items are in the queue, try again");
const deletedFailure = failure("refused", "queue is shutting down; it was deleted");
const clientGone = failure("empty", "the client has left; nothing was leased");
const duplicateClient = failure(
  "invalid",
  "duplicate client id; a client cannot make multiple leased requests to the same queue",
);

function late(what: string): Failure {
  return failure("empty", `request timeout; ${what}, try again`);
}

class ShardedEngine<Items> implements Engine<Items> {
  readonly #options: EngineOptions<Items>;
  readonly #clock: Clock;
  readonly #waitingLeasesMax: number;
  readonly #ports: ShardPort[] = [];
  readonly #courier: Courier;
  #catalog: Catalog;
  /** Changes of the catalog, one after the other. */
  #catalogTurn: Promise<unknown> = Promise.resolve();
  /** Queues whose waiting leases may have something to take. */
  readonly #ready = new Set<LogicalQueue>();
  #arrivalLast = 0;
  #waitingLeases = 0;
  #isOpen = false;
  #closing: Promise<void> | null = null;

  constructor(options: EngineOptions<Items>) {
    this.#options = options;
    this.#clock = options.clock;
    this.#waitingLeasesMax = options.waitingLeasesMax ?? limits.waitingLeasesMax;
    this.#courier = new Courier({ clock: this.#clock, port: (shard) => this.#ports[shard] });
    this.#catalog = this.#newCatalog(options.shardCount);
  }

  #newCatalog(shardCount: number): Catalog {
    return new Catalog({
      clock: this.#clock,
      shardCount,
      isTargeted: (shard, slot) => this.#courier.isTargeted(shard, slot),
    });
  }

  async open(): Promise<void> {
    try {
      const first = await this.#openShard(0);
      const used = first.catalog.flatMap(({ places }) => places.map(({ shard }) => shard));
      const shardCount = used.reduce(
        (most, shard) => Math.max(most, shard + 1),
        this.#options.shardCount,
      );
      const others = Array.from({ length: shardCount - 1 }, (_, index) =>
        this.#openShard(index + 1),
      );
      const opened = [first, ...(await Promise.all(others))];
      this.#catalog = this.#newCatalog(shardCount);
      const deleting = this.#adopt(first.catalog);
      for (const [shard, { counts }] of opened.entries()) this.#recount(shard, counts);
      await this.#configure(this.#catalog.queues);
      this.#isOpen = true;
      for (const [shard, { outbound }] of opened.entries()) this.#courier.carry(shard, outbound);
      for (const queue of deleting) this.#finishDeleteSoon(queue);
      for (const queue of this.#catalog.queues) this.#reapSoon(queue);
    } catch (cause) {
      await Promise.all(this.#ports.map((port) => port.close().catch(() => undefined)));
      throw cause;
    }
  }

  /** The first opening is awaited; later ones, after a failure, are the port's own affair. */
  #openShard(shard: number): Promise<Opened> {
    return new Promise((resolve, reject) => {
      this.#ports[shard] = new ShardPort(shard, {
        clock: this.#clock,
        links: this.#options.links,
        events: {
          opened: (opened) => {
            resolve(opened);
            return this.#isOpen ? this.#reopened(shard, opened) : [];
          },
          report: (report) => this.#reported(shard, report),
          settled: () => this.#dispatchReady(),
          down: (cause) => {
            reject(cause);
            this.#setUp(shard, false);
            // Before that, the caller of `open` is told.
            if (this.#isOpen) this.#options.notice?.({ kind: "shard_down", shard, cause });
          },
        },
      });
    });
  }

  #adopt(entries: readonly CatalogEntry[]): LogicalQueue[] {
    const queues = entries.map((entry) => this.#catalog.add(entry));
    return queues.filter(({ deleted }) => deleted);
  }

  #reopened(shard: number, opened: Opened): Request[] {
    this.#setUp(shard, true);
    this.#recount(shard, opened.counts);
    this.#courier.carry(shard, opened.outbound);
    this.#options.notice?.({ kind: "shard_up", shard });
    return [{ kind: "configure", partitions: this.#settings(shard), forget: [] }];
  }

  #setUp(shard: number, up: boolean): void {
    for (const { queue, partition } of this.#catalog.owners(shard)) {
      queue.balance.update(partition, { up });
    }
  }

  #settings(shard: number): PartitionSettings[] {
    const settings: PartitionSettings[] = [];
    for (const owner of this.#catalog.owners(shard)) {
      const one = this.#catalog.settingsOf(owner, shard);
      if (one !== null) settings.push(one);
    }
    return settings;
  }

  /** Tells the shards what to go by for these queues, and for those whose dead queue they are. */
  async #configure(queues: Iterable<LogicalQueue>): Promise<void> {
    const changed = new Map<number, PartitionSettings[]>();
    for (const queue of withDependents(queues, this.#catalog)) {
      for (const { partition, shard } of queue.places.values()) {
        const settings = this.#catalog.settingsOf({ queue, partition }, shard);
        if (settings === null) continue;
        const same = changed.get(shard);
        if (same === undefined) changed.set(shard, [settings]);
        else same.push(settings);
      }
    }
    await Promise.all(
      [...changed].map(([shard, partitions]) =>
        this.#port(shard).ask({ kind: "configure", partitions, forget: [] }),
      ),
    );
  }

  /** Counts of partitions the catalog does not know are of slots that are free. */
  #recount(shard: number, counts: readonly PartitionCounts[]): void {
    for (const one of counts) {
      const owner = this.#catalog.owner(shard, one.slot);
      if (owner === undefined) continue;
      owner.queue.count(owner.partition, one);
      if (one.ready > 0 && owner.queue.line.size > 0) this.#ready.add(owner.queue);
      const place = owner.queue.places.get(owner.partition);
      if (place?.state === "draining" && itemsIn(one) === 0) this.#reapSoon(owner.queue);
    }
  }

  #reported(shard: number, report: Report): void {
    this.#recount(shard, report.counts);
    let discarded = 0;
    for (const events of report.events) {
      this.#catalog.owner(shard, events.slot)?.queue.happened(events);
      discarded += events.discarded;
    }
    const { notice } = this.#options;
    if (report.full) notice?.({ kind: "store_full", shard });
    if (discarded > 0) notice?.({ kind: "items_discarded", shard, count: discarded });
    const quarantined = report.commit?.quarantined ?? 0;
    if (quarantined > 0) notice?.({ kind: "items_quarantined", shard, count: quarantined });
    if (report.outbound.length > 0) this.#courier.carry(shard, report.outbound);
  }

  #port(shard: number): ShardPort {
    const port = this.#ports[shard];
    assert(port !== undefined, "a partition is in a shard that was not opened");
    return port;
  }

  #find(name: string): LogicalQueue {
    if (this.#closing !== null) throw QueueError.from(closingFailure);
    return this.#catalog.find(name);
  }

  #place(queue: LogicalQueue, partition: number): PartitionPlace {
    return queue.places.get(partition) ?? unknownPartition(partition);
  }

  // produce ---------------------------------------------------------------

  async produce(request: ProduceRequest): Promise<void> {
    const queue = this.#find(request.queue);
    checkRequestTimeout(request.requestTimeoutMs, "5m");
    checkProduceItems(request.items);
    const items = request.items.map((item) => ({
      payload: owned(item.payload),
      kind: item.kind ?? "",
      encoding: item.encoding ?? "",
      reference: item.reference ?? "",
      enqueueAt: item.enqueueAt ?? null,
    }));
    const place = this.#placeForProduce(queue);
    const load = queue.balance.load(place.partition);
    const count = items.length;
    queue.balance.update(place.partition, { producing: (load?.producing ?? 0) + count });
    const deadline = this.#clock.now() + request.requestTimeoutMs;
    const timing = { deadline, late: lateProduce };
    return this.#ask(
      queue,
      "produce",
      place,
      { kind: "produce", slot: place.slot, deadline, items },
      timing,
      () => {
        const producing = queue.balance.load(place.partition)?.producing ?? count;
        queue.balance.update(place.partition, { producing: producing - count });
      },
    );
  }

  /** Where no shard is up, the request waits for the one of the first partition. */
  #placeForProduce(queue: LogicalQueue): PartitionPlace {
    const place = queue.places.get(queue.balance.produceTo) ?? queue.activePlaces[0];
    assert(place !== undefined, "a queue has no partition that takes items");
    return place;
  }

  /** Asks the shard of a place, counts the call while it is inside, and throws what is refused. */
  #ask(
    queue: LogicalQueue,
    verb: keyof InFlight,
    place: PartitionPlace,
    request: Request,
    timing: { readonly deadline: number; readonly late: Failure },
    settled?: () => void,
  ): Promise<void> {
    queue.inFlight[verb] += 1;
    return new Promise((resolve, reject) => {
      this.#port(place.shard).put(
        request,
        (result) => {
          queue.inFlight[verb] -= 1;
          settled?.();
          if (result.ok) resolve();
          else reject(QueueError.from(result));
          queue.settled();
        },
        timing,
      );
    });
  }

  // lease -----------------------------------------------------------------

  async lease(request: LeaseRequest): Promise<Lease<Items>> {
    const queue = this.#find(request.queue);
    checkLease(request.clientId, request.batchSize);
    checkRequestTimeout(request.requestTimeoutMs, "1m");
    if (queue.clientIds.has(request.clientId)) throw QueueError.from(duplicateClient);
    if (request.signal?.aborted) throw QueueError.from(clientGone);
    if (this.#waitingLeases >= this.#waitingLeasesMax) {
      throw new QueueError(
        "full",
        `too many leases wait; there cannot be more than ${this.#waitingLeasesMax}`,
      );
    }
    return new Promise((resolve, reject) => {
      this.#arrivalLast += 1;
      const lease: WaitingLease = {
        request,
        arrival: this.#arrivalLast,
        deadline: this.#clock.now() + request.requestTimeoutMs,
        timer: null,
        over: false,
        settle: (outcome) => {
          if (lease.over) return;
          lease.over = true;
          lease.timer?.cancel();
          request.signal?.removeEventListener("abort", hangUp);
          queue.line.leave(lease);
          queue.clientIds.delete(request.clientId);
          this.#waitingLeases -= 1;
          if ("code" in outcome) reject(QueueError.from(outcome));
          else {
            const items = this.#options.readLeased(outcome.items);
            resolve({ queue: request.queue, partition: outcome.partition, items });
          }
        },
      };
      const hangUp = (): void => lease.settle(clientGone);
      request.signal?.addEventListener("abort", hangUp);
      queue.clientIds.add(request.clientId);
      this.#waitingLeases += 1;
      const isFirst = queue.line.size === 0;
      const partition = isFirst ? queue.balance.leaseFrom : -1;
      if (partition >= 0) this.#grant(queue, lease, partition);
      else this.#line(queue, lease);
    });
  }

  #line(queue: LogicalQueue, lease: WaitingLease): void {
    queue.line.join(lease, (expired) => expired.settle(emptyLease));
  }

  /** Sends waiting leases of the queues that got something to where it is. */
  #dispatchReady(): void {
    for (const queue of this.#ready) {
      for (;;) {
        const lease = queue.line.first();
        const partition = lease === undefined ? -1 : queue.balance.leaseFrom;
        if (lease === undefined || partition < 0) break;
        queue.line.leave(lease);
        this.#grant(queue, lease, partition);
      }
    }
    this.#ready.clear();
  }

  #grant(queue: LogicalQueue, lease: WaitingLease, partition: number): void {
    // A shard may take longer than the client waits; what it grants then goes back.
    lease.timer ??= this.#clock.at(lease.deadline, () => lease.settle(emptyLease));
    const { batchSize } = lease.request;
    const place = this.#place(queue, partition);
    const load = queue.balance.load(partition);
    queue.balance.update(partition, {
      leases: (load?.leases ?? 0) + 1,
      wanted: (load?.wanted ?? 0) + batchSize,
    });
    queue.inFlight.lease += 1;
    const { shard, slot } = place;
    const { deadline } = lease;
    this.#port(shard).put(
      { kind: "lease", slot, deadline, batchSize },
      (result, op) => {
        queue.inFlight.lease -= 1;
        const now = queue.balance.load(partition);
        if (now !== undefined) {
          queue.balance.update(partition, {
            leases: now.leases - 1,
            wanted: now.wanted - batchSize,
          });
        }
        this.#granted(queue, lease, place, result, op);
        if (queue.line.size > 0) this.#ready.add(queue);
        if (queue.places.get(partition)?.state === "draining") this.#reapSoon(queue);
      },
      { deadline, late: emptyLease },
    );
  }

  #granted(
    queue: LogicalQueue,
    lease: WaitingLease,
    place: PartitionPlace,
    result: Result,
    op: number,
  ): void {
    const { shard, slot, partition } = place;
    if (!result.ok) {
      lease.settle(result);
      return;
    }
    const { value } = result;
    if (value.kind === "leased") {
      // Nobody was told of these items, so they go back as if they had not been leased.
      if (lease.over)
        this.#port(shard).put({ kind: "release", slot, leaseOp: op }, () => undefined);
      else lease.settle({ partition, items: value.items });
      return;
    }
    if (lease.over) return;
    if (queue.deleted) lease.settle(deletedFailure);
    else if (lease.deadline <= this.#clock.now()) lease.settle(emptyLease);
    else this.#line(queue, lease);
  }

  // complete, retry -------------------------------------------------------

  async complete(request: CompleteRequest): Promise<void> {
    const queue = this.#find(request.queue);
    const place = this.#place(queue, request.partition);
    checkCompleteIds(request.ids);
    checkRequestTimeout(request.requestTimeoutMs, "5m");
    const deadline = this.#clock.now() + request.requestTimeoutMs;
    const { slot } = place;
    const { ids } = request;
    return this.#ask(
      queue,
      "complete",
      place,
      { kind: "complete", slot, deadline, ids },
      { deadline, late: lateComplete },
    );
  }

  async retry(request: RetryRequest): Promise<void> {
    const queue = this.#find(request.queue);
    const place = this.#place(queue, request.partition);
    checkRetryItems(request.items.length);
    const deadline = this.#clock.now() + limits.requestTimeoutMsDefault;
    const { slot } = place;
    const { items } = request;
    return this.#ask(
      queue,
      "retry",
      place,
      { kind: "retry", slot, deadline, items },
      { deadline, late: lateRetry },
    );
  }

  // queues ----------------------------------------------------------------

  listQueues(request: { pivot: string; limit: number }): readonly QueueDefinition[] {
    checkQueuesList(request);
    return this.#catalog.list(request.pivot, request.limit);
  }

  async createQueue(settings: QueueSettings): Promise<void> {
    await this.#inCatalogTurn(async () => {
      const entry = this.#catalog.planCreate(settings, this.#clock.now());
      await this.#writeCatalog({ put: [entry], remove: [] });
      await this.#configure([this.#catalog.add(entry)]);
    });
  }

  async updateQueue(change: QueueChange): Promise<void> {
    await this.#inCatalogTurn(async () => {
      const { queue, entry } = this.#catalog.planUpdate(change, this.#clock.now());
      await this.#writeCatalog({ put: [entry], remove: [] });
      queue.definition = entry.definition;
      for (const place of entry.places) this.#catalog.own(queue, place);
      await this.#configure([queue]);
      await this.#reap(queue);
    });
  }

  queueInfo(name: string): QueueDefinition {
    return this.#catalog.find(name).definition;
  }

  async deleteQueue({ name, force }: { name: string; force: boolean }): Promise<void> {
    await this.#inCatalogTurn(async () => {
      checkQueueName(name);
      const queue = this.#catalog.find(name);
      const dependents = this.#catalog.dependents(name);
      const [dependent] = dependents;
      if (!force && dependent !== undefined) {
        const text = `queue is in use; '${name}' is the dead_queue of '${dependent.definition.name}'`;
        throw new QueueError("refused", text);
      }
      // No new calls from here on; what was accepted before is still counted.
      this.#catalog.hide(queue);
      try {
        await this.#untilQuiet(queue);
        if (!force && queue.itemCount > 0) {
          throw new QueueError(
            "refused",
            `queue is not empty; '${name}' holds ${queue.itemCount} items`,
          );
        }
        const cut = dependents.map((other) =>
          other.entry({ definition: { ...other.definition, deadQueue: "" } }),
        );
        await this.#writeCatalog({ put: [queue.entry({ deleting: true }), ...cut], remove: [] });
      } catch (cause) {
        this.#catalog.unhide(queue);
        throw cause;
      }
      for (const other of dependents) other.definition = { ...other.definition, deadQueue: "" };
      await this.#configure(dependents);
      await this.#finishDelete(queue);
    });
  }

  /** What was accepted and adds items ends one way or the other before the queue is looked at. */
  async #untilQuiet(queue: LogicalQueue): Promise<void> {
    if (!queue.isAdding) return;
    await new Promise<void>((resolve) => {
      queue.quiet = () => {
        queue.quiet = null;
        resolve();
      };
    });
  }

  /** Where the engine closes meanwhile, the next start takes it up again. */
  #finishDeleteSoon(queue: LogicalQueue): void {
    void this.#inCatalogTurn(() => this.#finishDelete(queue)).catch(() => undefined);
  }

  /** What is left to do once a delete is certain; also after a crash in the middle of it. */
  async #finishDelete(queue: LogicalQueue): Promise<void> {
    for (const lease of queue.line.clear()) lease.settle(deletedFailure);
    for (;;) {
      try {
        // Forgotten before it is cleared: what is still on its way there must not come after the clear.
        await this.#forget([...queue.places.values()]);
        await this.#clearPlaces(queue, {
          ready: true,
          leased: true,
          scheduled: true,
          retried: true,
        });
        await this.#writeCatalog({ put: [], remove: [queue.queueId] });
        break;
      } catch (cause) {
        // The queue is gone for its users whatever the store does now, so the rest cannot be given up.
        if (this.#closing !== null) throw cause;
        await new Promise<void>((resolve) => {
          this.#clock.at(this.#clock.now() + limits.restartMsMax, resolve);
        });
      }
    }
    for (const place of [...queue.places.values()]) this.#catalog.disown(queue, place);
  }

  /** From now on the shards take nothing for these places, and do no more with what is there. */
  async #forget(places: readonly PartitionPlace[]): Promise<void> {
    const shards = new Set(places.map(({ shard }) => shard));
    await Promise.all(
      [...shards].map((shard) => {
        const forget = places.filter((place) => place.shard === shard).map(({ slot }) => slot);
        return this.#port(shard).ask({ kind: "configure", partitions: [], forget });
      }),
    );
  }

  #reapSoon(queue: LogicalQueue): void {
    void this.#inCatalogTurn(() => this.#reap(queue)).catch(() => undefined);
  }

  /** Draining partitions go when they hold nothing and nothing is on its way to them. */
  async #reap(queue: LogicalQueue): Promise<void> {
    if (queue.deleted) return;
    const empty = [...queue.places.values()].filter((place) => {
      const counts = queue.counts.get(place.partition);
      const load = queue.balance.load(place.partition);
      const isBusy = (load?.producing ?? 0) + (load?.leases ?? 0) > 0;
      const isEmpty = counts === undefined || itemsIn(counts) === 0;
      const isTargeted = this.#courier.isTargeted(place.shard, place.slot);
      return place.state === "draining" && isEmpty && !isBusy && !isTargeted;
    });
    if (empty.length === 0) return;
    const places = [...queue.places.values()].filter((place) => !empty.includes(place));
    await this.#writeCatalog({ put: [queue.entry({ places })], remove: [] });
    await this.#forget(empty);
    for (const place of empty) this.#catalog.disown(queue, place);
  }

  #inCatalogTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== null) return Promise.reject(QueueError.from(closingFailure));
    const result = this.#catalogTurn.then(work);
    this.#catalogTurn = result.catch(() => undefined);
    return result;
  }

  /** The catalog is kept by the first shard. */
  async #writeCatalog(change: {
    put: readonly CatalogEntry[];
    remove: readonly number[];
  }): Promise<void> {
    succeeded(await this.#port(0).ask({ kind: "catalog", ...change }));
  }

  // stats, inspect, clear -------------------------------------------------

  async stats(name: string): Promise<QueueStats> {
    const queue = this.#find(name);
    const { inFlight } = queue;
    const counted = {
      produceWaiting: inFlight.produce,
      leaseWaiting: queue.line.size,
      completeWaiting: inFlight.complete,
      inFlight: inFlight.produce + inFlight.lease + inFlight.complete + inFlight.retry,
    };
    const places = [...queue.places.values()].sort((a, b) => a.partition - b.partition);
    const ages = await this.#ages(places);
    const partitions = places.map((place): PartitionStats => {
      const counts = queue.counts.get(place.partition);
      const age = ages.get(place);
      return {
        partition: place.partition,
        total: (counts?.ready ?? 0) + (counts?.leased ?? 0),
        totalLeased: counts?.leased ?? 0,
        scheduled: (counts?.scheduled ?? 0) + (counts?.retried ?? 0),
        failures: this.#port(place.shard).counters.failures,
        averageAgeMs: age?.averageAgeMs ?? 0,
        averageLeasedAgeMs: age?.averageLeasedAgeMs ?? 0,
      };
    });
    const leased = partitions.reduce((sum, { totalLeased }) => sum + totalLeased, 0);
    const ageSum = partitions.reduce(
      (sum, one) => sum + one.averageLeasedAgeMs * one.totalLeased,
      0,
    );
    return {
      queue: name,
      averageLeasedAgeMs: leased === 0 ? 0 : Math.round(ageSum / leased),
      ...counted,
      partitions,
    };
  }

  async #ages(
    places: readonly PartitionPlace[],
  ): Promise<Map<PartitionPlace, { averageAgeMs: number; averageLeasedAgeMs: number }>> {
    const ages = new Map<PartitionPlace, { averageAgeMs: number; averageLeasedAgeMs: number }>();
    await this.#eachShard(places, async (port, here) => {
      const value = succeeded(
        await port.ask({ kind: "stats", slots: here.map(({ slot }) => slot) }),
      );
      if (value.kind !== "ages") return;
      for (const [index, age] of value.ages.entries()) {
        const place = here[index];
        if (place !== undefined) ages.set(place, age);
      }
    });
    return ages;
  }

  async #eachShard(
    places: readonly PartitionPlace[],
    work: (port: ShardPort, places: readonly PartitionPlace[]) => Promise<void>,
  ): Promise<void> {
    const shards = new Set(places.map(({ shard }) => shard));
    await Promise.all(
      [...shards].map((shard) =>
        work(
          this.#port(shard),
          places.filter((place) => place.shard === shard),
        ),
      ),
    );
  }

  async inspect(name: string): Promise<QueueInspection> {
    const queue = this.#find(name);
    const { queued, leased, scheduled, retried } = queue.gauges();
    const { deadQueue } = queue.definition;
    const deadLetter = deadQueue === "" ? 0 : this.#catalog.find(deadQueue).itemCount;
    return {
      queue: name,
      partitions: queue.places.size,
      queued,
      leased,
      scheduled,
      retried,
      deadLetter,
    };
  }

  async clear(request: ClearRequest): Promise<void> {
    const queue = this.#find(request.queue);
    checkClear(request);
    await this.#clearPlaces(queue, {
      ready: request.ready,
      leased: request.ready && request.destructive,
      scheduled: request.scheduled,
      retried: request.retried,
    });
  }

  async #clearPlaces(queue: LogicalQueue, what: Clearing): Promise<void> {
    await this.#eachShard([...queue.places.values()], async (port, here) => {
      succeeded(await port.ask({ kind: "clear", slots: here.map(({ slot }) => slot), what }));
    });
  }

  // storage ---------------------------------------------------------------

  listItems(request: ListRequest): Promise<readonly StoredItem[]> {
    return this.#list(request, false);
  }

  listScheduled(request: ListRequest): Promise<readonly StoredItem[]> {
    return this.#list(request, true);
  }

  async #list(request: ListRequest, scheduled: boolean): Promise<readonly StoredItem[]> {
    const queue = this.#find(request.queue);
    const { shard, slot } = this.#place(queue, request.partition);
    checkStorageList(request);
    const { pivot, limit } = request;
    return this.#stored(
      queue,
      await this.#port(shard).ask({ kind: "list", slot, scheduled, pivot, limit }),
    );
  }

  async importItems(request: ImportRequest): Promise<readonly StoredItem[]> {
    const queue = this.#find(request.queue);
    const { shard, slot, state } = this.#place(queue, request.partition);
    checkImportItems(request.items);
    if (state === "draining") {
      throw new QueueError(
        "refused",
        `partition takes no new items; '${request.partition}' is draining`,
      );
    }
    const items = request.items.map((item) => ({
      payload: owned(item.payload),
      kind: item.kind ?? "",
      encoding: item.encoding ?? "",
      reference: item.reference ?? "",
      enqueueAt: item.enqueueAt ?? null,
      sourceId: item.sourceId ?? "",
      leaseDeadline: item.isLeased === true ? (item.leaseDeadline ?? null) : null,
      expireDeadline: item.expireDeadline ?? null,
      createdAt: item.createdAt ?? null,
      attempts: item.attempts ?? 0,
    }));
    queue.inFlight.import += 1;
    const result = await this.#port(shard).ask({ kind: "import", slot, items });
    queue.inFlight.import -= 1;
    queue.settled();
    return this.#stored(queue, result);
  }

  async deleteItems(request: {
    queue: string;
    partition: number;
    ids: readonly string[];
  }): Promise<void> {
    const queue = this.#find(request.queue);
    const { shard, slot } = this.#place(queue, request.partition);
    checkDeleteIds(request.ids);
    succeeded(await this.#port(shard).ask({ kind: "delete", slot, ids: request.ids }));
  }

  #stored(queue: LogicalQueue, result: Result): readonly StoredItem[] {
    const value = succeeded(result);
    assert(value.kind === "items", "a shard answered a storage call with something else");
    return value.items.map((item) => storedItem(item, queue.definition));
  }

  // the engine itself -----------------------------------------------------

  requireQueue(name: string, partition?: number): void {
    const queue = this.#find(name);
    if (partition !== undefined) this.#place(queue, partition);
  }

  status(): EngineStatus {
    return {
      durability: this.#options.durability,
      waitingLeases: [...this.#catalog.queues].reduce((sum, { line }) => sum + line.size, 0),
      shards: this.#ports.map(({ shard, isUp, counters }) => ({
        shard,
        up: isUp,
        restarts: counters.restarts,
        failures: counters.failures,
        commits: counters.commits,
        itemsCommitted: counters.itemsCommitted,
        itemsPerCommit: {
          bounds: itemsPerCommitBounds,
          counts: [...counters.itemsPerCommit],
          sum: counters.itemsCommitted,
        },
        commitSeconds: {
          bounds: commitSecondsBounds,
          counts: [...counters.commitSeconds],
          sum: counters.commitSecondsSum,
        },
        walBytes: counters.logBytes,
        fileBytes: counters.fileBytes,
        quarantined: counters.quarantined,
      })),
      queues: [...this.#catalog.queues].map((queue) => queue.gauges()),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const queue of this.#catalog.queues) {
      for (const lease of queue.line.clear()) lease.settle(closingFailure);
    }
    await Promise.all(this.#ports.map((port) => port.close()));
  }
}

function withDependents(queues: Iterable<LogicalQueue>, catalog: Catalog): Set<LogicalQueue> {
  const all = new Set(queues);
  for (const { definition } of [...all]) {
    for (const dependent of catalog.dependents(definition.name)) all.add(dependent);
  }
  return all;
}

/** A caller may change its bytes as soon as the call returns; a Buffer is also told apart by JSON. */
function owned(payload: Payload): Payload {
  return typeof payload === "string" ? payload : new Uint8Array(payload);
}

function succeeded(result: Result): Value {
  if (result.ok) return result.value;
  throw QueueError.from(result);
}

function storedItem(item: ListedItem, { deadQueue, maxAttempts }: QueueDefinition): StoredItem {
  return {
    id: item.id,
    sourceId: item.sourceId,
    isLeased: item.leasedAt !== null,
    leaseDeadline: item.leaseDeadline,
    expireDeadline: item.expireDeadline,
    deadDeadline: deadQueue === "" ? null : item.expireDeadline,
    createdAt: item.createdAt,
    updatedAt: item.leasedAt ?? item.queuedAt,
    enqueueAt: item.dueAt,
    attempts: item.attempts,
    maxAttempts,
    reference: item.reference,
    encoding: item.encoding,
    kind: item.kind,
    payload: item.payload,
  };
}
