// A piece of a task: some items of a shard are redriven, promoted, taken from their holders,
// rejected, given another priority or deleted. The commit of a piece includes its counts.

import type { Item, ScheduledItem } from "../../stores/item.ts";
import type { Read } from "../../stores/store.ts";
import { type Filter, matcherOf } from "../model/filter.ts";
import { dismiss, retry, wake } from "../model/lifecycle.ts";
import { limits } from "../model/limits.ts";
import type { Result } from "../model/messages.ts";
import { readPast, rulesFor } from "../model/provenance.ts";
import { answering, type Numbered, type Operation } from "../operations/operation.ts";
import type { Memory } from "../state/memory.ts";
import type { Partition } from "../state/partition.ts";
import {
  endLease,
  move,
  moveScheduled,
  prioritize,
  removeForGood,
  revive,
} from "../turn/item-transitions.ts";
import type { Turn } from "../turn/turn-context.ts";
import { keepTask, type Progress, type TaskSpan, taskResult } from "./task.ts";

/** The change that a task makes to each item. */
export type Deed =
  /** `to`: the destination of all; `""` = each goes to the queue that it came from. */
  | { readonly action: "redrive"; readonly to: string }
  /** Scheduled items become ready. */
  | { readonly action: "promote" }
  /** To the dead queue; `""` = no reason. */
  | { readonly action: "reject"; readonly reason: string }
  /** Requeued as if its holder had retried it; `""` = any holder. */
  | { readonly action: "retry"; readonly holder: string; readonly reason: string }
  | { readonly action: "prioritize"; readonly priority: number }
  | { readonly action: "delete" };

export interface TaskPiece {
  readonly kind: "taskPiece";
  readonly taskId: string;
  readonly deed: Deed;
  readonly filter: Filter;
  /** The most items to change, and to examine. */
  readonly limit: number;
  readonly scanMax: number;
}

export const taskPiece: Operation<TaskPiece> = {
  phase: "within",
  weight: ({ scanMax }) => scanMax,
  planReads({ memory, items, scheduled }, requests) {
    for (const request of requests) {
      const spans = spansOf(progressOf(memory, request.taskId), request);
      const payloadBytes = Math.ceil(limits.turnBytesMax / spans.length);
      const limit = { items: request.scanMax, payloadBytes };
      for (const [at, { slot, aside, next: from, before }] of spans.entries()) {
        const name = pageName(request, at);
        (aside ? scheduled : items).push({ name, slot, from, before, limit });
      }
    }
  },
  decide: answering(doPiece),
};

/** Changes nothing and returns the progress. */
export const nothingMore = {
  deed: { action: "delete" },
  filter: {},
  limit: 0,
  scanMax: 0,
} as const;

function progressOf(memory: Memory, taskId: string): Progress {
  const text = memory.tasks.get(taskId);
  return text === undefined ? { spans: [], moved: 0, skipped: 0 } : (JSON.parse(text) as Progress);
}

/** The spans of a piece: several if they are short, so that ids do not need a commit each. */
function spansOf(
  { spans }: Progress,
  { limit, scanMax }: Pick<TaskPiece, "limit" | "scanMax">,
): readonly TaskSpan[] {
  const taken: TaskSpan[] = [];
  let numbers = 0;
  for (const span of spans.slice(0, Math.min(limit, limits.taskPieceSpans))) {
    numbers += span.before - span.next;
    if (taken.length > 0 && numbers > scanMax) break;
    taken.push(span);
  }
  return taken;
}

function pageName({ op }: Numbered<TaskPiece>, at: number): string {
  return `task ${op}.${at}`;
}

type TaskItem = Read<Item> | Read<ScheduledItem>;

interface PieceCounts {
  moved: number;
  skipped: number;
  payloadBytes: number;
}

function doPiece(turn: Turn, request: Numbered<TaskPiece>): Result {
  const { memory, changeSet } = turn;
  const { taskId } = request;
  const before = progressOf(memory, taskId);
  const spans = spansOf(before, request);
  if (spans.length === 0) return taskResult(memory.tasks.get(taskId) ?? "");
  const done: PieceCounts = { moved: 0, skipped: 0, payloadBytes: 0 };
  const rests = spans.map((span, at) => applyToSpan(turn, request, { span, at, done }));
  const left = [...rests.filter((rest) => rest !== null), ...before.spans.slice(spans.length)];
  const moved = before.moved + done.moved;
  const progress: Progress = { spans: left, moved, skipped: before.skipped + done.skipped };
  keepTask({ memory, changeSet }, taskId, JSON.stringify(progress));
  return taskResult(JSON.stringify(progress));
}

