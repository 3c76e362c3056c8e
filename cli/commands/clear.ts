// `holdfast clear`: removes items of a queue, of the kinds that are named. They are lost, so it asks.

import type { Command } from "commander";
import { confirm, requireAsking, yesMeaning } from "../confirm.ts";
import { type Context, contextOf } from "../context.ts";
import { countsOf, countsText } from "../counts.ts";
import { UsageError } from "../exit-codes.ts";

interface Kinds {
  readonly ready?: boolean;
  readonly scheduled?: boolean;
  readonly retried?: boolean;
  readonly leased?: boolean;
}

interface Options extends Kinds {
  readonly yes?: boolean;
}

export function addClear(program: Command): void {
  program
    .command("clear")
    .description("remove items of a queue; they do not go to the dead queue")
    .argument("<queue>", "name of the queue")
    .option("--ready", "those ready to be leased")
    .option("--scheduled", "those that a producer scheduled")
    .option("--retried", "those that wait for a retry")
    .option("--leased", "with --ready: leased ones too, whose holders can then not complete them")
    .option("-y, --yes", yesMeaning)
    .addHelpText("after", "\nThe counts are those of the moment before.")
    .action(clear);
}

async function clear(queue_name: string, options: Options, command: Command): Promise<void> {
  const { ready = false, scheduled = false, retried = false, leased = false, yes } = options;
  if (!ready && !scheduled && !retried) {
    throw new UsageError("there is nothing to clear; expected --ready, --scheduled or --retried");
  }
  if (leased && !ready) throw new UsageError("--leased is invalid; expected --ready with it");
  const context = contextOf(command);
  if (yes !== true) requireAsking(context);
  const cleared = await clearedBy(options, context, queue_name);
  const told = countsText(cleared);
  if (yes !== true) await confirm(context, `clear ${queue_name}: ${told} will be lost; go on?`);
  const kinds = { queue: ready, scheduled, retry: retried, destructive: leased };
  await context.client.clear({ queue_name, ...kinds });
  context.result({ queue_name, cleared }, () => `cleared ${queue_name}: ${told}`);
}

/** Of the kinds that are named. */
async function clearedBy(kinds: Kinds, { client }: Context, queue_name: string) {
  const { queued, scheduled, retried } = await client.inspect({ queue_name });
  return {
    ...(kinds.ready ? { ready: queued } : {}),
    ...(kinds.leased ? { leased: (await countsOf(client, queue_name)).leased } : {}),
    ...(kinds.scheduled ? { scheduled } : {}),
    ...(kinds.retried ? { retried } : {}),
  };
}
