// Recount: counts the items of a partition from its store. Each turn reads one piece before it
// changes anything, while store and memory agree. Items that leave the counted part are subtracted,
// so the result is exact, and a recount of any size delays no other request for long.

import type { Maintenance } from "../../stores/maintenance.ts";
import type { Operation } from "../operations/operation.ts";
import type { Memory } from "../state/memory.ts";
import type { Partition } from "../state/partition.ts";
import { lowerFloor } from "./item-transitions.ts";
import { type ReadPlanner, settleLater, type Turn } from "./turn-context.ts";

/** Answered once these slots are recounted. */
export interface Recounting {
  readonly kind: "recount";
  readonly slots: readonly number[];
}

export const recount: Operation<Recounting> = {
  phase: "within",
  decide(turn, requests) {
    for (const request of requests) {
      for (const partition of settleLater(turn, request, "recount")) {
        beginRecount(turn.memory, partition);
      }
    }
  },
};

/** Per turn, ready items and scheduled ones each. */
const limit = { items: 10_000, payloadBytes: Number.POSITIVE_INFINITY };

/** Begins a recount, or continues the present one. */
export function beginRecount(memory: Memory, partition: Partition): void {
  partition.recount ??= {
    itemsBefore: 0,
    itemCount: 0,
    createdAtSum: 0n,
    scheduledBefore: 0,
    scheduledCount: 0,
    retriedCount: 0,
  };
  memory.recounting.add(partition);
}

/** One partition at a time. */
export function planRecount({ memory, marks, scheduledMarks }: ReadPlanner): void {
  const [partition] = memory.recounting;
  if (!partition?.recount) return;
  const { slot, recount, nextSeq: before } = partition;
  const name = `recount ${slot}`;
  marks.push({ name, slot, from: recount.itemsBefore, before, limit });
  scheduledMarks.push({ name, slot, from: recount.scheduledBefore, before, limit });
}

/** Counts the next piece. The change set must be empty, because its changes are not in the store. */
export function recountPiece({ memory, readResult, changeSet }: Turn): void {
  const [partition] = memory.recounting;
  const name = `recount ${partition?.slot}`;
  const items = readResult.marks.get(name);
  const aside = readResult.scheduledMarks.get(name);
  if (!partition?.recount || items === undefined || aside === undefined) return;
  const { recount } = partition;
  for (const { seq, createdAt } of items.found) {
    recount.createdAtSum += BigInt(createdAt);
    recount.itemCount += 1;
    recount.itemsBefore = seq + 1;
  }
  for (const { seq, retried } of aside.found) {
    if (retried) recount.retriedCount += 1;
    else recount.scheduledCount += 1;
    recount.scheduledBefore = seq + 1;
  }
  if (!(items.isAll && aside.isAll)) return;
  partition.counted(recount);
  // The recount may have found unknown items, and their expire deadlines are unknown too.
  lowerFloor(memory, partition, 0);
  memory.recounting.delete(partition);
  changeSet.touched.add(partition);
  changeSet.tallied.add(partition);
}

/**
 * Compares the stored items with the counts that each commit maintained, and returns the difference
 * in items. Nothing else detects damage that hides a row. If the store is too large to count, a
 * lease without items still shows that at least one item is missing.
 */
export async function setCountsRight(maintenance: Maintenance, memory: Memory): Promise<number> {
  const stored = await maintenance.countItems();
  let miscounted = 0;
  for (const [slot, { items, scheduled }] of stored ?? []) {
    const partition = memory.partition(slot);
    const { itemCount, scheduledCount, retriedCount } = partition;
    const difference =
      Math.abs(itemCount - items) + Math.abs(scheduledCount + retriedCount - scheduled);
    if (difference === 0) continue;
    miscounted += difference;
    partition.itemCount = items;
    // The sum of `createdAt` and the retried items are known only after all items are read.
    beginRecount(memory, partition);
  }
  for (const { slot } of memory.emptied) {
    const partition = memory.partition(slot);
    if (memory.recounting.has(partition)) continue;
    miscounted += 1;
    beginRecount(memory, partition);
  }
  return miscounted;
}
