// Who asks a queue for items, and who holds some of them.

import type { HoldingClient, QueueClients } from "./api.ts";
import { lateLook, QueueError } from "./errors.ts";
import type { PartitionHolder } from "./messages.ts";
import type { LogicalQueue } from "./queue.ts";
import { type Shard, succeeded } from "./shard/shard.ts";

export interface ClientsOptions {
  readonly limit: number;
  readonly now: number;
  /** On the machine's clock: a shard that stalls is passed over. */
  readonly deadline: number;
  readonly port: (shard: number) => Shard;
}

export async function queueClients(
  queue: LogicalQueue,
  options: ClientsOptions,
): Promise<QueueClients> {
  const { limit, now } = options;
  const { holders, isPartial } = await heldIn(queue, options);
  const { order } = queue.line;
  const asking = [...queue.clients.values()].map((lease) => {
    const { clientId: client, batchSize } = lease.request;
    return { client, since: lease.since, batchSize, place: order.get(lease) ?? 0 };
  });
  asking.sort((a, b) => a.place - b.place);
  const holding = holdersByClient(queue, holders);
  return {
    queue: queue.definition.name,
    asOf: now,
    askingCount: asking.length,
    asking: asking.slice(0, limit),
    holdingCount: holding.length,
    holding: holding.slice(0, limit),
    isPartial,
  };
}

interface Held extends PartitionHolder {
  readonly shard: number;
}

async function heldIn(
  queue: LogicalQueue,
  { port, deadline }: ClientsOptions,
): Promise<{ readonly holders: readonly Held[]; readonly isPartial: boolean }> {
  const byShard = Map.groupBy(queue.places.values(), ({ shard }) => shard);
  const timing = { deadline, late: lateLook };
  let isPartial = false;
  const parts = [...byShard].map(async ([shard, places]): Promise<Held[]> => {
    try {
      if (!port(shard).isUp) throw QueueError.from(lateLook.untaken);
      const slots = places.map(({ slot }) => slot);
      const value = succeeded(await port(shard).ask({ kind: "holders", slots }, timing));
      return value.kind === "holders" ? value.holders.map((one) => ({ ...one, shard })) : [];
    } catch (cause) {
      if (!(cause instanceof QueueError)) throw cause;
      isPartial = true;
      return [];
    }
  });
  return { holders: (await Promise.all(parts)).flat(), isPartial };
}

/** Who holds most comes first. */
function holdersByClient(queue: LogicalQueue, held: readonly Held[]): HoldingClient[] {
  const places = [...queue.places.values()];
  const partitionOf = new Map(
    places.map(({ shard, slot, partition }) => [`${shard}:${slot}`, partition]),
  );
  return [...Map.groupBy(held, ({ client }) => client)]
    .map(
      ([client, parts]): HoldingClient => ({
        client,
        items: parts.reduce((sum, { items }) => sum + items, 0),
        partitions: parts
          .flatMap(({ shard, slot }) => partitionOf.get(`${shard}:${slot}`) ?? [])
          .sort((a, b) => a - b),
        nextLapseAt: Math.min(...parts.map(({ nextLapseAt }) => nextLapseAt)),
      }),
    )
    .sort((a, b) => b.items - a.items);
}
