// The calls around a measurement, one at a time and checked.

import type { Static } from "@sinclair/typebox";
import type { operations } from "../openapi/operations.ts";
import type { Connection } from "./http-client.ts";

type StatsReply = Static<typeof operations.stats.response>;

/** The body of a 200; throws on anything else. */
export async function call(connection: Connection, path: string, body: object): Promise<unknown> {
  const reply = await connection.post(path, JSON.stringify(body));
  if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}; ${reply.body}`);
  return JSON.parse(reply.body);
}

/** A queue whose items neither lapse nor expire while they are measured. */
export async function createQueue(
  connection: Connection,
  { queue, partitions }: { queue: string; partitions: number },
): Promise<void> {
  await call(connection, "/v1/queues.create", {
    queue_name: queue,
    lease_timeout: "1h",
    expire_timeout: "240h",
    max_attempts: 0,
    requested_partitions: partitions,
  });
}

/** Items that the queue still has, leased ones included. */
export async function itemsLeft(connection: Connection, queue: string): Promise<number> {
  const found = await call(connection, "/v1/queue.stats", { queue_name: queue });
  const { logical_queues: lines } = found as StatsReply;
  return lines
    .flatMap(({ partitions }) => partitions)
    .reduce((left, { total, scheduled }) => left + total + scheduled, 0);
}
