// From what one thread and two were measured to take: what more would give, by account. Pure.

/** Microseconds of a call with one shard, and with two. */
interface Measured {
  readonly one: number;
  readonly two: number;
}

/**
 * The rate of many queues over that of one shard, if each thread has a core to itself. `Measured`:
 * of all threads. With two shards one call of two crosses, with N shards (N - 1) of N.
 */
export function rateOfMany({ one, two }: Measured, shards: number): number {
  const crossing = 2 * (two - one);
  return (shards * one) / (one + (crossing * (shards - 1)) / shards);
}

/**
 * The rate at which the thread with the only busy queue is full, over that of one shard. `Measured`: of
 * that thread. With N shards it has one Nth of the connections, and every call of the queue.
 */
export function rateOfOne({ one, two }: Measured, shards: number): number {
  const ofConnections = 2 * (one - two);
  return one / (one - ofConnections + ofConnections / shards);
}
