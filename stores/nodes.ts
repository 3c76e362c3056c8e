// The seam to the rows that record a cluster's nodes and the owner of each shard. The store alone
// decides which node may commit. These rows say which node should try, and for how long an owner's
// memory is valid.

import { StoreError } from "./store.ts";

export interface NodeRow {
  /** Where other nodes reach it, such as `http://10.0.0.7:9090`. */
  readonly url: string;
  /** The key that it expects of other nodes. */
  readonly key: string;
  readonly version: string;
  /** Instants of the database's clock. */
  readonly startedAt: number;
  readonly seenAt: number;
  /** The node is shutting down. */
  readonly isDraining: boolean;
  /** An operator asked the node to hand over its shards; a restart ends this. */
  readonly isDrainRequested: boolean;
  /** It sent a heartbeat within the ownership lease. */
  readonly isLive: boolean;
}

export type Self = Omit<NodeRow, "startedAt" | "seenAt" | "isDrainRequested" | "isLive">;

/** One process of a node: a restart under the same URL has another key. */
export type NodeProcess = Pick<NodeRow, "url" | "key">;

/** The owner of a shard, and the epoch of its takeover. */
export interface Ownership {
  readonly url: string;
  /** Increases by one with each takeover of the shard. */
  readonly epoch: number;
}

/** A shard and its owner, if any. */
export interface ShardRow {
  readonly shard: number;
  /** `null`: the shard is free. */
  readonly url: string | null;
  /** The number of takeovers so far. */
  readonly epoch: number;
  /** When the ownership ends, by the database's clock; each renewal changes it. */
  readonly leaseUntil: number;
  /** The owner has not renewed the shard in time, so any node may take it over. */
  readonly isLapsed: boolean;
  /** URL of the node that the last owner released the shard for; `null`: any node. */
  readonly reservedFor: string | null;
  /** When the shard was last taken over, by the database's clock; `null`: never. */
  readonly takenAt: number | null;
}

/** A shard that a node owns, with the epoch of its takeover. */
export interface ShardEpoch {
  readonly shard: number;
  readonly epoch: number;
}

/** All rows of one database, from one read. */
export interface ClusterView {
  /** The shards of this database, by number. */
  readonly shards: readonly ShardRow[];
  /** Another live process uses this node's URL. */
  readonly isContested: boolean;
  readonly nodes: readonly NodeRow[];
  /** The database's clock. */
  readonly now: number;
}

/** How a cluster's shards are divided; recorded in each of its databases. */
export interface ClusterShape {
  /** Shards of the whole cluster: shard i is in database i modulo `databases`. */
  readonly shards: number;
  /** The index of this database, from 0. */
  readonly database: number;
  readonly databases: number;
}

/** The shards that are in this database. */
export function shardsOf({ shards, database, databases }: ClusterShape): number[] {
  return Array.from({ length: shards }, (_, shard) => shard).filter(
    (shard) => shard % databases === database,
  );
}

/** The value for the shard's database; `perDatabase` has one per database, in order. */
export function ofShard<T>(shard: number, perDatabase: readonly T[]): T {
  return perDatabase[shard % perDatabase.length] as T;
}

/** Throws `unusable` if a database would have no shard. */
export function refuseEmpty({ shards, databases }: ClusterShape): void {
  if (shards >= databases) return;
  const got = `got ${shards} for ${databases} databases`;
  throw new StoreError("unusable", `the cluster has too few shards; ${got}`);
}

/** Throws `unusable` if the cluster was made with another shape than `asked`. */
export function refuseOtherShape(recorded: ClusterShape, asked: ClusterShape): void {
  const unusable = (text: string): StoreError => new StoreError("unusable", text);
  if (recorded.shards !== asked.shards) {
    const [expected, got] = [recorded.shards, asked.shards];
    throw unusable(`the cluster was made with ${expected} shards; got --shards ${got}`);
  }
  if (recorded.databases !== asked.databases) {
    const [expected, got] = [recorded.databases, asked.databases];
    throw unusable(`the cluster was made with ${expected} databases; got ${got} of --database-url`);
  }
  if (recorded.database !== asked.database) {
    const [expected, got] = [recorded.database + 1, asked.database + 1];
    throw unusable(`the database is number ${expected} of the cluster; got it as number ${got}`);
  }
}

/** Whether the error only means that the database is unreachable. */
export function isUnreachable(cause: unknown): cause is StoreError {
  return cause instanceof StoreError && cause.fault === "failed";
}

/** Every method throws `StoreError` if the database is unreachable. */
export interface NodeTable {
  /** Renews the node's row and the shards that it still owns at those epochs; reads all rows. */
  heartbeat(self: Self, owned: readonly ShardEpoch[]): Promise<ClusterView>;
  /**
   * Takes ownership of a shard that is free, lapsed or already this node's, or whose `leaseUntil`
   * is still `lapsed`, the value of a lease that has lapsed by the caller's own clock. Resolves to
   * the epoch; `null`: the shard has another owner.
   */
  takeOver(self: Self, shard: number, lapsed: number | null): Promise<number | null>;
  /** Frees a closed shard. `reservedFor`: URL of the node that should take it over; `null`: any. */
  release(self: Self, owned: ShardEpoch, reservedFor: string | null): Promise<void>;
  /** Records whether that process should drain. Returns `false` if it has no row. */
  requestDrain(node: NodeProcess, isRequested: boolean): Promise<boolean>;
  /** Removes the row of this node. */
  leave(self: Self): Promise<void>;
  close(): Promise<void>;
}
