// `holdfast tasks`: lists and cancels tasks. Also starts those of `redrive` and `repair`.

import { type Command, Option } from "commander";
import type { Destination, TaskBegun, TaskInfo } from "../../client/wire.ts";
import { bounds } from "../../openapi/bounds.ts";
import { confirm, requireTerminal, yesMeaning } from "../confirm.ts";
import { type Context, contextOf } from "../context.ts";
import { type FilterOptions, filtered } from "../filter.ts";
import { expectOption, type GuardOptions } from "../guard.ts";
import { interruption } from "../interrupt.ts";
import { wholeNumber } from "../option-parsers.ts";
import { counted } from "../output.ts";
import { noteUnreached } from "../unreached.ts";

export function addTasks(program: Command): void {
  const tasks = program.command("tasks").description("list, show and cancel tasks");
  tasks
    .command("list")
    .description("list running and ended tasks, newest first")
    .argument("[queue]", "only tasks of this queue")
    .action(list);
  tasks
    .command("info")
    .description("show the progress of a task")
    .argument("<task>", "id of the task")
    .action((task_id: string, _: unknown, command: Command) =>
      one(command, (context) => context.client.taskInfo({ task_id })),
    );
  tasks
    .command("cancel")
    .description("stop a task; its changes so far are kept")
    .argument("<task>", "id of the task")
    .action((task_id: string, _: unknown, command: Command) =>
      one(command, (context) => context.client.cancelTask({ task_id })),
    );
}

export interface TaskOptions extends FilterOptions, GuardOptions {
  readonly limit?: number;
  readonly perSecond?: number;
  readonly follow?: boolean;
  readonly yes?: boolean;
}

const most = 1_000_000_000;

/** Adds the options of a command that starts a task. */
export function beginning(command: Command): Command {
  return filtered(command)
    .addOption(
      new Option("--limit <count>", "maximum number of items").argParser(wholeNumber(1, most)),
    )
    .addOption(
      new Option("--per-second <count>", "maximum number of items per second").argParser(
        wholeNumber(1, bounds.taskPerSecondMax),
      ),
    )
    .option("--dry-run", "only count the items")
    .addOption(expectOption("refuse if more than this many items match"))
    .option("--follow", "wait until the task is done")
    .option("-y, --yes", yesMeaning);
}

/** The limits of a task as request fields. */
export function paceOf({ limit, perSecond }: TaskOptions) {
  return {
    ...(limit !== undefined && { limit }),
    ...(perSecond !== undefined && { per_second: perSecond }),
  };
}

interface Meant {
  readonly queue_name: string;
  readonly ask: (guard: { dry_run: true } | { expect: number }) => Promise<TaskBegun>;
  /** Completes "3 items of orders will …". */
  readonly deed: string;
}

/** Counts the items, asks for confirmation, and starts the task for at most that count. */
export async function begin(
  context: Context,
  { dryRun = false, expect, follow = false, yes }: TaskOptions,
  { queue_name, ask, deed }: Meant,
): Promise<void> {
  if (!dryRun && yes !== true) requireTerminal(context);
  const itemsText = (count: number) => `${counted(count, "item")} of ${queue_name}`;
  // With both `--expect` and `--yes` the count is not needed in advance.
  let bound = expect;
  if (dryRun || yes !== true || bound === undefined) {
    const { matched, destinations } = await ask({ dry_run: true });
    const rest = stayingText(destinations);
    if (dryRun) {
      context.result(
        { queue_name, matched, destinations },
        () => `${itemsText(matched)} would ${deed}${destinationsText(destinations)}${rest}`,
      );
      return;
    }
    if (yes !== true)
      await confirm(context, `${itemsText(matched)} will ${deed}${rest}; continue?`);
    bound = Math.min(bound ?? matched, matched);
  }
  const begun = await ask({ expect: bound });
  if (follow) await ended(context, begun.task_id);
  else {
    const more = `holdfast tasks info ${begun.task_id}`;
    const text = `${itemsText(begun.matched)} will ${deed}; see '${more}'`;
    context.result({ queue_name, ...begun }, () => text);
  }
}

/** A note about items whose queue was deleted. */
function stayingText(destinations: readonly Destination[]): string {
  const count = destinations.find((to) => to.queue_name === "")?.count ?? 0;
  if (count === 0) return "";
  return count === 1
    ? "; 1 of them stays, because its queue was deleted"
    : `; ${count} of them stay, because their queues were deleted`;
}

/** `""` with a single destination, which the text already names. */
function destinationsText(destinations: readonly Destination[]): string {
  const go = destinations.filter(({ queue_name: name }) => name !== "");
  if (go.length < 2) return "";
  return `: ${go.map(({ queue_name: name, count }) => `${count} to ${name}`).join(", ")}`;
}

const lookMs = 500;

async function ended(context: Context, task_id: string): Promise<void> {
  const progress = context.progress("items done");
  const signal = interruption();
  try {
    for (;;) {
      const task = await context.client.taskInfo({ task_id }, { signal });
      progress.update(task.moved, task.matched === 0 ? 1 : task.moved / task.matched);
      if (task.state !== "running") {
        progress.end();
        printTask(context, task);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  } finally {
    progress.end();
  }
}

const done: Readonly<Record<string, string>> = {
  redrive: "moved",
  promote: "promoted",
  reject: "rejected",
  retry: "retried",
  prioritize: "prioritized",
  delete: "removed",
};

const staying: Readonly<Record<string, string>> = {
  redrive: "because their queue was deleted",
  prioritize: "because they have the priority",
};

async function list(queue: string | undefined, _: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { tasks, unreached } = await context.client.listTasks(
    queue === undefined ? {} : { queue_name: queue },
  );
  context.result(tasks, () => {
    if (tasks.length === 0) return "there are no tasks";
    const rows = tasks.map((task) => [
      task.task_id,
      task.action,
      task.state,
      task.queue_name,
      task.to_queue,
      `${task.moved} of ${task.matched}`,
      task.skipped,
      task.created_at,
      task.key_name,
    ]);
    return context.table(
      ["task", "action", "state", "queue", "to", "done", "skipped", "begun", "by"],
      rows,
    );
  });
  noteUnreached(context, unreached, "tasks");
}

async function one(command: Command, ask: (context: Context) => Promise<TaskInfo>): Promise<void> {
  const context = contextOf(command);
  printTask(context, await ask(context));
}

function printTask(context: Context, task: TaskInfo): void {
  context.result(task, () => {
    const why = staying[task.action] ?? "because there is no dead queue";
    const skipped = task.skipped === 0 ? "" : `; ${task.skipped} stay, ${why}`;
    const moved = `${task.moved} of ${counted(task.matched, "item")} ${done[task.action] ?? "done"}`;
    return `${task.task_id} of ${task.queue_name} is ${task.state}: ${moved}${skipped}`;
  });
}
