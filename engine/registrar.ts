// Changes of the catalog, one after the other. Each is committed by the first
// shard before it takes effect, and told to the shards it concerns; what cannot
// be done in one commit is taken up again at the next start.

import type { CatalogEntry, PartitionPlace } from "../stores/queue.ts";
import type { QueueChange, QueueSettings } from "./api.ts";
import type { Catalog } from "./catalog.ts";
import type { Clock } from "./clock.ts";
import type { Courier } from "./courier.ts";
import { deletedFailure, QueueError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { PartitionSettings } from "./messages.ts";
import { closingFailure, type ShardPort, succeeded } from "./port.ts";
import { eachShard, itemsIn, type LogicalQueue } from "./queue.ts";
import type { Clearing } from "./shard/clear.ts";
import { checkQueueName } from "./validate.ts";

export interface RegistrarOptions {
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly courier: Courier;
  readonly port: (shard: number) => ShardPort;
  readonly isClosing: () => boolean;
}

export class Registrar {
  readonly #clock: Clock;
  readonly #catalog: Catalog;
  readonly #courier: Courier;
  readonly #port: (shard: number) => ShardPort;
  readonly #isClosing: () => boolean;
  #catalogTurn: Promise<unknown> = Promise.resolve();

  constructor(options: RegistrarOptions) {
    this.#clock = options.clock;
    this.#catalog = options.catalog;
    this.#courier = options.courier;
    this.#port = options.port;
    this.#isClosing = options.isClosing;
  }

  async create(settings: QueueSettings): Promise<void> {
    await this.#inCatalogTurn(async () => {
      const entry = this.#catalog.planCreate(settings, this.#clock.now());
      await this.#writeCatalog({ put: [entry], remove: [] });
      await this.configure([this.#catalog.add(entry)]);
    });
  }

  async update(change: QueueChange): Promise<void> {
    await this.#inCatalogTurn(async () => {
      const { queue, entry } = this.#catalog.planUpdate(change, this.#clock.now());
      await this.#writeCatalog({ put: [entry], remove: [] });
      queue.definition = entry.definition;
      for (const place of entry.places) this.#catalog.own(queue, place);
      await this.configure([queue]);
      await this.#reap(queue);
    });
  }

  async delete({ name, force }: { name: string; force: boolean }): Promise<void> {
    await this.#inCatalogTurn(async () => {
      checkQueueName(name);
      const queue = this.#catalog.find(name);
      const dependents = this.#catalog.dependents(name);
      const [dependent] = dependents;
      if (!force && dependent !== undefined) {
        const text = `queue is in use; '${name}' is the dead_queue of '${dependent.definition.name}'`;
        throw new QueueError("refused", text);
      }
      // Before it is hidden, or calls would be told meanwhile that there is no such queue.
      if (!force) requireEmpty(queue);
      // No new calls from here on; what was accepted before is still counted.
      this.#catalog.hide(queue);
      try {
        await this.#untilQuiet(queue);
        if (!force) requireEmpty(queue);
        const cut = dependents.map((other) =>
          other.entry({ definition: { ...other.definition, deadQueue: "" } }),
        );
        await this.#writeCatalog({ put: [queue.entry({ deleting: true }), ...cut], remove: [] });
      } catch (cause) {
        this.#catalog.unhide(queue);
        throw cause;
      }
      this.#catalog.deleted(queue);
      for (const other of dependents) other.definition = { ...other.definition, deadQueue: "" };
      await this.configure(dependents);
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
  finishDeleteSoon(queue: LogicalQueue): void {
    void this.#inCatalogTurn(() => this.#finishDelete(queue)).catch(() => undefined);
  }

  /** What is left to do once a delete is certain; also after a crash in the middle of it. */
  async #finishDelete(queue: LogicalQueue): Promise<void> {
    for (const lease of queue.line.clear()) lease.settle(deletedFailure);
    for (;;) {
      try {
        // Forgotten before it is cleared: what is still on its way there must not come after the clear.
        await this.#forget([...queue.places.values()]);
        await this.clear(queue, {
          ready: true,
          leased: true,
          scheduled: true,
          retried: true,
        });
        await this.#writeCatalog({ put: [], remove: [queue.queueId] });
        break;
      } catch (cause) {
        // The queue is gone for its users whatever the store does now, so the rest cannot be given up.
        if (this.#isClosing()) throw cause;
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

  reapSoon(queue: LogicalQueue): void {
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

  /** No queue is created, changed or deleted, and no dead letter travels, while the work lasts. */
  undisturbed<T>(work: () => Promise<T>): Promise<T> {
    return this.#inCatalogTurn(async () => {
      const { release } = await this.#courier.hold();
      try {
        return await work();
      } finally {
        release();
      }
    });
  }

  #inCatalogTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosing()) return Promise.reject(QueueError.from(closingFailure));
    const result = this.#catalogTurn.then(work);
    this.#catalogTurn = result.catch(() => undefined);
    return result;
  }

  /** The catalog is kept by the first shard. */
  async #writeCatalog(change: {
    put: readonly CatalogEntry[];
    remove: readonly number[];
  }): Promise<void> {
    const version = this.#catalog.version + 1;
    succeeded(await this.#port(0).ask({ kind: "catalog", version, ...change }));
    this.#catalog.version = version;
  }

  /** What the shard has to know of every partition it owns. */
  settings(shard: number): PartitionSettings[] {
    const settings: PartitionSettings[] = [];
    for (const owner of this.#catalog.owners(shard)) {
      const one = this.#catalog.settingsOf(owner, shard);
      if (one !== null) settings.push(one);
    }
    return settings;
  }

  /** Tells the shards what to go by for these queues, and for those whose dead queue they are. */
  async configure(queues: Iterable<LogicalQueue>): Promise<void> {
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

  async clear(queue: LogicalQueue, what: Clearing): Promise<void> {
    let cleared = 0;
    try {
      await eachShard(queue.places.values(), async (shard, here) => {
        const port = this.#port(shard);
        succeeded(await port.ask({ kind: "clear", slots: here.map(({ slot }) => slot), what }));
        cleared += 1;
      });
    } catch (cause) {
      if (cleared === 0 || !(cause instanceof QueueError)) throw cause;
      const [why] = cause.message.split(";");
      throw new QueueError(cause.code, `the queue was cleared in part, clear it again; ${why}`);
    }
  }
}

function withDependents(queues: Iterable<LogicalQueue>, catalog: Catalog): Set<LogicalQueue> {
  const all = new Set(queues);
  for (const { definition } of [...all]) {
    for (const dependent of catalog.dependents(definition.name)) all.add(dependent);
  }
  return all;
}

function requireEmpty({ definition: { name }, itemCount }: LogicalQueue): void {
  if (itemCount === 0) return;
  throw new QueueError("refused", `queue is not empty; '${name}' holds ${itemCount} items`);
}
