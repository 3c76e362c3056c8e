// The shard of a queue, with all its partitions. It depends on the name alone, so every thread,
// node and client computes the same shard. Queues with the same `{tag}` share a shard, by Redis
// Cluster's rule for keys.

/** The text between the first `{` and the next `}`; `null` = the name has no tag. */
export function tagOf(name: string): string | null {
  const from = name.indexOf("{") + 1;
  const to = name.indexOf("}", from);
  return from > 0 && to > from ? name.slice(from, to) : null;
}

/** By the hash of the tag, or of the whole name. */
export function shardOf(name: string, shardCount: number): number {
  return Number(Bun.hash.xxHash3(tagOf(name) ?? name) % BigInt(shardCount));
}

/** Each shard's share of a bound that is divided among them. */
export function shareOf(total: number, shardCount: number): number {
  return Math.ceil(total / shardCount);
}
