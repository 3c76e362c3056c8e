// Converts requests for tasks, and tasks to replies.

import type * as engine from "../../engine/model/api.ts";
import type { RequestOf } from "../../openapi/operations.ts";
import type * as wire from "../../openapi/schemas.ts";
import { given, instantText, instantTextOrNull, wordOf } from "./fields.ts";
import { filterOf, filterText } from "./filter.ts";
import { guardOf } from "./guards.ts";

const repairs = ["promote", "reject", "retry", "prioritize", "delete"] as const;

const states = ["ready", "leased", "scheduled"] as const;

export function redriveRequest(body: RequestOf<"redrive">): engine.RedriveRequest {
  return { ...taskRequest(body), ...(body.to_queue && { to: body.to_queue }) };
}

export function repairRequest(body: RequestOf<"repair">): engine.RepairRequest {
  const { action, state, holder, reason, priority } = body;
  return {
    ...taskRequest(body),
    action: wordOf(action, "action", repairs),
    ...(state && { state: wordOf(state, "state", states) }),
    ...(holder && { holder }),
    ...(reason && { reason }),
    ...given<Pick<engine.RepairRequest, "priority">>({ priority }),
  };
}

function taskRequest(
  body: Omit<RequestOf<"redrive">, "to_queue"> | RequestOf<"repair">,
): engine.TaskRequest {
  const { queue_name: queue, ids, filter, limit, per_second } = body;
  return {
    ...given<Omit<engine.TaskRequest, keyof engine.Guard | "by" | "requestKey">>({
      ...{ queue, ids, limit, perSecond: per_second },
      filter: filter && filterOf(filter),
    }),
    ...guardOf(body),
  };
}

/** `isShown`: whether the caller may see a queue; the destination is `""` if not. */
export function taskInfo(task: engine.TaskInfo, isShown: engine.IsShown): wire.TaskInfo {
  return {
    task_id: task.taskId,
    action: task.action,
    state: task.state,
    queue_name: task.queue,
    to_queue: isShown(task.to) ? task.to : "",
    holder: task.holder,
    priority: task.priority,
    filter: filterText(task.filter),
    per_second: task.perSecond,
    matched: task.matched,
    moved: task.moved,
    skipped: task.skipped,
    key_name: task.by,
    created_at: instantText(task.createdAt),
    ended_at: instantTextOrNull(task.endedAt),
  };
}
