// `holdfast queues`: lists, creates, changes, pauses and deletes queues.

import { type Command, Option } from "commander";
import type { CallOptions } from "../../client/call.ts";
import type { Client } from "../../client/client.ts";
import { HoldfastError, InvalidRequest } from "../../client/errors.ts";
import { differencesOf } from "../../client/settings.ts";
import type { QueueInfo } from "../../client/wire.ts";
import { bounds } from "../../openapi/bounds.ts";
import { confirm, requireTerminal, yesMeaning } from "../confirm.ts";
import { type Context, contextOf } from "../context.ts";
import { type Counts, countsOf, countsOfAll, countsText, totalOf } from "../counts.ts";
import { UsageError } from "../exit-codes.ts";
import { dryRunMeaning, expectOption, type GuardOptions } from "../guard.ts";
import { wholeNumber } from "../option-parsers.ts";
import { counted } from "../output.ts";
import { noteUnreached } from "../unreached.ts";

interface Settings {
  readonly leaseTimeout?: string;
  readonly expireTimeout?: string;
  readonly maxAttempts?: number;
  readonly deadQueue?: string;
  readonly reference?: string;
  readonly partitions?: number;
  readonly leasedMax?: number;
  readonly leaseRate?: string;
  readonly uniqueFor?: string;
  readonly priorityAging?: string;
  readonly waitingMax?: number;
  readonly retryBackoff?: string;
  readonly groupLeasedMax?: number;
  readonly groupRate?: string;
  readonly groupWaitingMax?: number;
  readonly groupOrder?: string;
  readonly groupOnDead?: string;
  /** For `create` only. */
  readonly grouped?: true;
  readonly ifNotExists?: boolean;
}

interface PauseOptions {
  readonly lease?: boolean;
  readonly produce?: boolean;
  readonly because?: string;
}

/** Queues too new for the overview are counted by one call each, up to this number. */
const countedMax = 100;
/** The list does not wait longer for a stalled shard. */
const countTimeoutMs = 5_000;

export function addQueues(program: Command): void {
  const queues = program.command("queues").description("list and change queues");

  queues
    .command("list")
    .description("list all queues by name, with their numbers of items")
    .addHelpText("after", "\nThe counts are at most one second old.")
    .action(async (_, command: Command) => {
      const context = contextOf(command);
      const { rows, unreached } = await countedQueues(context.client);
      context.result(rows, () => formatQueues(context, rows));
      const rest = rows.filter(({ counts }) => counts === null).length;
      if (rest > 0) context.note(`not counted: ${counted(rest, "queue")}; see stats`);
      noteUnreached(context, unreached, "queues");
    });

  settingsOf(queues.command("create").description("define a new queue"), {
    leaseTimeout: "1m",
    expireTimeout: "24h",
  })
    .option("--grouped", "items have groups, which take turns; cannot be changed later")
    .option("--if-not-exists", "succeed if the queue exists, without changing it")
    .action(create);

  settingsOf(
    queues.command("update").description("change a queue; other settings keep their values"),
    {},
  )
    .option("--dry-run", "count the items of surplus partitions, without changing anything")
    .addOption(expectOption("refuse if surplus partitions hold more than this many items"))
    .action(update);

  queues
    .command("info")
    .description("show the definition of a queue")
    .argument("<queue>", "name of the queue")
    .action(async (name: string, _, command: Command) => {
      const context = contextOf(command);
      const info = await context.client.queueInfo({ name });
      const rows = Object.entries(info).map(([key, value]) => [key, String(value)]);
      context.result(info, () => context.table(["key", "value"], rows));
    });

  queues
    .command("delete")
    .description("delete an empty queue, or with --force any queue")
    .argument("<queue>", "name of the queue")
    .option("--force", "delete it even if it holds items or is the dead queue of another")
    .option("--dry-run", dryRunMeaning)
    .addOption(expectOption())
    .option("-y, --yes", yesMeaning)
    .addHelpText("after", "\nIt asks for confirmation if items would be lost.")
    .action(remove);

  addPause(queues);
}

