// Redrive: dead items go back to the queues that they came from, or to another, piece by piece.
// What is counted of a piece stands in the commit that moves it.

import type { Item } from "../../stores/item.ts";
import type { Read } from "../../stores/store.ts";
import { type Filter, matcherOf } from "../filter.ts";
import { formatId } from "../ids.ts";
import { limits } from "../limits.ts";
import type { DeadTarget } from "../messages.ts";
import { readPast } from "../past.ts";
import { answering, type Kind, type Numbered, type Result } from "./kind.ts";
import type { Memory } from "./memory.ts";
import { revive } from "./moves.ts";
import type { Partition } from "./partition.ts";
import { keepTask, type Progress, told } from "./task.ts";
import type { Turn } from "./turn-context.ts";

export interface Redrive {
  readonly kind: "redrive";
  readonly taskId: string;
  readonly filter: Filter;
  /** Where to, by the queue that an item came from; `null` = there is no such queue. */
  readonly targets: readonly (readonly [queue: string, target: DeadTarget | null])[];
  /** Where all go, whatever they came from. */
  readonly to: DeadTarget | null;
  /** The most items to move, and to look at. */
  readonly limit: number;
  readonly looks: number;
}

export const redrive: Kind<Redrive> = {
  phase: "within",
  weight: ({ looks }) => looks,
  // How far it came stands in the row, and what more is to be done is for who asks to say.
  lost: ({ taskId }) => ({ ask: { ...nothingMore, kind: "redrive", taskId } satisfies Redrive }),
  wants({ memory, items }, requests) {
    for (const { op, taskId, looks } of requests) {
      const [span] = progressOf(memory, taskId).spans;
      if (span === undefined || looks === 0) continue;
      const limit = { items: looks, payloadBytes: limits.turnBytesMax };
      const { slot, next: from, before } = span;
      items.push({ name: `redrive ${op}`, slot, from, before, limit });
    }
  },
  decide: answering(redrivePiece),
};

const nothingMore = { filter: {}, targets: [], to: null, limit: 0, looks: 0 } as const;

function progressOf(memory: Memory, taskId: string): Progress {
  const text = memory.tasks.get(taskId);
  return text === undefined ? { spans: [], moved: 0, skipped: 0 } : (JSON.parse(text) as Progress);
}

function redrivePiece(turn: Turn, request: Numbered<Redrive>): Result {
  const { memory, draft, facts } = turn;
  const { taskId, limit, looks } = request;
  const before = progressOf(memory, taskId);
  const [span, ...others] = before.spans;
  if (span === undefined || looks === 0) return told(memory.tasks.get(taskId) ?? "");
  const partition = memory.partition(span.slot);
  const page = facts.items.get(`redrive ${request.op}`);
  const isMeant = matcherOf(request.filter);
  let { moved, skipped } = before;
  let { next } = span;
  let needs: string | undefined;
  for (const item of partition.settings === null ? [] : (page?.found ?? [])) {
    if (moved - before.moved >= limit) break;
    const id = formatId(partition.idPrefix, item.seq);
    if (isThere(turn, partition, item) && isMeant(item, id, false)) {
      const target = targetOf(request, item);
      if (target === undefined) {
        needs = readPast(item.past).queue ?? "";
        break;
      }
      if (target === null) skipped += 1;
      else {
        revive(turn, partition, item, target);
        moved += 1;
      }
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

/** Ready, and nobody's else by now. */
function isThere({ draft }: Turn, partition: Partition, item: Read<Item>): boolean {
  const { slot, seq, damaged } = item;
  const isTaken = partition.held.has(seq) || draft.removed.has(slot, seq);
  return !damaged && !isTaken && seq >= partition.clearReadyBelow;
}

/** `undefined`: it has to be asked for. */
function targetOf({ to, targets }: Redrive, { past }: Item): DeadTarget | null | undefined {
  if (to !== null) return to;
  const { queue } = readPast(past);
  if (queue === undefined) return null;
  return targets.find(([name]) => name === queue)?.[1];
}
