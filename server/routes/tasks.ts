// Tasks: what goes on for longer than a call.

import type { Engine } from "../../engine/api.ts";
import { redriveRequest, taskInfo } from "../wire.ts";
import { checkOf, decoded, type Routes } from "./route.ts";

type TaskRoutes = Routes<"redrive" | "listTasks" | "taskInfo" | "cancelTask">;

export function taskRoutes(engine: Engine<string>): TaskRoutes {
  return {
    async redrive(body, caller) {
      const request = decoded(checkOf(engine, body), () => redriveRequest(body));
      const redriven = caller.heard(await engine.redrive({ ...request, ...caller.key }));
      return { task_id: redriven.taskId, matched: redriven.matched };
    },

    async listTasks({ queue_name }) {
      const tasks = queue_name ? engine.listTasks(queue_name) : engine.listTasks();
      return { tasks: tasks.map(taskInfo) };
    },

    taskInfo: async ({ task_id }) => taskInfo(engine.taskInfo(task_id)),

    cancelTask: async ({ task_id }) => taskInfo(await engine.cancelTask(task_id)),
  };
}
