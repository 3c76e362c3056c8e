// Unique keys of items: from when one was written, and for as long as its queue says, no second
// item with the key is. They are in the store alone, because there may be many, and live for days.

import type { Item } from "../../stores/item.ts";
import { limits } from "../model/limits.ts";
import type { DescribedItem, NewItem } from "../model/messages.ts";
import type { Asking, Turn } from "../turn/turn-context.ts";

export function isUnique(item: NewItem): item is DescribedItem {
  return typeof item !== "string" && item.unique !== "";
}

export function wantUniques({ uniques }: Asking, items: readonly NewItem[]): void {
  for (const item of items) if (isUnique(item)) uniques.add(item.unique);
}

/** Whether an item was written with the key, before or in this turn. */
export function isTaken({ draft, facts, now }: Turn, { unique }: DescribedItem): boolean {
  return draft.unique.has(unique) || (facts.uniques.get(unique) ?? 0) > now;
}

/** From now on the key is taken. */
export function takeKey(
  { draft, memory }: Turn,
  { unique: digest }: DescribedItem,
  { slot, seq, until }: Pick<Item, "slot" | "seq"> & { readonly until: number },
): void {
  draft.unique.set(digest, { slot, seq, digest, until });
  memory.uniqueFloor = Math.min(memory.uniqueFloor, until + limits.uniqueBunchMs);
}

export function wantEnded(asking: Asking): void {
  const { memory, now, limits } = asking;
  if (memory.uniqueFloor <= now) asking.ended = { until: now, keys: limits.sweepItemsMax };
}

/** Those whose time is over go, in pieces. */
export function forgetEnded({ memory, draft, facts, now }: Turn): void {
  if (memory.uniqueFloor > now) return;
  const { found, next } = facts.ended;
  for (const { slot, seq } of found) draft.ununique.add(slot, seq);
  if (next === null) memory.uniqueFloor = Number.POSITIVE_INFINITY;
  else memory.uniqueFloor = next <= now ? next : next + limits.uniqueBunchMs;
}
