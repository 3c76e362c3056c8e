// What a node knows of the cluster from its polls of one database. Pure: an event returns a new
// state, so that each case is a row of a test.

import type { ClusterView, NodeRow, Self, ShardEpoch, ShardRow } from "../../stores/nodes.ts";
import { processOf } from "./liveness.ts";
import { acceptingNodes } from "./share.ts";

/** Instants are of the node's steady clock, except those in the rows. */
export interface ClusterState {
  readonly self: Self;
  readonly view: ClusterView;
  /** When the last successful poll was sent. */
  readonly polledAt: number;
  /** Until when owners that were cut off together with this node may renew lapsed leases. */
  readonly graceUntil: number;
}

export function initialState(self: Self): ClusterState {
  const view = { shards: [], isContested: false, nodes: [], now: 0 };
  return { self, view, polledAt: Number.NEGATIVE_INFINITY, graceUntil: Number.NEGATIVE_INFINITY };
}

export interface Poll {
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly view: ClusterView;
  /** Shards that this node has released since the poll was sent; `view` may have older rows. */
  readonly released: ReadonlySet<number>;
  readonly owned: readonly ShardEpoch[];
}

export interface PollResult {
  readonly state: ClusterState;
  /** The owner or the epoch of a shard has changed. */
  readonly isOwnerChanged: boolean;
  /** Owned shards that another node has taken over. */
  readonly lost: readonly number[];
  /** Owned shards whose item leases ran by a clock that had stopped. */
  readonly outdated: readonly number[];
  /** How far this node's clock has fallen behind the database's since the last poll, at least. */
  readonly lagMs: number;
}

/** A machine that sleeps stops the clock that ends item leases. */
const lagMsMax = 1_000;

export function afterPoll(before: ClusterState, poll: Poll): PollResult {
  const { sentAt, receivedAt, view, released, owned } = poll;
  const shards = view.shards.map((row) =>
    released.has(row.shard) ? (rowOf(before, row.shard) ?? row) : row,
  );
  // At the first poll, an earlier process with this URL may just have ended.
  const isContested = view.isContested && before.polledAt !== Number.NEGATIVE_INFINITY;
  // Counted from the sending: after a stop of the process, the answer may be old when it is read.
  const state = { ...before, view: { ...view, shards, isContested }, polledAt: sentAt };
  const lagMs = Math.floor(view.now - before.view.now - (receivedAt - before.polledAt));
  const isOwn = ({ shard, epoch }: ShardEpoch): boolean => {
    const row = rowOf(state, shard);
    return row?.url === before.self.url && row.epoch === epoch;
  };
  const isChanged = ({ shard, url, epoch }: ShardRow): boolean => {
    const known = rowOf(before, shard);
    return known?.url !== url || known.epoch !== epoch;
  };
  return {
    ...{ state, lagMs, isOwnerChanged: shards.some(isChanged) },
    lost: owned.filter((one) => !isOwn(one)).map(({ shard }) => shard),
    outdated: lagMs > lagMsMax ? owned.filter(isOwn).map(({ shard }) => shard) : [],
  };
}

/** This node has changed the row of a shard. */
export function withRow(
  state: ClusterState,
  shard: number,
  change: Partial<ShardRow>,
): ClusterState {
  const shards = state.view.shards.map((row) =>
    row.shard === shard ? { ...row, ...change } : row,
  );
  return { ...state, view: { ...state.view, shards } };
}

/** Another node has reported the process, which replaces a former one with the same URL. */
export function withNode(state: ClusterState, node: NodeRow): ClusterState {
  const { nodes } = state.view;
  const isKnown = nodes.some((one) => one.isLive && processOf(one) === processOf(node));
  if (isKnown) return state;
  const others = nodes.filter(({ url }) => url !== node.url);
  return { ...state, view: { ...state.view, nodes: [...others, node] } };
}

export function rowOf({ view }: ClusterState, shard: number): ShardRow | undefined {
  return view.shards.find((row) => row.shard === shard);
}

export function liveNodes({ view }: ClusterState): readonly NodeRow[] {
  return view.nodes.filter(({ isLive }) => isLive);
}

/** The other live nodes. */
export function otherNodes(state: ClusterState): readonly NodeRow[] {
  return liveNodes(state).filter(({ url }) => url !== state.self.url);
}

export function isDrainRequested({ self, view }: ClusterState): boolean {
  const own = view.nodes.find(({ url, key }) => url === self.url && key === self.key);
  return own?.isDrainRequested ?? false;
}

/** The other live nodes that accept shards. */
export function otherAccepting(state: ClusterState): readonly NodeRow[] {
  const accepting = acceptingUrls(state);
  return otherNodes(state).filter(({ url }) => accepting.includes(url));
}

/** URLs of the live nodes that accept shards, this one included if it does. */
export function acceptingUrls(state: ClusterState): readonly string[] {
  const { url, isDraining } = state.self;
  const own = { url, isDraining, isDrainRequested: isDrainRequested(state), isLive: true };
  return acceptingNodes([own, ...otherNodes(state)]);
}

/** The rows of the shards that may be taken over, by a node that owns `owned`. */
export function freeRows(
  { self, view, graceUntil }: ClusterState,
  owned: readonly ShardEpoch[],
  now: number,
): ShardRow[] {
  return view.shards.flatMap((row) => {
    if (row.url === null) return [row];
    const isOwned = owned.some(({ shard }) => shard === row.shard);
    // A former process of this node owned the shard, or its release failed.
    const isFormer = row.url === self.url && !view.isContested && !isOwned;
    if (!isFormer && (!row.isLapsed || now <= graceUntil)) return [];
    return [{ ...row, reservedFor: isFormer ? self.url : null }];
  });
}
