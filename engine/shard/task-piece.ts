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
import { keepTask, type Progress, told } from "./task.ts";
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
    for (const { op, taskId, looks } of requests) {
      const [span] = progressOf(memory, taskId).spans;
      if (span === undefined || looks === 0) continue;
      const limit = { items: looks, payloadBytes: limits.turnBytesMax };
      const { slot, aside, next: from, before } = span;
      (aside ? scheduled : items).push({ name: `task ${op}`, slot, from, before, limit });
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

type Found = Read<Item> | Read<ScheduledItem>;

function doPiece(turn: Turn, request: Numbered<TaskPiece>): Result {
  const { memory, draft, facts } = turn;
  const { taskId, limit, looks, deed } = request;
  const before = progressOf(memory, taskId);
  const [span, ...others] = before.spans;
  if (span === undefined || looks === 0) return told(memory.tasks.get(taskId) ?? "");
  const partition = memory.partition(span.slot);
  const page = (span.aside ? facts.scheduled : facts.items).get(`task ${request.op}`);
  const isMeant = matcherOf(request.filter);
  let { moved, skipped } = before;
  let { next } = span;
  let needs: string | undefined;
  for (const item of partition.settings === null ? [] : (page?.found ?? [])) {
    if (moved - before.moved >= limit) break;
    const id = formatId(partition.idPrefix, item.seq);
    if (isThere(turn, partition, item) && isMeant(item, id, false)) {
      const outcome = doOne(turn, partition, item, deed);
      if (typeof outcome === "object") {
        needs = outcome.needs;
        break;
      }
      if (outcome === "moved") moved += 1;
      else skipped += 1;
    }
    next = item.seq + 1;
  }
  const last = page?.found.at(-1);
  const isThrough = page?.isAll !== false && (last === undefined || next > last.seq);
  const isOver = partition.settings === null || (isThrough && needs === undefined);
  const spans = isOver ? others : [{ ...span, next }, ...others];
  const progress: Progress = { spans, moved, skipped };
  keepTask({ memory, draft }, taskId, JSON.stringify(progress));
  return told(JSON.stringify(progress), needs);
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
