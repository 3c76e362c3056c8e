// `holdfast items`: lists stored items without leasing them, and cancels or deletes single ones.

import { type Command, Option } from "commander";
import type { Client } from "../../client/client.ts";
import { bounds } from "../../openapi/bounds.ts";
import { type Context, contextOf } from "../context.ts";
import { countsText } from "../counts.ts";
import { UsageError } from "../exit-codes.ts";
import { dryRunMeaning, expectOption, type GuardOptions } from "../guard.ts";
import type { ExportedItem } from "../items-file.ts";
import { partitionOption } from "../leased.ts";
import { priorityMinOption, wholeNumber } from "../option-parsers.ts";
import { counted, neededColumns, shortened, tableOf } from "../output.ts";
import { type Paging, pagesOf } from "../pages.ts";
import { addFind } from "./find.ts";

export function addItems(program: Command): void {
  const items = program
    .command("items")
    .description("look at stored items, and cancel or delete single ones");

  items
    .command("list")
    .description("list stored items, partition by partition, in the order of their ids")
    .argument("<queue>", "name of the queue")
    .addOption(partitionOption("only this partition"))
    .option("--scheduled", "list scheduled items and retries instead of ready and leased items")
    .addOption(limitOption(100))
    .option("--pivot <id>", "start after this item of the partition")
    .action(list);

  items
    .command("peek")
    .description("show the items that would be leased next, without leasing them")
    .argument("<queue>", "name of the queue")
    .addOption(partitionOption("the partition; by default the one with the most ready items"))
    .addOption(priorityMinOption())
    .addOption(limitOption(10))
    .addHelpText(
      "after",
      `
Items of the highest priority come first. What an item has gained by waiting is not counted.
Payloads are shown up to 64 KiB; \`holdfast items get\` shows a whole one.`,
    )
    .action(peek);

  addFind(items);

  items
    .command("cancel")
    .description("remove unfinished items in any partition, and show the state of each before that")
    .argument("<queue>", "name of the queue")
    .argument("<id...>", "current ids of the items")
    .action(cancel);

  items
    .command("delete")
    .description("remove items in any state; they do not go to the dead queue")
    .argument("<queue>", "name of the queue")
    .argument("<id...>", "current ids of the items")
    .addOption(partitionOption("partition of the items").makeOptionMandatory())
    .option("--dry-run", dryRunMeaning)
    .addOption(expectOption())
    .action(remove);
}

function limitOption(value: number): Option {
  return new Option("-n, --limit <count>", "maximum number of items")
    .argParser(wholeNumber(bounds.storageListMin, bounds.storageListMax))
    .default(value);
}

interface Place {
  readonly partition?: number;
  readonly limit: number;
}

interface Listing extends Place {
  readonly scheduled?: boolean;
  readonly pivot?: string;
}

interface Peeking extends Place {
  readonly priorityMin?: number;
}

/** So that a page with long payloads is of moderate size. */
const peekPageMax = 100;

async function list(queue: string, options: Listing, command: Command): Promise<void> {
  const { partition: only, scheduled = false, limit, pivot = "" } = options;
  if (pivot !== "" && only === undefined) {
    throw new UsageError("--pivot is invalid; expected --partition with it");
  }
  const context = contextOf(command);
  const { client } = context;
  const partitions = only === undefined ? (await readyOf(client, queue)).keys() : [only];
  const items: ExportedItem[] = [];
  for (const partition of partitions) {
    const paging = { queue, partition, scheduled, pivot, page: limit };
    items.push(...(await firstOf(client, paging, limit - items.length)));
    if (items.length === limit) break;
  }
  show(context, items);
}

async function peek(queue: string, options: Peeking, command: Command): Promise<void> {
  const { limit, priorityMin = 0 } = options;
  const context = contextOf(command);
  const { client } = context;
  const partition = options.partition ?? (await nextOf(client, queue));
  const wanted = { partition, state: "ready", limit: Math.min(limit, peekPageMax) };
  const items: ExportedItem[] = [];
  const found = client.queue(queue).find({ ...wanted, payload_head: bounds.findPayloadHeadMax });
  for await (const item of found) {
    if (item.priority < priorityMin) break;
    items.push({ scheduled: false, ...item });
    if (items.length === limit) break;
  }
  show(context, items);
}

async function cancel(
  queue_name: string,
  ids: string[],
  _: unknown,
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  const reply = await context.client.cancelItems({ queue_name, ids });
  context.result(reply, () =>
    context.table(
      ["id", "was"],
      reply.items.map(({ id, was }) => [id, was]),
    ),
  );
}

async function remove(
  queue_name: string,
  ids: string[],
  { partition, dryRun = false, expect }: { readonly partition: number } & GuardOptions,
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  const guard = expect === undefined ? {} : { expect };
  const request = { queue_name, partition, ids, ...guard };
  if (dryRun) {
    const reply = await context.client.deleteItems({ ...request, dry_run: true });
    context.result(reply, () => `would delete of ${queue_name}: ${countsText(reply.counts ?? {})}`);
    return;
  }
  const reply = await context.client.deleteItems(request);
  // The reply does not report which of them existed.
  context.result(
    reply,
    () =>
      `${counted(ids.length, "item")} of ${queue_name} deleted, as far as partition ${partition} had them`,
  );
}

async function firstOf(
  client: Client,
  paging: Paging,
  limit: number,
): Promise<readonly ExportedItem[]> {
  const { partition, scheduled } = paging;
  const found: ExportedItem[] = [];
  for await (const items of pagesOf(client, paging)) {
    found.push(...items.map((item) => ({ partition, scheduled, ...item })));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** The number of ready items by partition. */
async function readyOf(client: Client, queue_name: string): Promise<Map<number, number>> {
  const { logical_queues } = await client.stats({ queue_name });
  return new Map(
    logical_queues
      .flatMap(({ partitions }) => partitions)
      .map(({ partition, total, total_leased }) => [partition, total - total_leased]),
  );
}

/** The partition that serves the next lease. */
async function nextOf(client: Client, queue: string): Promise<number> {
  const [first = [0, 0], ...others] = await readyOf(client, queue);
  const [partition] = others.reduce((most, one) => (one[1] > most[1] ? one : most), first);
  return partition;
}

function show(context: Context, items: readonly ExportedItem[]): void {
  context.result(items, () => {
    if (items.length === 0) return "there are no matching items";
    return tableOf(context, items, [
      ["partition", ({ partition }) => partition],
      ["id", ({ id }) => id],
      ["state", stateOf],
      ...neededColumns<ExportedItem>(items, [
        ["priority", ({ priority }) => priority],
        ["group", ({ group = "" }) => group],
      ]),
      ["attempts", ({ attempts }) => attempts],
      ["kind", ({ kind }) => kind],
      ["reference", ({ reference }) => reference],
      ["payload", ({ payload }) => shortened(Buffer.from(payload, "base64").toString())],
    ]);
  });
}

function stateOf({ is_leased, lease_deadline, enqueue_at }: ExportedItem): string {
  if (is_leased) return `leased until ${lease_deadline}`;
  return enqueue_at === null ? "ready" : `scheduled for ${enqueue_at}`;
}
