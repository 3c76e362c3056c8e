// The calls before and after a measurement, each on a new connection, because the server closes
// idle ones.

import type { Static } from "@sinclair/typebox";
import type { operations } from "../../openapi/operations.ts";
import type { QueueCreateRequest } from "../../openapi/schemas.ts";
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

/** Creates a queue whose items neither lapse nor expire during the measurement. */
export async function createQueue(
  port: number,
  queue: string,
  settings: Partial<QueueCreateRequest> = {},
): Promise<void> {
  await callOnce(port, "/v1/queues.create", {
    queue_name: queue,
    lease_timeout: "1h",
    expire_timeout: "240h",
    max_attempts: 0,
    requested_partitions: 1,
    ...settings,
  });
}

/** Items still in the queue, leased ones included. */
export async function itemsLeft(port: number, queue: string): Promise<number> {
  const found = await callOnce(port, "/v1/queue.stats", { queue_name: queue });
  const { logical_queues: lines } = found as StatsReply;
  return lines
    .flatMap(({ partitions }) => partitions)
    .reduce((left, { total, scheduled }) => left + total + scheduled, 0);
}
