// `bun run bench`: produce, then lease and complete, over HTTP against a server in a
// process of its own, with full durability; beside it, in the same run, the two
// floors a figure can be compared with on any machine. Prints one table.

import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection } from "./http-client.ts";
import { startServer } from "./server-process.ts";

interface Work {
  readonly itemsPerCall: number;
  readonly connections: number;
  readonly items: number;
}

const works: readonly Work[] = [
  { itemsPerCall: 1, connections: 64, items: 60_000 },
  { itemsPerCall: 100, connections: 64, items: 400_000 },
  { itemsPerCall: 1_000, connections: 8, items: 400_000 },
];
const payload = "x".repeat(100);
const rounds = 3;

async function each(
  connections: readonly Connection[],
  work: (one: Connection, index: number) => Promise<void>,
): Promise<number> {
  const begin = performance.now();
  await Promise.all(connections.map(work));
  return (performance.now() - begin) / 1_000;
}

async function post(connection: Connection, path: string, body: unknown): Promise<string> {
  const reply = await connection.post(path, typeof body === "string" ? body : JSON.stringify(body));
  if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}; ${reply.body}`);
  return reply.body;
}

/** Items per second of each phase. Every item must have been delivered exactly once. */
async function measure(
  port: number,
  queue: string,
  work: Work,
): Promise<{ produce: number; consume: number }> {
  const connections = await Promise.all(
    Array.from({ length: work.connections }, () => Connection.open(port)),
  );
  const [first] = connections;
  if (first === undefined) throw new Error("a measurement needs a connection");
  await post(first, "/v1/queues.create", {
    queue_name: queue,
    lease_timeout: "10m",
    expire_timeout: "1h",
    max_attempts: 0,
    requested_partitions: 1,
  });
  const items = Array.from({ length: work.itemsPerCall }, () => ({ utf8: payload }));
  const body = JSON.stringify({ queue_name: queue, request_timeout: "1m", items });
  let calls = work.items / work.itemsPerCall;
  const produceSeconds = await each(connections, async (connection) => {
    while (calls > 0) {
      calls -= 1;
      await post(connection, "/v1/queue.produce", body);
    }
  });
  const seen = new Set<string>();
  let got = 0;
  const consumeSeconds = await each(connections, async (connection, index) => {
    const lease = JSON.stringify({
      queue_name: queue,
      client_id: `client-${index}`,
      request_timeout: "100ms",
      batch_size: work.itemsPerCall,
    });
    while (got < work.items) {
      const reply = await connection.post("/v1/queue.lease", lease);
      if (reply.status === 454) continue;
      const ids = [...reply.body.matchAll(/"id":"([0-9A-Za-z]{27})"/g)].map(
        (match) => match[1] ?? "",
      );
      const partition = Number(/"partition":(\d+)/.exec(reply.body)?.[1]);
      got += ids.length;
      for (const id of ids) seen.add(id);
      await post(connection, "/v1/queue.complete", {
        queue_name: queue,
        partition,
        request_timeout: "1m",
        ids,
      });
    }
  });
  if (seen.size !== work.items || got !== work.items) {
    throw new Error(
      `delivered ${got} items, ${seen.size} of them different; expected ${work.items}`,
    );
  }
  for (const connection of connections) connection.close();
  return { produce: work.items / produceSeconds, consume: work.items / consumeSeconds };
}

/** The same rows in a bare loop over bun:sqlite, one commit per call: what the disk and SQLite allow. */
function bareSqlite(directory: string, { itemsPerCall, items }: Work): number {
  const database = new Database(join(directory, "floor.db"));
  for (const pragma of ["locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=FULL"]) {
    database.query(`PRAGMA ${pragma}`).values();
  }
  database.run(
    "CREATE TABLE IF NOT EXISTS item (key INTEGER PRIMARY KEY, created_at INTEGER NOT NULL, expire_deadline INTEGER NOT NULL, payload BLOB NOT NULL) STRICT",
  );
  const insert = database.prepare(
    "INSERT INTO item (created_at, expire_deadline, payload) VALUES (?1, ?2, CAST(?3 AS BLOB))",
  );
  const count = Math.min(items, 20_000 * itemsPerCall);
  const begin = performance.now();
  for (let done = 0; done < count; done += itemsPerCall) {
    database.run("BEGIN IMMEDIATE");
    for (let index = 0; index < itemsPerCall; index += 1) insert.run(1, 2, payload);
    database.run("COMMIT");
  }
  const perSecond = count / ((performance.now() - begin) / 1_000);
  database.close();
  return perSecond;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

const directory = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
const server = await startServer({ data: join(directory, "data") });
try {
  console.log(
    `median of ${rounds} rounds; 100-byte items, SQLite, durability full, one partition, items/s\n`,
  );
  console.log(
    "| items a call | connections | produce | lease + complete | bare SQLite loop, a commit a call |",
  );
  console.log("|---:|---:|---:|---:|---:|");
  for (const work of works) {
    const produce: number[] = [];
    const consume: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const measured = await measure(server.port, `q-${work.itemsPerCall}-${round}`, work);
      produce.push(measured.produce);
      consume.push(measured.consume);
      bare.push(bareSqlite(directory, work));
    }
    const cells = [
      work.itemsPerCall,
      work.connections,
      ...[produce, consume, bare].map(median).map(Math.round),
    ];
    console.log(`| ${cells.map((cell) => cell.toLocaleString("en")).join(" | ")} |`);
  }
} finally {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
}
