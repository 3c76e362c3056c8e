// `holdfast items find`, `summarize`, `get` and `explain`: searches items, counts them by a field,
// and shows where one item is and why.

import { type Command, Option } from "commander";
import type { Client } from "../../client/client.ts";
import type { FindItemsRequest, FoundItem, ItemSummary } from "../../client/wire.ts";
import { bounds } from "../../openapi/bounds.ts";
import { type Context, contextOf } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { type FilterOptions, filtered, filterOf } from "../filter.ts";
import { partitionOption } from "../leased.ts";
import { wholeNumber } from "../option-parsers.ts";
import { counted, neededColumns, oneLine, shortened, tableOf } from "../output.ts";

interface Options extends FilterOptions {
  readonly partition?: number;
  readonly state?: string;
  readonly holder?: string;
  readonly dead?: boolean;
}

export function addFind(items: Command): void {
  searching(items, "find", "find items that match the options, in any state, without leasing them")
    .addOption(
      new Option("-n, --limit <count>", "maximum number of items")
        .argParser(wholeNumber(bounds.findItemsMin, bounds.findItemsMax))
        .default(20),
    )
    .option("--newest", "items that entered the queue last come first")
    .action(find);

  searching(
    items,
    "summarize",
    "count items that match the options by a field, largest count first",
  )
    .addOption(
      new Option("--by <field>", "field to summarize by")
        .choices(["reason", "death", "kind", "origin_queue", "group"])
        .default("reason"),
    )
    .addOption(
      new Option("--top <count>", "maximum number of summaries").argParser(
        wholeNumber(bounds.summariesMin, bounds.summariesMax),
      ),
    )
    .action(summarize);

  items
    .command("get")
    .description("show an item by its current id")
    .argument("<id>", "current id of the item")
    .addOption(payloadOption("--payload-offset <byte>", "first byte of the payload to print"))
    .addOption(payloadOption("--payload-limit <bytes>", "maximum bytes of the payload to print"))
    .action(get);

  items
    .command("explain")
    .description("explain where an item is and why, by any id that it ever had")
    .argument("<id>", "current or former id of the item")
    .action(explain);
}

function payloadOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser(wholeNumber(0, bounds.payloadRangeMax));
}

function searching(items: Command, name: string, description: string): Command {
  return filtered(
    items
      .command(name)
      .description(description)
      .argument("<queue>", "name of the queue")
      .addOption(partitionOption("only this partition"))
      .addOption(
        new Option("--state <state>", "in this state").choices(["ready", "leased", "scheduled"]),
      )
      .option("--holder <client>", "held by this client")
      .addOption(
        new Option("--dead", "search its dead queue for items that died in this queue").conflicts(
          "from",
        ),
      ),
  );
}

async function searchOf({ client }: Context, queue_name: string, options: Options) {
  const { partition, state, holder, dead = false } = options;
  const where = dead ? await deadOf(client, queue_name) : { queue_name, filter: {} };
  return {
    queue_name: where.queue_name,
    filter: { ...(await filterOf(options, client)), ...where.filter },
    ...(partition !== undefined && { partition }),
    ...(state !== undefined && { state }),
    ...(holder !== undefined && { holder }),
  };
}

/** Several queues may share a dead queue, so the search is limited to items of this queue. */
async function deadOf(client: Client, origin_queue: string) {
  const { dead_queue } = await client.queueInfo({ name: origin_queue });
  if (dead_queue === "") throw new UsageError(`queue '${origin_queue}' has no dead queue`);
  return { queue_name: dead_queue, filter: { origin_queue } };
}

interface FindOptions extends Options {
  readonly newest?: boolean;
  readonly limit: number;
}

/** Enough for a line of the table. */
const headBytes = 200;

async function find(queue: string, options: FindOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const progress = context.progress("items scanned");
  const order = options.newest === true ? { order: "newest" } : {};
  const search = await searchOf(context, queue, options);
  const found: FoundItem[] = [];
  let scanned = 0;
  let pivot = "";
  try {
    do {
      const limit = options.limit - found.length;
      const asked = { ...search, ...order, limit, pivot, payload_head: headBytes };
      const page = await context.client.findItems(asked satisfies FindItemsRequest);
      found.push(...page.items);
      scanned += page.scanned;
      pivot = page.next_pivot;
      progress.update(scanned);
    } while (pivot !== "" && found.length < options.limit);
  } finally {
    progress.end();
  }
  const isAll = pivot === "";
  context.result({ items: found, scanned, is_all: isAll }, () => {
    const more = isAll ? "all there are" : "there may be more";
    const summary = `${counted(found.length, "item")} found among ${scanned}; ${more}`;
    return found.length === 0 ? summary : `${foundTable(context, found)}\n${summary}`;
  });
}

