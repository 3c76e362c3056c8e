// Routes for tasks, which outlast a call.

import type { Engine, TaskBegun, TaskInfo } from "../../engine/model/api.ts";
import { noSuchTask, QueueError } from "../../engine/model/errors.ts";
import { type Grant, isForAllQueues, testFor, visibleTo } from "../auth/key-rights.ts";
import { Refusal } from "../http/reply.ts";
import { redriveRequest, repairRequest, taskInfo } from "../wire/tasks.ts";
import { type Caller, checkOf, decoded, type Routes } from "./route.ts";

type TaskRoutes = Routes<"redrive" | "repair" | "listTasks" | "taskInfo" | "cancelTask">;

export function taskRoutes(engine: Engine<string>): TaskRoutes {
  return {
    async redrive(body, caller) {
      if (!body.to) checkAnyQueue(caller.grant);
      const request = decoded(checkOf(engine, body), () => redriveRequest(body));
      const task = await engine.redrive(caller.asks({ ...request, by: nameOf(caller) }));
      return begun(caller, body.queue_name, task);
    },

    async repair(body, caller) {
      const request = decoded(checkOf(engine, body), () => repairRequest(body));
      const task = await engine.repair(caller.asks({ ...request, by: nameOf(caller) }));
      return begun(caller, body.queue_name, task);
    },

    async listTasks({ queue_name }, { grant }) {
      const tasks = queue_name ? engine.listTasks(queue_name) : engine.listTasks();
      const isShown = visibleTo(grant);
      const shown = tasks.filter(({ queue }) => isShown(queue));
      return { tasks: shown.map((task) => taskInfo(task, isShown)), unreached: [] };
    },

    async taskInfo({ task_id }, { grant }) {
      return taskInfo(shownTask(engine, task_id, grant), visibleTo(grant));
    },

    async cancelTask({ task_id }, caller) {
      const { queue, to } = shownTask(engine, task_id, caller.grant);
      const queues = to === "" ? [queue] : [queue, to];
      checkAdministers(caller.grant, queues);
      caller.toQueues = queues;
      return taskInfo(await engine.cancelTask(task_id), visibleTo(caller.grant));
    },
  };
}

/** A task of a queue that the key may not see is reported as unknown. */
function shownTask(engine: Engine<string>, taskId: string, grant: Grant | null): TaskInfo {
  const task = engine.taskInfo(taskId);
  if (visibleTo(grant)(task.queue)) return task;
  throw QueueError.from(noSuchTask(taskId));
}

function checkAdministers(grant: Grant | null, queues: readonly string[]): void {
  if (grant === null || queues.every(testFor(grant, "admin"))) return;
  const why = "does not administer all queues of this task";
  throw new Refusal("not_allowed", `key '${grant.name}' ${why}`);
}

function begun(caller: Caller, of: string, task: TaskBegun) {
  const { taskId: task_id, matched, destinations } = caller.heard(task);
  caller.toQueues = destinations
    .map(({ queue }) => queue)
    .filter((name) => name !== "" && name !== of);
  caller.touched = matched;
  const isShown = visibleTo(caller.grant);
  return {
    task_id,
    matched,
    destinations: destinations
      .filter(({ queue }) => queue === "" || isShown(queue))
      .map(({ queue: queue_name, count }) => ({ queue_name, count })),
  };
}

/** The name of the API key; `""`: no key is needed. */
function nameOf({ grant }: Caller): string {
  return grant?.name ?? "";
}

/** Items name their own origin queue, and an import can set it to any queue. */
function checkAnyQueue(grant: Grant | null): void {
  if (grant === null || isForAllQueues(grant, "admin")) return;
  const why = "is not for all queues, so it has to name the one that items go to with 'to'";
  throw new Refusal("not_allowed", `key '${grant.name}' ${why}`);
}
