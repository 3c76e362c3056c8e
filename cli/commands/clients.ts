// `holdfast clients`: the clients that hold items of a queue, and those that wait for items.

import type { Command } from "commander";
import { Option } from "commander";
import type { QueueClientsReply } from "../../client/wire.ts";
import { bounds } from "../../openapi/bounds.ts";
import { type Context, contextOf } from "../context.ts";
import { wholeNumber } from "../option-parsers.ts";
import { counted } from "../output.ts";

export function addClients(program: Command): void {
  program
    .command("clients")
    .description("list the clients that hold or wait for items of a queue")
    .argument("<queue>", "name of the queue")
    .addOption(
      new Option("-n, --limit <count>", "maximum number of clients of each kind")
        .default(bounds.clientsDefault)
        .argParser(wholeNumber(bounds.clientsMin, bounds.clientsMax)),
    )
    .action(async (queue_name: string, { limit }: { limit: number }, command: Command) => {
      const context = contextOf(command);
      const clients = await context.client.clients({ queue_name, limit });
      context.result(clients, () => formatClients(context, clients));
    });
}

const holds = ["holds", "items", "partitions", "next lapse"];
const waits = ["waits", "for", "since", "position"];
/** Partitions listed in a cell. */
const partitionsMax = 8;

function formatClients({ table }: Context, clients: QueueClientsReply): string {
  const { holding, holding_count, waiting, waiting_count, partial } = clients;
  const holders = holding.map(({ client_id, items, partitions, next_lapse_at }) => [
    client_id || "(unknown)",
    items,
    partitionsText(partitions),
    next_lapse_at,
  ]);
  const inLine = waiting.map(({ client_id, batch_size, since, position }) => [
    client_id,
    batch_size,
    since,
    position === 0 ? "served" : position,
  ]);
  const parts = [
    ...(holders.length > 0 ? [table(holds, holders)] : []),
    ...(inLine.length > 0 ? [table(waits, inLine)] : []),
    `${counted(holding_count, "client")} with items, ${waiting_count} waiting for some`,
    ...(partial ? ["a shard did not answer; the clients that hold its items are missing"] : []),
  ];
  return parts.join("\n\n");
}

function partitionsText(partitions: readonly number[]): string {
  const shown = partitions.slice(0, partitionsMax).join(" ");
  const more = partitions.length - partitionsMax;
  return more > 0 ? `${shown} and ${more} more` : shown;
}