function addPause(queues: Command): void {
  queues
    .command("pause")
    .description("stop leases of a queue, or refuse produces, until it is resumed")
    .argument("<queue>", "name of the queue")
    .option("--lease", "stop leases; the default without --produce")
    .option("--produce", "refuse produces")
    .option("--because <text>", "why the queue is paused, for clients whose calls are refused")
    .action(async (queue_name: string, { because, ...what }: PauseOptions, command: Command) => {
      const context = contextOf(command);
      const reason = because === undefined ? {} : { reason: because };
      const reply = await context.client.pause({ queue_name, ...what, ...reason });
      context.result(reply, () => `paused ${queue_name}`);
    });

  queues
    .command("resume")
    .description("end the pause of a queue")
    .argument("<queue>", "name of the queue")
    .action(async (queue_name: string, _, command: Command) => {
      const context = contextOf(command);
      const reply = await context.client.resume({ queue_name });
      context.result(reply, () => `resumed ${queue_name}`);
    });
}

interface Removing extends GuardOptions {
  readonly force?: boolean;
  readonly yes?: boolean;
}

async function remove(
  queue_name: string,
  { force = false, yes = false, dryRun = false, expect }: Removing,
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  const { client } = context;
  let request = { queue_name, force, ...(expect === undefined ? {} : { expect }) };
  if (dryRun) {
    const reply = await client.deleteQueue({ ...request, dry_run: true });
    const { counts = {}, waiting_leases = 0 } = reply;
    const lost = `${countsText(counts)}, ${counted(waiting_leases, "waiting lease")}`;
    context.result(reply, () => `would delete ${queue_name}: ${lost}`);
    return;
  }
  // Without force the server refuses to delete items.
  if (force && !yes) {
    const { counts = {} } = await client.deleteQueue({ ...request, dry_run: true });
    const lost = totalOf(counts);
    if (lost > 0) {
      requireTerminal(context);
      await confirm(context, `delete ${queue_name}: ${countsText(counts)} will be lost; continue?`);
    }
    request = { ...request, expect: lost };
  }
  const reply = await client.deleteQueue(request);
  context.result(reply, () => `deleted ${queue_name}`);
}

async function update(
  queue_name: string,
  { dryRun = false, expect, ...settings }: Settings & GuardOptions,
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  const changes = wireSettings(settings);
  if (Object.keys(changes).length === 0) {
    throw new UsageError("there is nothing to change; expected one of the options");
  }
  const reply = await context.client.updateQueue({
    ...{ queue_name, ...changes, dry_run: dryRun },
    ...(expect === undefined ? {} : { expect }),
  });
  context.result(reply, () =>
    dryRun
      ? `would update ${queue_name}; surplus partitions hold ${countsText(reply.counts ?? {})}`
      : `updated ${queue_name}`,
  );
}

async function create(queue_name: string, settings: Settings, command: Command): Promise<void> {
  const context = contextOf(command);
  const { client } = context;
  const { lease_timeout = "", expire_timeout = "", ...rest } = wireSettings(settings);
  try {
    await client.createQueue({ queue_name, lease_timeout, expire_timeout, ...rest });
  } catch (error) {
    if (settings.ifNotExists !== true || !(error instanceof InvalidRequest)) throw error;
    // The error may be about the settings instead; if so, the queue does not exist.
    const info = await client.queueInfo({ name: queue_name }).catch(() => {
      throw error;
    });
    const named = Object.entries(settings).filter(
      ([name]) => command.getOptionValueSource(name) !== "default",
    );
    const differing = Object.entries(differencesOf(wireSettings(Object.fromEntries(named)), info))
      .map(
        ([name, { requested, actual }]) =>
          `; ${name} is ${JSON.stringify(actual)}, not ${JSON.stringify(requested)}`,
      )
      .join("");
    return context.result(info, () => `${queue_name} already exists, and is unchanged${differing}`);
  }
  const info = await client.queueInfo({ name: queue_name });
  context.result(info, () => `created ${queue_name}`);
}

