// Which shard a new partition goes to. Where a partition is stays written in
// the catalog, so that another number of shards moves nothing.

/** Spreads the partitions of a queue, and the first partitions of different queues, over the shards. */
export function shardOf(
  place: { readonly queueId: number; readonly partition: number },
  shardCount: number,
): number {
  return (place.queueId + place.partition) % shardCount;
}
