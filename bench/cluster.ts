// Nodes as processes, on a PostgreSQL of their own: for benchmarks and tests.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { createClient } from "../client/client.ts";
import { type Postgres, startPostgres } from "../scripts/postgres.ts";
import { freePort } from "./peers/child-server.ts";
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

export class Cluster {
  readonly #folder = mkdtempSync(join(tmpdir(), "holdfast-nodes-"));
  readonly #nodes = new Set<NodeProcess>();
  readonly databasePort = freePort();
  #postgres: Postgres | null = null;
  /** Where the rows of the nodes are looked at. */
  #databaseUrl = "";

  /** Starts the database, or starts it again with what it has stored. */
  async startDatabase(): Promise<void> {
    chmodSync(this.#folder, 0o755);
    const data = join(this.#folder, "data");
    this.#postgres = await startPostgres({ data, port: this.databasePort });
    this.#databaseUrl = this.#postgres.url;
    // It listens before it has recovered.
    while (!(await this.query("SELECT 1").catch(() => null))) await Bun.sleep(20);
  }

  /** Looks at a database that was started elsewhere, such as the one that has taken over. */
  look(databaseUrl: string): void {
    this.#databaseUrl = databaseUrl;
  }

  async stopDatabase(): Promise<void> {
    await this.#postgres?.stop();
  }

  async start(options: NodeOptions = {}): Promise<NodeProcess> {
    const { database = this.databasePort, port = freePort(), nodePort = port } = options;
    const { lease = "2s", under = [], flags = [] } = options;
    const nodeUrl = `http://127.0.0.1:${nodePort}`;
    const hosts = [database].flat().map((host) => `127.0.0.1:${host}`);
    const databaseUrl = `postgres://holdfast@${hosts.join(",")}/postgres`;
    const started = await startServer({
      data: join(this.#folder, "unused"),
      port,
      under,
      flags: [
        ...["--store", "postgres", "--database-url", databaseUrl, "--shards", "2"],
        ...["--node-url", nodeUrl, "--ownership-lease", lease, ...flags],
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

  async query(statement: string): Promise<readonly object[]> {
    const sql = new SQL(this.#databaseUrl, { max: 1 });
    try {
      return await sql.unsafe(statement);
    } finally {
      await sql.close();
    }
  }

  async ownerRow(): Promise<OwnerRow> {
    const [row] = await this.query("SELECT url, epoch::int FROM holdfast_nodes.owner");
    return row as OwnerRow;
  }

  /** The node that has the shards; waits until one has taken them. */
  async owner(): Promise<NodeProcess> {
    for (;;) {
      const { url } = await this.ownerRow();
      const owner = this.nodes.find(({ nodeUrl }) => nodeUrl === url);
      if (owner !== undefined) return owner;
      await Bun.sleep(20);
    }
  }

  /** Resolves once another node than that has the shards. */
  async takenFrom(node: NodeProcess): Promise<NodeProcess> {
    for (;;) {
      const owner = await this.owner();
      if (owner !== node) return owner;
      await Bun.sleep(20);
    }
  }

  async end(): Promise<void> {
    await Promise.all(
      this.nodes.map((node) => {
        // One that was stopped does not hear of its end.
        node.stop("SIGCONT").catch(() => undefined);
        return node.stop("SIGKILL");
      }),
    );
    await this.#postgres?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A queue as the clients of one node know it. */
export function queueOf({ url }: NodeProcess, name = "orders") {
  return createClient({ url }).queue(name);
}

export const settings = {
  lease_timeout: "1m",
  expire_timeout: "1h",
  requested_partitions: 2,
} as const;