function isEnough({ limit }: TaskPiece, { moved, payloadBytes }: PieceCounts): boolean {
  return moved >= limit || payloadBytes >= limits.turnBytesMax;
}

/** The rest of a span; `null` = nothing. */
function applyToSpan(
  turn: Turn,
  request: Numbered<TaskPiece>,
  { span, at, done }: { readonly span: TaskSpan; readonly at: number; readonly done: PieceCounts },
): TaskSpan | null {
  const partition = turn.memory.partition(span.slot);
  if (partition.settings === null) return null;
  const page = (span.aside ? turn.readResult.scheduled : turn.readResult.items).get(
    pageName(request, at),
  );
  const isMeant = matcherOf(request.filter);
  let { next } = span;
  for (const item of page?.found ?? []) {
    if (isEnough(request, done)) break;
    const id = partition.idOf(item.seq);
    const isOf = isThere(turn, partition, item) && appliesTo(partition, item, request.deed);
    if (isOf && isMeant(item, id, request.deed.action === "retry")) {
      done[applyDeed(turn, partition, item, request.deed)] += 1;
      done.payloadBytes += item.payload.length;
    }
    next = item.seq + 1;
  }
  const last = page?.found.at(-1);
  const isThrough = page?.isAll !== false && (last === undefined || next > last.seq);
  return isThrough ? null : { ...span, next };
}

function isThere({ changeSet }: Turn, partition: Partition, item: TaskItem): boolean {
  const { slot, seq, damaged } = item;
  return !damaged && !partition.isCleared(item) && !changeSet.hasLeft(slot, seq);
}

/** A `retry` applies to leased items of the holder, all else to items that are not leased. */
function appliesTo({ held }: Partition, item: TaskItem, deed: Deed): boolean {
  const holder = "dueAt" in item ? undefined : held.get(item.seq)?.holder;
  if (deed.action !== "retry") return holder === undefined;
  return holder !== undefined && (deed.holder === "" || deed.holder === holder);
}

type PieceOutcome = "moved" | "skipped";

function applyDeed(turn: Turn, partition: Partition, item: TaskItem, deed: Deed): PieceOutcome {
  switch (deed.action) {
    case "redrive":
      return redrive(turn, partition, item, deed.to);
    case "promote":
      return promote(turn, partition, item);
    case "reject":
      return rejectItem(turn, partition, item, deed.reason);
    case "retry":
      return retryHeld(turn, partition, item, deed.reason);
    case "prioritize":
      if (partition.priority === deed.priority) return "skipped";
      prioritize(turn, partition, item, deed.priority);
      return "moved";
    case "delete":
      removeForGood(turn, partition, item);
      return "moved";
  }
}

/** An item without a destination stays; a queue that is being deleted is not a destination. */
function redrive(turn: Turn, partition: Partition, item: TaskItem, to: string): PieceOutcome {
  const { rules } = turn.memory;
  const target = rules.targetOf(to || (readPast(item.past).queue ?? ""));
  if (target === null || !rules.isOpen(target.owner)) return "skipped";
  revive(turn, partition, item, target);
  return "moved";
}

function promote(turn: Turn, partition: Partition, item: TaskItem): PieceOutcome {
  if (!("dueAt" in item)) return "skipped";
  const fate = wake(item, turn.now);
  moveScheduled(turn, partition, item, {
    fate,
    what: fate.to === "dead" ? "expired" : "promoted",
  });
  return "moved";
}

/** Items stay if there is no dead queue, because they would be lost. */
function rejectItem(
  turn: Turn,
  partition: Partition,
  item: TaskItem,
  reason: string,
): PieceOutcome {
  if (partition.settings?.dead == null) return "skipped";
  const parting = { fate: dismiss(item), what: "rejected", ...(reason && { reason }) } as const;
  if ("dueAt" in item) moveScheduled(turn, partition, item, parting);
  else move(turn, partition, item, parting);
  return "moved";
}

/** Its attempt counts. It stays leased if the queue would lose it for lack of a dead queue. */
function retryHeld(
  turn: Turn,
  partition: Partition,
  { seq }: TaskItem,
  reason: string,
): PieceOutcome {
  const held = partition.held.get(seq);
  const { settings } = partition;
  if (held === undefined || settings === null) return "skipped";
  const fate = retry(held, rulesFor(held.past, settings), turn.now, null);
  if (fate.to === "dead" && settings.dead === null) return "skipped";
  endLease(turn, partition, seq, held);
  const parting = { fate, what: "retried", ...(reason && { reason }) } as const;
  // The retry is not attributed to its holder.
  move(turn, partition, { ...held, seq, holder: "" }, parting);
  turn.changeSet.count(partition.slot, "retried");
  return "moved";
}
