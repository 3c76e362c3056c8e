// Unique keys: after an item with a key is written, no second one is written for the `unique_for`
// of its queue, or with `pending` while the item is unfinished. The keys are only in the store,
// because there may be many and they live for days.

import type { Item } from "../../stores/item.ts";
import { pending } from "../model/duration.ts";
import { limits } from "../model/limits.ts";
import type { DescribedItem, NewItem } from "../model/messages.ts";
import type { ReadPlanner, Turn } from "../turn/turn-context.ts";

export function isUnique(item: NewItem): item is DescribedItem {
  return typeof item !== "string" && item.unique !== "";
}

export function planUniques({ uniques }: ReadPlanner, items: readonly NewItem[]): void {
  for (const item of items) if (isUnique(item)) uniques.add(item.unique);
}

/** Whether an earlier turn or this one has written an item with the key. */
export function isTaken(
  { changeSet, readResult, now }: Turn,
  { unique }: DescribedItem,
  uniqueForMs: number,
): boolean {
  if (changeSet.unique.has(unique)) return true;
  const found = readResult.uniques.get(unique);
  if (found === undefined || found.until <= now) return false;
  // The item has ended since: the queue was empty when its `unique_for` was changed.
  if (found.until === limits.instantMax && uniqueForMs !== pending) return false;
  return !changeSet.ununique.has(found.slot, found.seq);
}

export function takeKey(
  { changeSet, memory, now }: Turn,
  { unique: digest }: DescribedItem,
  { slot, seq, uniqueForMs }: Pick<Item, "slot" | "seq"> & { readonly uniqueForMs: number },
): void {
  const until = Math.min(now + uniqueForMs, limits.instantMax);
  changeSet.unique.set(digest, { slot, seq, digest, until });
  memory.uniqueFloor = Math.min(memory.uniqueFloor, until + limits.uniqueBunchMs);
}

export function planEnded(planner: ReadPlanner): void {
  const { memory, now, limits } = planner;
  if (memory.uniqueFloor <= now) planner.ended = { until: now, keys: limits.sweepItemsMax };
}

/** Removes a piece of the keys whose time is over. */
export function forgetEnded({ memory, changeSet, readResult, now }: Turn): void {
  if (memory.uniqueFloor > now) return;
  const { found, next } = readResult.ended;
  for (const { slot, seq } of found) changeSet.ununique.add(slot, seq);
  if (next === null) memory.uniqueFloor = Number.POSITIVE_INFINITY;
  else memory.uniqueFloor = next <= now ? next : next + limits.uniqueBunchMs;
}
