// The nodes that share a database as rows, on a connection of their own.

import type { NodeRow, NodesSeen, NodeTable, Self } from "../nodes.ts";
import { StoreError } from "../store.ts";
import { Connection, type SessionOptions, type Value } from "./connection.ts";
import { migrate, named, nodesSchema } from "./schema.ts";

export interface NodesOptions extends SessionOptions {
  /** Begins the names of all schemas. */
  readonly schema: string;
  /** How long an owner has without a sign of life. */
  readonly leaseMs: number;
}

const now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
/** A node that was not seen for so long is not told of any more. */
const forgottenMs = 3_600_000;

const texts = {
  signOfLife: `
    INSERT INTO nodes.node VALUES ($1::text, $2::text, $3::text, ${now}, ${now}, $4::boolean)
    ON CONFLICT (url) DO UPDATE SET key = excluded.key, version = excluded.version, seen_at = excluded.seen_at,
      draining = excluded.draining, started_at = CASE WHEN node.key = excluded.key THEN node.started_at ELSE excluded.started_at END
    RETURNING (SELECT before.key FROM nodes.node AS before WHERE before.url = $1::text)`,
  renew: `UPDATE nodes.owner SET lease_until = ${now} + $3::bigint WHERE url = $1::text AND epoch = $2::bigint`,
  owner: `SELECT url, epoch, lease_until, lease_until < ${now}, ${now} FROM nodes.owner`,
  nodes: `SELECT url, key, version, started_at, seen_at, draining, seen_at > ${now} - $1::bigint FROM nodes.node WHERE seen_at > ${now} - ${forgottenMs} ORDER BY url`,
  takeOver: `
    UPDATE nodes.owner SET url = $1::text, epoch = epoch + 1, lease_until = ${now} + $2::bigint
    WHERE url = $1::text OR url IS NULL OR lease_until < ${now} OR lease_until = $3::bigint RETURNING epoch`,
  giveUp: "UPDATE nodes.owner SET url = NULL WHERE url = $1::text AND epoch = $2::bigint",
  leave: "DELETE FROM nodes.node WHERE url = $1::text AND key = $2::text",
} as const;

/** What the schema of nodes is called, quoted. */
export function nodesName(schema: string): string {
  return `"${schema}_nodes"`;
}

export class PostgresNodes implements NodeTable {
  readonly #connection: Connection;
  readonly #name: string;
  readonly #leaseMs: number;

  private constructor(connection: Connection, { schema, leaseMs }: NodesOptions) {
    this.#connection = connection;
    this.#name = nodesName(schema);
    this.#leaseMs = leaseMs;
  }

  /** Throws `StoreError`. */
  static async open(options: NodesOptions): Promise<PostgresNodes> {
    const connection = await Connection.open(options);
    const nodes = new PostgresNodes(connection, options);
    try {
      await migrate(connection, nodes.#name, nodesSchema);
      return nodes;
    } catch (cause) {
      void nodes.close();
      throw cause;
    }
  }

  #rows(text: string, values: readonly Value[] = []) {
    return this.#connection.rows(named(text, nodesSchema, this.#name), values);
  }

  async look({ url, key, version, isDraining }: Self, epoch: number | null): Promise<NodesSeen> {
    const [signs, , owners, nodes] = await Promise.all([
      this.#rows(texts.signOfLife, [url, key, version, String(isDraining)]),
      epoch === null ? [] : this.#rows(texts.renew, [url, epoch, this.#leaseMs]),
      this.#rows(texts.owner),
      this.#rows(texts.nodes, [this.#leaseMs]),
    ]);
    const [owner] = owners as [string | null, number, number, boolean, number][];
    if (owner === undefined) throw new StoreError("damaged", "the row of the owner is missing");
    const [ownerUrl, ownerEpoch, leaseUntil, isLapsed, seenAt] = owner;
    return {
      owner: ownerUrl === null ? null : { url: ownerUrl, epoch: ownerEpoch, isLapsed },
      epoch: ownerEpoch,
      leaseUntil,
      isContested: ![null, key].includes(signs[0]?.[0] as string | null),
      nodes: (nodes as unknown as StoredNode[]).map(nodeRow),
      now: seenAt,
    };
  }

  async takeOver({ url }: Self, unrenewed: number | null): Promise<number | null> {
    const [row] = await this.#rows(texts.takeOver, [url, this.#leaseMs, unrenewed]);
    return (row?.[0] as number | undefined) ?? null;
  }

  async giveUp({ url }: Self, epoch: number): Promise<void> {
    await this.#rows(texts.giveUp, [url, epoch]);
  }

  async leave({ url, key }: Self): Promise<void> {
    await this.#rows(texts.leave, [url, key]);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

type StoredNode = [
  url: string,
  key: string,
  version: string,
  startedAt: number,
  seenAt: number,
  isDraining: boolean,
  isLive: boolean,
];

function nodeRow(row: StoredNode): NodeRow {
  const [url, key, version, startedAt, seenAt, isDraining, isLive] = row;
  return { url, key, version, startedAt, seenAt, isDraining, isLive };
}
