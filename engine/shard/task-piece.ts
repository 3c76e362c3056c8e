// A piece of a task: some items of a shard go back to where they came from, become ready, are given
// up or removed. What is counted of a piece stands in the commit that does it.

import type { Item, ScheduledItem } from "../../stores/item.ts";
import type { Read } from "../../stores/store.ts";
import { type Filter, matcherOf } from "../filter.ts";
import { formatId } from "../ids.ts";
import { dismiss, wake } from "../lifecycle.ts";
import { limits } from "../limits.ts";
import type { DeadTarget } from "../messages.ts";
import { readPast } from "../past.ts";
import { answering, type Kind, type Numbered, type Result } from "./kind.ts";
import type { Memory } from "./memory.ts";
import { move, moveScheduled, removeForGood, revive } from "./moves.ts";
import type { Partition } from "./partition.ts";
import { keepTask, type Progress, type TaskSpan, told } from "./task.ts";
import type { Turn } from "./turn-context.ts";

/** What becomes of each item. */
export type Deed =
  | {
      readonly action: "redrive";
      /** Where to, by the queue that an item came from; `null` = there is no such queue. */
      readonly targets: readonly (readonly [queue: string, target: DeadTarget | null])[];
      /** Where all go, whatever they came from. */
      readonly to: DeadTarget | null;
    }
  /** A scheduled one is ready now. */
  | { readonly action: "promote" }
  /** To the dead queue; `""` = no reason was given. */
  | { readonly action: "reject"; readonly reason: string }
  | { readonly action: "delete" };

export interface TaskPiece {
  readonly kind: "taskPiece";
  readonly taskId: string;
  readonly deed: Deed;
  readonly filter: Filter;
  /** The most items to do it with, and to look at. */
  readonly limit: number;
  readonly looks: number;
}

export const taskPiece: Kind<TaskPiece> = {
  phase: "within",
  weight: ({ looks }) => looks,
  // How far it came stands in the row, and what more is to be done is for who asks to say.
  lost: ({ taskId }) => ({
    ask: { ...nothingMore, kind: "taskPiece", taskId } satisfies TaskPiece,
  }),
  wants({ memory, items, scheduled }, requests) {
    for (const request of requests) {
      const spans = spansOf(progressOf(memory, request.taskId), request);
      const payloadBytes = Math.ceil(limits.turnBytesMax / spans.length);
      const limit = { items: request.looks, payloadBytes };
      for (const [at, { slot, aside, next: from, before }] of spans.entries()) {
        const name = pageName(request, at);
        (aside ? scheduled : items).push({ name, slot, from, before, limit });
      }
    }
  },
  decide: answering(doPiece),
};

/** Tells how far it came. */
export const nothingMore = { deed: { action: "delete" }, filter: {}, limit: 0, looks: 0 } as const;

function progressOf(memory: Memory, taskId: string): Progress {
  const text = memory.tasks.get(taskId);
  return text === undefined ? { spans: [], moved: 0, skipped: 0 } : (JSON.parse(text) as Progress);
}

/** Those that a piece goes through: of few numbers several, so that ids take no commit each. */
function spansOf(
  { spans }: Progress,
  { limit, looks }: Pick<TaskPiece, "limit" | "looks">,
): readonly TaskSpan[] {
  let left = looks;
  const most = Math.min(limit, limits.taskPieceSpans);
  return spans.slice(0, most).filter(({ next, before }, at) => {
    const isTaken = left > 0 && (at === 0 || before - next <= left);
    left = isTaken ? left - (before - next) : 0;
    return isTaken;
  });
}

function pageName({ op }: Numbered<TaskPiece>, at: number): string {
  return `task ${op}.${at}`;
}

type Found = Read<Item> | Read<ScheduledItem>;

/** What a piece has done so far. */
interface Done {
  moved: number;
  skipped: number;
  payloadBytes: number;
  /** A queue of which it has to be said where it is. */
  needs?: string;
}

