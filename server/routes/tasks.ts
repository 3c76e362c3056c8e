// Routes for tasks, which outlast a call.

import type { Engine, TaskBegun, TaskInfo } from "../../engine/model/api.ts";
import { noSuchTask, QueueError } from "../../engine/model/errors.ts";
import { requireAdmin } from "../auth/authorize.ts";
import { isForAllQueues, type KeyIdentity, visibleTo } from "../auth/key-rights.ts";
import { HttpError } from "../http/reply.ts";
import { redriveRequest, repairRequest, taskInfo } from "../wire/tasks.ts";
import { type Caller, decodeBody, queueCheck, type Routes } from "./route.ts";

type TaskRoutes = Routes<"redrive" | "repair" | "listTasks" | "taskInfo" | "cancelTask">;

export function taskRoutes(engine: Engine<string>): TaskRoutes {
  return {
    async redrive(body, caller) {
      if (!body.to_queue) checkAnyQueue(caller.identity);
      const request = decodeBody(queueCheck(engine, body), () => redriveRequest(body));
      const task = await engine.redrive(caller.withKey({ ...request, by: nameOf(caller) }));
      return taskReply(caller, body.queue_name, task);
    },

    async repair(body, caller) {
      const request = decodeBody(queueCheck(engine, body), () => repairRequest(body));
      const task = await engine.repair(caller.withKey({ ...request, by: nameOf(caller) }));
      return taskReply(caller, body.queue_name, task);
    },

    async listTasks({ queue_name }, { identity }) {
      const tasks = queue_name ? engine.listTasks(queue_name) : engine.listTasks();
      const isShown = visibleTo(identity);
      const shown = tasks.filter(({ queue }) => isShown(queue));
      return { tasks: shown.map((task) => taskInfo(task, isShown)), unreached: [] };
    },

    async taskInfo({ task_id }, { identity }) {
      return taskInfo(shownTask(engine, task_id, identity), visibleTo(identity));
    },

    async cancelTask({ task_id }, caller) {
      const { queue, to } = shownTask(engine, task_id, caller.identity);
      const queues = to === "" ? [queue] : [queue, to];
      requireAdmin(caller.identity, queues, "does not administer all queues of this task");
      caller.toQueues = queues;
      return taskInfo(await engine.cancelTask(task_id), visibleTo(caller.identity));
    },
  };
}

/** A task of a queue that the key may not see is reported as unknown. */
function shownTask(engine: Engine<string>, taskId: string, identity: KeyIdentity | null): TaskInfo {
  const task = engine.taskInfo(taskId);
  if (visibleTo(identity)(task.queue)) return task;
  throw QueueError.from(noSuchTask(taskId));
}

function taskReply(caller: Caller, of: string, task: TaskBegun) {
  const { taskId: task_id, matched, destinations } = caller.noteReplay(task);
  caller.toQueues = destinations
    .map(({ queue }) => queue)
    .filter((name) => name !== "" && name !== of);
  caller.affectedItems = matched;
  const isShown = visibleTo(caller.identity);
  return {
    task_id,
    matched,
    destinations: destinations
      .filter(({ queue }) => queue === "" || isShown(queue))
      .map(({ queue: queue_name, count }) => ({ queue_name, count })),
  };
}

/** The name of the API key; `""`: no key is needed. */
function nameOf({ identity }: Caller): string {
  return identity?.name ?? "";
}

/** Items name their own origin queue, and an import can set it to any queue. */
function checkAnyQueue(identity: KeyIdentity | null): void {
  if (identity === null || isForAllQueues(identity, "admin")) return;
  const why = "is not for all queues; name the destination with 'to_queue'";
  throw new HttpError("not_allowed", `key '${identity.name}' ${why}`);
}
