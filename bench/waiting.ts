// `bun bench/waiting.ts [leases] [seconds] [queues]`: leases that wait. Opens that many
// connections, each with a lease on an empty queue of so many, waits, then wakes them one
// by one: memory per waiting lease, and the time from produce to lease.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createQueue } from "./calls.ts";
import { Connection } from "./http-client.ts";
import { startServer } from "./server-process.ts";
import { Samples } from "./statistics.ts";

const leases = Number(process.argv[2] ?? 1_000);
const seconds = Number(process.argv[3] ?? 300);
/** More at once than a system lets wait to be accepted would be opened seconds later. */
const openedAtOnce = 250;
const queues = Number(process.argv[4] ?? 1);
const queueOf = (index: number): string => `waiting-${index % queues}`;
const directory = mkdtempSync(join(tmpdir(), "holdfast-waiting-"));
const server = await startServer({
  data: join(directory, "data"),
  flags: ["--log-level", "error", "--connections-max", String(leases + 10)],
});

try {
  const admin = await Connection.open(server.port);
  for (let index = 0; index < queues; index += 1) {
    await createQueue(admin, { queue: queueOf(index), partitions: 1 });
  }
  const connections: Connection[] = [];
  while (connections.length < leases) {
    const some = Array.from({ length: Math.min(openedAtOnce, leases - connections.length) }, () =>
      Connection.open(server.port),
    );
    connections.push(...(await Promise.all(some)));
  }
  const before = await server.memoryBytes();
  const answers: number[] = [];
  const waiting = connections.map(async (connection, index) => {
    const body = {
      queue_name: queueOf(index),
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
  const wakes = new Samples();
  for (let index = 0; index < leases; index += 1) {
    const begin = performance.now();
    await producer.post(
      "/v1/queue.produce",
      JSON.stringify({
        queue_name: queueOf(index),
        request_timeout: "1m",
        items: [{ utf8: "wake" }],
      }),
    );
    while (answers.length <= index) await Bun.sleep(0);
    wakes.add((answers[index] ?? 0) - begin);
  }
  const statuses = await Promise.all(waiting);
  const { p50Ms, p99Ms } = wakes.times();
  console.log(
    `leases that waited ${seconds} s on ${queues} queue(s) ${leases}, answered 200: ${statuses.filter((status) => status === 200).length}`,
  );
  console.log(`memory they cost                   ${((during - before) / 1e6).toFixed(1)} MB`);
  console.log(`from produce to lease, p50 and p99 ${p50Ms.toFixed(2)} ms, ${p99Ms.toFixed(2)} ms`);
} finally {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
}
