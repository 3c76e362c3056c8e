// Merges lists of tasks.

import { limits } from "../../engine/model/limits.ts";
import type { TaskInfo, TasksListReply } from "../../openapi/schemas.ts";

/** Lists all running tasks, and ended ones up to the limit. */
export function mergeTasks(
  replies: readonly Pick<TasksListReply, "tasks">[],
): Pick<TasksListReply, "tasks"> {
  const all = newestFirst(replies.flatMap(({ tasks }) => tasks));
  const running = all.filter(({ state }) => state === "running");
  const ended = all.filter(({ state }) => state !== "running");
  const listed = [...running, ...ended.slice(0, Math.max(0, limits.tasksMax - running.length))];
  return { tasks: newestFirst(listed) };
}

/** Sorts a copy by `created_at`. */
export function newestFirst(tasks: readonly TaskInfo[]): TaskInfo[] {
  const order = (a: TaskInfo, b: TaskInfo) => Number(a.created_at < b.created_at);
  return tasks.toSorted((a, b) => order(a, b) - order(b, a));
}