function doPiece(turn: Turn, request: Numbered<TaskPiece>): Result {
  const { memory, draft } = turn;
  const { taskId } = request;
  const before = progressOf(memory, taskId);
  const spans = spansOf(before, request);
  if (spans.length === 0) return told(memory.tasks.get(taskId) ?? "");
  const done: Done = { moved: 0, skipped: 0, payloadBytes: 0 };
  const rests = spans.map((span, at) => goThrough(turn, request, { span, at, done }));
  const left = [...rests.filter((rest) => rest !== null), ...before.spans.slice(spans.length)];
  const moved = before.moved + done.moved;
  const progress: Progress = { spans: left, moved, skipped: before.skipped + done.skipped };
  keepTask({ memory, draft }, taskId, JSON.stringify(progress));
  return told(JSON.stringify(progress), done.needs);
}

function isEnough({ limit }: TaskPiece, { moved, payloadBytes, needs }: Done): boolean {
  return moved >= limit || payloadBytes >= limits.turnBytesMax || needs !== undefined;
}

/** What is left of a span; `null` = nothing. */
function goThrough(
  turn: Turn,
  request: Numbered<TaskPiece>,
  { span, at, done }: { readonly span: TaskSpan; readonly at: number; readonly done: Done },
): TaskSpan | null {
  const partition = turn.memory.partition(span.slot);
  if (partition.settings === null) return null;
  const page = (span.aside ? turn.facts.scheduled : turn.facts.items).get(pageName(request, at));
  const isMeant = matcherOf(request.filter);
  let { next } = span;
  for (const item of page?.found ?? []) {
    if (isEnough(request, done)) break;
    const id = formatId(partition.idPrefix, item.seq);
    if (isThere(turn, partition, item) && isMeant(item, id, false)) {
      const outcome = doOne(turn, partition, item, request.deed);
      if (typeof outcome === "object") {
        done.needs = outcome.needs;
        break;
      }
      done[outcome] += 1;
      done.payloadBytes += item.payload.length;
    }
    next = item.seq + 1;
  }
  const last = page?.found.at(-1);
  const isThrough = page?.isAll !== false && (last === undefined || next > last.seq);
  return isThrough ? null : { ...span, next };
}

/** Nobody's, and nobody else's by now. */
function isThere({ draft }: Turn, partition: Partition, item: Found): boolean {
  const { slot, seq, damaged } = item;
  if (damaged || partition.isCleared(item)) return false;
  return !draft.hasLeft(slot, seq) && ("dueAt" in item || !partition.held.has(seq));
}

/** `needs`: the queue of which has to be said where it is. */
type Outcome = "moved" | "skipped" | { readonly needs: string };

function doOne(turn: Turn, partition: Partition, item: Found, deed: Deed): Outcome {
  switch (deed.action) {
    case "redrive":
      return redrive(turn, partition, item, deed);
    case "promote":
      return promote(turn, partition, item);
    case "reject":
      return giveUp(turn, partition, item, deed.reason);
    case "delete":
      removeForGood(turn, partition, item);
      return "moved";
  }
}

function redrive(
  turn: Turn,
  partition: Partition,
  item: Found,
  { to, targets }: Extract<Deed, { action: "redrive" }>,
): Outcome {
  const { queue } = readPast(item.past);
  const from = targets.find(([name]) => name === queue);
  if (to === null && queue === undefined) return "skipped";
  if (to === null && from === undefined) return { needs: queue ?? "" };
  const target = to ?? from?.[1] ?? null;
  if (target === null) return "skipped";
  revive(turn, partition, item, target);
  return "moved";
}

function promote(turn: Turn, partition: Partition, item: Found): Outcome {
  if (!("dueAt" in item)) return "skipped";
  const fate = wake(item, turn.now);
  moveScheduled(turn, partition, item, {
    fate,
    what: fate.to === "dead" ? "expired" : "promoted",
  });
  return "moved";
}

/** What a queue without a dead queue would lose stays. */
function giveUp(turn: Turn, partition: Partition, item: Found, reason: string): Outcome {
  if (partition.settings?.dead == null) return "skipped";
  const parting = { fate: dismiss(item), what: "rejected", ...(reason && { reason }) } as const;
  if ("dueAt" in item) moveScheduled(turn, partition, item, parting);
  else move(turn, partition, item, parting);
  return "moved";
}
