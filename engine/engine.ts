// The engine: one method per operation. It decides where (which partition, which
// waiting lease); the shards decide what. Nothing is answered before the shard
// that did it has committed.

import type { Payload } from "../stores/item.ts";
import type { PartitionPlace, QueueDefinition } from "../stores/queue.ts";
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
  StoreCopy,
  StoredItem,
} from "./api.ts";
import { assert } from "./assert.ts";
import { Catalog } from "./catalog.ts";
import type { Clock } from "./clock.ts";
import { Courier } from "./courier.ts";
import {
  closingFailure,
  type Failure,
  failure,
  lateComplete,
  lateProduce,
  lateRetry,
  QueueError,
} from "./errors.ts";
import { Leases } from "./leases.ts";
import { limits } from "./limits.ts";
import type { LinkFactory } from "./link.ts";
import type { ListedItem, Opened, PartitionCounts, Report, Request } from "./messages.ts";
import {
  commitSecondsBounds,
  itemsPerCommitBounds,
  type Result,
  ShardPort,
  succeeded,
} from "./port.ts";
import { eachShard, type InFlight, type LogicalQueue } from "./queue.ts";
import { Registrar } from "./registrar.ts";
import { Settings } from "./settings.ts";
import {
  checkClear,
  checkCompleteIds,
  checkDeleteIds,
  checkImportItems,
  checkProduceItems,
  checkQueuesList,
  checkRequestTimeout,
  checkRetryItems,
  checkStorageList,
} from "./validate.ts";

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
  readonly kind:
    | "shard_down"
    | "shard_up"
    | "store_full"
    | "items_quarantined"
    | "items_discarded"
    | "items_miscounted";
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

const lateBackup = failure("store", "no backup was made; a shard is down, try again later");
class ShardedEngine<Items> implements Engine<Items> {
  readonly #options: EngineOptions<Items>;
  readonly #clock: Clock;
  readonly #ports: ShardPort[] = [];
  readonly #courier: Courier;
  readonly #catalog: Catalog;
  readonly #settings: Settings;
  readonly #registrar: Registrar;
  readonly #leases: Leases<Items>;
  #isOpen = false;
  /** Told while the engine opens: a shard that was there is gone again. */
  #downAtStart: (cause: unknown) => void = () => undefined;
  #closing: Promise<void> | null = null;

  constructor(options: EngineOptions<Items>) {
    this.#options = options;
    const { clock, readLeased, waitingLeasesMax = limits.waitingLeasesMax } = options;
    const port = (shard: number): ShardPort => this.#port(shard);
    const courier = new Courier({ clock, port });
    const isTargeted = courier.isTargeted.bind(courier);
    const isUp = (shard: number): boolean => port(shard).isUp;
    const catalog = new Catalog({ clock, isTargeted, isUp });
    const settings = new Settings({ catalog, ports: this.#ports, port });
    const isClosing = (): boolean => this.#closing !== null;
    this.#clock = clock;
    this.#courier = courier;
    this.#catalog = catalog;
    this.#settings = settings;
    this.#registrar = new Registrar({ clock, catalog, courier, settings, port, isClosing });
    this.#leases = new Leases({
      clock,
      port,
      readLeased,
      waitingLeasesMax,
      left: (queue, partition) => this.#registrar.left(queue, partition),
    });
  }

