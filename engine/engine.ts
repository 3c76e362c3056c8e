// The engine: one method per operation. It decides where (which partition, which
// waiting lease); the shards decide what. Nothing is answered before the shard
// that did it has committed.

import type { PartitionPlace, QueueDefinition } from "../stores/queue.ts";
import type {
  ClearRequest,
  CompleteRequest,
  DeleteItemsRequest,
  DeleteQueueRequest,
  Durability,
  Engine,
  EngineStatus,
  ImportRequest,
  Lease,
  LeaseRequest,
  ListRequest,
  ProduceRequest,
  QueueChange,
  QueueInspection,
  QueueSettings,
  QueueStats,
  RetryRequest,
  StoreCopy,
  StoredItem,
} from "./api.ts";
import { Catalog } from "./catalog.ts";
import { Courier } from "./courier.ts";
import {
  clearedInPart,
  closingFailure,
  type Late,
  lateComplete,
  lateLong,
  lateLook,
  lateProduce,
  lateRetry,
  QueueError,
} from "./errors.ts";
import { queueInspection, queueStats, shardStatus } from "./figures.ts";
import { newImport, newItem, storedItems } from "./items.ts";
import type { Request } from "./kinds.ts";
import { Leases } from "./leases.ts";
import { limits } from "./limits.ts";
import type { Value } from "./messages.ts";
import { type ShardPort, succeeded, type Timing } from "./port.ts";
import { eachShard, type InFlight, type LogicalQueue } from "./queue.ts";
import { Registrar } from "./registrar.ts";
import { Settings } from "./settings.ts";
import { Shards, type ShardsOptions } from "./shards.ts";
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

export type { Notice } from "./api.ts";

export interface EngineOptions<Items> extends ShardsOptions {
  /** What the stores promise, for `status`. */
  readonly durability: Durability;
  /** Turns the text in which a shard tells leased items into what `lease` returns. */
  readonly readLeased: (text: string) => Items;
  readonly waitingLeasesMax?: number;
}

/** Opens every shard and reads the catalog. Throws `StoreError` when a store cannot be opened. */
export async function openEngine<Items>(options: EngineOptions<Items>): Promise<Engine<Items>> {
  const engine = new ShardedEngine(options);
  await engine.open();
  return engine;
}

class ShardedEngine<Items> implements Engine<Items> {
  readonly #options: EngineOptions<Items>;
  readonly #catalog: Catalog;
  readonly #leases: Leases<Items>;
  readonly #registrar: Registrar;
  readonly #shards: Shards;
  #closing: Promise<void> | null = null;

  constructor(options: EngineOptions<Items>) {
    this.#options = options;
    const { clock, readLeased, waitingLeasesMax = limits.waitingLeasesMax } = options;
    const port = (shard: number): ShardPort => this.#shards.port(shard);
    const courier = new Courier({ clock, port });
    const catalog = new Catalog({
      clock,
      isTargeted: (shard, slot) => courier.isTargeted(shard, slot),
      isUp: (shard) => port(shard).isUp,
    });
    const settings = new Settings({ catalog, port });
    const isClosing = (): boolean => this.#closing !== null;
    const registrar = new Registrar({ clock, catalog, courier, settings, port, isClosing });
    const left = registrar.left.bind(registrar);
    const leases = new Leases({ clock, port, readLeased, waitingLeasesMax, left });
    this.#catalog = catalog;
    this.#leases = leases;
    this.#registrar = registrar;
    this.#shards = new Shards(options, { catalog, courier, leases, registrar, settings });
  }

  open(): Promise<void> {
    return this.#shards.open();
  }

  #refuseClosing(): void {
    if (this.#closing !== null) throw QueueError.from(closingFailure);
  }

