// Which shard a queue lives in, with all of its partitions. It follows from the name alone, so that
// every thread, node and client finds the same. Queues of one `{tag}` are together, by the rule that
// Redis Cluster has for keys.

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

/** What each shard has of a bound that is divided among them. */
export function shareOf(total: number, shardCount: number): number {
  return Math.ceil(total / shardCount);
}
