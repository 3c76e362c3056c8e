// Counts the items of queues over all partitions.

import type { CallOptions } from "../client/call.ts";
import type { Client } from "../client/client.ts";

export interface Counts {
  readonly ready: number;
  readonly leased: number;
  /** Waiting for their `enqueue_at` or a retry. */
  readonly scheduled: number;
}

/** `2 ready, 1 leased`. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(", ");
}

export function totalOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The counts of all queues by name, at most one second old. */
export async function countsOfAll(
  client: Client,
  options: CallOptions = {},
): Promise<ReadonlyMap<string, Counts>> {
  const { queues } = await client.overview({}, options);
  const { ready, leased, scheduled } = queues;
  const at = (column: readonly number[], index: number): number => column[index] ?? 0;
  return new Map(
    queues.queue_name.map((name, index) => [
      name,
      {
        ready: at(ready, index),
        leased: at(leased, index),
        scheduled: at(scheduled, index),
      },
    ]),
  );
}

export async function countsOf(
  client: Client,
  queue_name: string,
  options: CallOptions = {},
): Promise<Counts> {
  const { logical_queues } = await client.stats({ queue_name }, options);
  const counts = { ready: 0, leased: 0, scheduled: 0 };
  for (const { partitions } of logical_queues) {
    for (const { total, total_leased, scheduled } of partitions) {
      counts.ready += total - total_leased;
      counts.leased += total_leased;
      counts.scheduled += scheduled;
    }
  }
  return counts;
}