  async open(): Promise<void> {
    const broken = new Promise<never>((_, reject) => {
      this.#downAtStart = reject;
    });
    broken.catch(() => undefined);
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
      this.#catalog.spread(shardCount);
      const deleted = this.#catalog.adopt(first.catalog);
      // Until the shards know their partitions the catalog rests, and with it what a count sets
      // off. What was left in the outboxes goes before what the first turns add: a receiver takes
      // only rising numbers.
      await this.#registrar.undisturbed(async () => {
        for (const [shard, { counts }] of opened.entries()) this.#recount(shard, counts);
        for (const [shard, { outbound }] of opened.entries()) this.#courier.carry(shard, outbound);
        const told = this.#ports.map((port, shard) => port.ask(this.#settings.all(shard)));
        // A store that opens and then fails with each turn would be tried for ever, and unheard.
        await Promise.race([Promise.all(told), broken]);
        this.#isOpen = true;
      });
      for (const queue of deleted) this.#registrar.finishDeleteSoon(queue);
      for (const queue of this.#catalog.queues) this.#registrar.reapSoon(queue);
    } catch (cause) {
      await Promise.all(this.#ports.map((port) => port.close().catch(() => undefined)));
      throw cause;
    }
  }

  /** A failure before the engine is open ends the start; later ones are the port's own affair. */
  #openShard(shard: number): Promise<Opened> {
    return new Promise((resolve, reject) => {
      this.#ports[shard] = new ShardPort(shard, {
        clock: this.#clock,
        links: this.#options.links,
        events: {
          opened: (opened) => {
            const { miscounted: count } = opened;
            if (count > 0) this.#options.notice?.({ kind: "items_miscounted", shard, count });
            resolve(opened);
            return this.#isOpen ? this.#reopened(shard, opened) : [];
          },
          report: (report) => this.#reported(shard, report),
          settled: () => this.#leases.dispatch(),
          down: (cause) => {
            reject(cause);
            this.#downAtStart(cause);
            this.#setUp(shard, false);
            this.#settings.down(shard);
            // Before that, the caller of `open` is told.
            if (this.#isOpen) this.#options.notice?.({ kind: "shard_down", shard, cause });
          },
        },
      });
    });
  }

  #reopened(shard: number, opened: Opened): Request[] {
    this.#setUp(shard, true);
    this.#recount(shard, opened.counts);
    this.#courier.carry(shard, opened.outbound);
    this.#options.notice?.({ kind: "shard_up", shard });
    return [this.#settings.all(shard)];
  }

  #setUp(shard: number, up: boolean): void {
    for (const { queue, partition } of this.#catalog.owners(shard)) {
      queue.balance.update(partition, { up });
    }
  }

  /** Counts of partitions the catalog does not know are of slots that are free. */
  #recount(shard: number, counts: readonly PartitionCounts[]): void {
    for (const one of counts) {
      const owner = this.#catalog.owner(shard, one.slot);
      if (owner === undefined) continue;
      owner.queue.count(owner.partition, one);
      if (one.ready > 0) this.#leases.ready(owner.queue);
      // Before that, shards do not know their partitions; all are looked at when they do.
      if (this.#isOpen) this.#registrar.left(owner.queue, owner.partition);
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

  #refuseClosing(): void {
    if (this.#closing !== null) throw QueueError.from(closingFailure);
  }

  #find(name: string): LogicalQueue {
    this.#refuseClosing();
    return this.#catalog.find(name);
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
    const now = this.#clock.now();
    const deadline = now + request.requestTimeoutMs;
    const timing = { deadline, late: lateProduce };
    const written = this.#ask(
      queue,
      "produce",
      place,
      { kind: "produce", slot: place.slot, deadline, items },
      timing,
      () => {
        const producing = queue.balance.load(place.partition)?.producing ?? count;
        queue.balance.update(place.partition, { producing: producing - count });
        this.#registrar.left(queue, place.partition);
      },
    );
    if (queue.line.size > 0) {
      const due = items.filter(({ enqueueAt }) => enqueueAt === null || enqueueAt <= now).length;
      this.#leases.accompany(queue, place.partition, due);
    }
    return written;
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
        },
        timing,
      );
    });
  }

  // lease -----------------------------------------------------------------

  async lease(request: LeaseRequest): Promise<Lease<Items>> {
    return this.#leases.lease(this.#find(request.queue), request);
  }

  // complete, retry -------------------------------------------------------

  async complete(request: CompleteRequest): Promise<void> {
    const queue = this.#find(request.queue);
    const place = queue.place(request.partition);
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
    const place = queue.place(request.partition);
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

  async createQueue(settings: QueueSettings): Promise<void> {
    await this.#registrar.create(settings);
  }

  async updateQueue(change: QueueChange): Promise<void> {
    await this.#registrar.update(change);
  }

  async deleteQueue(request: { name: string; force: boolean }): Promise<void> {
    await this.#registrar.delete(request);
  }

  listQueues(request: { pivot: string; limit: number }): readonly QueueDefinition[] {
    this.#refuseClosing();
    checkQueuesList(request);
    return this.#catalog.list(request.pivot, request.limit);
  }

  queueInfo(name: string): QueueDefinition {
    return this.#find(name).definition;
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
    await eachShard(places, async (shard, here) => {
      const port = this.#port(shard);
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
    await this.#registrar.clear(queue.places.values(), {
      ready: request.ready,
      leased: request.ready && request.destructive,
      scheduled: request.scheduled,
      retried: request.retried,
    });
  }

  async reload(name: string): Promise<void> {
    const queue = this.#find(name);
    await eachShard(queue.places.values(), async (shard, here) => {
      const slots = here.map(({ slot }) => slot);
      succeeded(await this.#port(shard).ask({ kind: "recount", slots }));
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
    const { shard, slot } = queue.place(request.partition);
    checkStorageList(request);
    const { pivot, limit } = request;
    return this.#stored(
      queue,
      await this.#port(shard).ask({ kind: "list", slot, scheduled, pivot, limit }),
    );
  }

  async importItems(request: ImportRequest): Promise<readonly StoredItem[]> {
    const queue = this.#find(request.queue);
    const { shard, slot, state } = queue.place(request.partition);
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
    return this.#stored(queue, result);
  }

  async deleteItems(request: {
    queue: string;
    partition: number;
    ids: readonly string[];
  }): Promise<void> {
    const queue = this.#find(request.queue);
    const { shard, slot } = queue.place(request.partition);
    checkDeleteIds(request.ids);
    succeeded(await this.#port(shard).ask({ kind: "delete", slot, ids: request.ids }));
  }

  #stored(queue: LogicalQueue, result: Result): readonly StoredItem[] {
    const value = succeeded(result);
    assert(value.kind === "items", "a shard answered a storage call with something else");
    return value.items.map((item) => storedItem(item, queue.definition));
  }

  // backup ----------------------------------------------------------------

  async backup(folder: string): Promise<readonly StoreCopy[]> {
    this.#refuseClosing();
    return this.#registrar.undisturbed(() => {
      const timing = { deadline: this.#clock.now() + limits.holdMsMax, late: lateBackup };
      return Promise.all(
        this.#ports.map(async (port): Promise<StoreCopy> => {
          const value = succeeded(await port.ask({ kind: "backup", folder }, timing));
          assert(value.kind === "copied", "a shard answered a backup with something else");
          return { shard: port.shard, bytes: value.bytes };
        }),
      );
    });
  }

  // the engine itself -----------------------------------------------------

  requireQueue(name: string, partition?: number): void {
    const queue = this.#find(name);
    if (partition !== undefined) queue.place(partition);
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
        miscounted: counters.miscounted,
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

/** A caller may change its bytes as soon as the call returns; a Buffer is also told apart by JSON. */
function owned(payload: Payload): Payload {
  return typeof payload === "string" ? payload : new Uint8Array(payload);
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
