// Which shard a queue lives in, with all of its partitions. It follows from the name alone, so that
// every thread, node and client finds the same. Queues of one `{tag}` are together, by the rule that
// Redis Cluster has for keys.

/** The text that decides: what is between the first `{` and the next `}`, or the whole name. */
function hashedPart(name: string): string {
  const from = name.indexOf("{") + 1;
  const to = name.indexOf("}", from);
  return from > 0 && to > from ? name.slice(from, to) : name;
}

export function shardOf(name: string, shardCount: number): number {
  return Number(Bun.hash.xxHash3(hashedPart(name)) % BigInt(shardCount));
}
