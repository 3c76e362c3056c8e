// Waiting until shards have decided all that they were asked before. Turns decide by the catalog as it
// is, so what is decided from then on goes by a change that was made before.

import { type Shard, succeeded } from "../turn/shard.ts";
import type { Catalog } from "./catalog.ts";
import type { LogicalQueue } from "./queue.ts";

export class Rounds {
  readonly #catalog: Catalog;
  readonly #port: (shard: number) => Shard;
  /** Who waits for a shard, by shard. */
  readonly #waiting = new Map<number, Set<() => void>>();

  constructor(options: { catalog: Catalog; port: (shard: number) => Shard }) {
    this.#catalog = options.catalog;
    this.#port = options.port;
  }

  /**
   * Of the shards of these queues, and of those whose dead queue they are. Resolves when those that
   * are up are through: one that is down decides nothing meanwhile.
   */
  async of(queues: readonly LogicalQueue[]): Promise<void> {
    const dependents = queues.flatMap(({ definition }) =>
      this.#catalog.dependents(definition.name),
    );
    const byShard = Map.groupBy(new Set([...queues, ...dependents]), ({ shard }) => shard);
    await Promise.all(
      [...byShard].map(([shard, here]) =>
        this.#ofUp(
          shard,
          here.flatMap(({ slots }) => slots),
        ),
      ),
    );
  }

  /** The same of every shard: any of them may be about to send items to a queue. */
  async ofAllUp(): Promise<void> {
    await Promise.all(this.#shards.map((shard) => this.#ofUp(shard, [])));
  }

  #ofUp(shard: number, slots: readonly number[]): Promise<void> {
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

  /** Of every shard, however long one is down: then all is known that any of them decided before. */
  async ofAll(): Promise<void> {
    const request = { kind: "refresh", slots: [] } as const;
    const all = this.#shards.map((shard) => this.#port(shard).ask(request));
    for (const result of await Promise.all(all)) succeeded(result);
  }

  get #shards(): number[] {
    return Array.from({ length: this.#catalog.shardCount }, (_, shard) => shard);
  }
}
