// Clearing a partition. One commit marks where the clear ends, and from then on
// nothing before the mark is offered; the items themselves go in pieces, turn by
// turn. A crash in between finds the marks and goes on.

import type { Store } from "../../stores/store.ts";
import { limits } from "../limits.ts";
import type { Clearing } from "../messages.ts";
import { remove, type Scene, unschedule } from "./moves.ts";
import type { Partition } from "./partition.ts";

/** Marks what is to be cleared: everything that is there now. */
export function markCleared({ memory, draft }: Scene, partition: Partition, what: Clearing): void {
  if (what.leased) {
    for (const run of partition.runs) {
      run.heldCount = 0;
      draft.unlease.push(run.lease);
    }
    partition.runs.clear();
    partition.held.clear();
  }
  const mark = partition.nextSeq;
  partition.clearScheduledFrom = 0;
  if (what.ready) {
    partition.clearReadyBelow = mark;
    partition.clearReadyFrom = 0;
    partition.doomedCount = partition.itemCount - partition.held.size;
    partition.head = mark;
  }
  if (what.scheduled) partition.clearScheduledBelow = mark;
  if (what.retried) partition.clearRetriedBelow = mark;
  draft.touched.add(partition);
  draft.tallied.add(partition);
  if (partition.isClearing) memory.clearing.add(partition);
}

/** Removes the next piece of what is marked, over all partitions. */
export async function clearPiece(scene: Scene, store: Store): Promise<void> {
  // Ranges of neighbours make these cheaper than other moves.
  const budget = { left: 4 * limits.sweepItemsMax };
  for (const partition of scene.memory.clearing) {
    if (budget.left <= 0) return;
    await clearReady(scene, store, partition, budget);
    await clearScheduled(scene, store, partition, budget);
    if (!partition.isClearing) scene.memory.clearing.delete(partition);
    scene.draft.touched.add(partition);
    scene.draft.tallied.add(partition);
  }
}

async function clearReady(
  scene: Scene,
  store: Store,
  partition: Partition,
  budget: { left: number },
): Promise<void> {
  while (partition.clearReadyBelow > 0 && budget.left > 0) {
    const { slot, clearReadyFrom, clearReadyBelow } = partition;
    const page = await store.seqs(slot, clearReadyFrom, clearReadyBelow, budget.left);
    for (const item of page) {
      if (partition.held.has(item.seq) || scene.draft.removed.has(partition.slot, item.seq))
        continue;
      remove(scene, partition, item);
      partition.doomedCount -= 1;
    }
    const complete = page.length < budget.left;
    budget.left -= page.length;
    const last = page.at(-1);
    if (last !== undefined) partition.clearReadyFrom = last.seq + 1;
    // Items that this very turn wrote before the mark are not in the store yet.
    if (complete && partition.clearReadyBelow <= partition.committedSeq) {
      partition.clearReadyBelow = 0;
      partition.doomedCount = 0;
    } else if (complete) {
      return;
    }
  }
}

async function clearScheduled(
  scene: Scene,
  store: Store,
  partition: Partition,
  budget: { left: number },
): Promise<void> {
  const below = Math.max(partition.clearScheduledBelow, partition.clearRetriedBelow);
  while (below > 0 && budget.left > 0) {
    const limit = { items: budget.left, payloadBytes: limits.turnBytesMax };
    const { slot, clearScheduledFrom } = partition;
    const page = await store.scheduled(slot, clearScheduledFrom, below, limit);
    for (const item of page) {
      const mark = item.retried ? partition.clearRetriedBelow : partition.clearScheduledBelow;
      if (item.seq >= mark || scene.draft.unscheduled.has(partition.slot, item.seq)) continue;
      unschedule(scene, partition, item);
    }
    budget.left -= Math.max(1, page.length);
    const last = page.at(-1);
    if (last !== undefined) {
      partition.clearScheduledFrom = last.seq + 1;
      continue;
    }
    if (below > partition.committedSeq) return;
    partition.clearScheduledBelow = 0;
    partition.clearRetriedBelow = 0;
    return;
  }
}
