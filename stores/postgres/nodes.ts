// The node table in PostgreSQL, with a connection of its own.

import {
  type ClusterShape,
  type ClusterView,
  type NodeProcess,
  type NodeRow,
  type NodeTable,
  refuseEmpty,
  refuseOtherShape,
  type Self,
  type ShardEpoch,
  type ShardRow,
  shardsOf,
} from "../nodes.ts";
import { StoreError } from "../store.ts";
import { int8Array } from "./arrays.ts";
import { Connection, type SessionOptions, type SqlValue } from "./connection.ts";
import { migrate, named, nodesSchema, presentFormat } from "./schema.ts";

interface SchemaOptions extends SessionOptions {
  /** Prefix of all schemas' names. */
  readonly schema: string;
}

export interface NodesOptions extends SchemaOptions {
  /** How long a node keeps ownership of a shard without renewing it. */
  readonly leaseMs: number;
  readonly cluster: ClusterShape;
}

const now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
/** A node that was not seen for this long is no longer reported. */
const forgottenMs = 3_600_000;

const texts = {
  heartbeat: `
    INSERT INTO nodes.node VALUES ($1::text, $2::text, $3::text, ${now}, ${now}, $4::boolean, false)
    ON CONFLICT (url) DO UPDATE SET key = excluded.key, version = excluded.version, seen_at = excluded.seen_at,
      draining = excluded.draining, drain_requested = node.drain_requested AND node.key = excluded.key,
      started_at = CASE WHEN node.key = excluded.key THEN node.started_at ELSE excluded.started_at END
    RETURNING (SELECT before.key FROM nodes.node AS before WHERE before.url = $1::text)`,
  renew: `
    UPDATE nodes.shard AS owned SET lease_until = ${now} + $4::bigint
    FROM unnest($2::bigint[], $3::bigint[]) AS renewed(number, epoch)
    WHERE owned.shard = renewed.number AND owned.epoch = renewed.epoch AND owned.url = $1::text`,
  shards: `SELECT shard, url, epoch, lease_until, lease_until < ${now}, meant_for, taken_at, ${now} FROM nodes.shard ORDER BY shard`,
  nodes: `SELECT url, key, version, started_at, seen_at, draining, drain_requested, seen_at > ${now} - $1::bigint FROM nodes.node WHERE seen_at > ${now} - ${forgottenMs} ORDER BY url`,
  takeOver: `
    UPDATE nodes.shard SET url = $1::text, epoch = epoch + 1, lease_until = ${now} + $3::bigint, meant_for = NULL,
      taken_at = ${now}
    WHERE shard = $2::bigint AND (url = $1::text OR url IS NULL OR lease_until < ${now} OR lease_until = $4::bigint)
    RETURNING epoch`,
  release: `
    UPDATE nodes.shard SET url = NULL, meant_for = $4::text
    WHERE shard = $2::bigint AND url = $1::text AND epoch = $3::bigint`,
  requestDrain: `
    UPDATE nodes.node SET drain_requested = $3::boolean WHERE url = $1::text AND key = $2::text RETURNING 1`,
  leave: "DELETE FROM nodes.node WHERE url = $1::text AND key = $2::text",
  cluster: "SELECT shards, database, databases FROM nodes.cluster",
} as const;

/** Quoted name of the schema of nodes. */
export function nodesName(schema: string): string {
  return `"${schema}_nodes"`;
}

/** The cluster of a database; `null` if no node has ever used it. Throws `StoreError`. */
export async function clusterIn(options: SchemaOptions): Promise<ClusterShape | null> {
  const connection = await Connection.open(options);
  try {
    return await recordedCluster(connection, options.schema);
  } finally {
    await connection.close();
  }
}

/** Like `clusterIn`, on an open connection. */
export async function recordedCluster(
  connection: Connection,
  schema: string,
): Promise<ClusterShape | null> {
  const name = nodesName(schema);
  if ((await presentFormat(connection, name, nodesSchema)) === null) return null;
  const [row] = await connection.promptRows(named(texts.cluster, nodesSchema, name));
  if (row === undefined) throw new StoreError("damaged", "the row of the cluster is missing");
  const [shards, database, databases] = row as [number, number, number];
  return { shards, database, databases };
}

function newCluster({ shards, database, databases }: ClusterShape): string {
  return `
    INSERT INTO nodes.cluster VALUES (1, ${shards}, ${database}, ${databases});
    INSERT INTO nodes.shard SELECT shard, NULL, 0, 0, NULL, NULL
    FROM generate_series(${database}, ${shards - 1}, ${databases}) AS shard`;
}

