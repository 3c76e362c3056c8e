// What N shards give, each in a thread with a core of its own, by account from the costs of calls on
// two. Pure. Costs are microseconds of processor time per call.

/** Of all threads: a call for the shard of its connection's thread, and what it costs more if it crosses. */
interface CallCosts {
  readonly local: number;
  readonly crossing: number;
}

/**
 * The rate of N shards over that of one, for queues spread evenly: (N - 1) of N calls cross, whichever
 * thread their connection is in.
 */
export function rateOfMany({ local, crossing }: CallCosts, shards: number): number {
  return (shards * local) / (local + (crossing * (shards - 1)) / shards);
}

/** Of the thread of a queue: a call of a connection of its own, and one of another thread's connection. */
interface QueueCosts {
  readonly own: number;
  readonly crossing: number;
}

/**
 * The rate at which the thread of the only busy queue is full, over that with one shard. With N shards
 * the thread has one Nth of the connections.
 */
export function rateOfOne({ own, crossing }: QueueCosts, shards: number): number {
  return (shards * own) / (own + (shards - 1) * crossing);
}
