// What a shard keeps of tasks that go on for longer than a turn: each row is replaced in the commit
// of what it tells, so that a task that is killed anywhere goes on where it was.

import type { Draft } from "./draft.ts";
import { answering, type Kind, type Result } from "./kind.ts";
import type { Memory } from "./memory.ts";

/** Numbers of a slot from `next` to before `before` that a task has not come to. */
export interface TaskSpan {
  readonly slot: number;
  /** Among those that wait for an instant, not among the others. */
  readonly aside: boolean;
  readonly next: number;
  readonly before: number;
}

/** How far a task has come in one shard. */
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
  lost: "again",
  decide: answering(({ memory, draft }, { taskId, text }) =>
    keepTask({ memory, draft }, taskId, text),
  ),
};

/** What a task is to go through: all that is there of some slots, or some numbers of them. */
export interface Marks {
  readonly slots: readonly number[];
  /** Which items of these slots. */
  readonly aside: readonly boolean[];
  readonly spans: readonly TaskSpan[];
}

export interface TaskBegin extends Marks {
  readonly kind: "taskBegin";
  readonly taskId: string;
}

export const taskBegin: Kind<TaskBegin> = {
  phase: "within",
  lost: "again",
  decide: answering(({ memory, draft }, { taskId, slots, aside: kinds, spans }) => {
    const known = memory.tasks.get(taskId);
    // Its answer was lost, and the marks stay where they were.
    if (known !== undefined) return told(known);
    const whole = slots.flatMap((slot) => {
      const before = memory.partition(slot).nextSeq;
      return kinds.map((aside) => ({ slot, aside, next: 0, before }));
    });
    const progress: Progress = { spans: [...whole, ...spans], moved: 0, skipped: 0 };
    return keepTask({ memory, draft }, taskId, JSON.stringify(progress));
  }),
};

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

export function told(text: string, needs?: string): Result {
  return { ok: true, value: { kind: "task", text, ...(needs !== undefined && { needs }) } };
}
