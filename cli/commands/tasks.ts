// `holdfast tasks`: how far it is with work that takes longer than a call. `redrive` and `repair`
// begin one.

import { type Command, Option } from "commander";
import type { Destination, TaskBegun, TaskInfo } from "../../client/wire.ts";
import { bounds } from "../../openapi/bounds.ts";
import { confirm, requireAsking, yesMeaning } from "../confirm.ts";
import { type Context, contextOf } from "../context.ts";
import { type FilterOptions, filtered } from "../filter.ts";
import { expectOption, type GuardOptions } from "../guard.ts";
import { interruption } from "../interrupt.ts";
import { counted } from "../output.ts";
import { noteUnreached } from "../unreached.ts";
import { wholeNumber } from "../values.ts";

export function addTasks(program: Command): void {
  const tasks = program.command("tasks").description("work that takes longer than a call");
  tasks
    .command("list")
    .description("those that run or have ended, the newest first")
    .argument("[queue]", "only of this queue")
    .action(list);
  tasks
    .command("info")
    .description("the progress of a task")
    .argument("<task>", "its id")
    .action((task_id: string, _: unknown, command: Command) =>
      one(command, (context) => context.client.taskInfo({ task_id })),
    );
  tasks
    .command("cancel")
    .description("stop a task; what it has done stays done")
    .argument("<task>", "its id")
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

/** A command that begins a task, to which the options of all such are added. */
export function beginning(command: Command): Command {
  return filtered(command)
    .addOption(
      new Option("--limit <count>", "no more than so many").argParser(wholeNumber(1, most)),
    )
    .addOption(
      new Option("--per-second <count>", "so many a second").argParser(
        wholeNumber(1, bounds.taskPerSecondMax),
      ),
    )
    .option("--dry-run", "only say how many there are")
    .addOption(expectOption("refuse where there are more than so many"))
    .option("--follow", "stay until it is done")
    .option("-y, --yes", yesMeaning);
}

/** How fast and how far, as a request says it. */
export function paceOf({ limit, perSecond }: TaskOptions) {
  return {
    ...(limit !== undefined && { limit }),
    ...(perSecond !== undefined && { per_second: perSecond }),
  };
}

/** What a task that may begin is about, in words. */
interface Meant {
  readonly queue_name: string;
  readonly ask: (guard: { dry_run: true } | { expect: number }) => Promise<TaskBegun>;
  /** As the end of "3 items of orders will …". */
  readonly deed: string;
}

/** Counts first, asks, and begins it with that count. */
export async function begin(
  context: Context,
  { dryRun = false, expect, follow = false, yes }: TaskOptions,
  { queue_name, ask, deed }: Meant,
): Promise<void> {
  if (!dryRun && yes !== true) requireAsking(context);
  const told = (count: number) => `${counted(count, "item")} of ${queue_name}`;
  // Who has said how many to expect, and need not be asked, need not have them counted before.
  let bound = expect;
  if (dryRun || yes !== true || bound === undefined) {
    const { matched, destinations } = await ask({ dry_run: true });
    const rest = stayingText(destinations);
    if (dryRun) {
      context.result(
        { queue_name, matched, destinations },
        () => `${told(matched)} would ${deed}${destinationsText(destinations)}${rest}`,
      );
      return;
    }
    if (yes !== true) await confirm(context, `${told(matched)} will ${deed}${rest}; go on?`);
    bound = Math.min(bound ?? matched, matched);
  }
  const begun = await ask({ expect: bound });
  if (follow) await ended(context, begun.task_id);
  else {
    const more = `holdfast tasks info ${begun.task_id}`;
    const text = `${told(begun.matched)} will ${deed}; see '${more}'`;
    context.result({ queue_name, ...begun }, () => text);
  }
}

/** None where it is one, which is said already. */
/** Of items whose queue is gone. */
function stayingText(destinations: readonly Destination[]): string {
  const count = destinations.find((to) => to.queue_name === "")?.count ?? 0;
  if (count === 0) return "";
  return count === 1
    ? "; 1 of all stays, as the queue it came from is gone"
    : `; ${count} of all stay, as the queues they came from are gone`;
}

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
        tell(context, task);
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
  retry: "given back",
  delete: "removed",
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
      task.to,
      `${task.moved} of ${task.matched}`,
      task.skipped,
      task.created_at,
      task.by,
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
  tell(context, await ask(context));
}

function tell(context: Context, task: TaskInfo): void {
  context.result(task, () => {
    const why = task.action === "redrive" ? "their queue is gone" : "there is no dead queue";
    const skipped = task.skipped === 0 ? "" : `; ${task.skipped} stay, ${why}`;
    const moved = `${task.moved} of ${counted(task.matched, "item")} ${done[task.action] ?? "done"}`;
    return `${task.task_id} of ${task.queue_name} is ${task.state}: ${moved}${skipped}`;
  });
}
