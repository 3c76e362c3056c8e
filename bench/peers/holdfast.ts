// Holdfast over HTTP, like any client: on files, and on the peers' PostgreSQL.

import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { Connection } from "../../testing/http-client.ts";
import { installPostgres, postgresSettings, startPostgres } from "../../testing/postgres-server.ts";
import { startServer } from "../../testing/server-process.ts";
import { createQueue } from "../load/calls.ts";
import {
  leaseAndComplete,
  manyConnections,
  type Peer,
  type QueueWork,
  type Session,
} from "./peer.ts";

interface Lease {
  readonly body: string;
  readonly ids: readonly string[];
  readonly payloads: readonly string[];
}

async function openSession(port: number, work: QueueWork, index: number): Promise<Session> {
  const connection = await Connection.open(port);
  const lease = JSON.stringify({
    queue_name: work.queue,
    client_id: `client-${index}`,
    // Longer than a turn on a busy database: items granted too late are requeued.
    request_timeout: "1s",
    batch_size: work.itemsPerCall,
  });
  return {
    produce: async (payloads) => {
      const items = payloads.map((utf8) => ({ utf8 }));
      const request = { queue_name: work.queue, request_timeout: "1m", items };
      await connection.call("/v1/queue.produce", request);
    },
    consume: (ledger) =>
      leaseAndComplete<Lease>(ledger, {
        lease: async () => {
          const reply = await connection.post("/v1/queue.lease", lease);
          if (reply.status === 454) return null;
          if (reply.status !== 200)
            throw new Error(`lease answered ${reply.status}; ${reply.body}`);
          // 16 characters of base64 are the 12 bytes that identify the item.
          const found = [...reply.body.matchAll(/"id":"([^"]+)"|"bytes":"(.{16})/g)];
          return {
            body: reply.body,
            ids: found.flatMap(([, id]) => id ?? []),
            payloads: found.flatMap(([, , head]) => (head === undefined ? [] : atob(head))),
          };
        },
        payloads: ({ payloads }) => payloads,
        complete: async ({ body, ids }) => {
          const partition = Number(/"partition":(\d+)/.exec(body)?.[1]);
          const complete = { queue_name: work.queue, partition, request_timeout: "1m", ids };
          await connection.call("/v1/queue.complete", complete);
        },
      }),
    close: async () => connection.close(),
  };
}

async function openQueue(port: number, work: QueueWork): Promise<Session[]> {
  await createQueue(port, work.queue);
  return Promise.all(
    Array.from({ length: work.connections }, (_, index) => openSession(port, work, index)),
  );
}

const usual = {
  durability: "D2",
  caveat: "",
  connections: manyConnections,
} satisfies Partial<Peer>;

const calls = "1 partition; HTTP, JSON: produce, lease, complete";

export const holdfast: Peer = {
  ...usual,
  name: "Holdfast",
  settings: `--durability full, SQLite, ${calls}`,
  install: async () => undefined,
  start: async (scratch) => {
    const server = await startServer({
      data: join(scratch, "data"),
      flags: ["--durability", "full", "--log-level", "error"],
    });
    return {
      version: manifest.version,
      open: (work) => openQueue(server.port, work),
      stop: async () => {
        await server.stop();
      },
    };
  },
};

export const holdfastPostgres: Peer = {
  ...usual,
  name: "Holdfast on PostgreSQL",
  settings: `${postgresSettings}; ${calls}`,
  install: installPostgres,
  start: async (scratch) => {
    const database = await startPostgres(scratch);
    const server = await startServer({
      data: join(scratch, "data"),
      flags: ["--store", "postgres", "--database-url", database.url, "--log-level", "error"],
    }).catch(async (cause: unknown) => {
      await database.stop();
      throw cause;
    });
    return {
      version: `${manifest.version}, PostgreSQL ${database.version}`,
      databaseUrl: database.url,
      open: (work) => openQueue(server.port, work),
      stop: async () => {
        await server.stop();
        await database.stop();
      },
    };
  },
};