function foundTable(context: Context, items: readonly FoundItem[]): string {
  return tableOf(context, items, [
    ["partition", ({ partition }) => partition],
    ["id", ({ id }) => id],
    [
      "state",
      ({ death, state, origin_queue = "" }) => (death ? `${death} in ${origin_queue}` : state),
    ],
    ...neededColumns<FoundItem>(items, [
      ["priority", ({ priority }) => priority],
      ["group", ({ group = "" }) => group],
    ]),
    ["attempts", ({ origin_attempts, attempts }) => origin_attempts ?? attempts],
    ["kind", ({ kind }) => kind],
    ["reason", ({ reason = "" }) => oneLine(reason)],
    ["payload", ({ payload }) => shortened(Buffer.from(payload, "base64").toString())],
  ]);
}

interface SummarizeOptions extends Options {
  readonly by: string;
  readonly top?: number;
}

async function summarize(
  queue: string,
  options: SummarizeOptions,
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  const progress = context.progress("items scanned");
  const search = await searchOf(context, queue, options);
  const byValue = new Map<string, ItemSummary>();
  let scanned = 0;
  let pivot = "";
  try {
    do {
      const page = await context.client.summarizeItems({ ...search, by: options.by, pivot });
      for (const summary of page.summaries) add(byValue, summary);
      scanned += page.scanned;
      pivot = page.next_pivot;
      progress.update(scanned);
    } while (pivot !== "");
  } finally {
    progress.end();
  }
  // `--top` cannot be applied to each page: a large summary may be small on every single page.
  const all = [...byValue.values()].sort((a, b) => b.count - a.count);
  const shown = all.slice(0, options.top);
  const left = all.slice(shown.length);
  const others = left.reduce((sum, { count }) => sum + count, 0);
  context.result({ summaries: shown, other_items: others, scanned }, () => {
    if (all.length === 0) return `no items among ${scanned}`;
    const rows = shown.map((summary) => [
      summary.count,
      summary.first_at,
      summary.last_at,
      summary.value === "" ? "(none)" : oneLine(summary.value),
    ]);
    const table = context.table(["items", "first", "last", options.by], rows);
    if (left.length === 0) return table;
    return `${table}\n${counted(others, "item")} with ${counted(left.length, "other value")}`;
  });
}

function add(summaries: Map<string, ItemSummary>, summary: ItemSummary): void {
  const known = summaries.get(summary.value);
  if (known === undefined) {
    summaries.set(summary.value, summary);
    return;
  }
  const { first_at } = summary.first_at < known.first_at ? summary : known;
  const { last_at } = summary.last_at > known.last_at ? summary : known;
  summaries.set(summary.value, { ...known, count: known.count + summary.count, first_at, last_at });
}

interface GetOptions {
  readonly payloadOffset?: number;
  readonly payloadLimit?: number;
}

async function get(id: string, options: GetOptions, command: Command): Promise<void> {
  const { payloadOffset: payload_offset, payloadLimit: payload_limit } = options;
  const context = contextOf(command);
  const range = {
    ...(payload_offset !== undefined && { payload_offset }),
    ...(payload_limit !== undefined && { payload_limit }),
  };
  const item = await context.client.getItem({ id, ...range });
  context.result(item, () => {
    const { payload, ...fields } = item;
    const rows = Object.entries(fields).map(([key, value]) => [key, textOf(value)]);
    return `${context.table(["", ""], rows)}\n${Buffer.from(payload, "base64").toString()}`;
  });
}

function textOf(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? "");
}

async function explain(id: string, _: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const explained = await context.client.explainItem({ id });
  context.result(explained, () => {
    const { item, why, history } = explained;
    const place = item === undefined ? [] : [`${item.id} is ${item.state} in ${item.queue_name}.`];
    const rows = history.map(({ at, kind, id, queue_name, partition, holder }) => {
      const where = partition === null ? "" : `${queue_name}/${partition}`;
      return [at, kind, where, id, holder];
    });
    const happened = context.table(["at", "event", "where", "id then", "holder"], rows);
    return [...place, ...why, ...(rows.length > 0 ? ["", happened] : [])].join("\n");
  });
}
