// Nodes as processes, on PostgreSQL servers of their own: for benchmarks and tests.

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
  /** Where clients reach it. */
  readonly url: string;
  /** Where the other nodes do. */
  readonly nodeUrl: string;
}

export interface NodeOptions {
  /** The port of the database, or of a wire that leads there; of several hosts one each. */
  readonly database?: number | readonly number[];
  /** The ports of several databases, in another order than theirs; default all of them. */
  readonly databases?: readonly number[];
  /** That of a node that has ended; default one that is free. */
  readonly port?: number;
  /** Of a wire through which the other nodes reach it. */
  readonly nodePort?: number;
  readonly lease?: string;
  readonly flags?: readonly string[];
  readonly under?: readonly string[];
}

export interface OwnerRow {
  /** That of the node, for nodes. */
  readonly url: string | null;
  readonly epoch: number;
}

export interface ClusterOptions {
  /** Default 4; of one shard a single node is the owner, and the others forward. */
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
  /** By database, where the rows of the nodes are looked at. */
  readonly #databaseUrls = new Map<number, string>();

  constructor({ shards = 4, databases = 1 }: ClusterOptions = {}) {
    this.#shards = shards;
    this.databasePorts = Array.from({ length: databases }, () => freePort());
  }

  /** Of the first database. */
  get databasePort(): number {
    return this.databasePorts[0] as number;
  }

  async startDatabases(): Promise<void> {
    await Promise.all(this.databasePorts.map((_, database) => this.startDatabase(database)));
  }

  /** Starts a database, or starts it again with what it has stored. */
  async startDatabase(database = 0): Promise<void> {
    chmodSync(this.#folder, 0o755);
    const data = join(this.#folder, `data-${database}`);
    const port = this.databasePorts[database] as number;
    const postgres = await startPostgres({ data, port });
    this.#postgres.set(database, postgres);
    this.#databaseUrls.set(database, postgres.url);
    // It listens before it has recovered.
    while (!(await this.query("SELECT 1", database).catch(() => null))) await Bun.sleep(20);
  }

  /** Looks at a database that was started elsewhere, such as the one that has taken over. */
  look(databaseUrl: string): void {
    this.#databaseUrls.set(0, databaseUrl);
  }

  /** Processor seconds that the first database has taken, by all of its processes. */
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
    const named =
      options.database === undefined ? databases.map((one) => [one]) : [options.database];
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

  /** Those that have not ended. */
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

  /** Of all shards, by number. */
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

  /** Of a shard, whose database alone has to be there. */
  async ownerRow(queue = "orders"): Promise<OwnerRow> {
    const shard = shardOf(queue, this.#shards);
    const select = `SELECT url, epoch::int FROM holdfast_nodes.shard WHERE shard = ${shard}`;
    const [row] = await this.query(select, this.databaseOf(queue));
    return row as OwnerRow;
  }

  /** Number of the database that a queue is in. */
  databaseOf(queue: string): number {
    return shardOf(queue, this.#shards) % this.databasePorts.length;
  }

  /** The node that has the shard of a queue; waits until one has taken it. */
  async owner(queue = "orders"): Promise<NodeProcess> {
    for (;;) {
      const { url } = await this.ownerRow(queue);
      const owner = this.nodes.find(({ nodeUrl }) => nodeUrl === url);
      if (owner !== undefined) return owner;
      await Bun.sleep(20);
    }
  }

  /** Resolves once other nodes than that have all shards, with the owner of the shard of a queue. */
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
        // One that was stopped does not hear of its end.
        node.stop("SIGCONT").catch(() => undefined);
        return node.stop("SIGKILL");
      }),
    );
    await Promise.all([...this.#postgres.values()].map((postgres) => postgres.stop()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A queue as the clients of one node know it. */
export function queueOf({ url }: NodeProcess, name = "orders") {
  return createClient({ url }).queue(name);
}

/** Asks about all shards until none is missing: one may just be on its way to another node. */
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