/** `null` counts: beyond `countedMax`, or the server returned none. */
type CountedQueue = QueueInfo & { readonly counts: Counts | null };

interface CountedQueues {
  readonly rows: readonly CountedQueue[];
  readonly unreached: readonly number[];
}

async function countedQueues(client: Client): Promise<CountedQueues> {
  const options = { timeoutMs: countTimeoutMs };
  const { infos, unreached } = await allQueues(client);
  const counts = new Map(await orNull(countsOfAll(client, options)));
  const missing = infos.map(({ queue_name }) => queue_name).filter((name) => !counts.has(name));
  await Promise.all(
    missing.slice(0, countedMax).map(async (name) => {
      const own = await orNull(countsOf(client, name, options));
      if (own !== null) counts.set(name, own);
    }),
  );
  const rows = infos.map((info) => ({ ...info, counts: counts.get(info.queue_name) ?? null }));
  return { rows, unreached };
}

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof HoldfastError) return null;
    throw error;
  }
}

interface ListedQueues {
  readonly infos: readonly QueueInfo[];
  /** Shards that were unreachable for any page. */
  readonly unreached: readonly number[];
}

/** Each page starts with the last queue of the previous one; an incomplete page is the last. */
export async function allQueues(client: Client, options: CallOptions = {}): Promise<ListedQueues> {
  const limit = bounds.queuesListMax;
  const infos: QueueInfo[] = [];
  const missing = new Set<number>();
  for (;;) {
    const pivot = infos.at(-1)?.queue_name ?? "";
    const { items, unreached } = await client.listQueues({ pivot, limit }, options);
    infos.push(...items.filter(({ queue_name }) => queue_name !== pivot));
    for (const shard of unreached) missing.add(shard);
    if (items.length < limit) return { infos, unreached: [...missing].sort((a, b) => a - b) };
  }
}

function settingsOf(
  command: Command,
  defaults: { readonly leaseTimeout?: string; readonly expireTimeout?: string },
): Command {
  const { leaseTimeout, expireTimeout } = defaults;
  const described = command
    .argument("<queue>", "name of the queue")
    .option("--lease-timeout <duration>", "how long a consumer holds an item", leaseTimeout)
    .option("--expire-timeout <duration>", "how long an item may wait, or never", expireTimeout)
    .addOption(
      new Option("--max-attempts <count>", "leases before an item fails; 0 = no limit").argParser(
        wholeNumber(bounds.maxAttemptsMin, bounds.maxAttemptsMax),
      ),
    )
    .option("--dead-queue <queue>", 'queue for failed and expired items; "" = none')
    .option("--reference <text>", "owner or other free text")
    .addOption(
      new Option("--partitions <count>", "number of partitions").argParser(
        wholeNumber(bounds.partitionsMin, bounds.partitionsMax),
      ),
    )
    .addOption(
      new Option(
        "--leased-max <count>",
        "maximum number of items leased at one time; 0 = no limit",
      ).argParser(wholeNumber(bounds.leasedMaxMin, bounds.leasedMaxMax)),
    )
    .option(
      "--lease-rate <rate>",
      'maximum number of items leased per interval, such as 100/1s; "" = no limit',
    )
    .option(
      "--unique-for <duration>",
      'how long a unique key is reserved, or pending (while its item is unfinished); "" = no unique keys',
    )
    .option("--priority-aging <duration>", "wait by which an item gains a priority, or never")
    .addOption(
      new Option(
        "--waiting-max <count>",
        "maximum number of items that may wait; 0 = no limit",
      ).argParser(wholeNumber(0, bounds.waitingMaxMax)),
    )
    .option(
      "--retry-backoff <range>",
      'delay of a retry that names none, such as 1s..5m; "" = none',
    );
  return groupSettingsOf(described);
}

