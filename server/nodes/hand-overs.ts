// The hand-overs of this node: at most one per second while it runs, and none to a node that could not
// keep what it was given.

/** From one hand-over to the next, unless the node drains. */
const handOverMs = 1_000;
/** A node is given nothing for so long after a shard came back from it. */
const pauseMs = 60_000;

interface HandOver {
  readonly process: string;
  readonly at: number;
}

export class HandOvers {
  /** Shards that another node was given. */
  count = 0;
  /** Milliseconds by the steady clock, as are all instants here. */
  #lastAt = Number.NEGATIVE_INFINITY;
  readonly #lastOf = new Map<number, HandOver>();
  readonly #pausedUntil = new Map<string, number>();

  isDue(now: number): boolean {
    return now - this.#lastAt >= handOverMs;
  }

  begun(shard: number, process: string, now: number): void {
    this.#lastAt = now;
    this.#lastOf.set(shard, { process, at: now });
  }

  /** This node has taken the shard over, which it may have handed to another node a moment ago. */
  taken(shard: number, now: number): void {
    const last = this.#lastOf.get(shard);
    this.#lastOf.delete(shard);
    if (last === undefined || now - last.at >= pauseMs) return;
    this.#pausedUntil.set(last.process, now + pauseMs);
  }

  /** The process drains: its shards come back for that reason. */
  drains(process: string): void {
    this.#pausedUntil.delete(process);
    for (const [shard, last] of this.#lastOf) {
      if (last.process === process) this.#lastOf.delete(shard);
    }
  }

  isPaused(process: string, now: number): boolean {
    const until = this.#pausedUntil.get(process) ?? now;
    if (until <= now) this.#pausedUntil.delete(process);
    return until > now;
  }
}
