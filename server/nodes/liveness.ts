// For how long this node has seen the rows as they are, by its own clock. The database's may be set
// back, or another database may take over whose clock is behind.

import type { NodeRow, ShardRow } from "../../stores/nodes.ts";
import type { FreeShard } from "./share.ts";
import { StalenessTracker } from "./staleness-tracker.ts";

interface LivenessOptions {
  readonly leaseMs: number;
  /** Milliseconds by a steady clock. */
  readonly now: () => number;
}

/** Looks that have to have shown a node before it is given a shard. */
const looksUntilKnown = 2;

export class Liveness {
  readonly #options: LivenessOptions;
  readonly #leases = new StalenessTracker();
  readonly #signsOfLife = new StalenessTracker();
  readonly #free = new StalenessTracker();
  /** Looks in a row that have shown a process to be live, by URL and key. */
  #looks: ReadonlyMap<string, number> = new Map();

  constructor(options: LivenessOptions) {
    this.#options = options;
  }

  /**
   * An owner that has not renewed its lease for so long by this node's own clock has lapsed too. By
   * that of a database that was set back it would last for as much longer.
   */
  seeShards(rows: readonly ShardRow[]): ShardRow[] {
    const leases = rows.map(
      ({ shard, epoch, leaseUntil }) => [String(shard), `${epoch} ${leaseUntil}`] as const,
    );
    this.#leases.see(leases, this.#options.now());
    return rows.map((row) => ({ ...row, isLapsed: row.isLapsed || this.isUnrenewed(row) }));
  }

  isUnrenewed({ shard, url }: ShardRow): boolean {
    const { leaseMs, now } = this.#options;
    return url !== null && this.#leases.msOf(String(shard), now()) > leaseMs;
  }

  /** Nor does a node live whose last sign of life is that old, however far ahead its instant lies. */
  seeNodes(rows: readonly NodeRow[]): NodeRow[] {
    const now = this.#options.now();
    const signs = rows.map(({ url, seenAt }) => [url, String(seenAt)] as const);
    this.#signsOfLife.see(signs, now);
    const nodes = rows.map((node) => {
      const isSilent = this.#signsOfLife.msOf(node.url, now) > this.#options.leaseMs;
      return { ...node, isLive: node.isLive && !isSilent };
    });
    const live = nodes.filter(({ isLive }) => isLive).map(processOf);
    this.#looks = new Map(live.map((name) => [name, (this.#looks.get(name) ?? 0) + 1]));
    return nodes;
  }

  /** Whether the process is there for long enough to be given a shard. */
  isKnown(node: NodeRow): boolean {
    return (this.#looks.get(processOf(node)) ?? 0) >= looksUntilKnown;
  }

  /** All shards that are free or lapsed now. */
  seeFree(rows: readonly ShardRow[]): FreeShard[] {
    const now = this.#options.now();
    const epochs = rows.map(({ shard, epoch }) => [String(shard), String(epoch)] as const);
    this.#free.see(epochs, now);
    return rows.map(({ shard, url, meantFor }) => ({
      ...{ shard, meantFor: url === null ? meantFor : null },
      freeMs: this.#free.msOf(String(shard), now),
    }));
  }
}

/** Names a process: one that has started anew at the same URL has another key. */
export function processOf({ url, key }: NodeRow): string {
  return `${url} ${key}`;
}
