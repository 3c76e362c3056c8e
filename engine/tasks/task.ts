// What a shard keeps of tasks that go on for longer than a turn: each row is replaced in the commit
// of what it tells, so that a task that is killed anywhere goes on where it was.

import type { StoredTask } from "../../stores/store.ts";
import type { ItemState } from "../model/api.ts";
import { answering, type Kind, type Result } from "../operations/kind.ts";
import type { Memory } from "../state/memory.ts";
import type { Partition } from "../state/partition.ts";
import type { Draft } from "../turn/draft.ts";

/** Numbers of a slot from `next` to before `before` that a task has not come to. */
export interface TaskSpan {
  readonly slot: number;
  /** Among those that wait for an instant, not among the others. */
  readonly aside: boolean;
  readonly next: number;
  readonly before: number;
}

/** How far a task has come. */
export interface Progress {
  readonly spans: readonly TaskSpan[];
  readonly moved: number;
  readonly skipped: number;
}

export interface Task {
  readonly kind: "task";
  readonly taskId: string;
  /** In place of what was there; `""` = nothing of it is kept. */
  readonly text: string;
}

export const task: Kind<Task> = {
  phase: "within",
  decide: answering(({ memory, draft }, { taskId, text }) =>
    keepTask({ memory, draft }, taskId, text),
  ),
};

/** What a task is to go through: all that is there of some slots, or some numbers of them. */
export interface Marks {
  /** Of the queue: slots that are another's by then are left out. */
  readonly owner: number;
  readonly slots: readonly number[];
  /** Which items of these slots. */
  readonly states: readonly ItemState[];
  readonly spans: readonly TaskSpan[];
}

export interface TaskBegin extends Marks {
  readonly kind: "taskBegin";
  readonly taskId: string;
}

export const taskBegin: Kind<TaskBegin> = {
  phase: "within",
  decide: answering(({ memory, draft }, { taskId, owner, slots, states, spans }) => {
    const known = memory.tasks.get(taskId);
    // Its answer was lost, and the marks stay where they were.
    if (known !== undefined) return told(known);
    const isOwn = (slot: number) => memory.rules.ownerAt(slot)?.queue.owner === owner;
    const whole = slots
      .filter(isOwn)
      .flatMap((slot) =>
        states.map((state) => ({ slot, ...spanOf(memory.partition(slot), state) })),
      );
    const named = spans.filter(({ slot }) => isOwn(slot));
    const progress: Progress = { spans: [...whole, ...named], moved: 0, skipped: 0 };
    return keepTask({ memory, draft }, taskId, JSON.stringify(progress));
  }),
};

/** What is held lies at the head: no backlog is gone through for it. */
function spanOf(partition: Partition, state: ItemState): Omit<TaskSpan, "slot"> {
  if (state === "leased") return { aside: false, ...partition.heldSpan };
  return { aside: state === "scheduled", next: 0, before: partition.nextSeq };
}

/** Under which a shard keeps how far a task has come. */
export const progressKey = (taskId: string): string => `${taskId}.progress`;

/**
 * A stored row of a task in a store where slots have other numbers, with the name of its queue; `null`
 * = the task was never begun. What is not in any slot any more is left out.
 */
export function moveTask(
  { taskId, text }: StoredTask,
  all: readonly StoredTask[],
  slotOf: (slot: number) => number | null,
): (StoredTask & { readonly queue: string }) | null {
  const [name] = taskId.split(".");
  const definition = all.find((one) => one.taskId === name);
  if (definition === undefined) return null;
  const { queue } = JSON.parse(definition.text) as { readonly queue: string };
  if (definition.taskId === taskId) return { taskId, text, queue };
  const progress = JSON.parse(text) as Progress;
  const spans = progress.spans.flatMap((span) => {
    const slot = slotOf(span.slot);
    return slot === null ? [] : [{ ...span, slot }];
  });
  return { taskId, text: JSON.stringify({ ...progress, spans }), queue };
}

interface Keeping {
  readonly memory: Memory;
  readonly draft: Draft;
}

export function keepTask({ memory, draft }: Keeping, taskId: string, text: string): Result {
  if (text === "") memory.tasks.delete(taskId);
  else memory.tasks.set(taskId, text);
  draft.tasks.set(taskId, text);
  return told(text);
}

export function told(text: string): Result {
  return { ok: true, value: { kind: "task", text } };
}
