// Nodes as processes, on a PostgreSQL of their own.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../bench/peers/child-server.ts";
import { type ServerProcess, startServer } from "../../../bench/server-process.ts";
import { createClient } from "../../../client/client.ts";
import { type Postgres, startPostgres } from "../../../scripts/postgres.ts";

export interface NodeProcess extends ServerProcess {
  readonly url: string;
}

export interface NodeOptions {
  readonly databaseUrl?: string;
  /** That of a node that has ended; default one that is free. */
  readonly port?: number;
  readonly flags?: readonly string[];
}

export class Cluster {
  readonly #folder = mkdtempSync(join(tmpdir(), "holdfast-nodes-"));
  readonly #nodes: NodeProcess[] = [];
  #postgres: Postgres | null = null;

  /** Starts the database, or starts it again on its port with what it has stored. */
  async startDatabase(): Promise<Postgres> {
    chmodSync(this.#folder, 0o755);
    const data = join(this.#folder, "data");
    const port = this.#postgres === null ? freePort() : Number(new URL(this.#postgres.url).port);
    this.#postgres = await startPostgres({ data, port });
    return this.#postgres;
  }

  async start({
    databaseUrl,
    port = freePort(),
    flags = [],
  }: NodeOptions = {}): Promise<NodeProcess> {
    const database = databaseUrl ?? this.#postgres?.url ?? "";
    const url = `http://127.0.0.1:${port}`;
    const started = await startServer({
      data: join(this.#folder, "unused"),
      port,
      flags: [
        ...["--store", "postgres", "--database-url", database, "--shards", "2"],
        ...["--node-url", url, "--ownership-lease", "2s", ...flags],
      ],
    });
    const node = { ...started, url };
    this.#nodes.push(node);
    return node;
  }

  async end(): Promise<void> {
    await Promise.all(
      this.#nodes.map((node) => {
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
export function ordersOf({ url }: NodeProcess) {
  return createClient({ url }).queue("orders");
}

export const ordersSettings = {
  lease_timeout: "1m",
  expire_timeout: "1h",
  requested_partitions: 2,
} as const;
