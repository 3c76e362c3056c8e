// The only place that knows which kinds of store there are.

import { mkdirSync } from "node:fs";
import type { Replacement, TransferableStore } from "./backend.ts";
import { openMemoryStore } from "./memory/store.ts";
import type { ClusterShape, NodeTable, Ownership } from "./nodes.ts";
import {
  type Acknowledged,
  acknowledgedOf,
  type CommitFates,
  fatesOf,
} from "./postgres/acknowledged.ts";
import type { SessionOptions } from "./postgres/connection.ts";
import { type Durability, isNoRoom, noRoom } from "./sqlite/connect.ts";
import { finishReshard, openReshardFolder, storesIn } from "./sqlite/reshard-folder.ts";
import { openSqliteStore } from "./sqlite/store.ts";
import type { Syncer } from "./sqlite/sync.ts";
import { StoreError } from "./store.ts";

export type StoreConfig =
  | { readonly kind: "memory" }
  | {
      readonly kind: "postgres";
      /** Such as `postgres://user:password@host:5432/name`; of `host,host` the first that is a primary. */
      readonly url: string;
      /** Begins the names of the database schemas, one per shard, which are made when missing; default `holdfast`. */
      readonly schema?: string;
    }
  | {
      readonly kind: "sqlite";
      /** Made when it is missing; one file per shard goes into it. */
      readonly directory: string;
      /** `full` (default) survives a power cut, `normal` a killed process. */
      readonly durability?: Durability;
      /** Start although the log of a shard is damaged and committed turns are lost; default false. */
      readonly acceptLogLoss?: boolean;
      /** Set aside per shard for a full disk; default 8 MiB, 0 = none. */
      readonly ballastBytes?: number;
      /** The most a shard's file may grow to, in pages of 4 KiB; default no bound. */
      readonly pagesMax?: number;
    };

type PostgresConfig = Extract<StoreConfig, { kind: "postgres" }>;

/**
 * `testClock`: its instants are those of a test clock, and may be far ahead; default false, `null`:
 * whichever they are. `ownership`: the node that the shards belong to, where several share a
 * database.
 */
export type StoreOptions = StoreConfig & {
  readonly testClock?: boolean | null;
  /** Of `sqlite`, for virtual clocks; default that of the system. */
  readonly syncer?: Syncer;
  /** Of `postgres`. */
  readonly session?: SharedSession;
  readonly ownership?: Ownership;
};

/** How sessions with a database are to be, and what the process knows of it. */
export type SharedSession = Omit<SessionOptions, "url"> & { readonly acknowledged?: Acknowledged };

/** For all shards of a process, which then notices that a database has lost what it acknowledged. */
export function sessionOf(options: Omit<SessionOptions, "url">, shardsMax: number): SharedSession {
  return { ...options, acknowledged: acknowledgedOf(shardsMax) };
}

/** What became of commits, as far as the process noticed. */
export function commitFatesOf({ acknowledged }: SharedSession): CommitFates {
  return acknowledged === undefined ? { lost: 0, held: 0, notHeld: 0 } : fatesOf(acknowledged);
}

const ballastBytesDefault = 8 * 1024 * 1024;

/** What the store's answers promise, in a word for health, metrics and benchmarks. */
export function durabilityOf(config: StoreConfig): Durability | "none" {
  if (config.kind === "memory") return "none";
  // A session asks for it itself; how the database keeps it is for who runs that.
  return config.kind === "postgres" ? "full" : (config.durability ?? "full");
}

/**
 * The rows of one database of a cluster, which are made when missing. Throws `StoreError`: `unusable`
 * if the database is of a cluster of another shape.
 */
export async function openNodes(
  { url, schema = "holdfast" }: PostgresConfig,
  { leaseMs, cluster }: { readonly leaseMs: number; readonly cluster: ClusterShape },
  session: SharedSession,
): Promise<NodeTable> {
  const { PostgresNodes } = await import("./postgres/nodes.ts");
  return PostgresNodes.open({ ...session, url, schema, leaseMs, cluster });
}

/** The cluster that a database is of; `null` if no node was ever started on it. Throws `StoreError`. */
export async function clusterOf(
  { url, schema = "holdfast" }: PostgresConfig,
  session: SharedSession,
): Promise<ClusterShape | null> {
  const { clusterIn } = await import("./postgres/nodes.ts");
  return clusterIn({ ...session, url, schema });
}

/**
 * Opens the store of one shard, or makes it. `newTag` is asked only for a new one. Throws
 * `StoreError`: `unusable` where it was made for a test clock, and is opened without, or the
 * other way round.
 */
export async function openStore(
  config: StoreOptions,
  shard: number,
  newTag: () => string,
): Promise<TransferableStore> {
  if (config.kind === "memory") return openMemoryStore({ tag: newTag() });
  const { testClock = false, ownership } = config;
  if (config.kind === "postgres") {
    const { url, schema = "holdfast", session = {} } = config;
    // Its client library takes memory and time at a start, of which a server on files has no use.
    const { openPostgresStore } = await import("./postgres/store.ts");
    return openPostgresStore({
      ...{ ...session, url, schema, shard, newTag, testClock },
      ...(ownership && { ownership }),
    });
  }
  try {
    mkdirSync(config.directory, { recursive: true, mode: 0o700 });
    finishReshard(config.directory);
  } catch (cause) {
    if (isNoRoom(cause)) throw noRoom(cause);
    if (cause instanceof StoreError) throw cause;
    throw new StoreError("unusable", "the data directory cannot be made", cause);
  }
  return openSqliteStore({
    path: `${config.directory}/shard-${shard}.db`,
    durability: config.durability ?? "full",
    newTag,
    acceptLogLoss: config.acceptLogLoss ?? false,
    ballastBytes: config.ballastBytes ?? ballastBytesDefault,
    testClock,
    ...(config.pagesMax === undefined ? {} : { pagesMax: config.pagesMax }),
    ...(config.syncer && { syncer: config.syncer }),
  });
}

/** Stores that a reshard can replace. */
export type DurableConfig = Exclude<StoreConfig, { kind: "memory" }>;

/** New stores, to take the place of those that there are. Throws `StoreError`. */
export async function openForReshard(
  config: DurableConfig,
  shards: number,
  newTag: () => string,
): Promise<Replacement> {
  if (config.kind === "sqlite") {
    const { directory, ballastBytes = ballastBytesDefault } = config;
    return openReshardFolder(directory, shards, { newTag, ballastBytes });
  }
  const { url, schema = "holdfast" } = config;
  const { openReshardSchemas } = await import("./postgres/reshard-schemas.ts");
  return openReshardSchemas({ url, schema }, shards, newTag);
}

/** How many shards a data folder has, once a reshard that was killed is finished. Throws `StoreError`. */
export function countStores(directory: string): number {
  finishReshard(directory);
  return storesIn(directory);
}

/** How many shards a database has; of a cluster, those of all of its databases. Throws `StoreError`. */
export async function countSchemas(
  { url, schema = "holdfast" }: PostgresConfig,
  session: SharedSession = {},
): Promise<number> {
  const { schemasIn } = await import("./postgres/reshard-schemas.ts");
  return schemasIn({ ...session, url, schema });
}
