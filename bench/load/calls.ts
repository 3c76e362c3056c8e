// The calls before and after a measurement, each on a connection of its own: a server closes one that
// is idle for long.

import type { Static } from "@sinclair/typebox";
import type { operations } from "../../openapi/operations.ts";
import { Connection } from "../../testing/http-client.ts";

type StatsReply = Static<typeof operations.stats.response>;

async function callOnce(port: number, path: string, body: object): Promise<unknown> {
  const connection = await Connection.open(port);
  try {
    return await connection.call(path, body);
  } finally {
    connection.close();
  }
}

/** A queue whose items neither lapse nor expire while they are measured. */
export async function createQueue(port: number, queue: string, partitions = 1): Promise<void> {
  await callOnce(port, "/v1/queues.create", {
    queue_name: queue,
    lease_timeout: "1h",
    expire_timeout: "240h",
    max_attempts: 0,
    requested_partitions: partitions,
  });
}

/** Items that the queue still has, leased ones included. */
export async function itemsLeft(port: number, queue: string): Promise<number> {
  const found = await callOnce(port, "/v1/queue.stats", { queue_name: queue });
  const { logical_queues: lines } = found as StatsReply;
  return lines
    .flatMap(({ partitions }) => partitions)
    .reduce((left, { total, scheduled }) => left + total + scheduled, 0);
}
