// The label in a store: the number of its shard, the number of shards, and the epochs of its ids.

import { StoreError } from "../../stores/store.ts";
import { Epochs } from "../model/epochs.ts";

export interface ShardIdentity {
  readonly shard: number;
  /** A queue is in the shard that its name hashes to, so only a reshard changes it. */
  readonly shardCount: number;
}

export function labelOf({ shard, shardCount }: ShardIdentity, epochs: Epochs): string {
  return `${shard}/${shardCount} ${epochs.text}`;
}

/** The epochs in a label, or the first epoch if the store has no label yet. */
export function epochsIn(text: string): Epochs {
  return Epochs.parse(text.replace(/^\S*\/\S* /, ""));
}

/** Whether the store has a label; throws `unusable` if that is for another shard or shard count. */
export function isLabelled(text: string, { shard, shardCount }: ShardIdentity): boolean {
  const [, storedShard, storedCount] = /^(\d+)\/(\d+) /.exec(text) ?? [];
  if (storedShard === undefined) return false;
  if (storedCount !== String(shardCount)) {
    const expected = `expected --shards ${storedCount}, got ${shardCount}`;
    const how = "'holdfast reshard' changes the number";
    throw new StoreError(
      "unusable",
      `the data are in another number of shards; ${expected}; ${how}`,
    );
  }
  if (storedShard !== String(shard)) {
    const got = `expected shard ${shard}, got ${storedShard}`;
    throw new StoreError("unusable", `the store is that of another shard; ${got}`);
  }
  return true;
}