function groupSettingsOf(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--group-leased-max <count>",
        "maximum number of items of a group leased at one time; 0 = no limit",
      ).argParser(wholeNumber(bounds.leasedMaxMin, bounds.leasedMaxMax)),
    )
    .option(
      "--group-rate <rate>",
      'maximum number of items of a group leased per interval, such as 10/1s; "" = no limit',
    )
    .addOption(
      new Option(
        "--group-waiting-max <count>",
        "maximum number of items of a group that may wait; 0 = no limit",
      ).argParser(wholeNumber(0, bounds.waitingMaxMax)),
    )
    .addOption(
      new Option("--group-order <order>", "place of an item that comes back to its group").choices([
        "loose",
        "strict",
      ]),
    )
    .addOption(
      new Option("--group-on-dead <what>", "what a dead letter does to its group").choices([
        "continue",
        "block",
      ]),
    );
}

function wireSettings(settings: Settings) {
  const { leaseTimeout, expireTimeout, maxAttempts, deadQueue, reference, partitions } = settings;
  const { leasedMax, leaseRate, uniqueFor, priorityAging, waitingMax, retryBackoff } = settings;
  const { grouped, groupLeasedMax, groupRate, groupWaitingMax, groupOrder, groupOnDead } = settings;
  return {
    ...(leaseTimeout === undefined ? {} : { lease_timeout: leaseTimeout }),
    ...(expireTimeout === undefined ? {} : { expire_timeout: expireTimeout }),
    ...(maxAttempts === undefined ? {} : { max_attempts: maxAttempts }),
    ...(deadQueue === undefined ? {} : { dead_queue: deadQueue }),
    ...(reference === undefined ? {} : { reference }),
    ...(partitions === undefined ? {} : { requested_partitions: partitions }),
    ...(leasedMax === undefined ? {} : { leased_max: leasedMax }),
    ...(leaseRate === undefined ? {} : { lease_rate: leaseRate }),
    ...(uniqueFor === undefined ? {} : { unique_for: uniqueFor }),
    ...(priorityAging === undefined ? {} : { priority_aging: priorityAging }),
    ...(waitingMax === undefined ? {} : { waiting_max: waitingMax }),
    ...(retryBackoff === undefined ? {} : { retry_backoff: retryBackoff }),
    ...(grouped === undefined ? {} : { grouped }),
    ...(groupLeasedMax === undefined ? {} : { group_leased_max: groupLeasedMax }),
    ...(groupRate === undefined ? {} : { group_rate: groupRate }),
    ...(groupWaitingMax === undefined ? {} : { group_waiting_max: groupWaitingMax }),
    ...(groupOrder === undefined ? {} : { group_order: groupOrder }),
    ...(groupOnDead === undefined ? {} : { group_on_dead: groupOnDead }),
  };
}

function formatQueues({ table }: Context, queues: readonly CountedQueue[]): string {
  if (queues.length === 0) return "there are no queues";
  const rows = queues.map(({ counts, ...info }) => [
    info.queue_name,
    counts?.ready ?? "",
    counts?.leased ?? "",
    counts?.scheduled ?? "",
    info.requested_partitions,
    info.lease_timeout,
    info.expire_timeout,
    info.max_attempts,
    pausedSides(info),
    info.dead_queue,
    info.reference,
  ]);
  const items = ["ready", "leased", "scheduled"];
  const settings = [
    "partitions",
    "lease",
    "expire",
    "attempts",
    "paused",
    "dead queue",
    "reference",
  ];
  return table(["queue", ...items, ...settings], rows);
}

function pausedSides({ lease_paused, produce_paused }: QueueInfo): string {
  return [lease_paused ? "lease" : "", produce_paused ? "produce" : ""].filter(Boolean).join(", ");
}