/** SQL that changes the number of shards of a cluster with one database, and frees all of them. */
export function reshardCluster(schema: string, shards: number): string {
  const text = `
    UPDATE nodes.cluster SET shards = ${shards};
    INSERT INTO nodes.shard
    SELECT shard, NULL, (SELECT coalesce(max(epoch), 0) + 1 FROM nodes.shard), 0, NULL, NULL
    FROM generate_series(0, ${shards - 1}) AS shard
    ON CONFLICT (shard) DO UPDATE SET url = NULL, epoch = excluded.epoch, lease_until = 0, meant_for = NULL;
    DELETE FROM nodes.shard WHERE shard >= ${shards}`;
  return named(text, nodesSchema, nodesName(schema));
}

export class PostgresNodes implements NodeTable {
  readonly #connection: Connection;
  readonly #name: string;
  readonly #leaseMs: number;
  readonly #shardCount: number;

  private constructor(connection: Connection, { schema, leaseMs, cluster }: NodesOptions) {
    this.#connection = connection;
    this.#name = nodesName(schema);
    this.#leaseMs = leaseMs;
    this.#shardCount = shardsOf(cluster).length;
  }

  /** Throws `StoreError`, `unusable` if the database belongs to a cluster of another shape. */
  static async open(options: NodesOptions): Promise<PostgresNodes> {
    const { schema, cluster } = options;
    refuseEmpty(cluster);
    const connection = await Connection.open(options);
    const nodes = new PostgresNodes(connection, options);
    try {
      await migrate(connection, nodes.#name, nodesSchema, () => newCluster(cluster));
      // Another node may have created it at the same time.
      refuseOtherShape((await recordedCluster(connection, schema)) ?? cluster, cluster);
      return nodes;
    } catch (cause) {
      void nodes.close();
      throw cause;
    }
  }

  #rows(text: string, values: readonly SqlValue[] = []) {
    return this.#connection.rows(named(text, nodesSchema, this.#name), values);
  }

  async heartbeat(
    { url, key, version, isDraining }: Self,
    owned: readonly ShardEpoch[],
  ): Promise<ClusterView> {
    const numbers = int8Array(owned.map(({ shard }) => shard));
    const epochs = int8Array(owned.map(({ epoch }) => epoch));
    // All statements are sent before the first is answered.
    const [heartbeats, , shards, nodes] = await Promise.all([
      this.#rows(texts.heartbeat, [url, key, version, String(isDraining)]),
      owned.length === 0 ? [] : this.#rows(texts.renew, [url, numbers, epochs, this.#leaseMs]),
      this.#rows(texts.shards),
      this.#rows(texts.nodes, [this.#leaseMs]),
    ]);
    const [first] = shards as unknown as StoredShard[];
    if (first === undefined || shards.length !== this.#shardCount) {
      const expected = `expected ${this.#shardCount} rows of shards, got ${shards.length}`;
      throw new StoreError("unusable", `the database was resharded; ${expected}`);
    }
    return {
      shards: (shards as unknown as StoredShard[]).map(shardRow),
      isContested: ![null, key].includes(heartbeats[0]?.[0] as string | null),
      nodes: (nodes as unknown as StoredNode[]).map(nodeRow),
      now: first[7],
    };
  }

  async takeOver({ url }: Self, shard: number, lapsed: number | null): Promise<number | null> {
    const [row] = await this.#rows(texts.takeOver, [url, shard, this.#leaseMs, lapsed]);
    return (row?.[0] as number | undefined) ?? null;
  }

  async release({ url }: Self, { shard, epoch }: ShardEpoch, reservedFor: string | null) {
    await this.#rows(texts.release, [url, shard, epoch, reservedFor]);
  }

  async requestDrain({ url, key }: NodeProcess, isRequested: boolean): Promise<boolean> {
    const rows = await this.#rows(texts.requestDrain, [url, key, String(isRequested)]);
    return rows.length > 0;
  }

  async leave({ url, key }: Self): Promise<void> {
    await this.#rows(texts.leave, [url, key]);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

type StoredShard = [
  shard: number,
  url: string | null,
  epoch: number,
  leaseUntil: number,
  isLapsed: boolean,
  reservedFor: string | null,
  takenAt: number | null,
  now: number,
];

function shardRow(row: StoredShard): ShardRow {
  const [shard, url, epoch, leaseUntil, isLapsed, reservedFor, takenAt] = row;
  return { shard, url, epoch, leaseUntil, isLapsed, reservedFor, takenAt };
}

type StoredNode = [
  url: string,
  key: string,
  version: string,
  startedAt: number,
  seenAt: number,
  isDraining: boolean,
  isDrainRequested: boolean,
  isLive: boolean,
];

function nodeRow(row: StoredNode): NodeRow {
  const [url, key, version, startedAt, seenAt, isDraining, isDrainRequested, isLive] = row;
  return { url, key, version, startedAt, seenAt, isDraining, isDrainRequested, isLive };
}
