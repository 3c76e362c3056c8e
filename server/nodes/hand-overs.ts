// Paces this node's hand-overs: at most one per second while it runs, and none to a node that did
// not keep a shard that was handed over to it.

/** The least time between two hand-overs, unless the node drains. */
const handOverMs = 1_000;
/** How long a node receives no shards after it did not keep one. */
const pauseMs = 60_000;

export class HandOvers {
  /** The number of shards handed over. */
  count = 0;
  /** Milliseconds by the steady clock, like all instants here. */
  #lastAt = Number.NEGATIVE_INFINITY;
  readonly #lastOf = new Map<number, { readonly process: string; readonly at: number }>();
  readonly #pausedUntil = new Map<string, number>();

  isDue(now: number): boolean {
    return now - this.#lastAt >= handOverMs;
  }

  started(shard: number, process: string, now: number): void {
    this.#lastAt = now;
    this.#lastOf.set(shard, { process, at: now });
  }

  /** This node has taken over the shard, perhaps soon after handing it to another node. */
  takenOver(shard: number, now: number): void {
    const last = this.#lastOf.get(shard);
    this.#lastOf.delete(shard);
    if (last === undefined || now - last.at >= pauseMs) return;
    this.#pausedUntil.set(last.process, now + pauseMs);
  }

  /** The process is draining, so it need not keep the shards that it received. */
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
