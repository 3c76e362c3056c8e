// `holdfast shards`: the load of each shard, or the shard of a queue.

import { type Command, InvalidArgumentError } from "commander";
import { HoldfastError } from "../../client/errors.ts";
import type { ServerOverviewReply } from "../../client/wire.ts";
import { shardOf, tagOf } from "../../engine/model/placement.ts";
import { bounds } from "../../openapi/bounds.ts";
import { forms } from "../../openapi/forms.ts";
import { type Context, contextOf } from "../context.ts";
import { type Cell, escaped } from "../output.ts";
import { noteUnreached } from "../unreached.ts";

export function addShards(program: Command): void {
  program
    .command("shards")
    .description("show the load of each shard, or the shards of queues")
    .argument("[queue...]", "names of queues, which need not exist", queueNames)
    .addHelpText(
      "after",
      `
The name of a queue determines its shard permanently. If the name has a tag in braces, the tag
determines the shard: {shop}.orders and {shop}.invoices are in one shard.`,
    )
    .action(async (names: readonly string[], _: unknown, command: Command) => {
      const context = contextOf(command);
      const overview = await context.client.overview();
      if (names.length === 0) {
        const rows = rowsOf(overview);
        context.result(rows, () => formatRows(context, rows));
        noteUnreached(context, overview.unreached, "figures");
        return;
      }
      const placements: Placement[] = [];
      for (const name of names) placements.push(await placementOf(context, overview, name));
      context.result(placements, () => placements.map(formatPlacement).join("\n"));
    });
}

const queueName = new RegExp(forms.queueName, "u");

/** Appends a name to the previous ones. */
function queueNames(text: string, before: readonly string[] = []): readonly string[] {
  const { queueNameBytesMax: max } = bounds;
  if (queueName.test(text) && Buffer.byteLength(text) <= max) return [...before, text];
  throw new InvalidArgumentError(
    `expected 1 to ${max} bytes without whitespace, control characters or ~`,
  );
}

interface Row {
  readonly shard: number;
  readonly state: string;
  /** `null` = it is up. */
  readonly since: string | null;
  readonly queues: number;
  readonly ready: number;
  readonly leased: number;
  readonly scheduled: number;
  readonly waiting: number;
  readonly items_per_second: number;
  /** 0 = no recent commits. */
  readonly commit_p50_us: number;
  readonly commit_p99_us: number;
  readonly log_bytes: number;
  readonly file_bytes: number;
}

const noLoad = { queues: 0, ready: 0, leased: 0, scheduled: 0 };

function rowsOf({ shards, queues }: ServerOverviewReply): readonly Row[] {
  const loads = new Map<number, typeof noLoad>();
  for (const [index, shard] of queues.shard.entries()) {
    const load = loads.get(shard) ?? noLoad;
    loads.set(shard, {
      queues: load.queues + 1,
      ready: load.ready + (queues.ready[index] ?? 0),
      leased: load.leased + (queues.leased[index] ?? 0),
      scheduled: load.scheduled + (queues.scheduled[index] ?? 0),
    });
  }
  return shards.map(({ shard, state, since, waiting, ...rest }) => {
    const { items_per_second, commit_p50_us, commit_p99_us, log_bytes, file_bytes } = rest;
    return {
      ...{ shard, state, since, ...(loads.get(shard) ?? noLoad), waiting, items_per_second },
      ...{ commit_p50_us, commit_p99_us, log_bytes, file_bytes },
    };
  });
}

const columns = [
  ...["shard", "state", "queues", "ready", "leased", "scheduled", "waiting"],
  ...["items/s", "commit p50", "p99", "log", "file"],
];
const summed = ["queues", "ready", "leased", "scheduled", "waiting", "items_per_second"] as const;

function formatRows({ table }: Context, rows: readonly Row[]): string {
  const cells = rows.map((row): Cell[] => [
    row.shard,
    row.since === null ? row.state : `${row.state} since ${row.since}`,
    ...summed.map((key) => row[key]),
    durationText(row.commit_p50_us),
    durationText(row.commit_p99_us),
    bytesText(row.log_bytes),
    bytesText(row.file_bytes),
  ]);
  if (rows.length === 1) return table(columns, cells);
  const total = (key: (typeof summed)[number] | "log_bytes" | "file_bytes") =>
    rows.reduce((sum, row) => sum + row[key], 0);
  const up = rows.filter(({ state }) => state === "up").length;
  return table(columns, [
    ...cells,
    [
      ...["total", `${up} of ${rows.length} up`, ...summed.map(total), "", ""],
      ...[bytesText(total("log_bytes")), bytesText(total("file_bytes"))],
    ],
  ]);
}

/** `""` for 0, which means no commits. */
function durationText(us: number): string {
  if (us === 0) return "";
  return us < 1_000 ? `${us} µs` : `${(us / 1_000).toFixed(us < 10_000 ? 1 : 0)} ms`;
}

function bytesText(bytes: number): string {
  if (bytes < 1e6) return `${Math.round(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

interface Placement {
  readonly queue_name: string;
  readonly shard: number;
  readonly exists: boolean;
  /** `""` = the name has none. */
  readonly tag: string;
}

async function placementOf(
  context: Context,
  { shards, queues }: ServerOverviewReply,
  queue_name: string,
): Promise<Placement> {
  const known = queues.shard[queues.queue_name.indexOf(queue_name)];
  const exists = known !== undefined || (await isQueue(context, queue_name));
  const shard = known ?? shardOf(queue_name, shards.length);
  return { queue_name, shard, exists, tag: tagOf(queue_name) ?? "" };
}

/** A queue that was created within the last second is not in the overview. */
async function isQueue({ client }: Context, name: string): Promise<boolean> {
  try {
    await client.queueInfo({ name });
    return true;
  } catch (error) {
    if (error instanceof HoldfastError && error.reason === "no_such_queue") return false;
    throw error;
  }
}

function formatPlacement({ queue_name, shard, exists, tag }: Placement): string {
  const where = exists ? `is in shard ${shard}` : `does not exist; it would be in shard ${shard}`;
  const why = tag === "" ? "" : `, by its tag {${tag}}`;
  return escaped(`${queue_name} ${where}${why}`);
}
