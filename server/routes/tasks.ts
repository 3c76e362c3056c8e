// Tasks: what goes on for longer than a call.

import type { Engine, TaskBegun } from "../../engine/api.ts";
import { noSuchTask, QueueError } from "../../engine/errors.ts";
import { type Grant, isForAllQueues, visibleTo } from "../key-rights.ts";
import { Refusal } from "../reply.ts";
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
      return { tasks: tasks.filter(({ queue }) => isShown(queue)).map(taskInfo) };
    },

    async taskInfo({ task_id }, { grant }) {
      const task = engine.taskInfo(task_id);
      if (visibleTo(grant)(task.queue)) return taskInfo(task);
      throw QueueError.from(noSuchTask(task_id));
    },

    cancelTask: async ({ task_id }) => taskInfo(await engine.cancelTask(task_id)),
  };
}

function begun(caller: Caller, of: string, task: TaskBegun) {
  const { taskId: task_id, matched, destinations } = caller.heard(task);
  caller.toQueues = destinations
    .map(({ queue }) => queue)
    .filter((name) => name !== "" && name !== of);
  caller.touched = matched;
  return {
    task_id,
    matched,
    destinations: destinations.map(({ queue: queue_name, count }) => ({ queue_name, count })),
  };
}

/** Of the API key; `""` = none was asked for. */
function nameOf({ grant }: Caller): string {
  return grant?.name ?? "";
}

/** Where items came from is what they say, and whoever imported them can say anything. */
function checkAnyQueue(grant: Grant | null): void {
  if (grant === null || isForAllQueues(grant)) return;
  const told = "is not for all queues, so it has to name the one that items go to with 'to'";
  throw new Refusal("not_allowed", `key '${grant.name}' ${told}`);
}
