// pg-boss on PostgreSQL, with its calls for many items.

import { join } from "node:path";
import { loadPackage, npmPackages } from "../../testing/install.ts";
import {
  installPostgres,
  postgresConnections,
  postgresSettings,
  startPostgres,
} from "../../testing/postgres-server.ts";
import { leaseAndComplete, type Peer, type Session } from "./peer.ts";

const packageVersion = "12.35.0";

interface Fetched {
  readonly id: string;
  readonly data: { readonly p: string };
}

export interface Boss {
  on(event: "error", listener: (cause: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  createQueue(name: string, options: object): Promise<void>;
  insert(name: string, items: readonly object[]): Promise<unknown>;
  fetch(name: string, options: object): Promise<Fetched[]>;
  complete(name: string, ids: readonly string[]): Promise<{ readonly affected: number }>;
}

interface PgBossModule {
  readonly PgBoss: new (options: object) => Boss;
}

let folder = "";
/** The number of connections in the tables; the sessions of a queue share one pool. */
const poolMax = 16;

function sessionOf(boss: Boss, queue: string, itemsPerCall: number): Session {
  return {
    produce: async (payloads) => {
      await boss.insert(
        queue,
        payloads.map((p) => ({ data: { p } })),
      );
    },
    consume: (ledger) =>
      leaseAndComplete(ledger, {
        lease: async () => {
          const fetched = await boss.fetch(queue, { batchSize: itemsPerCall });
          return fetched.length === 0 ? null : fetched;
        },
        payloads: (fetched) => fetched.map(({ data }) => data.p),
        complete: async (fetched) => {
          const ids = fetched.map(({ id }) => id);
          const { affected } = await boss.complete(queue, ids);
          if (affected !== ids.length) throw new Error(`completed ${affected} of ${ids.length}`);
        },
      }),
    close: async () => undefined,
  };
}

/** pg-boss on a new database. */
export async function startPgBoss(scratch: string): Promise<{
  readonly version: string;
  readonly databaseUrl: string;
  readonly boss: Boss;
  stop(): Promise<void>;
}> {
  const server = await startPostgres(scratch);
  const { PgBoss } = await loadPackage<PgBossModule>(folder, "pg-boss");
  const boss = new PgBoss({
    connectionString: server.url,
    max: poolMax,
    supervise: false,
    schedule: false,
  });
  boss.on("error", () => undefined);
  await boss.start();
  return {
    version: `${packageVersion}, PostgreSQL ${server.version}`,
    databaseUrl: server.url,
    boss,
    stop: async () => {
      await boss.stop({ graceful: false });
      await server.stop();
    },
  };
}

export const pgBoss: Peer = {
  name: "pg-boss",
  durability: "D2",
  settings:
    `${postgresSettings}; insert(N), fetch(batchSize N), complete(N ids); ` +
    `pool of ${poolMax}, supervise and schedule off`,
  caveat: "completed rows stay in its table until its maintenance removes them",
  connections: postgresConnections,
  install: async (scratch) => {
    await installPostgres();
    folder = join(scratch, "pg-boss");
    await npmPackages(folder, [`pg-boss@${packageVersion}`]);
  },
  start: async (scratch) => {
    const { boss, ...running } = await startPgBoss(scratch);
    return {
      ...running,
      open: async (work) => {
        await boss.createQueue(work.queue, { retryLimit: 0 });
        return Array.from({ length: work.connections }, () =>
          sessionOf(boss, work.queue, work.itemsPerCall),
        );
      },
    };
  },
};
