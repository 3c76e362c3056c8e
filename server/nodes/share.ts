// How the nodes share the shards of one database. Each node decides from the rows that all nodes
// read: it takes free shards up to its share, and hands shards over to nodes with fewer. A shard is
// never taken from an owner that renews it.

import type { NodeRow, ShardRow } from "../../stores/nodes.ts";

/** A shard that is free, or whose lease lapsed. */
export interface FreeShard {
  readonly shard: number;
  readonly meantFor: string | null;
  /** Milliseconds since this node first saw it free. */
  readonly freeMs: number;
}

/** After this long, any node takes a free shard, whatever its share. */
export const freeMsMax = 2_000;

/** The URLs of the nodes that may own shards. */
interface Takers {
  readonly self: string;
  readonly others: readonly string[];
}

interface ToTake extends Takers {
  /** The number of shards in the database. */
  readonly shardCount: number;
  /** The number of shards that this node owns. */
  readonly heldCount: number;
  readonly free: readonly FreeShard[];
}

/** Returns the free shards that this node should take now. */
export function shardsToTake({ self, others, shardCount, heldCount, free }: ToTake): number[] {
  const takers = [self, ...others].sort();
  const share = Math.ceil(shardCount / takers.length);
  const isMine = ({ meantFor, freeMs }: FreeShard): boolean =>
    meantFor === self || freeMs >= freeMsMax;
  const mine = free.filter(isMine);
  const shared = free.filter(
    (one) => !isMine(one) && !(one.meantFor !== null && others.includes(one.meantFor)),
  );
  const room = Math.max(0, share - heldCount - mine.length);
  // Each node starts at a different shard, so that few nodes request the same one.
  const from = Math.floor((takers.indexOf(self) * shared.length) / takers.length);
  const turned = [...shared.slice(from), ...shared.slice(0, from)];
  return [...mine, ...turned.slice(0, room)].map(({ shard }) => shard);
}

interface HandOver {
  readonly shard: number;
  readonly to: string;
}

interface ToHandOver extends Takers {
  readonly free: readonly FreeShard[];
  readonly shards: readonly ShardRow[];
  /** The other nodes that have been live long enough to receive a shard. */
  readonly known: readonly string[];
  /** Numbers of the shards that this node owns. */
  readonly held: readonly number[];
}

/**
 * Returns the shard that this node should hand over now, if any. The receiver is the node with the
 * fewest shards, and has at least two fewer. Only the first node with the most shards hands over,
 * and only after the free shards were taken. Otherwise several nodes would give to one newcomer at
 * once.
 */
export function shardToHandOver({
  self,
  others,
  free,
  shards,
  known,
  held,
}: ToHandOver): HandOver | null {
  if (free.some(({ freeMs }) => freeMs < freeMsMax)) return null;
  const counts = countsOf(shards);
  const has = (url: string): number => counts.get(url) ?? 0;
  const comesBefore = (url: string): boolean =>
    has(url) > held.length || (has(url) === held.length && url < self);
  const to = fewest(known, counts);
  const shard = held.at(-1);
  if (shard === undefined || to === null || others.some(comesBefore)) return null;
  return held.length - has(to) >= 2 ? { shard, to } : null;
}

/** Returns the URL of the node with the fewest shards; `null` if there are no nodes. */
export function leastLoaded(urls: readonly string[], shards: readonly ShardRow[]): string | null {
  return fewest(urls, countsOf(shards));
}

function fewest(urls: readonly string[], counts: ReadonlyMap<string, number>): string | null {
  const sorted = urls.toSorted((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0));
  return sorted[0] ?? null;
}

/** Counts the shards per node: those that it owns, and free ones that are meant for it. */
function countsOf(shards: readonly ShardRow[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { url, meantFor } of shards) {
    const node = url ?? meantFor;
    if (node !== null) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return counts;
}

type Candidate = Pick<NodeRow, "url" | "isLive" | "isDraining" | "isDrainRequested">;

/**
 * Returns the URLs of the nodes of a cluster that take shards. A request to drain has no effect
 * while no other node could take the shards: serving matters more than draining.
 */
export function takersAmong(nodes: readonly Candidate[]): string[] {
  const able = nodes.filter(({ isLive, isDraining }) => isLive && !isDraining);
  const willing = able.filter(({ isDrainRequested }) => !isDrainRequested);
  return (willing.length > 0 ? willing : able).map(({ url }) => url);
}
