// `holdfast nodes`: lists the nodes of a cluster and the owners of shards, and drains nodes.

import type { Command } from "commander";
import { HoldfastError } from "../../client/errors.ts";
import type { ReplyFor } from "../../client/wire.ts";
import { type Context, contextOf } from "../context.ts";
import { noteUnreached } from "../unreached.ts";

type Nodes = ReplyFor<"listNodes">;

interface Options {
  readonly shards?: boolean;
}

interface DrainOptions {
  readonly undo?: boolean;
}

const nodesHead = ["node", "version", "state", "shards", "joined", "seen"];
const shardsHead = ["shard", "node", "epoch", "taken over", "items/s"];

export function addNodes(program: Command): void {
  const nodes = program
    .command("nodes")
    .description("list the nodes of a cluster and the shards that each of them owns")
    .option("--shards", "list the shards with their owner, load and number of takeovers")
    .action(async ({ shards }: Options, command: Command) => {
      const context = contextOf(command);
      const reply = await context.client.listNodes({});
      if (shards === true) {
        const loaded = await withLoads(context, reply);
        context.result(loaded, () => formatNodes(reply, ownersTable(context, loaded)));
        noteUnreached(context, unreachedIn(loaded), "figures");
        return;
      }
      context.result(reply, () => formatNodes(reply, nodesTable(context, reply)));
    });

  nodes
    .command("drain")
    .description("make a node hand over its shards and take no others")
    .argument("<node-url>", "URL of the node in `holdfast nodes`")
    .option("--undo", "let the node take its share again")
    .action(async (url: string, { undo = false }: DrainOptions, command: Command) => {
      const context = contextOf(command);
      const reply = await context.client.drainNode({ url, draining: !undo });
      context.result(reply, () => drainText(reply, undo));
    });
}

function drainText({ url, shards: { length: count } }: ReplyFor<"drainNode">, undo: boolean) {
  if (undo) return `${url} takes its share of the shards again`;
  if (count === 0) return `${url} has no shards, and takes none`;
  const which = count === 1 ? "its shard" : `its ${count} shards`;
  return `${url} hands ${which} over; \`holdfast nodes\` shows how many it still has`;
}

function formatNodes(reply: Nodes, table: string): string {
  if (reply.items.length === 0) return "this server is not a node; --node-url makes it one";
  return [table, ...unownedLines(reply)].join("\n");
}

interface LoadedShard {
  /** `null` = the shard could not be reached. */
  readonly items_per_second: number | null;
}

type Loaded = Omit<Nodes, "shards"> & {
  readonly shards: readonly (Nodes["shards"][number] & LoadedShard)[];
};

async function withLoads({ client }: Context, reply: Nodes): Promise<Loaded> {
  const reached = reply.shards.length === 0 ? [] : await reachedShards(client);
  const loads = new Map(reached.map((one) => [one.shard, one.items_per_second]));
  const shards = reply.shards.map((one) => ({
    ...one,
    items_per_second: loads.get(one.shard) ?? null,
  }));
  return { ...reply, shards };
}

function unreachedIn({ shards }: Loaded): readonly number[] {
  return shards.flatMap(({ shard, items_per_second: load }) => (load === null ? [shard] : []));
}

/** Empty if no shard is reachable; the owners are known even then. */
async function reachedShards(client: Context["client"]) {
  try {
    return (await client.overview()).shards;
  } catch (error) {
    if (error instanceof HoldfastError && error.reason === "not_ready") return [];
    throw error;
  }
}

function nodesTable(context: Context, { items }: Nodes): string {
  const rows = items.map((node) => {
    const { url, version, shards, started_at, seen_at } = node;
    const which = shards.length === 0 ? "none" : `${shards.length}: ${rangesText(shards)}`;
    return [url, version, stateText(node), which, started_at, seen_at];
  });
  return context.table(nodesHead, rows);
}

function stateText({ live, draining }: Nodes["items"][number]): string {
  if (!live) return "gone";
  return draining ? "draining" : "up";
}

function ownersTable(context: Context, { shards }: Loaded): string {
  const rows = shards.map(({ shard, node, epoch, taken_at, items_per_second }) => [
    ...[shard, node || "none", epoch, taken_at ?? "never", items_per_second ?? "-"],
  ]);
  return context.table(shardsHead, rows);
}

/** One line if shards have no live owner, because calls to them wait. */
function unownedLines({ items, shards }: Nodes): readonly string[] {
  const live = new Set(items.flatMap(({ url, live: isLive }) => (isLive ? [url] : [])));
  const unowned = shards.filter(({ node }) => !live.has(node)).map(({ shard }) => shard);
  if (unowned.length === 0) return [];
  const which = rangesText(unowned);
  if (unowned.length === 1) return [`shard ${which} has no live owner: its calls wait for one`];
  return [`shards ${which} have no live owner: their calls wait for one`];
}

/** Ascending numbers as `0-3, 9`. */
function rangesText(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range !== undefined && number === range[1] + 1) range[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(", ");
}
