// The clients that wait for items of a queue, and those that hold some.

import type { HoldingClient, QueueClients } from "../model/api.ts";
import { lateLook } from "../model/errors.ts";
import type { PartitionHolder } from "../model/messages.ts";
import { partitionSlot } from "../model/priority.ts";
import type { LogicalQueue } from "../state/queue.ts";
import type { Shard } from "../turn/shard.ts";

export interface ClientsOptions {
  readonly limit: number;
  readonly now: number;
  /** On the machine's clock; a shard that stalls is left out. */
  readonly deadline: number;
  readonly shard: Shard;
}

export async function queueClients(
  queue: LogicalQueue,
  options: ClientsOptions,
): Promise<QueueClients> {
  const { limit, now } = options;
  const { holders, isPartial } = await heldIn(queue, options);
  const { order } = queue.line;
  const waiting = [...queue.clients.values()].map((lease) => {
    const { clientId: client, batchSize } = lease.request;
    return { client, since: lease.since, batchSize, position: order.get(lease) ?? 0 };
  });
  waiting.sort((a, b) => a.position - b.position);
  const holding = holdersByClient(queue, holders);
  return {
    queue: queue.definition.name,
    asOf: now,
    waitingCount: waiting.length,
    waiting: waiting.slice(0, limit),
    holdingCount: holding.length,
    holding: holding.slice(0, limit),
    isPartial,
  };
}

async function heldIn(
  queue: LogicalQueue,
  { shard, deadline }: ClientsOptions,
): Promise<{ readonly holders: readonly PartitionHolder[]; readonly isPartial: boolean }> {
  const { slots } = queue;
  const none = { holders: [], isPartial: true };
  if (!shard.isUp) return none;
  const result = await shard.ask({ kind: "holders", slots }, { deadline, late: lateLook });
  if (!result.ok) return none;
  const { value } = result;
  return { holders: value.kind === "holders" ? value.holders : [], isPartial: false };
}

/** Sorted by items, most first. */
function holdersByClient(queue: LogicalQueue, held: readonly PartitionHolder[]): HoldingClient[] {
  const places = [...queue.places.values()];
  const numbers = new Map(places.map(({ slot, partition }) => [slot, partition]));
  const partitionsOf = (parts: readonly PartitionHolder[]): number[] => {
    const all = parts.flatMap(({ slot }) => numbers.get(partitionSlot(slot)) ?? []);
    return [...new Set(all)].sort((a, b) => a - b);
  };
  return [...Map.groupBy(held, ({ client }) => client)]
    .map(
      ([client, parts]): HoldingClient => ({
        client,
        items: parts.reduce((sum, { items }) => sum + items, 0),
        partitions: partitionsOf(parts),
        nextLapseAt: Math.min(...parts.map(({ nextLapseAt }) => nextLapseAt)),
      }),
    )
    .sort((a, b) => b.items - a.items);
}