  #find(name: string): LogicalQueue {
    this.#refuseClosing();
    return this.#catalog.find(name);
  }

  /** Asks the shard of a place; the call counts as inside until it is settled. */
  #call(
    queue: LogicalQueue,
    verb: Exclude<keyof InFlight, "lease">,
    { shard, partition }: PartitionPlace,
    request: Request,
    timing: Timing,
  ): Promise<Value> {
    const itemCount = request.kind === "produce" ? request.items.length : 0;
    queue.entered(verb, partition, itemCount);
    return new Promise((resolve, reject) => {
      this.#shards.port(shard).put(
        request,
        (result) => {
          queue.left(verb, partition, itemCount);
          this.#registrar.left(queue, partition);
          if (result.ok) resolve(result.value);
          else reject(QueueError.from(result));
        },
        timing,
      );
    });
  }

  /** Of a call that has no `request_timeout` of its own. */
  #timing(late: Late): Timing {
    return { deadline: this.#options.clock.now() + limits.requestTimeoutMsDefault, late };
  }

  async produce(request: ProduceRequest): Promise<void> {
    const queue = this.#find(request.queue);
    checkRequestTimeout(request.requestTimeoutMs, "5m");
    checkProduceItems(request.items);
    const items = request.items.map(newItem);
    const place = queue.placeForProduce;
    const { slot, partition } = place;
    const deadline = this.#options.clock.now() + request.requestTimeoutMs;
    const asked = { kind: "produce", slot, deadline, items } as const;
    const written = this.#call(queue, "produce", place, asked, { deadline, late: lateProduce });
    this.#leases.accompany(queue, partition, items);
    await written;
  }

  async lease(request: LeaseRequest): Promise<Lease<Items>> {
    return this.#leases.lease(this.#find(request.queue), request);
  }

  async complete(request: CompleteRequest): Promise<void> {
    const queue = this.#find(request.queue);
    const place = queue.place(request.partition);
    const { ids } = request;
    checkCompleteIds(ids);
    checkRequestTimeout(request.requestTimeoutMs, "5m");
    const deadline = this.#options.clock.now() + request.requestTimeoutMs;
    const asked = { kind: "complete", slot: place.slot, deadline, ids } as const;
    await this.#call(queue, "complete", place, asked, { deadline, late: lateComplete });
  }

  async retry(request: RetryRequest): Promise<void> {
    const queue = this.#find(request.queue);
    const place = queue.place(request.partition);
    const { items } = request;
    checkRetryItems(items.length);
    const timing = this.#timing(lateRetry);
    const { deadline } = timing;
    const asked = { kind: "retry", slot: place.slot, deadline, items } as const;
    await this.#call(queue, "retry", place, asked, timing);
  }

  async createQueue(settings: QueueSettings): Promise<void> {
    await this.#registrar.create(settings);
  }

  async updateQueue(change: QueueChange): Promise<void> {
    await this.#registrar.update(change);
  }

  async deleteQueue(request: DeleteQueueRequest): Promise<void> {
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

  async stats(name: string): Promise<QueueStats> {
    const port = (shard: number) => this.#shards.port(shard);
    return queueStats(this.#find(name), port, this.#timing(lateLook));
  }

  async inspect(name: string): Promise<QueueInspection> {
    const queue = this.#find(name);
    return queueInspection(queue, this.#catalog.deadQueueOf(queue));
  }

  async clear(request: ClearRequest): Promise<void> {
    const { places } = this.#find(request.queue);
    checkClear(request);
    const { ready, scheduled, retried, destructive } = request;
    const what = { ready, leased: ready && destructive, scheduled, retried };
    const timing = this.#timing(lateLong);
    let cleared = 0;
    try {
      await eachShard(places.values(), async (shard, slots) => {
        succeeded(await this.#shards.port(shard).ask({ kind: "clear", slots, what }, timing));
        cleared += 1;
      });
    } catch (cause) {
      if (cleared === 0 || !(cause instanceof QueueError)) throw cause;
      throw QueueError.from(clearedInPart(cause.code));
    }
  }

  async reload(name: string): Promise<void> {
    const timing = this.#timing(lateLong);
    await eachShard(this.#find(name).places.values(), async (shard, slots) =>
      succeeded(await this.#shards.port(shard).ask({ kind: "recount", slots }, timing)),
    );
  }

  listItems(request: ListRequest): Promise<readonly StoredItem[]> {
    return this.#list(request, { scheduled: false });
  }

  listScheduled(request: ListRequest): Promise<readonly StoredItem[]> {
    return this.#list(request, { scheduled: true });
  }

  async #list(request: ListRequest, which: { scheduled: boolean }): Promise<StoredItem[]> {
    const queue = this.#find(request.queue);
    const { shard, slot } = queue.place(request.partition);
    checkStorageList(request);
    const { pivot, limit } = request;
    const asked = { kind: "list", slot, ...which, pivot, limit } as const;
    const listed = await this.#shards.port(shard).ask(asked, this.#timing(lateLook));
    return storedItems(succeeded(listed), queue.definition);
  }

  async importItems(request: ImportRequest): Promise<readonly StoredItem[]> {
    const queue = this.#find(request.queue);
    const place = queue.place(request.partition);
    checkImportItems(request.items);
    if (place.state === "draining") {
      const text = `partition takes no new items; '${request.partition}' is draining`;
      throw new QueueError("refused", text);
    }
    const asked = {
      kind: "import",
      slot: place.slot,
      items: request.items.map(newImport),
    } as const;
    const timing = this.#timing(lateLong);
    return storedItems(await this.#call(queue, "import", place, asked, timing), queue.definition);
  }

  async deleteItems({ queue, partition, ids }: DeleteItemsRequest): Promise<void> {
    const { shard, slot } = this.#find(queue).place(partition);
    checkDeleteIds(ids);
    const timing = this.#timing(lateLong);
    succeeded(await this.#shards.port(shard).ask({ kind: "delete", slot, ids }, timing));
  }

  async backup(folder: string): Promise<readonly StoreCopy[]> {
    this.#refuseClosing();
    return this.#registrar.undisturbed(() => this.#shards.copy(folder));
  }

  requireQueue(name: string, partition?: number): void {
    const queue = this.#find(name);
    if (partition !== undefined) queue.place(partition);
  }

  status(): EngineStatus {
    const queues = [...this.#catalog.queues].map((queue) => queue.gauges());
    return {
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

  async #close(): Promise<void> {
    for (const queue of this.#catalog.queues) {
      for (const lease of queue.line.clear()) lease.settle(closingFailure);
    }
    await this.#shards.close();
  }
}
