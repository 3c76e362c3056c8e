// `holdfast clear`: removes items of a queue by their state, after a confirmation.

import type { Command } from "commander";
import { bounds } from "../../openapi/bounds.ts";
import { confirm, requireTerminal, yesMeaning } from "../confirm.ts";
import { contextOf } from "../context.ts";
import { countsText, totalOf } from "../counts.ts";
import { UsageError } from "../exit-codes.ts";
import { dryRunMeaning, expectOption, type GuardOptions } from "../guard.ts";

interface Kinds {
  readonly ready?: boolean;
  readonly scheduled?: boolean;
  readonly retried?: boolean;
  readonly leased?: boolean;
}

interface Options extends Kinds, GuardOptions {
  readonly yes?: boolean;
}

export function addClear(program: Command): void {
  program
    .command("clear")
    .description("remove items of a queue; they do not go to the dead queue")
    .argument("<queue>", "name of the queue")
    .option("--ready", "remove items that are ready to be leased")
    .option("--scheduled", "remove items that a producer scheduled")
    .option("--retried", "remove items that wait for a retry")
    .option("--leased", "with --ready: also leased items, which can then no longer be completed")
    .option("--dry-run", dryRunMeaning)
    .addOption(expectOption())
    .option("-y, --yes", yesMeaning)
    .action(clear);
}

async function clear(queue_name: string, options: Options, command: Command): Promise<void> {
  const { ready = false, scheduled = false, retried = false, leased = false, yes } = options;
  const { dryRun = false, expect } = options;
  if (!ready && !scheduled && !retried) {
    throw new UsageError("there is nothing to clear; expected --ready, --scheduled or --retried");
  }
  if (leased && !ready) throw new UsageError("--leased is invalid; expected --ready with it");
  const context = contextOf(command);
  if (yes !== true && !dryRun) requireTerminal(context);
  const kinds = { queue: ready, scheduled, retry: retried, destructive: leased };
  const guard = expect === undefined ? {} : { expect };
  const request = { queue_name, ...kinds, ...guard };
  // Only a call with `expect` returns counts.
  let most = expect ?? bounds.expectMax;
  if (dryRun || yes !== true) {
    const { counts = {} } = await context.client.clear({ ...request, dry_run: true });
    const lost = ofKinds(options, counts);
    const text = countsText(lost);
    if (dryRun) {
      const would = { queue_name, would_clear: lost };
      return context.result(would, () => `would clear ${queue_name}: ${text}`);
    }
    await confirm(context, `clear ${queue_name}: ${text} will be lost; continue?`);
    most = totalOf(lost);
  }
  const { counts } = await context.client.clear({ ...request, expect: most });
  const cleared = counts === undefined ? null : ofKinds(options, counts);
  const text = cleared === null ? "how many is not known" : countsText(cleared);
  context.result({ queue_name, cleared }, () => `cleared ${queue_name}: ${text}`);
}

/** The counts of the selected states. */
function ofKinds(kinds: Kinds, counts: Partial<Record<keyof Kinds, number>> = {}) {
  const names = ["ready", "leased", "scheduled", "retried"] as const;
  return Object.fromEntries(
    names.filter((name) => kinds[name] === true).map((name) => [name, counts[name] ?? 0]),
  );
}
