// Runs nodes as processes on PostgreSQL servers of their own, for benchmarks and tests.

import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { createClient } from "../client/client.ts";
import { shardOf } from "../engine/model/placement.ts";
import { type Postgres, startPostgres } from "../scripts/postgres.ts";
import { freePort } from "./child-server.ts";
import { cpuSecondsBelow } from "./process-usage.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

export interface NodeProcess extends ServerProcess {
  /** Its URL for clients. */
  readonly url: string;
  /** Its URL for other nodes. */
  readonly nodeUrl: string;
}

export interface NodeOptions {
  /** The port of the database, or of a wire to it; one per host if there are several. */
  readonly database?: number | readonly number[];
  /** Several databases, each as `database`; default all of the cluster's. */
  readonly databases?: readonly (number | readonly number[])[];
  /** The port of an ended node; default a free one. */
  readonly port?: number;
  /** The port of a wire through which the other nodes reach it. */
  readonly nodePort?: number;
  readonly lease?: string;
  readonly flags?: readonly string[];
  readonly under?: readonly string[];
}

export interface OwnerRow {
  /** The node's URL for other nodes. */
  readonly url: string | null;
  readonly epoch: number;
}

export interface ClusterOptions {
  /** Default 4; with one shard, a single node is the owner and the others forward. */
  readonly shards?: number;
  /** Default 1. */
  readonly databases?: number;
}

export class Cluster {
  readonly #shards: number;
  readonly #folder = mkdtempSync(join(tmpdir(), "holdfast-nodes-"));
  readonly #nodes = new Set<NodeProcess>();
  readonly databasePorts: readonly number[];
  readonly #postgres = new Map<number, Postgres>();
  /** URLs for reading the rows of the nodes, by database. */
  readonly #databaseUrls = new Map<number, string>();

  constructor({ shards = 4, databases = 1 }: ClusterOptions = {}) {
    this.#shards = shards;
    this.databasePorts = Array.from({ length: databases }, () => freePort());
  }

  /** The port of the first database. */
  get databasePort(): number {
    return this.databasePorts[0] as number;
  }

  async startDatabases(): Promise<void> {
    await Promise.all(this.databasePorts.map((_, database) => this.startDatabase(database)));
  }

  /** Starts a database, or restarts it with its stored data. */
  async startDatabase(database = 0): Promise<void> {
    chmodSync(this.#folder, 0o755);
    const data = join(this.#folder, `data-${database}`);
    const port = this.databasePorts[database] as number;
    const postgres = await startPostgres({ data, port });
    this.#postgres.set(database, postgres);
    this.#databaseUrls.set(database, postgres.url);
    // PostgreSQL listens before it has recovered.
    while (!(await this.query("SELECT 1", database).catch(() => null))) await Bun.sleep(20);
  }

  /** Reads from a database started elsewhere, such as a promoted standby. */
  look(databaseUrl: string): void {
    this.#databaseUrls.set(0, databaseUrl);
  }

  /** Processor seconds of all processes of the first database. */
  get databaseSeconds(): number {
    const [pid = ""] = readFileSync(join(this.#folder, "data-0/postmaster.pid"), "utf8").split(
      "\n",
    );
    return cpuSecondsBelow(Number(pid));
  }

  async stopDatabase(database = 0): Promise<void> {
    await this.#postgres.get(database)?.stop();
  }

  async start(options: NodeOptions = {}): Promise<NodeProcess> {
    const { databases = this.databasePorts, port = freePort(), nodePort = port } = options;
    const { lease = "2s", under = [], flags = [] } = options;
    const nodeUrl = `http://127.0.0.1:${nodePort}`;
    const named = options.database === undefined ? databases : [options.database];
    const databaseUrls = named.map((ports) => {
      const hosts = [ports].flat().map((host) => `127.0.0.1:${host}`);
      return `postgres://holdfast@${hosts.join(",")}/postgres`;
    });
    const started = await startServer({
      data: join(this.#folder, "unused"),
      port,
      under,
      flags: [
        ...["--store", "postgres", ...databaseUrls.flatMap((url) => ["--database-url", url])],
        ...[
          "--shards",
          String(this.#shards),
          "--node-url",
          nodeUrl,
          "--ownership-lease",
          lease,
          ...flags,
        ],
      ],
    });
    const node = { ...started, url: `http://127.0.0.1:${port}`, nodeUrl };
    this.#nodes.add(node);
    void node.exited.then(() => this.#nodes.delete(node));
    return node;
  }

  /** Nodes that have not ended. */
  get nodes(): readonly NodeProcess[] {
    return [...this.#nodes];
  }

  async query(statement: string, database = 0): Promise<readonly object[]> {
    const sql = new SQL(this.#databaseUrls.get(database) ?? "", { max: 1 });
    try {
      return await sql.unsafe(statement);
    } finally {
      await sql.close();
    }
  }

  /** Rows of all shards, by number. */
  async ownerRows(): Promise<readonly OwnerRow[]> {
    const select = "SELECT shard::int, url, epoch::int FROM holdfast_nodes.shard";
    const rows = await Promise.all(
      this.databasePorts.map((_, database) => this.query(select, database)),
    );
    const byShard = (rows.flat() as (OwnerRow & { readonly shard: number })[]).toSorted(
      (a, b) => a.shard - b.shard,
    );
    return byShard.map(({ url, epoch }) => ({ url, epoch }));
  }

  /** The row of one shard; only its database must be running. */
  async ownerRow(queue = "orders"): Promise<OwnerRow> {
    const shard = shardOf(queue, this.#shards);
    const select = `SELECT url, epoch::int FROM holdfast_nodes.shard WHERE shard = ${shard}`;
    const [row] = await this.query(select, this.databaseOf(queue));
    return row as OwnerRow;
  }

  /** The number of the queue's database. */
  databaseOf(queue: string): number {
    return shardOf(queue, this.#shards) % this.databasePorts.length;
  }

  /** The owner of the queue's shard; waits until a node has taken ownership. */
  async owner(queue = "orders"): Promise<NodeProcess> {
    for (;;) {
      const { url } = await this.ownerRow(queue);
      const owner = this.nodes.find(({ nodeUrl }) => nodeUrl === url);
      if (owner !== undefined) return owner;
      await Bun.sleep(20);
    }
  }

  /** Resolves once other nodes own all shards, with the owner of the queue's shard. */
  async takenFrom(node: NodeProcess, queue = "orders"): Promise<NodeProcess> {
    for (;;) {
      const rows = await this.ownerRows();
      if (rows.every(({ url }) => url !== null && url !== node.nodeUrl)) break;
      await Bun.sleep(20);
    }
    return await this.owner(queue);
  }

  async end(): Promise<void> {
    await Promise.all(
      this.nodes.map((node) => {
        // A stopped process does not receive the signal to end.
        node.stop("SIGCONT").catch(() => undefined);
        return node.stop("SIGKILL");
      }),
    );
    await Promise.all([...this.#postgres.values()].map((postgres) => postgres.stop()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A client of the queue at one node. */
export function queueOf({ url }: NodeProcess, name = "orders") {
  return createClient({ url }).queue(name);
}

/** Repeats the call until the reply covers all shards: one may be moving to another node. */
export async function wholeReply<T extends { readonly unreached: readonly number[] }>(
  ask: () => Promise<T>,
): Promise<T> {
  for (;;) {
    const reply = await ask();
    if (reply.unreached.length === 0) return reply;
  }
}

export const settings = {
  lease_timeout: "1m",
  expire_timeout: "1h",
  requested_partitions: 2,
} as const;
