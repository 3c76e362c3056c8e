// Counting a partition's items from its store. Each turn reads one piece, before it decides
// anything, when store and memory say the same; what leaves a part that was counted already
// is taken off again. So a recount of any size keeps nobody waiting, and comes out exact.

import type { Store } from "../../stores/store.ts";
import { limits } from "../limits.ts";
import { lowerFloor, type Scene } from "./moves.ts";
import type { Partition, Recount } from "./partition.ts";

/** Items counted per turn; only their numbers and instants are read. */
const itemsMax = 10_000;
/** Scheduled items counted per turn; they are read whole. */
const scheduledMax = 1_000;

/** Begins to count, or goes on where a count runs already. */
export function beginRecount({ memory }: Pick<Scene, "memory">, partition: Partition): void {
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

/** Counts the next piece. The draft has to be empty: what it holds is not in the store. */
export async function recountPiece(scene: Scene, store: Store): Promise<void> {
  for (const partition of scene.memory.recounting) {
    const { recount } = partition;
    if (recount === null) continue;
    const isComplete =
      (await countItems(store, partition, recount)) &&
      (await countScheduled(store, partition, recount));
    if (!isComplete) return;
    partition.counted(recount);
    // Of items that were not known of, it is not known when they expire.
    lowerFloor(scene.memory, partition, 0);
    scene.memory.recounting.delete(partition);
    scene.draft.touched.add(partition);
    scene.draft.tallied.add(partition);
  }
}

/** Returns whether there are no more. */
async function countItems(store: Store, partition: Partition, recount: Recount): Promise<boolean> {
  const { slot, nextSeq } = partition;
  const page = await store.seqs(slot, recount.itemsBefore, nextSeq, itemsMax);
  for (const { createdAt } of page) recount.createdAtSum += BigInt(createdAt);
  recount.itemCount += page.length;
  const last = page.at(-1);
  if (last !== undefined) recount.itemsBefore = last.seq + 1;
  return page.length < itemsMax;
}

async function countScheduled(
  store: Store,
  partition: Partition,
  recount: Recount,
): Promise<boolean> {
  const { slot, nextSeq } = partition;
  const limit = { items: scheduledMax, payloadBytes: limits.turnBytesMax };
  const page = await store.scheduled(slot, recount.scheduledBefore, nextSeq, limit);
  for (const { retried } of page) {
    if (retried) recount.retriedCount += 1;
    else recount.scheduledCount += 1;
  }
  const last = page.at(-1);
  if (last !== undefined) recount.scheduledBefore = last.seq + 1;
  return page.length === 0;
}
