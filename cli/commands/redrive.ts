// `holdfast redrive`: dead items go back to where they came from. `holdfast tasks`: how far that is.

import { type Command, Option } from "commander";
import type { RedriveRequest, TaskInfo } from "../../client/wire.ts";
import { bounds } from "../../openapi/bounds.ts";
import { confirm, requireAsking, yesMeaning } from "../confirm.ts";
import { type Context, contextOf } from "../context.ts";
import { type FilterOptions, filtered, filterOf } from "../filter.ts";
import { interruption } from "../interrupt.ts";
import { counted } from "../output.ts";
import { wholeNumber } from "../values.ts";

interface Options extends FilterOptions {
  readonly to?: string;
  readonly limit?: number;
  readonly perSecond?: number;
  readonly dryRun?: boolean;
  readonly follow?: boolean;
  readonly yes?: boolean;
}

const most = 1_000_000_000;

export function addRedrive(program: Command): void {
  filtered(
    program
      .command("redrive")
      .description("send dead items back to the queues that they came from")
      .argument("<queue>", "name of the dead queue")
      .argument("[id...]", "these items; without any, all that the options mean"),
  )
    .option("--to <queue>", "all to this queue, whatever they came from")
    .addOption(
      new Option("--limit <count>", "no more than so many").argParser(wholeNumber(1, most)),
    )
    .addOption(
      new Option("--per-second <count>", "so many a second").argParser(
        wholeNumber(1, bounds.redrivePerSecondMax),
      ),
    )
    .option("--dry-run", "only say how many there are")
    .option("--follow", "stay until it is done")
    .option("-y, --yes", yesMeaning)
    .action(redrive);

  const tasks = program.command("tasks").description("what goes on for longer than a call");
  tasks
    .command("list")
    .description("those that run or have ended, the newest first")
    .argument("[queue]", "of this queue alone")
    .action(list);
  tasks
    .command("info")
    .description("how far one has come")
    .argument("<task>", "its id")
    .action((task_id: string, _: unknown, command: Command) =>
      one(command, (context) => context.client.taskInfo({ task_id })),
    );
  tasks
    .command("cancel")
    .description("end one where it is; what it has moved stays moved")
    .argument("<task>", "its id")
    .action((task_id: string, _: unknown, command: Command) =>
      one(command, (context) => context.client.cancelTask({ task_id })),
    );
}

async function redrive(
  queue_name: string,
  ids: string[],
  options: Options,
  command: Command,
): Promise<void> {
  const { to, limit, perSecond, dryRun = false, follow = false, yes } = options;
  const context = contextOf(command);
  const { client } = context;
  const filter = filterOf(options);
  const request: RedriveRequest = {
    queue_name,
    ...(to !== undefined && { to }),
    ...(ids.length > 0 ? { ids } : { filter }),
    ...(limit !== undefined && { limit }),
    ...(perSecond !== undefined && { per_second: perSecond }),
  };
  if (!dryRun && yes !== true) requireAsking(context);
  const { matched } = await client.redrive({ ...request, dry_run: true });
  const where = to === undefined ? "where they came from" : to;
  const told = `${counted(matched, "item")} of ${queue_name}`;
  if (dryRun) {
    context.result({ queue_name, matched }, () => `${told} would go to ${where}`);
    return;
  }
  if (yes !== true) await confirm(context, `${told} will go to ${where}; go on?`);
  const begun = await client.redrive({ ...request, expect: matched });
  if (follow) await ended(context, begun.task_id);
  else {
    const more = `holdfast tasks info ${begun.task_id}`;
    context.result({ queue_name, ...begun }, () => `${told} go to ${where}; see '${more}'`);
  }
}

const lookMs = 500;

async function ended(context: Context, task_id: string): Promise<void> {
  const progress = context.progress("items moved");
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

async function list(queue: string | undefined, _: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { tasks } = await context.client.listTasks(
    queue === undefined ? {} : { queue_name: queue },
  );
  context.result(tasks, () => {
    if (tasks.length === 0) return "there are no tasks";
    const rows = tasks.map((task) => [
      task.task_id,
      task.state,
      task.queue_name,
      task.to,
      `${task.moved} of ${task.matched}`,
      task.skipped,
      task.created_at,
    ]);
    return context.table(["task", "state", "queue", "to", "moved", "skipped", "begun"], rows);
  });
}

async function one(command: Command, ask: (context: Context) => Promise<TaskInfo>): Promise<void> {
  const context = contextOf(command);
  tell(context, await ask(context));
}

function tell(context: Context, task: TaskInfo): void {
  context.result(task, () => {
    const skipped = task.skipped === 0 ? "" : `; ${task.skipped} stay, their queue is gone`;
    const moved = `${task.moved} of ${counted(task.matched, "item")} moved`;
    return `${task.task_id} of ${task.queue_name} is ${task.state}: ${moved}${skipped}`;
  });
}
