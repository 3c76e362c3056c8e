// `bun bench/waiting.ts [leases] [seconds]`: leases that wait. Opens that many
// connections, each with a lease on an empty queue, waits, then wakes them one
// by one: memory per waiting lease, and the time from produce to lease.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection } from "./http-client.ts";
import { startServer } from "./server-process.ts";

const leases = Number(process.argv[2] ?? 1_000);
const seconds = Number(process.argv[3] ?? 300);
const directory = mkdtempSync(join(tmpdir(), "holdfast-waiting-"));
const server = await startServer({
  data: join(directory, "data"),
  flags: ["--log-level", "error"],
});

function percentile(sorted: readonly number[], share: number): string {
  return `${(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(2)} ms`;
}

try {
  const admin = await Connection.open(server.port);
  const create = await admin.post(
    "/v1/queues.create",
    JSON.stringify({
      queue_name: "waiting",
      lease_timeout: "1h",
      expire_timeout: "24h",
      max_attempts: 0,
      requested_partitions: 1,
    }),
  );
  if (create.status !== 200) throw new Error(create.body);
  const connections = await Promise.all(
    Array.from({ length: leases }, () => Connection.open(server.port)),
  );
  const before = await server.memoryBytes();
  const answers: number[] = [];
  const waiting = connections.map(async (connection, index) => {
    const body = {
      queue_name: "waiting",
      client_id: `client-${index}`,
      request_timeout: `${seconds + 60}s`,
      batch_size: 1,
    };
    const reply = await connection.post("/v1/queue.lease", JSON.stringify(body));
    answers.push(performance.now());
    return reply.status;
  });
  await Bun.sleep(seconds * 1_000);
  const during = await server.memoryBytes();
  // A connection that says nothing for long is closed; one that waits for a lease is not.
  const producer = await Connection.open(server.port);
  const wakes: number[] = [];
  for (let index = 0; index < leases; index += 1) {
    const begin = performance.now();
    await producer.post(
      "/v1/queue.produce",
      JSON.stringify({ queue_name: "waiting", request_timeout: "1m", items: [{ utf8: "wake" }] }),
    );
    while (answers.length <= index) await Bun.sleep(0);
    wakes.push((answers[index] ?? 0) - begin);
  }
  const statuses = await Promise.all(waiting);
  wakes.sort((a, b) => a - b);
  console.log(
    `leases that waited ${seconds} s           ${leases}, answered 200: ${statuses.filter((status) => status === 200).length}`,
  );
  console.log(`memory they cost                   ${((during - before) / 1e6).toFixed(1)} MB`);
  console.log(
    `from produce to lease, p50 and p99 ${percentile(wakes, 0.5)}, ${percentile(wakes, 0.99)}`,
  );
} finally {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
}
