// `holdfast explain`: the findings of a queue, or of all queues.

import { type Command, Option } from "commander";
import { HoldfastError } from "../../client/errors.ts";
import type { QueueExplainReply, ServerOverviewReply } from "../../client/wire.ts";
import { type Context, contextOf } from "../context.ts";
import { healthyTexts, severityOf } from "../health.ts";
import { wholeNumber } from "../option-parsers.ts";
import { counted, escaped } from "../output.ts";
import { noteUnreached } from "../unreached.ts";

const limitDefault = 40;
const limitMax = 10_000;

interface Options {
  readonly limit: number;
}

export function addExplain(program: Command): void {
  program
    .command("explain")
    .description("explain what is wrong with a queue, or with all queues, worst first")
    .argument("[queue]", "name of the queue; by default all queues")
    .addOption(
      new Option("-n, --limit <count>", "maximum number of queues, if no queue is given")
        .default(limitDefault)
        .argParser(wholeNumber(1, limitMax)),
    )
    .action(explain);
}

async function explain(
  queue_name: string | undefined,
  { limit }: Options,
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  if (queue_name === undefined) return explainAll(context, limit);
  const explained = await context.client.explain({ queue_name });
  context.result(explained, () => formatExplained(explained));
}

async function explainAll(context: Context, limit: number): Promise<void> {
  const { queues, alarms, unreached } = await context.client.overview();
  const names = queuesWithFindings(queues);
  const explained: QueueExplainReply[] = [];
  for (const queue_name of names.slice(0, limit)) {
    const one = await explainedIfPresent(context, queue_name);
    if (one !== null) explained.push(one);
  }
  const server = alarms.filter(({ queue_name }) => queue_name === "");
  const more = Math.max(0, names.length - limit);
  context.result({ alarms: server, queues: explained, more }, () => {
    const parts = [...server.map(({ text }) => escaped(text)), ...explained.map(formatExplained)];
    if (more > 0) parts.push(`and ${counted(more, "more queue")}; raise --limit to see them`);
    const count = counted(queues.queue_name.length, "queue");
    return parts.length > 0 ? parts.join("\n\n") : `no findings in ${count}`;
  });
  noteUnreached(context, unreached, "queues");
}

/** Queues with findings, worst first. */
function queuesWithFindings({
  queue_name,
  health,
}: ServerOverviewReply["queues"]): readonly string[] {
  return queue_name
    .map((name, index) => ({ name, health: health[index] ?? "" }))
    .filter((one) => healthyTexts[one.health] === undefined)
    .sort((a, b) => severityOf(a.health) - severityOf(b.health))
    .map(({ name }) => name);
}

/** `null` = the queue was deleted, or has no findings anymore. */
async function explainedIfPresent(
  { client }: Context,
  queue_name: string,
): Promise<QueueExplainReply | null> {
  try {
    const explained = await client.explain({ queue_name });
    return explained.findings.length === 0 ? null : explained;
  } catch (error) {
    if (error instanceof HoldfastError && error.reason === "no_such_queue") return null;
    throw error;
  }
}

function formatExplained({ queue_name, health, findings }: QueueExplainReply): string {
  const about = healthyTexts[health];
  const first = about === undefined ? `${queue_name}: ${health}` : `${queue_name}: ${about}`;
  const lines = findings.map(
    ({ kind, since, text }) => `${kind}, since ${since}\n  ${escaped(text)}`,
  );
  return [first, ...lines].join("\n\n");
}
