import type { ReactNode } from "react";
import type { TaskInfo, TasksListReply } from "../../../openapi/schemas.ts";
import { useMayCancel } from "../../api/permissions.ts";
import { useChange } from "../../api/use-change.ts";
import { useQuery } from "../../api/use-query.ts";
import { Button } from "../../components/button.tsx";
import { Age } from "../../components/figures.tsx";
import { Refusal } from "../../components/refusal.tsx";
import { countText, itemsText, rateText, spanText } from "../../format.ts";
import { useServerNow } from "../../state/server-time.ts";
import { filterText } from "../items/conditions.ts";

const runningMs = 1_000;
const idleMs = 15_000;
const shownMax = 20;

const pauseMs = (reply: TasksListReply | undefined) =>
  reply?.tasks.some(({ state }) => state === "running") ? runningMs : idleMs;

/** Running tasks, and the last that ended; `""`: of all queues. */
export function TaskList({ name }: { readonly name: string }): ReactNode {
  const { data } = useQuery("listTasks", { queue_name: name }, { everyMs: pauseMs });
  const tasks = (data?.tasks ?? []).slice(0, shownMax);
  if (tasks.length === 0) return null;
  return (
    <section className="tasks" aria-label="Tasks">
      <h2 className="eyebrow">tasks</h2>
      {tasks.map((task) => (
        <Task key={task.task_id} task={task} />
      ))}
    </section>
  );
}

function Task({ task }: { readonly task: TaskInfo }): ReactNode {
  const { action, queue_name: queue, matched, moved, skipped, state } = task;
  const isRunning = state === "running";
  const about = filterText(task.filter);
  return (
    <div className="task" data-state={state}>
      <div>
        <b>{action}</b> <bdi className="mono">{queue}</bdi>{" "}
        <span className="muted">
          {isRunning
            ? `${countText(moved)} of ${countText(matched)}`
            : `${itemsText(moved)} done, ${countText(skipped)} skipped`}
        </span>
        <small className="cut">
          begun <Age at={Date.parse(task.created_at)} /> ago
          {task.key_name !== "" && ` by ${task.key_name}`}
          {about !== "" && `; ${about}`}
          {task.to_queue !== "" && `; to ${task.to_queue}`}
        </small>
      </div>
      <progress
        max={Math.max(1, matched)}
        value={isRunning ? moved : moved + skipped}
        aria-label={`${action} of ${queue}`}
      />
      {isRunning ? <Pace task={task} /> : <Ended task={task} />}
      {isRunning ? <CancelTask task={task} /> : <span />}
    </div>
  );
}

function Pace({
  task: { created_at: begun, moved, matched, per_second: bound },
}: {
  readonly task: TaskInfo;
}): ReactNode {
  const seconds = Math.max(1, (useServerNow() - Date.parse(begun)) / 1_000);
  const rate = bound > 0 ? Math.min(bound, moved / seconds) : moved / seconds;
  return (
    <span className="mono">
      {rateText(rate)} /s{rate > 0 && `, ${spanText(((matched - moved) / rate) * 1_000)} left`}
    </span>
  );
}

function Ended({
  task: { state, created_at: begun, ended_at: ended },
}: {
  readonly task: TaskInfo;
}): ReactNode {
  const ms = ended === null ? 0 : Date.parse(ended) - Date.parse(begun);
  return (
    <span className={state === "done" ? "muted" : "warn"}>
      {state} {state === "done" && `in ${spanText(ms)}`}
    </span>
  );
}

export function CancelTask({ task }: { readonly task: TaskInfo }): ReactNode {
  const { task_id: id, action, queue_name: queue } = task;
  const mayCancel = useMayCancel(task);
  const { isAsking, refused, onSubmit } = useChange({
    call: { id: "cancelTask", body: { task_id: id } },
    toast: ({ moved }) => `cancelled the ${action} of ${queue}: ${itemsText(moved)} done`,
  });
  if (!mayCancel) return <span />;
  return (
    <span>
      <Button look="small" disabled={isAsking} onClick={onSubmit}>
        Cancel
      </Button>
      <Refusal of={refused} />
    </span>
  );
}
