// What a store keeps of itself for its shard: which shard of how many it is, and the epochs of its ids.

import { StoreError } from "../../stores/store.ts";
import { Epochs } from "../model/epochs.ts";

export interface Place {
  readonly shard: number;
  /** A queue is in the shard that its name hashes to, so this never changes. */
  readonly shardCount: number;
}

export function labelOf({ shard, shardCount }: Place, epochs: Epochs): string {
  return `${shard}/${shardCount} ${epochs.text}`;
}

/** Of a label, or of the tag that a store is made with. */
export function epochsIn(text: string): Epochs {
  return Epochs.parse(text.replace(/^\S*\/\S* /, ""));
}

/** Whether the store has a label; throws `unusable` where it is that of another shard, or of as many as there are not. */
export function isLabelled(text: string, { shard, shardCount }: Place): boolean {
  const [, storedShard, storedCount] = /^(\d+)\/(\d+) /.exec(text) ?? [];
  if (storedShard === undefined) return false;
  if (storedCount !== String(shardCount)) {
    const got = `expected --shards ${storedCount}, got ${shardCount}`;
    throw new StoreError("unusable", `the number of shards cannot be changed; ${got}`);
  }
  if (storedShard !== String(shard)) {
    const got = `expected shard ${shard}, got ${storedShard}`;
    throw new StoreError("unusable", `the store is that of another shard; ${got}`);
  }
  return true;
}
