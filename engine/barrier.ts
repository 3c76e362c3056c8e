// Waits until shards have decided all requests that came before. Turns read the catalog as it is, so
// every later decision already follows a change that was made before the wait began.

import type { Catalog } from "./state/catalog.ts";
import type { LogicalQueue } from "./state/queue.ts";
import { type Shard, succeeded } from "./turn/shard.ts";

export class Barrier {
  readonly #catalog: Catalog;
  readonly #port: (shard: number) => Shard;
  /** Who waits for a shard, by shard. */
  readonly #waiting = new Map<number, Set<() => void>>();

  constructor(options: { catalog: Catalog; port: (shard: number) => Shard }) {
    this.#catalog = options.catalog;
    this.#port = options.port;
  }

  /**
   * Waits for the shards of these queues, and of the queues whose dead queue they are. Does not wait for
   * a shard that is down, which decides nothing meanwhile.
   */
  async wait(queues: readonly LogicalQueue[]): Promise<void> {
    const dependents = queues.flatMap(({ definition }) =>
      this.#catalog.dependents(definition.name),
    );
    const byShard = Map.groupBy(new Set([...queues, ...dependents]), ({ shard }) => shard);
    await Promise.all(
      [...byShard].map(([shard, here]) =>
        this.#waitFor(
          shard,
          here.flatMap(({ slots }) => slots),
        ),
      ),
    );
  }

  /** Waits for every shard that is up: any of them may be about to send items to a queue. */
  async waitForAllUp(): Promise<void> {
    await Promise.all(this.#shards.map((shard) => this.#waitFor(shard, [])));
  }

  #waitFor(shard: number, slots: readonly number[]): Promise<void> {
    const port = this.#port(shard);
    if (!port.isUp) return Promise.resolve();
    const waiting = this.#waiting.getOrInsertComputed(shard, () => new Set());
    return new Promise((resolve) => {
      waiting.add(resolve);
      port.put({ kind: "refresh", slots }, () => {
        waiting.delete(resolve);
        resolve();
      });
    });
  }

  /** The shard is down, and nobody knows for how long. */
  down(shard: number): void {
    for (const resolve of this.#waiting.get(shard) ?? []) resolve();
  }

  /** Waits for the shard, also if it is down: then everything that it decided before is known. */
  async waitForShard(shard: number): Promise<void> {
    succeeded(await this.#port(shard).ask({ kind: "refresh", slots: [] }));
  }

  get #shards(): number[] {
    return Array.from({ length: this.#catalog.shardCount }, (_, shard) => shard);
  }
}
