// Priorities of items. A partition has a slot for the items of each priority. The slot of priority
// 0 is the partition's own, and that of each higher priority is `limits.slotsMax` numbers later. So
// a slot implies the priority of its items: an item keeps it wherever it moves, no store has a field
// for it, and a queue without priorities has one slot per partition.

import { limits } from "./limits.ts";

/** From the lowest, which is the default, to the highest. */
export const priorities: readonly number[] = Array.from(
  { length: limits.priorityMax + 1 },
  (_, priority) => priority,
);

/** The slot for items of this priority, in the partition whose own slot is `slot`. */
export function slotFor(slot: number, priority: number): number {
  return slot + priority * limits.slotsMax;
}

export function priorityOf(slot: number): number {
  return slot < limits.slotsMax ? 0 : Math.floor(slot / limits.slotsMax);
}

/** The own slot of the partition that has this slot. */
export function partitionSlot(slot: number): number {
  return slot < limits.slotsMax ? slot : slot % limits.slotsMax;
}

/** The priority after aging: one more for each `agingMs` since the item became ready. */
export function agedPriority(
  priority: number,
  { waitedMs, agingMs }: { readonly waitedMs: number; readonly agingMs: number },
): number {
  return Math.min(limits.priorityMax, priority + Math.max(0, Math.floor(waitedMs / agingMs)));
}

/** The latest instant at which an item became ready if its aged priority is now `aged` or more. */
export function readyBefore(
  priority: number,
  aged: number,
  { now, agingMs }: { readonly now: number; readonly agingMs: number },
): number {
  return aged <= priority ? Number.POSITIVE_INFINITY : now - (aged - priority) * agingMs;
}
