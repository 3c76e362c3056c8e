// What the shards go by for the partitions they own, and telling them. A shard that opens is told
// all of it before anything else, so nobody waits for one that is down, unless it has to be sure.

import type { PartitionPlace } from "../stores/queue.ts";
import type { Catalog } from "./catalog.ts";
import type { PartitionSettings, Request } from "./messages.ts";
import { type ShardPort, succeeded } from "./port.ts";
import { eachShard, type LogicalQueue } from "./queue.ts";

export class Settings {
  readonly #catalog: Catalog;
  readonly #ports: readonly ShardPort[];
  readonly #port: (shard: number) => ShardPort;
  /** Who waits for a shard to be told, by shard. */
  readonly #telling = new Map<number, Set<() => void>>();

  constructor(options: {
    catalog: Catalog;
    ports: readonly ShardPort[];
    port: (shard: number) => ShardPort;
  }) {
    this.#catalog = options.catalog;
    this.#ports = options.ports;
    this.#port = options.port;
  }

  /** What a shard has to be told before anything else. */
  all(shard: number): Request {
    const partitions: PartitionSettings[] = [];
    for (const owner of this.#catalog.owners(shard)) {
      const settings = this.#catalog.settingsOf(owner, shard);
      if (settings !== null) partitions.push(settings);
    }
    return { kind: "configure", partitions, forget: [] };
  }

  /**
   * Tells the shards what to go by for these queues, and for those whose dead queue they are. Sent
   * before it returns, so that changes are told in their order; resolves when the shards that are
   * up go by it.
   */
  async tell(queues: Iterable<LogicalQueue>): Promise<void> {
    const all = new Set(queues);
    for (const { definition } of [...all]) {
      for (const dependent of this.#catalog.dependents(definition.name)) all.add(dependent);
    }
    const changed = new Map<number, PartitionSettings[]>();
    for (const queue of all) {
      for (const { partition, shard } of queue.places.values()) {
        const settings = this.#catalog.settingsOf({ queue, partition }, shard);
        if (settings === null) continue;
        const same = changed.get(shard);
        if (same === undefined) changed.set(shard, [settings]);
        else same.push(settings);
      }
    }
    await Promise.all([...changed].map(([shard, partitions]) => this.#tell(shard, partitions)));
  }

  #tell(shard: number, partitions: readonly PartitionSettings[]): Promise<void> {
    const waiting = this.#telling.get(shard) ?? new Set();
    this.#telling.set(shard, waiting);
    return new Promise((resolve) => {
      const port = this.#port(shard);
      waiting.add(resolve);
      port.put({ kind: "configure", partitions, forget: [] }, () => {
        waiting.delete(resolve);
        resolve();
      });
      if (!port.isUp) resolve();
    });
  }

  /** The shard is down, and nobody knows for how long. */
  down(shard: number): void {
    for (const resolve of this.#telling.get(shard) ?? []) resolve();
  }

  /** From now on the shards take nothing for these places, and do no more with what is there. */
  async forget(places: readonly PartitionPlace[]): Promise<void> {
    await eachShard(places, (shard, here) =>
      this.#ask(
        shard,
        here.map(({ slot }) => slot),
      ),
    );
  }

  /**
   * Resolves when every shard has heard what it was told before, however long that takes: then
   * all is known that any of them sent by what it went by until then.
   */
  async heard(): Promise<void> {
    await Promise.all(this.#ports.map(({ shard }) => this.#ask(shard, [])));
  }

  async #ask(shard: number, forget: readonly number[]): Promise<void> {
    succeeded(await this.#port(shard).ask({ kind: "configure", partitions: [], forget }));
  }
}
