// Clear: one commit marks where the clear ends, and nothing before the mark is leased afterwards.
// Later turns remove the items piece by piece. After a crash the clear continues from its marks.

import type { Page } from "../../stores/store.ts";
import type { ItemCounts } from "../model/api.ts";
import { countChanged } from "../model/errors.ts";
import type { Result } from "../model/messages.ts";
import type { Partition } from "../state/partition.ts";
import {
  endAllLeases,
  freeKey,
  remove,
  type StepContext,
  unschedule,
} from "../turn/item-transitions.ts";
import { type ReadPlanner, settleLater, type Turn } from "../turn/turn-context.ts";
import type { Operation } from "./operation.ts";

export interface Clearing {
  readonly ready: boolean;
  readonly leased: boolean;
  readonly scheduled: boolean;
  readonly retried: boolean;
}

/** Answered once these slots contain none of the items that they had before. */
export interface Clear {
  readonly kind: "clear";
  readonly slots: readonly number[];
  readonly what: Clearing;
  /** The clear is refused if it would remove more items than this. */
  readonly expect?: number;
  /** Answered at once with the counts that it would remove; nothing changes. */
  readonly isDry?: true;
}

export const clear: Operation<Clear> = {
  phase: "within",
  decide(turn, requests) {
    for (const request of requests) {
      const { op, slots, what, expect = Number.POSITIVE_INFINITY, isDry } = request;
      const counts = takenBy(
        slots.flatMap((slot) => turn.memory.partitionsAt(slot)),
        what,
      );
      const total = counts.ready + counts.leased + counts.scheduled + counts.retried;
      const counted: Result = { ok: true, value: { kind: "counted", ...counts } };
      if (total > expect) turn.changeSet.answer(op, countChanged(total, expect));
      else if (isDry) turn.changeSet.answer(op, counted);
      else {
        for (const partition of settleLater(turn, request, "clear", counted)) {
          markCleared(turn, partition, what);
        }
      }
    }
  },
};

/** What a clear would remove now, without the items that an earlier clear has marked. */
function takenBy(partitions: readonly Partition[], what: Clearing): ItemCounts {
  const counts = { ready: 0, leased: 0, scheduled: 0, retried: 0 };
  for (const { readyCount, held, scheduledCount, retriedCount } of partitions) {
    if (what.ready) counts.ready += readyCount;
    if (what.leased) counts.leased += held.size;
    if (what.scheduled) counts.scheduled += scheduledCount;
    if (what.retried) counts.retried += retriedCount;
  }
  return counts;
}

/** Marks all present items that match `what`. */
function markCleared(context: StepContext, partition: Partition, what: Clearing): void {
  const { memory, changeSet } = context;
  // Count now: an otherwise empty partition is freed before its items are removed.
  const { ready, leased } = takenBy([partition], what);
  if (ready + leased > 0) changeSet.count(partition.slot, "removed", ready + leased);
  if (what.leased) endAllLeases(context, partition);
  const mark = partition.nextSeq;
  partition.clearScheduledFrom = 0;
  if (what.ready) {
    partition.clearReadyBelow = mark;
    partition.clearReadyFrom = 0;
    partition.doomedCount = partition.itemCount - partition.held.size;
    changeSet.movesHead(partition);
    partition.head = mark;
  }
  if (what.scheduled) partition.clearScheduledBelow = mark;
  if (what.retried) partition.clearRetriedBelow = mark;
  changeSet.touched.add(partition);
  changeSet.tallied.add(partition);
  if (partition.isClearing) memory.clearing.add(partition);
}

/** Removals take ranges of consecutive items, so they are cheaper than the moves of a sweep. */
const piecesOfSweep = 4;

export function planClearing({ memory, limits, marks, scheduledMarks }: ReadPlanner): void {
  let left = piecesOfSweep * limits.sweepItemsMax;
  for (const partition of memory.clearing) {
    if (left <= 0) return;
    const { slot, clearReadyBelow, doomedCount, held, scheduledCount, retriedCount } = partition;
    const page = (from: number, before: number, count: number): Page => {
      // One more than there are, so that the page shows that it is complete.
      const items = Math.max(1, Math.min(left, count + 1));
      left -= items;
      const limit = { items, payloadBytes: Number.POSITIVE_INFINITY };
      return { name: pageOf(partition), slot, from, before, limit };
    };
    if (clearReadyBelow > 0) {
      marks.push(page(partition.clearReadyFrom, clearReadyBelow, doomedCount + held.size));
    }
    const before = Math.max(partition.clearScheduledBelow, partition.clearRetriedBelow);
    if (before > 0) {
      const { clearScheduledFrom } = partition;
      scheduledMarks.push(page(clearScheduledFrom, before, scheduledCount + retriedCount));
    }
  }
}

function pageOf({ slot }: Partition): string {
  return `clearing ${slot}`;
}

/** Removes the next piece of the marked items of all partitions. */
export function clearPiece(turn: Turn): void {
  const { memory, changeSet, readResult } = turn;
  for (const partition of [...memory.clearing]) {
    const name = pageOf(partition);
    if (!(readResult.marks.has(name) || readResult.scheduledMarks.has(name))) return;
    clearReady(turn, partition);
    clearScheduled(turn, partition);
    if (!partition.isClearing) memory.clearing.delete(partition);
    changeSet.touched.add(partition);
    changeSet.tallied.add(partition);
  }
}

function clearReady(turn: Turn, partition: Partition): void {
  const page = turn.readResult.marks.get(pageOf(partition));
  for (const item of page?.found ?? []) {
    partition.clearReadyFrom = item.seq + 1;
    if (partition.held.has(item.seq) || turn.changeSet.hasLeft(partition.slot, item.seq)) continue;
    remove(turn, partition, item);
    turn.changeSet.history?.add({ slot: partition.slot, seq: item.seq, what: "removed", by: "" });
    freeKey(turn, partition, item);
    partition.doomedCount -= 1;
  }
  if (page?.isAll !== true) return;
  partition.clearReadyBelow = 0;
  partition.doomedCount = 0;
}

function clearScheduled(turn: Turn, partition: Partition): void {
  const page = turn.readResult.scheduledMarks.get(pageOf(partition));
  for (const item of page?.found ?? []) {
    partition.clearScheduledFrom = item.seq + 1;
    const mark = item.retried ? partition.clearRetriedBelow : partition.clearScheduledBelow;
    if (item.seq >= mark || turn.changeSet.hasLeft(partition.slot, item.seq)) continue;
    unschedule(turn, partition, item);
    turn.changeSet.count(partition.slot, "removed");
    turn.changeSet.history?.add({ slot: partition.slot, seq: item.seq, what: "removed", by: "" });
    freeKey(turn, partition, item);
  }
  if (page?.isAll !== true) return;
  partition.clearScheduledBelow = 0;
  partition.clearRetriedBelow = 0;
}
