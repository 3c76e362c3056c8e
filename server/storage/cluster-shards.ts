// Finds the number of shards in the databases before any shard is opened, so that a refused start
// leaves nothing behind.

import { limits } from "../../engine/model/limits.ts";
import {
  type ClusterShape,
  isUnreachable,
  type NodeTable,
  refuseEmpty,
  refuseOtherShape,
} from "../../stores/nodes.ts";
import {
  clusterOf,
  countSchemas,
  openNodes,
  type SharedSession,
  sessionOf,
} from "../../stores/open.ts";
import { StoreError } from "../../stores/store.ts";
import { databaseName } from "../config/cluster-rules.ts";
import type { Config } from "../config/settings.ts";
import { postgresOf } from "./engine-options.ts";

/** The number of shards of a new cluster: enough for nodes that join later. */
const newClusterShards = 16;

interface DatabaseShape {
  readonly database: number;
  /** `null`: no node was ever started on it. */
  readonly recorded: ClusterShape | null;
  /** The number of shards of a single server; 0 in a cluster's database. */
  readonly schemas: number;
}

export function sessionFor({ databasePooler: pooler, requireReplica }: Config): SharedSession {
  return sessionOf({ pooler, requireReplica }, limits.shardsMax);
}

/** Resolves to the number of shards of a server or a cluster, existing or new. */
export async function resolveShardCount(config: Config): Promise<number> {
  const session = sessionFor(config);
  const databases = config.databaseUrl.map((_, database) => database);
  const inspections = databases.map((database) => inspect(config, database, session));
  const inspected = await Promise.allSettled(inspections);
  const found = inspected.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const causes = inspected.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  const recorded = found.find((one) => one.recorded !== null)?.recorded ?? null;
  for (const cause of causes) {
    if (!isUnreachable(cause)) throw cause;
    // The shape of a cluster is recorded only when all databases are reachable.
    if (recorded === null) throw databases.length === 1 ? cause : forNewCluster(cause);
  }
  return config.nodeUrl === ""
    ? serverShards(config, found)
    : clusterShards(config, { found, recorded });
}

function forNewCluster({ fault, message, cause }: StoreError): StoreError {
  return new StoreError(fault, `${message}; a new cluster needs all of its databases`, cause);
}

async function inspect(
  config: Config,
  database: number,
  session: SharedSession,
): Promise<DatabaseShape> {
  const store = postgresOf(config, database);
  return await nameDatabase(config, database, async () => {
    const schemas = await countSchemas(store, session);
    // Read last: another node may create the cluster meanwhile, and its shards would be counted as
    // those of a single server.
    const recorded = await clusterOf(store, session);
    return { database, recorded, schemas: recorded === null ? schemas : 0 };
  });
}

function serverShards({ shards }: Config, [found]: readonly DatabaseShape[]): number {
  const databases = found?.recorded?.databases ?? 1;
  if (databases > 1) {
    const expected = "expected --node-url and a --database-url for each";
    throw new StoreError(
      "unusable",
      `the database is one of the ${databases} of a cluster; ${expected}`,
    );
  }
  return shards ?? (found?.recorded?.shards || found?.schemas || 1);
}

interface InCluster {
  readonly found: readonly DatabaseShape[];
  readonly recorded: ClusterShape | null;
}

async function clusterShards(config: Config, { found, recorded }: InCluster): Promise<number> {
  const databases = config.databaseUrl.length;
  const schemas = databases === 1 ? (found[0]?.schemas ?? 0) : 0;
  const shards = config.shards ?? recorded?.shards ?? (schemas || newClusterShards);
  for (const one of found) {
    const { database } = one;
    const shape = { shards, database, databases };
    await nameDatabase(config, database, async () => {
      refuseEmpty(shape);
      if (one.recorded !== null) refuseOtherShape(one.recorded, shape);
      else if (databases > 1 && one.schemas > 0) {
        const expected = "expected a database without shards, or another --database-schema";
        const got = `got ${one.schemas} shards`;
        throw new StoreError(
          "unusable",
          `the database belongs to a single server; ${expected}, ${got}`,
        );
      }
    });
  }
  return shards;
}

/** Returns a function per database that opens its table of nodes. */
export function nodesIn(
  config: Config & { readonly shards: number },
  leaseMs: number,
  session: SharedSession,
): readonly (() => Promise<NodeTable>)[] {
  const { shards, databaseUrl } = config;
  return databaseUrl.map((_, database) => () => {
    const cluster = { shards, database, databases: databaseUrl.length };
    const store = postgresOf(config, database);
    return nameDatabase(config, database, () => openNodes(store, { leaseMs, cluster }, session));
  });
}

/** Adds the name of the database to a failure, if there are several. */
async function nameDatabase<T>(
  { databaseUrl }: Config,
  database: number,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError) || databaseUrl.length === 1) throw error;
    const { fault, message, cause } = error;
    const place = `database ${database + 1}, '${databaseName(databaseUrl[database] ?? "")}'`;
    throw new StoreError(fault, `${message}; ${place}`, cause);
  }
}
