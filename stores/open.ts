// Opens stores from their configuration. No other file knows the kinds of store.

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
      /** `postgres://user:password@host:5432/name`; with `host,host`, the first primary is used. */
      readonly url: string;
      /** Prefix of the schemas, one per shard, created if missing; default `holdfast`. */
      readonly schema?: string;
    }
  | {
      readonly kind: "sqlite";
      /** Created if missing; has one file per shard. */
      readonly directory: string;
      /** `full` (default) survives a power cut, `normal` a killed process. */
      readonly durability?: Durability;
      /** Open even if a shard's log is damaged and committed turns are lost; default false. */
      readonly acceptLogLoss?: boolean;
      /** Bytes reserved per shard for a full disk; default 8 MiB, 0 = none. */
      readonly ballastBytes?: number;
      /** Maximum size of a shard's file, in pages of 4 KiB; default no bound. */
      readonly pagesMax?: number;
    };

type PostgresConfig = Extract<StoreConfig, { kind: "postgres" }>;

/**
 * `testClock`: the store's instants come from a test clock and may be far ahead; default false,
 * `null` accepts both. `ownership`: the node that owns the shard, if several share a database.
 */
export type StoreOptions = StoreConfig & {
  readonly testClock?: boolean | null;
  /** For `sqlite` with virtual clocks; default the system's. */
  readonly syncer?: Syncer;
  /** For `postgres`. */
  readonly session?: SharedSession;
  readonly ownership?: Ownership;
};

/** Options of sessions with a database, and the commits that this process has acknowledged. */
export type SharedSession = Omit<SessionOptions, "url"> & { readonly acknowledged?: Acknowledged };

/** For all shards of a process, so that it detects acknowledged commits that a database lost. */
export function sessionOf(options: Omit<SessionOptions, "url">, shardsMax: number): SharedSession {
  return { ...options, acknowledged: acknowledgedOf(shardsMax) };
}

/** Outcomes of commits that this process has looked up. */
export function commitFatesOf({ acknowledged }: SharedSession): CommitFates {
  return acknowledged === undefined ? { lost: 0, held: 0, notHeld: 0 } : fatesOf(acknowledged);
}

const ballastBytesDefault = 8 * 1024 * 1024;

/** The durability that health, metrics and benchmarks report. */
export function durabilityOf(config: StoreConfig): Durability | "none" {
  if (config.kind === "memory") return "none";
  // Sessions request it; whether the database honours it is up to its operator.
  return config.kind === "postgres" ? "full" : (config.durability ?? "full");
}

/**
 * The node table of one database of a cluster, created if missing. Throws `StoreError`, `unusable`
 * if the database belongs to a cluster of another shape.
 */
export async function openNodes(
  { url, schema = "holdfast" }: PostgresConfig,
  { leaseMs, cluster }: { readonly leaseMs: number; readonly cluster: ClusterShape },
  session: SharedSession,
): Promise<NodeTable> {
  const { PostgresNodes } = await import("./postgres/nodes.ts");
  return PostgresNodes.open({ ...session, url, schema, leaseMs, cluster });
}

/** The cluster of a database; `null` if no node has ever used it. Throws `StoreError`. */
export async function clusterOf(
  { url, schema = "holdfast" }: PostgresConfig,
  session: SharedSession,
): Promise<ClusterShape | null> {
  const { clusterIn } = await import("./postgres/nodes.ts");
  return clusterIn({ ...session, url, schema });
}

/**
 * Opens the store of one shard, or creates it, with a tag from `newTag`. Throws `StoreError`,
 * `unusable` if it was created with a test clock and is opened without, or the reverse.
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
    // Lazy: a server on files would pay the memory and start-up time of a client it does not use.
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
    throw new StoreError("unusable", "the data folder cannot be created", cause);
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

/** Opens all stores, and new ones to replace them. Throws `StoreError`. */
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

/** Finishes a killed reshard and returns the data folder's shard count. Throws `StoreError`. */
export function countStores(directory: string): number {
  finishReshard(directory);
  return storesIn(directory);
}

/** The number of shards in a database, or in all databases of its cluster. Throws `StoreError`. */
export async function countSchemas(
  { url, schema = "holdfast" }: PostgresConfig,
  session: SharedSession = {},
): Promise<number> {
  const { schemasIn } = await import("./postgres/reshard-schemas.ts");
  return schemasIn({ ...session, url, schema });
}
