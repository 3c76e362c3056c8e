// Decides by this node's own clock which shards have lapsed and which nodes are live. The
// database's clock may be set back, or be behind after a failover.

import type { NodeRow, ShardRow } from "../../stores/nodes.ts";
import type { FreeShard } from "./share.ts";
import { StalenessTracker } from "./staleness-tracker.ts";

interface LivenessOptions {
  readonly leaseMs: number;
  /** Milliseconds by a steady clock. */
  readonly now: () => number;
}

/** The number of successive polls in which a node must be live before it may receive a shard. */
const establishedPolls = 2;

export class Liveness {
  readonly #options: LivenessOptions;
  readonly #leases = new StalenessTracker();
  readonly #heartbeats = new StalenessTracker();
  readonly #free = new StalenessTracker();
  /** The number of successive polls in which a process was live, by URL and key. */
  #livePolls: ReadonlyMap<string, number> = new Map();

  constructor(options: LivenessOptions) {
    this.#options = options;
  }

  /**
   * An owner has also lapsed if this node's own clock has seen no renewal for a whole lease. By a
   * database clock that was set back, the lease would last that much longer.
   */
  markLapsed(rows: readonly ShardRow[]): ShardRow[] {
    const leases = rows.map(
      ({ shard, epoch, leaseUntil }) => [String(shard), `${epoch} ${leaseUntil}`] as const,
    );
    this.#leases.update(leases, this.#options.now());
    return rows.map((row) => ({ ...row, isLapsed: row.isLapsed || this.#isUnrenewed(row) }));
  }

  #isUnrenewed({ shard, url }: ShardRow): boolean {
    const { leaseMs, now } = this.#options;
    return url !== null && this.#leases.unchangedMs(String(shard), now()) > leaseMs;
  }

  /** A node is not live if its last heartbeat is older than a lease, even one dated ahead. */
  markLive(rows: readonly NodeRow[]): NodeRow[] {
    const now = this.#options.now();
    const signs = rows.map(({ url, seenAt }) => [url, String(seenAt)] as const);
    this.#heartbeats.update(signs, now);
    const nodes = rows.map((node) => {
      const isSilent = this.#heartbeats.unchangedMs(node.url, now) > this.#options.leaseMs;
      return { ...node, isLive: node.isLive && !isSilent };
    });
    const live = nodes.filter(({ isLive }) => isLive).map(processOf);
    this.#livePolls = new Map(live.map((name) => [name, (this.#livePolls.get(name) ?? 0) + 1]));
    return nodes;
  }

  /** The process has been live for long enough to receive a shard. */
  isEstablished(node: NodeRow): boolean {
    return (this.#livePolls.get(processOf(node)) ?? 0) >= establishedPolls;
  }

  /** `rows` is the complete list of shards that may be taken over now. */
  freeShards(rows: readonly ShardRow[]): FreeShard[] {
    const now = this.#options.now();
    const epochs = rows.map(({ shard, epoch }) => [String(shard), String(epoch)] as const);
    this.#free.update(epochs, now);
    return rows.map(({ shard, reservedFor }) => ({
      ...{ shard, reservedFor },
      freeMs: this.#free.unchangedMs(String(shard), now),
    }));
  }
}

/** Identifies a process: after a restart, the same URL has another key. */
export function processOf({ url, key }: NodeRow): string {
  return `${url} ${key}`;
}
