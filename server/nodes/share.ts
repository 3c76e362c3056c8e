// How the nodes share out the shards of one database. Each node decides for itself, from the rows that
// all of them see: it takes free shards up to its share, and hands shards over to nodes with fewer. A
// shard is never taken from an owner that renews it.

import type { NodeRow, ShardRow } from "../../stores/nodes.ts";

/** A shard that is free, or whose lease lapsed. */
export interface FreeShard {
  readonly shard: number;
  readonly meantFor: string | null;
  /** Milliseconds since this node first saw it free. */
  readonly freeMs: number;
}

/** After so long a free shard is taken by any node, whatever its share. */
export const freeMsMax = 2_000;

/** The nodes that may have shards, by URL: this one, and the others that take shards. */
interface Takers {
  readonly self: string;
  readonly others: readonly string[];
}

interface ToTake extends Takers {
  /** How many shards the database has. */
  readonly shardCount: number;
  /** How many shards this node holds. */
  readonly heldCount: number;
  readonly free: readonly FreeShard[];
}

/** The free shards that this node is to take now. */
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
  // Each node begins elsewhere, so that few nodes ask for the same shard.
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
  /** The others that have been seen often enough to be given a shard. */
  readonly known: readonly string[];
  /** Numbers of the shards that this node holds. */
  readonly held: readonly number[];
}

/**
 * The shard that this node is to hand over now, if any: to the node with the fewest, which has to have
 * at least two fewer. Of all nodes only one with the most shards hands over, and only once what is
 * free has been taken: else several would give to one newcomer at once.
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

/** The node that has the fewest shards; `null` if there are no nodes. */
export function leastLoaded(urls: readonly string[], shards: readonly ShardRow[]): string | null {
  return fewest(urls, countsOf(shards));
}

function fewest(urls: readonly string[], counts: ReadonlyMap<string, number>): string | null {
  const sorted = urls.toSorted((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0));
  return sorted[0] ?? null;
}

/** Shards by the node that has them, or is to take them. */
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
 * URLs of the nodes that take shards, among all of a cluster. A request to drain has no effect while no
 * other node could take the shards: a cluster that serves is better than a node that is empty.
 */
export function takersAmong(nodes: readonly Candidate[]): string[] {
  const able = nodes.filter(({ isLive, isDraining }) => isLive && !isDraining);
  const willing = able.filter(({ isDrainRequested }) => !isDrainRequested);
  return (willing.length > 0 ? willing : able).map(({ url }) => url);
}
