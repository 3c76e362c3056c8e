// Unique keys: after an item with a key is written, no second one is written for the `unique_for`
// of its queue. The keys are only in the store, because there may be many and they live for days.

import type { Item } from "../../stores/item.ts";
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
export function isTaken({ changeSet, readResult, now }: Turn, { unique }: DescribedItem): boolean {
  return changeSet.unique.has(unique) || (readResult.uniques.get(unique) ?? 0) > now;
}

export function takeKey(
  { changeSet, memory }: Turn,
  { unique: digest }: DescribedItem,
  { slot, seq, until }: Pick<Item, "slot" | "seq"> & { readonly until: number },
): void {
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
