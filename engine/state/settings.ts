// What the shards go by for the partitions they own, and telling them. A shard that opens is told
// all of it before anything else, so nobody waits for one that is down, unless it has to be sure.

import type { Request } from "../kinds.ts";
import type { QueuePause } from "../model/messages.ts";
import { type Shard, succeeded } from "../turn/shard.ts";
import type { Catalog, Owner } from "./catalog.ts";
import type { LogicalQueue } from "./queue.ts";

export class Settings {
  readonly #catalog: Catalog;
  readonly #port: (shard: number) => Shard;
  /** Who waits for a shard to be told, by shard. */
  readonly #telling = new Map<number, Set<() => void>>();

  constructor(options: { catalog: Catalog; port: (shard: number) => Shard }) {
    this.#catalog = options.catalog;
    this.#port = options.port;
  }

  /** What a shard has to be told before anything else. */
  all(shard: number): Extract<Request, { kind: "configure" }> {
    const paused = [...this.#catalog.queues].filter(({ definition }) => definition.pause?.produce);
    return { ...this.#request(this.#catalog.owners(shard)), pauses: paused.map(pauseOf) };
  }

  #request(owners: readonly Owner[]): Extract<Request, { kind: "configure" }> {
    const settings = owners.map((owner) => this.#catalog.settingsOf(owner));
    const partitions = settings.filter((one) => one !== null);
    return { kind: "configure", partitions, forget: [] };
  }

  /**
   * Tells the shards what to go by for these queues, and for those whose dead queue they are. Sent
   * before it returns, so that changes are told in their order; resolves when the shards that are
   * up go by it.
   */
  async tell(queues: readonly LogicalQueue[]): Promise<void> {
    const dependents = queues.flatMap(({ definition }) =>
      this.#catalog.dependents(definition.name),
    );
    const owners = [...new Set([...queues, ...dependents])].flatMap((queue) =>
      [...queue.places.keys()].map((partition) => ({ queue, partition })),
    );
    const byShard = Map.groupBy(owners, ({ queue }) => queue.shard);
    await Promise.all([...byShard].map(([shard, here]) => this.#tell(shard, this.#request(here))));
  }

  /**
   * Tells every shard whether the queue takes items: any of them may be about to send it some.
   * Resolves as `tell` does.
   */
  async tellPause(queue: LogicalQueue): Promise<void> {
    const pauses = [pauseOf(queue)];
    const shards = Array.from({ length: this.#catalog.shardCount }, (_, shard) => shard);
    await Promise.all(shards.map((shard) => this.#tell(shard, { ...this.#request([]), pauses })));
  }

  #tell(shard: number, request: Request): Promise<void> {
    const port = this.#port(shard);
    // It gets all settings when it opens.
    if (!port.isUp) return Promise.resolve();
    const waiting = this.#telling.getOrInsertComputed(shard, () => new Set());
    return new Promise((resolve) => {
      waiting.add(resolve);
      port.put(request, () => {
        waiting.delete(resolve);
        resolve();
      });
    });
  }

  /** The shard is down, and nobody knows for how long. */
  down(shard: number): void {
    for (const resolve of this.#telling.get(shard) ?? []) resolve();
  }

  /** From now on the shard takes nothing for these slots, and does no more with what is there. */
  forget(shard: number, slots: readonly number[]): Promise<void> {
    return this.#ask(shard, slots);
  }

  /**
   * Resolves when every shard has heard what it was told before, however long that takes: then
   * all is known that any of them sent by what it went by until then.
   */
  async heard(): Promise<void> {
    const shards = Array.from({ length: this.#catalog.shardCount }, (_, shard) => shard);
    await Promise.all(shards.map((shard) => this.#ask(shard, [])));
  }

  async #ask(shard: number, forget: readonly number[]): Promise<void> {
    succeeded(await this.#port(shard).ask({ kind: "configure", partitions: [], forget }));
  }
}

function pauseOf({ queueId, definition: { pause } }: LogicalQueue): QueuePause {
  return { queueId, pause: pause?.produce === true ? pause : null };
}
