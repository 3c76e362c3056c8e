// How the nodes share the shards of one database. Each node decides from the rows that all nodes
// read: it takes over free shards up to its share, and hands shards over to nodes with fewer. A shard is
// never taken from an owner that renews it.

import type { NodeRow, ShardRow } from "../../stores/nodes.ts";

/** A shard that may be taken over. */
export interface FreeShard {
  readonly shard: number;
  /** URL of the node that should take it over; `null`: any. */
  readonly reservedFor: string | null;
  /** Milliseconds since this node first saw it free. */
  readonly freeMs: number;
}

/** After this long, any node takes a free shard, whatever its share. */
export const freeMsMax = 2_000;

interface Nodes {
  /** URL of this node. */
  readonly self: string;
  /** URLs of the nodes that accept shards. */
  readonly accepting: readonly string[];
}

interface TakeoverInput extends Nodes {
  /** The number of shards in the database. */
  readonly shardCount: number;
  /** The number of shards that this node owns. */
  readonly ownedCount: number;
  readonly free: readonly FreeShard[];
}

/** Returns the free shards that this node should take over now. */
export function shardsToTakeOver(input: TakeoverInput): number[] {
  const { self, shardCount, ownedCount, free } = input;
  const accepting = input.accepting.toSorted();
  const share = Math.ceil(shardCount / accepting.length);
  const isMine = ({ reservedFor, freeMs }: FreeShard): boolean =>
    reservedFor === self || freeMs >= freeMsMax;
  const mine = free.filter(isMine);
  const shared = free.filter(
    (one) => !isMine(one) && !(one.reservedFor !== null && accepting.includes(one.reservedFor)),
  );
  const room = Math.max(0, share - ownedCount - mine.length);
  // Each node starts at a different shard, so that few nodes request the same one.
  const from = Math.floor((accepting.indexOf(self) * shared.length) / accepting.length);
  const rotated = [...shared.slice(from), ...shared.slice(0, from)];
  return [...mine, ...rotated.slice(0, room)].map(({ shard }) => shard);
}

interface HandOverInput<Node> extends Nodes {
  readonly free: readonly FreeShard[];
  readonly shards: readonly ShardRow[];
  /** The other nodes that may receive a shard. */
  readonly receivers: readonly Node[];
  /** Numbers of the shards that this node owns and has open. */
  readonly open: readonly number[];
}

/**
 * Returns the shard that this node should hand over now, if any. The receiver is the node with the
 * fewest shards, and has at least two fewer. Only the first node with the most shards hands over,
 * and only after the free shards were taken over. Otherwise several nodes would hand shards over to
 * one new node at once.
 */
export function shardToHandOver<Node extends Url>(
  input: HandOverInput<Node>,
): { readonly shard: number; readonly to: Node } | null {
  const { self, accepting, free, shards, receivers, open } = input;
  if (free.some(({ freeMs }) => freeMs < freeMsMax)) return null;
  const counts = countsOf(shards);
  const has = (url: string): number => counts.get(url) ?? 0;
  const isFirst = accepting.every(
    (url) => url === self || has(url) < open.length || (has(url) === open.length && url > self),
  );
  const to = leastLoaded(receivers, shards);
  const shard = open.at(-1);
  if (shard === undefined || to === null || !isFirst) return null;
  return open.length - has(to.url) >= 2 ? { shard, to } : null;
}

/** Returns the node with the fewest shards; `null` if there are no nodes. */
export function leastLoaded<Node extends Url>(
  nodes: readonly Node[],
  shards: readonly ShardRow[],
): Node | null {
  const counts = countsOf(shards);
  const has = ({ url }: Url): number => counts.get(url) ?? 0;
  return nodes.toSorted((a, b) => has(a) - has(b))[0] ?? null;
}

/** Counts the shards per node: those that it owns, and free ones that are reserved for it. */
function countsOf(shards: readonly ShardRow[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { url, reservedFor } of shards) {
    const node = url ?? reservedFor;
    if (node !== null) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return counts;
}

type Url = Pick<NodeRow, "url">;
type Candidate = Pick<NodeRow, "url" | "isLive" | "isDraining" | "isDrainRequested">;

/**
 * Returns the URLs of the nodes that accept shards. A request to drain has no effect while no other
 * node accepts shards: serving matters more than draining.
 */
export function acceptingNodes(nodes: readonly Candidate[]): string[] {
  const able = nodes.filter(({ isLive, isDraining }) => isLive && !isDraining);
  const willing = able.filter(({ isDrainRequested }) => !isDrainRequested);
  return (willing.length > 0 ? willing : able).map(({ url }) => url);
}
