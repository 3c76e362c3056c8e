// The statements of pgmq on a plain PostgreSQL. Debian lacks the extension, which consists of these
// three statements, its table and its index.

import { SQL } from "bun";
import {
  installPostgres,
  type PostgresServer,
  postgresConnections,
  postgresSettings,
  startPostgres,
} from "../../testing/postgres-server.ts";
import { leaseAndComplete, type Peer, type QueueWork, type Session } from "./peer.ts";

interface Row {
  readonly msg_id: string;
  readonly message: { readonly p: string };
}

const leaseSeconds = 600;

function statementsOf(table: string) {
  return {
    // Payloads are one JSON text and ids one array text: one parameter for any N.
    send: `INSERT INTO ${table} (vt, message)
           SELECT clock_timestamp(), value FROM jsonb_array_elements($1::text::jsonb)
           RETURNING msg_id`,
    read: `WITH cte AS (
             SELECT msg_id FROM ${table} WHERE vt <= clock_timestamp()
             ORDER BY msg_id ASC LIMIT $1::int FOR UPDATE SKIP LOCKED
           )
           UPDATE ${table} AS m
           SET vt = clock_timestamp() + make_interval(secs => ${leaseSeconds}),
               read_ct = read_ct + 1
           FROM cte WHERE m.msg_id = cte.msg_id
           RETURNING m.msg_id::text, m.read_ct, m.enqueued_at, m.vt, m.message`,
    remove: `DELETE FROM ${table} WHERE msg_id = ANY($1::text::bigint[]) RETURNING msg_id`,
  };
}

async function openSession(url: string, work: QueueWork, table: string): Promise<Session> {
  const sql = new SQL(url, { max: 1 });
  await sql.connect();
  const statements = statementsOf(table);
  return {
    produce: async (payloads) => {
      const messages = JSON.stringify(payloads.map((p) => ({ p })));
      const rows: unknown[] = await sql.unsafe(statements.send, [messages]);
      if (rows.length !== payloads.length) throw new Error(`inserted ${rows.length} rows`);
    },
    consume: (ledger) =>
      leaseAndComplete(ledger, {
        lease: async () => {
          const rows: Row[] = await sql.unsafe(statements.read, [work.itemsPerCall]);
          return rows.length === 0 ? null : rows;
        },
        payloads: (rows) => rows.map(({ message }) => message.p),
        complete: async (rows) => {
          const ids = `{${rows.map(({ msg_id }) => msg_id).join(",")}}`;
          const removed: unknown[] = await sql.unsafe(statements.remove, [ids]);
          if (removed.length !== rows.length) throw new Error(`deleted ${removed.length} rows`);
        },
      }),
    close: () => sql.close(),
  };
}

async function openQueue(server: PostgresServer, work: QueueWork): Promise<Session[]> {
  const table = `q_${work.queue.replaceAll("-", "_")}`;
  const admin = new SQL(server.url, { max: 1 });
  await admin.unsafe(`CREATE TABLE ${table} (
    msg_id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    read_ct int DEFAULT 0 NOT NULL,
    enqueued_at timestamptz DEFAULT now() NOT NULL,
    vt timestamptz NOT NULL,
    message jsonb
  )`);
  await admin.unsafe(`CREATE INDEX ${table}_vt_idx ON ${table} (vt ASC)`);
  await admin.close();
  return Promise.all(
    Array.from({ length: work.connections }, () => openSession(server.url, work, table)),
  );
}

export const pgmqSql: Peer = {
  name: "pgmq-style SQL",
  durability: "D2",
  settings:
    `${postgresSettings}; pgmq's table and index; INSERT … SELECT of N, ` +
    "UPDATE … FOR UPDATE SKIP LOCKED LIMIT N … RETURNING, DELETE … = ANY of N; Bun's SQL client",
  caveat: "",
  connections: postgresConnections,
  install: installPostgres,
  start: async (scratch) => {
    const server = await startPostgres(scratch);
    return {
      version: `PostgreSQL ${server.version}`,
      databaseUrl: server.url,
      open: (work) => openQueue(server, work),
      stop: () => server.stop(),
    };
  },
};
