// The seam between the nodes of a cluster and the rows that tell them of each other and of the owner
// of each shard. The store alone decides which node may commit; these rows say which node is to try,
// and for how long what an owner has in memory is the truth.

import { StoreError } from "./store.ts";

export interface NodeRow {
  /** Where the others reach it, such as `http://10.0.0.7:9090`. */
  readonly url: string;
  /** What it expects of the others. */
  readonly key: string;
  readonly version: string;
  /** Instants of the database's clock. */
  readonly startedAt: number;
  readonly seenAt: number;
  /** It is being stopped. */
  readonly isDraining: boolean;
  /** An operator wants it to be empty; a restarted process is not asked any more. */
  readonly isDrainRequested: boolean;
  /** It gave a sign of life within the time that an owner has. */
  readonly isLive: boolean;
}

export type Self = Omit<NodeRow, "startedAt" | "seenAt" | "isDrainRequested" | "isLive">;

/** A process: one that has started anew under the same URL has another key. */
export type NodeProcess = Pick<NodeRow, "url" | "key">;

/** Which node a shard has to belong to, to be opened, and as of which takeover. */
export interface Ownership {
  readonly url: string;
  /** Rises by one with each takeover of the shard. */
  readonly epoch: number;
}

export interface Owner extends Ownership {
  /** It has not renewed the shard in time: any node may take it over. */
  readonly isLapsed: boolean;
}

/** A shard and its owner, if it has one. */
export interface ShardRow {
  readonly shard: number;
  /** `null`: the shard is free. */
  readonly url: string | null;
  /** How often the shard has been taken over. */
  readonly epoch: number;
  /** Until when the owner has it, by the database's clock; each renewal changes it. */
  readonly leaseUntil: number;
  readonly isLapsed: boolean;
  /** URL of the node that the last owner gave it up for; `null` for any node. */
  readonly meantFor: string | null;
  /** When a node last took it over, by the database's clock; `null`: never. */
  readonly takenAt: number | null;
}

/** A shard as a node has taken it over. */
export interface ShardEpoch {
  readonly shard: number;
  readonly epoch: number;
}

/** What one look at the rows showed. */
export interface NodesSeen {
  /** The shards of this database, by number. */
  readonly shards: readonly ShardRow[];
  /** Another process gives signs of life under this node's URL. */
  readonly isContested: boolean;
  readonly nodes: readonly NodeRow[];
  /** The database's clock. */
  readonly now: number;
}

/** How a cluster is divided; recorded in each of its databases. */
export interface ClusterShape {
  /** How many the whole cluster has: shard i is in database i modulo `databases`. */
  readonly shards: number;
  /** Which of the databases this is, from 0 on. */
  readonly database: number;
  readonly databases: number;
}

/** Numbers of the shards in one database of a cluster. */
export function shardsOf({ shards, database, databases }: ClusterShape): number[] {
  return Array.from({ length: shards }, (_, shard) => shard).filter(
    (shard) => shard % databases === database,
  );
}

/** That of the database that the shard is in; `perDatabase`: one for each, in their order. */
export function ofShard<T>(shard: number, perDatabase: readonly T[]): T {
  return perDatabase[shard % perDatabase.length] as T;
}

/** Throws `unusable` if a database would have no shard. */
export function refuseEmpty({ shards, databases }: ClusterShape): void {
  if (shards >= databases) return;
  const got = `got ${shards} for ${databases} databases`;
  throw new StoreError("unusable", `the cluster has too few shards; ${got}`);
}

/** Throws `unusable` unless the database is the recorded part of the recorded cluster. */
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

/** The database cannot be reached, which says nothing about its content. */
export function isAway(cause: unknown): cause is StoreError {
  return cause instanceof StoreError && cause.fault === "failed";
}

/** Every method throws `StoreError` if the database cannot be reached. */
export interface NodeTable {
  /** Records that the node lives, renews the shards that it holds as of those epochs, and reads all rows. */
  look(self: Self, held: readonly ShardEpoch[]): Promise<NodesSeen>;
  /**
   * Takes a shard over if it is free, lapsed or this node's own from before, or if its `leaseUntil`
   * is still `unrenewed`, which was seen for as long as a lease. The epoch, or `null` if not taken.
   */
  takeOver(self: Self, shard: number, unrenewed: number | null): Promise<number | null>;
  /** Frees a shard that is closed. `meantFor`: URL of the node that is to take it, `null` for any. */
  giveUp(self: Self, held: ShardEpoch, meantFor: string | null): Promise<void>;
  /** Records whether that process is to drain. `false`: it has no row. */
  requestDrain(node: NodeProcess, isRequested: boolean): Promise<boolean>;
  /** Removes the row of this node. */
  leave(self: Self): Promise<void>;
  close(): Promise<void>;
}
