// Estimates the gain of N shards, each in a thread with its own core, from the costs of calls on
// two shards. Pure. Costs are microseconds of processor time per call.

/**
 * Costs over all threads: a call to the shard of its connection's thread, and the extra cost of
 * crossing.
 */
interface CallCosts {
  readonly local: number;
  readonly crossing: number;
}

/**
 * The rate of N shards over that of one, for evenly spread queues: (N - 1) of N calls cross,
 * whichever thread has their connection.
 */
export function rateOfMany({ local, crossing }: CallCosts, shards: number): number {
  return (shards * local) / (local + (crossing * (shards - 1)) / shards);
}

/**
 * Costs in the thread of a queue: a call on its own connection, and one on another thread's
 * connection.
 */
interface QueueCosts {
  readonly own: number;
  readonly crossing: number;
}

/**
 * The rate at which the thread of the only busy queue is saturated, over that with one shard. With
 * N shards the thread has one Nth of the connections.
 */
export function rateOfOne({ own, crossing }: QueueCosts, shards: number): number {
  return (shards * own) / (own + (shards - 1) * crossing);
}
