// The stored state of tasks that take longer than a turn. Each row is replaced in the commit of the
// work it describes, so that a task killed at any point continues from there.

import type { StoredTask } from "../../stores/store.ts";
import type { ItemState } from "../model/api.ts";
import type { Result } from "../model/messages.ts";
import { answering, type Operation } from "../operations/operation.ts";
import type { Memory } from "../state/memory.ts";
import type { Partition } from "../state/partition.ts";
import type { ChangeSet } from "../turn/change-set.ts";

/** Numbers of a slot from `next` to before `before` that a task has yet to process. */
export interface TaskSpan {
  readonly slot: number;
  /** Whether these are scheduled items. */
  readonly aside: boolean;
  readonly next: number;
  readonly before: number;
}

export interface Progress {
  readonly spans: readonly TaskSpan[];
  readonly moved: number;
  readonly skipped: number;
}

export interface Task {
  readonly kind: "task";
  readonly taskId: string;
  /** Replaces the previous text; `""` removes it. */
  readonly text: string;
}

export const task: Operation<Task> = {
  phase: "within",
  decide: answering(({ memory, changeSet }, { taskId, text }) =>
    keepTask({ memory, changeSet }, taskId, text),
  ),
};

/** The items that a task processes: everything in some slots, or some numbers of them. */
export interface Marks {
  /** The owner of the queue; slots that meanwhile belong to another queue are skipped. */
  readonly owner: number;
  readonly slots: readonly number[];
  /** The states of the items in these slots. */
  readonly states: readonly ItemState[];
  readonly spans: readonly TaskSpan[];
}

export interface TaskBegin extends Marks {
  readonly kind: "taskBegin";
  readonly taskId: string;
}

export const taskBegin: Operation<TaskBegin> = {
  phase: "within",
  decide: answering(({ memory, changeSet }, { taskId, owner, slots, states, spans }) => {
    const known = memory.tasks.get(taskId);
    // The previous answer was lost; the marks stay as they were.
    if (known !== undefined) return taskResult(known);
    const isOwn = (slot: number) => memory.rules.ownerAt(slot)?.queue.owner === owner;
    const whole = slots
      .filter(isOwn)
      .flatMap((slot) => memory.partitionsAt(slot).toReversed())
      .flatMap((one) => states.map((state) => ({ slot: one.slot, ...spanOf(one, state) })));
    const named = spans.filter(({ slot }) => isOwn(slot));
    const progress: Progress = { spans: [...whole, ...named], moved: 0, skipped: 0 };
    return keepTask({ memory, changeSet }, taskId, JSON.stringify(progress));
  }),
};

/** Leased items are at the head, so no backlog has to be read for them. */
function spanOf(partition: Partition, state: ItemState): Omit<TaskSpan, "slot"> {
  if (state === "leased") return { aside: false, ...partition.heldSpan };
  return { aside: state === "scheduled", next: 0, before: partition.nextSeq };
}

export const progressKey = (taskId: string): string => `${taskId}.progress`;

/**
 * Translates a stored row of a task for a store with other slot numbers, and adds the name of its
 * queue. `null` = the task never began. Slots that no longer exist are left out.
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
  readonly changeSet: ChangeSet;
}

export function keepTask({ memory, changeSet }: Keeping, taskId: string, text: string): Result {
  if (text === "") memory.tasks.delete(taskId);
  else memory.tasks.set(taskId, text);
  changeSet.tasks.set(taskId, text);
  return taskResult(text);
}

export function taskResult(text: string): Result {
  return { ok: true, value: { kind: "task", text } };
}
