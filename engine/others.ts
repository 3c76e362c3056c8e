// The other shards of the server, as the engine of one shard reaches them.

import { assert } from "./model/assert.ts";
import { shardOf } from "./model/placement.ts";
import type { OtherShard } from "./relay/other-shard.ts";

export interface OthersOptions {
  readonly shard: number;
  readonly shardCount: number;
  /** By number; called for other shards only. */
  readonly reach: (shard: number) => OtherShard;
}

export class Others {
  readonly #options: OthersOptions;

  constructor(options: OthersOptions) {
    this.#options = options;
  }

  get numbers(): number[] {
    const { shard: own, shardCount } = this.#options;
    const numbers = Array.from({ length: shardCount }, (_, shard) => shard);
    return numbers.filter((shard) => shard !== own);
  }

  get all(): OtherShard[] {
    return this.numbers.map(this.#options.reach);
  }

  at(shard: number): OtherShard {
    const { shard: own, shardCount, reach } = this.#options;
    assert(shard !== own && shard < shardCount, "a shard asks for one that is no other");
    return reach(shard);
  }

  /** The number of the other shard that a queue of this name belongs to; `null` = this shard. */
  shardWith(name: string): number | null {
    const { shard: own, shardCount } = this.#options;
    const shard = shardOf(name, shardCount);
    return shard === own ? null : shard;
  }

  withQueue(name: string): OtherShard | null {
    const shard = this.shardWith(name);
    return shard === null ? null : this.at(shard);
  }
}
